#include "server/streams/probes.h"

#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "server/sessions/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_MAX = 100000, BYTES_MAX = 64 << 20 };

/* Lifetime: one request. */
typedef struct table {
    FILE *out; /* a growing text */
    char *text;
    size_t size;
    bool csv, headed;
    bool failed; /* an existing row could not be read */
} table;

/* Write a field of a line, quoted if necessary (RFC 4180). */
static void put_field(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"') {
            fputc('"', out);
        }
        fputc(*c, out);
    }
    fputc('"', out);
}

static void put_head(table *t, const pl_json *probes)
{
    const pl_json *value;
    fputs("frame,time", t->out);
    for (size_t i = 0; i < pl_json_count(probes); i++) {
        fputc(',', t->out);
        put_field(t->out, pl_json_member(probes, i, &value));
    }
    fputs("\r\n", t->out);
    t->headed = true;
}

/* Write a number as in the record; a missing one is an empty field. */
static void put_csv(table *t, const pl_json *metrics, const pl_json *probes)
{
    if (!t->headed) {
        put_head(t, probes);
    }
    fprintf(t->out, "%lld,%.17g", (long long)pl_json_integer(metrics, "frame", -1),
            pl_json_number(metrics, "time", 0));
    for (size_t i = 0; i < pl_json_count(probes); i++) {
        const pl_json *value;
        pl_json_member(probes, i, &value);
        if (pl_json_is_null(value)) {
            fputc(',', t->out);
        } else {
            fprintf(t->out, ",%.17g", pl_json_number(value, "", 0));
        }
    }
    fputs("\r\n", t->out);
}

static void put_line(table *t, const pl_json *metrics, const pl_json *probes)
{
    char *values = pl_json_dump(probes, false);
    fprintf(t->out, "{\"frame\":%lld,\"time\":%.17g,\"probes\":%s}\n",
            (long long)pl_json_integer(metrics, "frame", -1), pl_json_number(metrics, "time", 0),
            values ? values : "null");
    t->failed |= !values;
    free(values);
}

/* Write one frame's row; false if the table is full. A frame that is damaged or pruned has no row. */
static bool put_row(table *t, pl_log_reader *reader, int64_t frame)
{
    char *text;
    uint64_t length;
    pl_log_outcome outcome = pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length);
    if (outcome != PL_LOG_OK) {
        t->failed |= outcome == PL_LOG_ERROR && errno != EIO;
        return true;
    }
    pl_json *metrics = pl_json_parse(text, (size_t)length, NULL);
    t->failed |= !metrics && errno == ENOMEM;
    const pl_json *probes = pl_json_at(metrics, "probes");
    if (probes && t->csv) {
        put_csv(t, metrics, probes);
    } else if (probes) {
        put_line(t, metrics, probes);
    }
    pl_json_free(metrics);
    free(text);
    return ftell(t->out) < BYTES_MAX;
}

/* Reply with the rows of the existing frames of from..to. */
static void reply_rows(pl_request *r, pl_log_reader *reader, int64_t from, int64_t to,
                       int64_t limit, bool csv, bool settled)
{
    table t = {.csv = csv};
    t.out = open_memstream(&t.text, &t.size);
    if (!t.out) {
        pl_reply_problem(r, 500, "internal", "Internal error", "out of memory", NULL);
        return;
    }
    int64_t frames = pl_log_reader_refresh(reader), k = from;
    bool room = true;
    for (; room && !t.failed && k < frames && k <= to && k - from < limit; k++) {
        room = put_row(&t, reader, k);
    }
    t.failed |= ferror(t.out);
    if (fclose(t.out) != 0 || t.failed) {
        free(t.text);
        pl_reply_problem(r, 500, "internal", "Internal error",
                         "out of memory, or the log cannot be read", NULL);
        return;
    }
    pl_reply_header(r, "Pliant-Next", "%lld", (long long)k);
    pl_reply_settled_text(r, settled, csv ? "text/csv" : "application/x-ndjson", t.text, t.size);
}

void pl_handle_probes(pl_request *r)
{
    static const char *const types[] = {"text/csv", "application/x-ndjson", NULL};
    int64_t from, to, limit;
    int form = pl_request_accept(r, types);
    if (form < 0 || !pl_request_integer(r, "from", 0, INT64_MAX / 2, 0, &from) ||
        !pl_request_integer(r, "to", 0, INT64_MAX / 2, INT64_MAX / 2, &to) ||
        !pl_request_integer(r, "limit", 1, ROWS_MAX, ROWS_MAX, &limit)) {
        return;
    }
    pl_session *s = pl_request_session(r, PL_ACCESS_VIEW);
    if (!s) {
        return;
    }
    pl_log_reader *reader = NULL;
    bool settled = pl_state_terminal((pl_session_state)atomic_load(&s->state));
    int dir_fd = open(s->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || pl_log_reader_open(dir_fd, &reader) != PL_OK) {
        pl_reply_problem(r, 500, "internal", "Internal error", "the log cannot be opened", NULL);
    } else {
        reply_rows(r, reader, from, to, limit, form == 0, settled);
    }
    pl_log_reader_close(reader);
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    pl_session_release(s);
}
