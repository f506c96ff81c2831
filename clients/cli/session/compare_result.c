#include "clients/cli/session/compare_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pl_compare_result_init(pl_compare_result *r, int32_t count, int32_t references,
                            const char *const *labels)
{
    *r = (pl_compare_result){.count = count,
                             .references = references,
                             .approach = -1,
                             .current = -1,
                             .reference = -1,
                             .best = NAN,
                             .start = NAN};
    r->entries = calloc((size_t)count + 1, sizeof *r->entries);
    for (int32_t k = 0; r->entries && k < count; k++)
        r->entries[k].label = labels[k];
    return r->entries != NULL;
}

void pl_compare_result_clear(pl_compare_result *r)
{
    for (int32_t k = 0; r->entries && k < r->count; k++)
        free(r->entries[k].objective); /* the first of one block */
    free(r->entries);
    *r = (pl_compare_result){0};
}

/* ---- lines ---- */

/* All columns are one block. */
static bool make_rows(pl_compared *c, int64_t count)
{
    double **columns[] = {&c->objective, &c->gradient_norm, &c->decrement,
                          &c->index,     &c->time,          &c->error};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    double *block = calloc((size_t)(COLUMNS * count) + 1, sizeof *block);
    if (!block || c->objective)
        return free(block), false;
    for (int i = 0; i < COLUMNS; i++)
        *columns[i] = block + i * count;
    c->count = count;
    return true;
}

static void take_done(pl_compared *c, const pl_json *line)
{
    const pl_json *rows = pl_json_at(line, "rows");
    int64_t count = (int64_t)pl_json_count(rows);
    if (count == 0 || !make_rows(c, count)) {
        c->state = PL_COMPARED_FAILED;
        snprintf(c->reason, sizeof c->reason, "it recorded no iteration");
        return;
    }
    c->state = PL_COMPARED_DONE;
    c->ms = pl_json_number(line, "ms", NAN);
    c->setup_ms = pl_json_number(line, "setup_ms", NAN);
    c->touches = pl_json_integer(line, "contact_pairs", 0) > 0;
    for (int64_t i = 0; i < count; i++) {
        const pl_json *row = pl_json_item(rows, (size_t)i);
        c->objective[i] = pl_json_number(row, "0", NAN);
        c->gradient_norm[i] = pl_json_number(row, "1", NAN);
        c->decrement[i] = pl_json_number(row, "2", NAN);
        c->time[i] = pl_json_number(row, "3", NAN);
        c->index[i] = (double)i;
        c->error[i] = NAN;
    }
    /* Recording measures quantities that the method does not need. The time reported is that of the run without
     * recording, distributed over the iterations in proportion to the recorded times. */
    double recorded = c->time[count - 1];
    for (int64_t i = 0; i < count && recorded > 0; i++)
        c->time[i] *= c->ms / recorded;
}

static void report_faults(const pl_json *faults, char *out, size_t size)
{
    const pl_json *first = pl_json_item(faults, 0);
    const char *hint = pl_json_string(first, "hint", "");
    snprintf(out, size, "%s: got %s, expected %s%s%s", pl_json_string(first, "pointer", ""),
             pl_json_string(first, "got", ""), pl_json_string(first, "expected", ""),
             *hint ? "; " : "", hint);
}

static void report_failure(const pl_json *line, char *out, size_t size)
{
    snprintf(out, size, "%s: %s %s", pl_json_string(line, "code", ""),
             pl_json_string(line, "message", ""), pl_json_string(line, "advice", ""));
}

void pl_compare_result_take(pl_compare_result *r, const char *text, size_t length)
{
    pl_json *line = pl_json_parse(text, length, NULL);
    const char *event = pl_json_string(line, "event", "");
    int64_t k = pl_json_integer(line, "entry", -1);
    pl_compared *c = k >= 0 && k < r->count ? &r->entries[k] : NULL;
    char *reason = c ? c->reason : r->trouble;
    if (strcmp(event, "approach") == 0) {
        r->approach = pl_json_integer(line, "step", 0);
        r->approach_of = pl_json_integer(line, "of", 0);
    } else if (strcmp(event, "begin") == 0) {
        r->current = (int32_t)k;
    } else if (strcmp(event, "refused") == 0) {
        report_faults(pl_json_at(line, "faults"), reason, sizeof r->trouble);
        if (c)
            c->state = PL_COMPARED_REFUSED;
    } else if (strcmp(event, "failed") == 0) {
        report_failure(line, reason, sizeof r->trouble);
        if (c)
            c->state = PL_COMPARED_FAILED;
    } else if (strcmp(event, "done") == 0 && c) {
        take_done(c, line);
    } else if (strcmp(event, "end") == 0) {
        r->ended = true;
    }
    pl_json_free(line);
}

/* ---- errors ---- */

static double last_objective(const pl_compared *c)
{
    for (int64_t i = c->count - 1; i >= 0; i--)
        if (isfinite(c->objective[i]))
            return c->objective[i];
    return NAN;
}

bool pl_compare_result_settle(pl_compare_result *r, bool obstacles)
{
    for (int32_t k = 0; k < r->count; k++)
        r->touches = r->touches || r->entries[k].touches;
    const bool hard = obstacles || r->touches;
    for (int32_t k = r->references; k < r->count; k++)
        if (r->entries[k].state == PL_COMPARED_DONE) {
            r->reference = k;
            r->best = last_objective(&r->entries[k]);
            r->start = r->entries[k].objective[0];
        }
    if (r->reference < 0 || !isfinite(r->best) || !isfinite(r->start))
        return false;
    for (int32_t k = 0; !hard && k < r->references; k++)
        for (int64_t i = 0; i < r->entries[k].count; i++)
            if (r->entries[k].objective[i] < r->best)
                r->best = r->entries[k].objective[i];
    double scale = fabs(r->start - r->best);
    for (int32_t k = 0; k < r->count; k++)
        for (int64_t i = 0; i < r->entries[k].count; i++)
            r->entries[k].error[i] = fabs(r->entries[k].objective[i] - r->best) / scale;
    return scale > 0;
}

int64_t pl_compared_reach(const pl_compared *c, double error)
{
    int64_t first = -1;
    for (int64_t i = 0; i < c->count; i++)
        if (c->error[i] > error)
            first = -1;
        else if (first < 0 && c->error[i] <= error)
            first = i;
    return first;
}
