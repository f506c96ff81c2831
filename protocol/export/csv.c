/* The metrics as a table: one row per frame, one column for each number of the first record. */
#include "protocol/export/exporter.h"

#include "protocol/text/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a record under names like "energy.kinetic" and "momentum.linear.0". */
typedef struct cell {
    char *name, *text;
} cell;
typedef struct row {
    cell *cells;
    size_t count, capacity;
    bool failed;
} row;

typedef struct table {
    pl_export *e;
    row head;
    int64_t rows;
} table;

static void clear_row(row *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->cells[i].name);
        free(r->cells[i].text);
    }
    free(r->cells);
    *r = (row){0};
}

static void add_cell(row *r, const char *name, char *text)
{
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 32;
        cell *grown = realloc(r->cells, capacity * sizeof *grown);
        r->failed |= !grown;
        if (!grown) {
            free(text);
            return;
        }
        r->cells = grown;
        r->capacity = capacity;
    }
    r->cells[r->count] = (cell){strdup(name), text};
    r->failed |= !r->cells[r->count].name;
    r->count++;
}

/* A text without its quotes, null as an empty field. */
static void add_value(row *r, const char *name, char *text)
{
    size_t n = strlen(text);
    if (strcmp(text, "null") == 0) {
        text[0] = 0;
    } else if (n >= 2 && text[0] == '"') {
        memmove(text, text + 1, n - 2);
        text[n - 2] = 0;
    }
    add_cell(r, name, text);
}

/* A list whose items change from row to row cannot be a column. */
static bool varies(const char *name)
{
    return strcmp(name, "contact.forces") == 0;
}

static void flatten(row *r, const char *name, const pl_json *value)
{
    if (varies(name))
        return;
    char *text = pl_json_dump(value, false);
    r->failed |= !text;
    if (!text)
        return;
    if (text[0] != '{' && text[0] != '[') {
        add_value(r, name, text);
        return;
    }
    bool object = text[0] == '{';
    free(text);
    for (size_t i = 0; i < pl_json_count(value); i++) {
        const pl_json *member = NULL;
        char *inner = NULL;
        const char *key = object ? pl_json_member(value, i, &member) : NULL;
        const char *dot = *name ? "." : "";
        if (!object)
            member = pl_json_item(value, i);
        int n = object ? asprintf(&inner, "%s%s%s", name, dot, key)
                       : asprintf(&inner, "%s%s%zu", name, dot, i);
        if (n < 0) {
            r->failed = true;
            return;
        }
        flatten(r, inner, member);
        free(inner);
    }
}

/* The value of the column: usually at the same place as in the first record. */
static const char *find(const row *r, size_t column, const char *name)
{
    for (size_t k = 0; k < r->count; k++) {
        const cell *c = &r->cells[(column + k) % r->count];
        if (strcmp(c->name, name) == 0)
            return c->text;
    }
    return "";
}

static void write_row(table *t, const row *r)
{
    pl_outlet *out = &t->e->out;
    for (size_t i = 0; i < t->head.count; i++) {
        if (i > 0)
            pl_outlet_put(out, ",", 1);
        pl_outlet_csv_text(out, r ? find(r, i, t->head.cells[i].name) : t->head.cells[i].name);
    }
    pl_outlet_put(out, "\r\n", 2);
}

static bool put_record(table *t, const char *text, size_t length)
{
    pl_json *record = pl_json_parse(text, length, NULL);
    row r = {.failed = !record && errno == ENOMEM};
    flatten(&r, "", record);
    pl_json_free(record);
    bool first = t->rows++ == 0, good = !r.failed;
    if (first)
        t->head = r;
    if (good && first)
        write_row(t, NULL);
    if (good)
        write_row(t, &r);
    if (!first)
        clear_row(&r);
    return good || pl_export_no_memory(t->e);
}

/* A damaged record is left out, like a frame of a series. */
static bool put_rows(table *t)
{
    pl_export *e = t->e;
    for (int64_t i = 0; i < e->count; i++) {
        char *text;
        uint64_t length;
        pl_log_outcome outcome = pl_log_read(e->reader, e->frames[i], PL_LOG_METRICS, &text,
                                             &length);
        if (outcome == PL_LOG_ERROR)
            return pl_export_fail(e, PL_EXPORT_UNREADABLE,
                                  "metrics of frame %" PRId64 " cannot be read: %s", e->frames[i],
                                  strerror(errno));
        if (outcome != PL_LOG_OK)
            continue;
        bool good = put_record(t, text, (size_t)length);
        free(text);
        if (!good || !pl_export_going(e))
            return false;
    }
    return true;
}

static bool write_csv(pl_export *e)
{
    table t = {.e = e};
    bool good = put_rows(&t);
    clear_row(&t.head);
    return good;
}

const pl_export_kind pl_export_kind_csv = {
    .about = {"csv", "text/csv"},
    .metrics = true,
    .run = write_csv,
};
