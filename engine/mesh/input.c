#include "engine/mesh/input.h"

#include "engine/mesh/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void pl_input_open(pl_input *in, const pl_blob *file, const char *part)
{
    static const char nothing[1];
    const char *data = file->data ? file->data : nothing;
    *in = (pl_input){
        .at = data,
        .end = data + (file->data ? file->size : 0),
        .place = {data, false, part},
        .size_width = 8,
        .record_at = data,
        .trouble_at = data,
    };
    if (pl_input_starts(in, "\xEF\xBB\xBF"))
        in->at += 3;
}

bool pl_input_starts(const pl_input *in, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(in->end - in->at) >= n && memcmp(in->at, word, n) == 0;
}

static bool fail(pl_input *in, pl_input_trouble trouble)
{
    in->trouble = trouble;
    in->trouble_at = in->at;
    return false;
}

static bool is_blank_here(const pl_input *in, char c)
{
    return pl_text_is_blank(c) || (in->free_form && c == '\n');
}

/* Skips blanks and a comment; in free form also newlines. */
static void skip_blanks(pl_input *in)
{
    while (in->at < in->end) {
        if (is_blank_here(in, *in->at)) {
            in->at++;
        } else if (in->comment && *in->at == in->comment) {
            in->at += pl_input_rest(in);
        } else {
            break;
        }
    }
}

bool pl_input_skip_space(pl_input *in)
{
    skip_blanks(in);
    while (in->at < in->end && *in->at == '\n') {
        in->at++;
        skip_blanks(in);
    }
    return in->at < in->end;
}

size_t pl_input_rest(const pl_input *in)
{
    const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
    return (size_t)((newline ? newline : in->end) - in->at);
}

void pl_input_skip_line(pl_input *in)
{
    in->at += pl_input_rest(in);
    in->at += in->at < in->end;
}

size_t pl_input_token(const pl_input *in)
{
    const char *s = in->at;
    while (s < in->end && !pl_text_is_blank(*s) && *s != '\n' &&
           !(in->comment && *s == in->comment))
        s++;
    return (size_t)(s - in->at);
}

bool pl_input_begin(pl_input *in)
{
    if (in->raw) {
        in->record_at = in->at;
        return true;
    }
    bool some = pl_input_skip_space(in);
    in->record_at = in->at;
    if (!some)
        return fail(in, PL_INPUT_FILE_END);
    return true;
}

bool pl_input_finish(pl_input *in)
{
    if (in->raw)
        return true;
    if (in->free_form) {
        const char *s = in->at;
        while (s < in->end && pl_text_is_blank(*s))
            s++;
        bool whole = s == in->end || *s == '\n' || (in->comment && *s == in->comment);
        whole &= !memchr(in->record_at, '\n', (size_t)(in->at - in->record_at));
        if (!whole && !in->ragged_at)
            in->ragged_at = in->record_at;
        return true;
    }
    if (pl_input_more(in))
        return fail(in, PL_INPUT_EXTRA);
    pl_input_skip_line(in);
    return true;
}

bool pl_input_more(pl_input *in)
{
    skip_blanks(in);
    return in->at < in->end && *in->at != '\n';
}

/* Checks that a number's token starts here; otherwise records what was found. */
static bool find_token(pl_input *in)
{
    skip_blanks(in);
    if (in->at == in->end)
        return fail(in, PL_INPUT_FILE_END);
    if (*in->at == '\n')
        return fail(in, PL_INPUT_LINE_END);
    return true;
}

/* Classifies a token that is not a number: a section mark, a keyword or garbage. */
static bool fail_word(pl_input *in, pl_text_outcome outcome)
{
    switch (outcome) {
    case PL_TEXT_OUT_OF_RANGE:
        return fail(in, PL_INPUT_RANGE);
    case PL_TEXT_NOT_FINITE:
        return fail(in, PL_INPUT_NOT_FINITE);
    default:
        break;
    }
    bool mark = *in->at == '$' || (in->free_form && pl_text_is_letter(*in->at));
    return fail(in, mark ? PL_INPUT_MARK : PL_INPUT_WORD);
}

static bool text_integer(pl_input *in, int64_t low, int64_t high, int64_t *value)
{
    if (!find_token(in))
        return false;
    size_t length = pl_input_token(in);
    int64_t v;
    pl_text_outcome outcome = pl_text_integer(in->at, length, &v);
    if (outcome != PL_TEXT_FINE)
        return fail_word(in, outcome);
    if (v < low || v > high)
        return fail(in, PL_INPUT_RANGE);
    in->at += length;
    *value = v;
    return true;
}

/* `width` (4 or 8) bytes as an unsigned number of this machine's byte order. */
static bool raw_bytes(pl_input *in, int width, uint64_t *bits)
{
    if (in->end - in->at < width)
        return fail(in, PL_INPUT_FILE_END);
    if (width == 4) {
        uint32_t v;
        memcpy(&v, in->at, sizeof v);
        *bits = in->swap ? __builtin_bswap32(v) : v;
    } else {
        uint64_t v;
        memcpy(&v, in->at, sizeof v);
        *bits = in->swap ? __builtin_bswap64(v) : v;
    }
    in->at += width;
    return true;
}

