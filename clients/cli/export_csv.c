/* The metrics as a table: a row a frame, a column for each number of the first record. */
#include "clients/cli/exporter.h"

#include "protocol/json.h"

#include <errno.h>
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
    pl_exporter *e;
    pl_outfile file;
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

/* A text without its quotes, null as nothing. */
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

static void flatten(row *r, const char *name, const pl_json *value)
{
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

/* The value of the column: most often where it was in the first record. */
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
    for (size_t i = 0; i < t->head.count; i++) {
        if (i > 0)
            pl_outfile_write(&t->file, ",", 1);
        pl_outfile_csv_text(&t->file,
                            r ? find(r, i, t->head.cells[i].name) : t->head.cells[i].name);
    }
    pl_outfile_write(&t->file, "\r\n", 2);
}

static bool take_line(void *context, const char *line, size_t length)
{
    table *t = context;
    pl_exporter *e = t->e;
    pl_json *record = pl_json_parse(line, length, NULL);
    int64_t frame = pl_json_integer(record, "frame", -1);
    if (frame > e->last) {
        pl_json_free(record);
        return false;
    }
    row r = {0};
    if (frame >= e->first && (frame - e->first) % e->every == 0) {
        flatten(&r, "", record);
        if (t->rows == 0) {
            t->head = r;
            write_row(t, NULL);
        }
        if (!r.failed)
            write_row(t, &r);
        if (r.failed)
            pl_export_fail_memory(e);
        if (t->rows++ > 0)
            clear_row(&r);
    }
    pl_json_free(record);
    return e->status == PL_EXIT_OK;
}

int pl_export_csv(pl_exporter *e)
{
    table t = {.e = e};
    if (pl_outfile_open(&t.file, e->path) != PL_OK) {
        pl_export_fail_file(e, e->path);
        return e->status;
    }
    int status = pl_session_source_metrics(&e->source, e->first, take_line, &t);
    status = status == PL_EXIT_OK ? e->status : status;
    if (status != PL_EXIT_OK) {
        pl_outfile_abandon(&t.file);
    } else if (pl_outfile_commit(&t.file) != PL_OK) {
        pl_export_fail_file(e, e->path);
        status = e->status;
    }
    clear_row(&t.head);
    return status;
}
