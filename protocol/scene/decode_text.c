/* decode_text.c - wording of faults: place, value found, value expected. */
#include "protocol/scene/decode.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ECHO_BYTES = 80 }; /* maximum length of the user's text in a fault */

/* ---- places ---- */

size_t pl_decode_enter(pl_decoder *d, const char *key)
{
    size_t mark = d->depth_length, room = sizeof d->pointer - 1;
    size_t at = mark;
    if (at < room)
        d->pointer[at++] = '/';
    for (const char *c = key; *c && at + 1 < room && at - mark < 200; c++) {
        if (*c == '~' || *c == '/') { /* RFC 6901 */
            d->pointer[at++] = '~';
            d->pointer[at++] = *c == '~' ? '0' : '1';
        } else {
            d->pointer[at++] = *c;
        }
    }
    d->pointer[at] = 0;
    d->depth_length = at;
    return mark;
}

size_t pl_decode_enter_item(pl_decoder *d, size_t index)
{
    char text[24];
    snprintf(text, sizeof text, "%zu", index);
    return pl_decode_enter(d, text);
}

void pl_decode_leave(pl_decoder *d, size_t mark)
{
    d->depth_length = mark;
    d->pointer[mark] = 0;
}

/* ---- found values ---- */

/* The beginning of a user's text, cut between characters, with control characters replaced by spaces. */
static void echo(const char *text, size_t length, char *out, size_t size)
{
    size_t limit = size - 4 < ECHO_BYTES ? size - 4 : ECHO_BYTES, n = length;
    if (n > limit) {
        n = limit;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? ' ' : text[i];
    strcpy(out + n, n < length ? "..." : "");
}

static void describe(json_t *value, char *out, size_t size)
{
    char text[ECHO_BYTES + 4];
    switch (json_typeof(value)) {
    case JSON_STRING:
        echo(json_string_value(value), json_string_length(value), text, sizeof text);
        snprintf(out, size, "string \"%s\"", text);
        break;
    case JSON_INTEGER:
        snprintf(out, size, "number %lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(out, size, "number %.15g", json_real_value(value));
        break;
    case JSON_ARRAY:
        snprintf(out, size, "array of %zu", json_array_size(value));
        break;
    case JSON_OBJECT:
        snprintf(out, size, "object of %zu", json_object_size(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        snprintf(out, size, "%s", json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        snprintf(out, size, "null");
        break;
    }
}

bool pl_decode_full(const pl_decoder *d)
{
    return d->faults->count >= PL_FAULTS_MAX;
}

void pl_decode_fault(pl_decoder *d, const char *code, const char *got, const char *expected,
                     const char *hint)
{
    char text[ECHO_BYTES + 4];
    if (pl_decode_full(d)) {
        d->faults->total++;
        return;
    }
    echo(got, strlen(got), text, sizeof text);
    pl_faults_add(d->faults, d->pointer, code, text, expected, hint);
}

void pl_decode_refuse(pl_decoder *d, json_t *value, const char *code, const char *expected,
                      const char *hint)
{
    char got[ECHO_BYTES + 32];
    if (pl_decode_full(d)) {
        d->faults->total++;
        return;
    }
    describe(value, got, sizeof got);
    pl_faults_add(d->faults, d->pointer, code, got, expected, hint);
}

void pl_decode_conflict(pl_decoder *d, const char *key, const char *beside, const char *expected)
{
    char got[160];
    size_t mark = pl_decode_enter(d, key);
    snprintf(got, sizeof got, "%s beside %s", key, beside);
    pl_decode_fault(d, "conflict", got, expected, "");
    pl_decode_leave(d, mark);
}

void pl_decode_missing(pl_decoder *d, const char *key, const char *expected, const char *hint)
{
    size_t mark = pl_decode_enter(d, key);
    pl_decode_fault(d, "missing_key", "nothing", expected, hint);
    pl_decode_leave(d, mark);
}

/* ---- expected values ---- */

void pl_join_words(const char *const *words, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (; *words && at < size; words++) {
        int n = snprintf(out + at, size - at, "%s%s", at ? ", " : "", *words);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* ", > 0 and <= 1000" */
static void join_range(const pl_param *p, char *out, size_t size)
{
    int n = snprintf(out, size, "%s %.15g", p->above_minimum ? ">" : ">=", p->minimum);
    if (n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, " and <= %.15g", p->maximum);
}

/* "one of: rest, collapsed, or object with the keys random, twisted, stretched" */
static void expect_object(const pl_param *p, char *out, size_t size)
{
    char words[128] = "", keys[256];
    const char *names[33];
    size_t n = 0;
    for (; n < p->table->count && n < 32; n++)
        names[n] = p->table->params[n].key;
    names[n] = NULL;
    pl_join_words(names, keys, sizeof keys);
    if (p->choices)
        pl_join_words(p->choices, words, sizeof words);
    snprintf(out, size, "%s%s%sobject with keys among: %s", p->choices ? "one of: " : "", words,
             p->choices ? ", or " : "", keys);
}

void pl_param_expected(const pl_param *p, char *out, size_t size)
{
    char range[80], unit[48] = "", words[256] = "";
    join_range(p, range, sizeof range);
    if (p->unit && strcmp(p->unit, "1") != 0)
        snprintf(unit, sizeof unit, " in %s", p->unit);
    switch (p->kind) {
    case PL_PARAM_NUMBER:
        snprintf(out, size, "number%s, %s", unit, range);
        break;
    case PL_PARAM_INTEGER:
        snprintf(out, size, "integer, %s", range);
        break;
    case PL_PARAM_BOOLEAN:
        if (p->choices)
            pl_join_words(p->choices, words, sizeof words);
        snprintf(out, size, "true or false%s%s", p->choices ? ", or one of: " : "", words);
        break;
    case PL_PARAM_STRING:
        snprintf(out, size, "string of %.0f to %.0f bytes, no control characters", p->minimum,
                 p->maximum);
        break;
    case PL_PARAM_CHOICE:
        pl_join_words(p->choices, words, sizeof words);
        snprintf(out, size, "one of: %s", words);
        break;
    case PL_PARAM_VECTOR:
        snprintf(out, size, "array of %d numbers%s, each %s%s", pl_param_components(p), unit, range,
                 p->direction ? ", not all below 1e-9" : "");
        break;
    case PL_PARAM_COUNTS:
        snprintf(out, size, "array of %d integers, each %s", pl_param_components(p), range);
        break;
    case PL_PARAM_OBJECT:
        expect_object(p, out, size);
        break;
    case PL_PARAM_LIST:
    case PL_PARAM_MAP:
        snprintf(out, size, "%s, %.0f to %.0f (%s)",
                 p->kind == PL_PARAM_LIST ? "array of objects" : "object of objects by name",
                 p->minimum, p->maximum, p->table->name);
        break;
    case PL_PARAM_REFERENCE:
        snprintf(out, size, "a name out of %s", p->refers);
        break;
    case PL_PARAM_CUSTOM:
        if (p->maximum > p->minimum)
            snprintf(out, size, "%s%s, each %s", p->type, unit, range);
        else
            snprintf(out, size, "%s", p->type);
        break;
    }
}
