#include "server/streams/buckets.h"

#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "server/streams/tail.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 256, NAME_SIZE = 128, DEPTH_MAX = 4 };

/* One of the records' numbers, in the present bucket. */
typedef struct column {
    char name[NAME_SIZE]; /* "energy/kinetic" */
    double least, greatest;
    bool seen;
} column;

typedef struct bucket {
    int64_t from, to, count; /* frames; count 0: none yet */
    column columns[COLUMNS_MAX];
    /* next: the column of the next number, because all records have the same layout */
    int column_count, next;
} bucket;

/* ---- reading ---- */

/* The column of a name; NULL: too many. */
static column *column_named(bucket *b, const char *name)
{
    for (int i = 0; i < b->column_count; i++) {
        int at = (b->next + i) % b->column_count;
        if (strcmp(b->columns[at].name, name) == 0) {
            b->next = at + 1;
            return &b->columns[at];
        }
    }
    if (b->column_count == COLUMNS_MAX) {
        return NULL;
    }
    column *c = &b->columns[b->column_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->seen = false;
    b->next = b->column_count;
    return c;
}

static void take_number(bucket *b, const char *name, double value)
{
    column *c = column_named(b, name);
    if (!c) {
        return;
    }
    c->least = c->seen ? fmin(c->least, value) : value;
    c->greatest = c->seen ? fmax(c->greatest, value) : value;
    c->seen = true;
}

/* Take every number inside a value, by its path. */
static void take_value(bucket *b, const pl_json *value, const char *path, int depth)
{
    double number = pl_json_number(value, "", NAN);
    if (!isnan(number)) {
        take_number(b, path, number);
        return;
    }
    for (size_t i = 0; depth < DEPTH_MAX && i < pl_json_count(value); i++) {
        char below[NAME_SIZE];
        const pl_json *item = pl_json_item(value, i);
        const char *key = item ? NULL : pl_json_member(value, i, &item);
        int n = key ? snprintf(below, sizeof below, "%s%s%s", path, *path ? "/" : "", key)
                    : snprintf(below, sizeof below, "%s/%zu", path, i);
        bool listed = key && strcmp(key, "iterations_detail") == 0;
        if (n < (int)sizeof below && !listed) {
            take_value(b, item, below, depth + 1);
        }
    }
}

/* False without memory. */
static bool take_record(bucket *b, int64_t frame, const char *text, uint64_t length)
{
    pl_json *record = pl_json_parse(text, (size_t)length, NULL);
    bool starved = !record && errno == ENOMEM;
    if (record) {
        b->from = b->count > 0 ? b->from : frame;
        b->to = frame;
        b->count++;
        take_value(b, record, "", 0);
    }
    pl_json_free(record);
    return !starved;
}

/* Take the frame's numbers, if it has some; false if that is unknown. */
static bool take_frame(bucket *b, pl_log_reader *reader, int64_t frame)
{
    char *text;
    uint64_t length;
    pl_log_outcome outcome = pl_log_read(reader, frame, PL_LOG_METRICS, &text, &length);
    if (outcome != PL_LOG_OK) {
        return outcome != PL_LOG_ERROR || errno == EIO;
    }
    bool good = take_record(b, frame, text, length);
    free(text);
    return good;
}

/* ---- writing ---- */

static void put_extremes(pl_json_writer *w, const bucket *b, const char *key, bool greatest)
{
    pl_json_key(w, key);
    pl_json_begin_object(w);
    for (int i = 0; i < b->column_count; i++) {
        const column *c = &b->columns[i];
        if (c->seen) {
            pl_json_key(w, c->name);
            pl_json_put_number(w, greatest ? c->greatest : c->least, 9);
        }
    }
    pl_json_end_object(w);
}

/* Write the bucket's line, and empty the bucket. */
static bool put_bucket(FILE *out, bucket *b)
{
    if (b->count == 0) {
        return true;
    }
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "from", b->from);
    pl_json_set_integer(&w, "to", b->to);
    pl_json_set_integer(&w, "count", b->count);
    put_extremes(&w, b, "min", false);
    put_extremes(&w, b, "max", true);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    bool good = text && fprintf(out, "%s\n", text) >= 0;
    free(text);
    b->count = 0;
    for (int i = 0; i < b->column_count; i++) {
        b->columns[i].seen = false;
    }
    return good;
}

/* Write frames from..to in `buckets` pieces of nearly equal numbers of frames. */
static bool put_all(FILE *out, pl_log_reader *reader, int64_t from, int64_t to, int64_t buckets)
{
    int64_t n = to - from + 1, stride = (n + PL_BUCKET_RECORDS_MAX - 1) / PL_BUCKET_RECORDS_MAX;
    bucket *b = calloc(1, sizeof *b);
    bool good = b &&
                fprintf(out, "{\"event\":\"hello\",\"from\":%lld,\"to\":%lld,\"every\":%lld}\n",
                        (long long)from, (long long)to, (long long)(n > 0 ? stride : 1)) > 0;
    int64_t piece = 0;
    for (int64_t k = from; good && k <= to; k += stride) {
        int64_t of = (int64_t)((double)(k - from) * (double)buckets / (double)n);
        if (of != piece) {
            good = put_bucket(out, b);
            piece = of;
        }
        good = good && take_frame(b, reader, k);
    }
    good = good && put_bucket(out, b) && fprintf(out, "{\"event\":\"end\"}\n") > 0;
    free(b);
    return good;
}

void pl_reply_buckets(pl_request *r, pl_session *session, int64_t buckets)
{
    int64_t from, to;
    pl_log_reader *reader = NULL;
    bool settled = pl_state_terminal((pl_session_state)atomic_load(&session->state));
    if (!pl_request_integer(r, "from", 0, INT64_MAX, 0, &from) ||
        !pl_request_integer(r, "to", 0, INT64_MAX, INT64_MAX, &to)) {
        return;
    }
    if (!pl_session_log_open(session, &reader)) {
        pl_reply_problem(r, errno == ENOENT ? 410 : 503, errno == ENOENT ? "storage_lost" : "busy",
                         errno == ENOENT ? "Gone" : "Busy", "the session's log cannot be opened",
                         NULL);
        return;
    }
    int64_t frames = pl_log_reader_refresh(reader), first = pl_log_reader_first(reader);
    from = from > first ? from : first;
    to = to < frames ? to : frames - 1;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool good = out && put_all(out, reader, from, to, buckets);
    good = out && fclose(out) == 0 && good;
    pl_log_reader_close(reader);
    if (!good) {
        free(text);
        pl_reply_empty(r, 500);
        return;
    }
    pl_reply_settled_text(r, settled, "application/x-ndjson", text, size);
}
