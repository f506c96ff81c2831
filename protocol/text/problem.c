#include "protocol/text/problem.h"

#include "protocol/text/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_faults_encode(pl_json_writer *w, const pl_faults *faults)
{
    pl_json_begin_array(w);
    for (size_t i = 0; i < faults->count; i++) {
        const pl_fault *f = &faults->items[i];
        pl_json_begin_object(w);
        pl_json_set_string(w, "pointer", f->pointer);
        pl_json_set_string(w, "code", f->code);
        pl_json_set_string(w, "got", f->got);
        pl_json_set_string(w, "expected", f->expected);
        pl_json_set_string(w, "hint", f->hint);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

void pl_faults_decode(const pl_json *array, int64_t total, pl_faults *faults)
{
    size_t count = pl_json_count(array);
    for (size_t i = 0; i < count && i < PL_FAULTS_MAX; i++) {
        const pl_json *f = pl_json_item(array, i);
        pl_faults_add(faults, pl_json_string(f, "pointer", ""), pl_json_string(f, "code", ""),
                      pl_json_string(f, "got", ""), pl_json_string(f, "expected", ""),
                      pl_json_string(f, "hint", ""));
    }
    if (total > 0 && (uint64_t)total > faults->total)
        faults->total = (size_t)total;
}

char *pl_problem_encode(int status, const char *code, const char *title, const char *detail,
                        const pl_faults *faults)
{
    pl_json_writer w = {0};
    char type[128];
    snprintf(type, sizeof type, "/problems/%s", code);
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "type", type);
    pl_json_set_string(&w, "title", title);
    pl_json_set_integer(&w, "status", status);
    pl_json_set_string(&w, "detail", detail ? detail : "");
    pl_json_key(&w, "faults");
    pl_faults_encode(&w, faults ? faults : &(pl_faults){0});
    if (faults && faults->total > faults->count)
        pl_json_set_integer(&w, "faults_total", (int64_t)faults->total);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

bool pl_problem_decode(const char *text, size_t length, int *status, char **title, char **detail,
                       pl_faults *faults)
{
    pl_json *document = pl_json_parse(text, length, NULL);
    bool is_problem = pl_json_string(document, "type", NULL) &&
                      pl_json_string(document, "title", NULL);
    if (is_problem) {
        *status = (int)pl_json_integer(document, "status", 0);
        *title = strdup(pl_json_string(document, "title", ""));
        *detail = strdup(pl_json_string(document, "detail", ""));
        pl_faults_decode(pl_json_at(document, "faults"),
                         pl_json_integer(document, "faults_total", 0), faults);
    }
    pl_json_free(document);
    return is_problem;
}

/* ---- nearest name ---- */

enum { NAME_MAX_COMPARED = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edit distance with insertion, deletion, replacement and the swap of two neighbours, each 1
 * (optimal string alignment); a, b of at most NAME_MAX_COMPARED bytes. */
static size_t edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][NAME_MAX_COMPARED + 1];
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= nb; j++)
        above[j] = j;
    for (size_t i = 1; i <= na; i++) {
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(replace, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *free_row = before;
        before = above;
        above = row;
        row = free_row;
    }
    return above[nb];
}

const char *pl_nearest(const char *name, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t length = strlen(name), best_distance = SIZE_MAX;
    if (length == 0 || length > NAME_MAX_COMPARED)
        return NULL;
    for (size_t k = 0; k < count; k++) {
        size_t known_length = strlen(known[k]);
        if (known_length > NAME_MAX_COMPARED)
            continue;
        size_t d = edit_distance(name, length, known[k], known_length);
        /* Near means 2 edits, or a third of a long name; never as many as the name has letters. */
        if (d < best_distance && (d <= 2 || d <= length / 3) && d < length) {
            best = known[k];
            best_distance = d;
        }
    }
    return best;
}