bool pl_input_int(pl_input *in, int32_t *value)
{
    if (in->raw) {
        uint64_t bits;
        if (!raw_bytes(in, 4, &bits))
            return false;
        *value = (int32_t)(uint32_t)bits;
        return true;
    }
    int64_t v;
    if (!text_integer(in, INT32_MIN, INT32_MAX, &v))
        return false;
    *value = (int32_t)v;
    return true;
}

bool pl_input_size(pl_input *in, int64_t *value)
{
    if (!in->raw)
        return text_integer(in, 0, INT64_MAX, value);
    uint64_t bits;
    if (!raw_bytes(in, in->size_width, &bits))
        return false;
    if (bits > INT64_MAX) {
        in->at -= in->size_width;
        return fail(in, PL_INPUT_RANGE);
    }
    *value = (int64_t)bits;
    return true;
}

bool pl_input_real(pl_input *in, double *value)
{
    if (in->raw) {
        uint64_t bits;
        if (!raw_bytes(in, 8, &bits))
            return false;
        memcpy(value, &bits, sizeof *value);
        if (isfinite(*value))
            return true;
        in->at -= 8;
        return fail(in, PL_INPUT_NOT_FINITE);
    }
    if (!find_token(in))
        return false;
    size_t length = pl_input_token(in);
    pl_text_outcome outcome = pl_text_real(in->at, length, value);
    if (outcome != PL_TEXT_FINE)
        return fail_word(in, outcome);
    in->at += length;
    return true;
}

bool pl_input_reals(pl_input *in, int count, double *values)
{
    for (int i = 0; i < count; i++)
        if (!pl_input_real(in, &values[i]))
            return false;
    return true;
}

bool pl_input_skip_token(pl_input *in)
{
    if (!find_token(in))
        return false;
    in->at += pl_input_token(in);
    return true;
}

bool pl_input_skip_bytes(pl_input *in, int64_t count)
{
    if (count > in->end - in->at) {
        in->at = in->end;
        return fail(in, PL_INPUT_FILE_END);
    }
    in->at += count;
    return true;
}

/* "node 5 of 14", or the bare name if there is only one. */
static void name_record(char out[64], const char *record, int64_t k, int64_t count)
{
    if (count < 0)
        snprintf(out, 64, "%s", record);
    else
        snprintf(out, 64, "%s %" PRId64 " of %" PRId64, record, k + 1, count);
}

/* In free form, a missing number shows records later: name the first place that looks odd. */
static void name_ragged(char out[80], const pl_input *in)
{
    out[0] = 0;
    if (in->ragged_at)
        snprintf(out, 80, "; line %" PRId64 " is the first that is not a single record",
                 pl_text_line(in->place.base, in->ragged_at));
}

bool pl_input_fault(pl_input *in, pl_draft *draft, const char *record, int64_t k, int64_t count,
                    const char *expected)
{
    static const struct {
        const char *code, *hint, *before, *after;
        bool quoted, passable;
    } wording[] = {
        [PL_INPUT_FILE_END] = {"mesh_truncated", PL_HINT_COMPLETE, "the file ends in ", "", false,
                               false},
        [PL_INPUT_LINE_END] = {"mesh_syntax", PL_HINT_LINE, "the line ends inside ", "", false,
                               true},
        [PL_INPUT_MARK] = {"mesh_count", "Is the count right, and the file complete?",
                           " stands where ", " is expected", true, false},
        [PL_INPUT_WORD] = {"mesh_syntax", PL_HINT_LINE, " in ", "", true, true},
        [PL_INPUT_RANGE] = {"mesh_number", PL_HINT_LINE, " in ", " is out of range", true, true},
        [PL_INPUT_NOT_FINITE] = {"mesh_number", PL_HINT_LINE, " in ", " is not a finite number",
                                 true, true},
        [PL_INPUT_EXTRA] = {"mesh_syntax", PL_HINT_LINE, " follows the end of ", "", true, true},
    };
    char quote[PL_TEXT_QUOTE_MAX], name[64], ragged[80];
    const char *at = in->trouble_at;
    in->at = at;
    pl_text_quote(at, pl_input_token(in), quote);
    name_record(name, record, k, count);
    name_ragged(ragged, in);
    const char *found = !wording[in->trouble].quoted ? "" : in->raw ? "a value" : quote;
    pl_draft_fault(draft, &in->place, at, wording[in->trouble].code, expected,
                   wording[in->trouble].hint, "%s%s%s%s%s", found, wording[in->trouble].before,
                   name, wording[in->trouble].after, ragged);
    if (in->raw || in->free_form || !wording[in->trouble].passable)
        return false;
    pl_input_skip_line(in);
    return true;
}
