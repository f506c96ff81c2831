#include "engine/linear/panels.h"

#include "engine/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Cost of a panel beside its numbers, in numbers of L: of the panel itself, and of each of its rows below. */
enum { PANEL_COST = 25, ROW_COST = 3 };
/* Number of parts below the top, and so of threads with work there. More parts have a larger top above them: with
 * two it holds a tenth to a sixth of the numbers, with eight two fifths. Below this many numbers of L, a solve ends
 * before a second thread has gained anything. */
enum { PARTS = 2, PARTS_FROM = 500000 };

void pl_panels_clear(pl_panels *f)
{
    free(f->panel);
    free(f->part);
    free(f->column);
    free(f->row);
    free(f->value);
    free(f->order);
    *f = (pl_panels){0};
}

/* Memory for zero or more numbers, aligned to 64 bytes. */
static double *aligned(int64_t count)
{
    return aligned_alloc(64, ((size_t)count * sizeof(double) + 127) / 64 * 64);
}

static int64_t numbers(const pl_panel *p)
{
    return (int64_t)p->width * (p->width + 1) / 2 + (int64_t)p->rows * p->width;
}

/* Panels in L's own order. Column j joins the panel before it if it is the parent of that panel's last column, so
 * that its structure is all of the panel's, and if the zeros cost less than a panel of its own. */
static void cut(const pl_columns *L, pl_panels *f)
{
    pl_panel *p = f->panel - 1;
    for (int64_t j = 0; j < L->n; j++) {
        int32_t rows = L->count[j] - 1;
        bool joins = j > 0 && p->width < PL_PANEL && p->rows > 0 &&
                     L->row[L->row_at[j - 1] + 1] == j;
        int64_t zeros = joins ? (int64_t)p->width * (1 + rows - p->rows) : 0;
        if (joins && zeros <= PANEL_COST + (int64_t)ROW_COST * p->rows) {
            p->width++;
            p->rows = rows;
        } else {
            *++p = (pl_panel){.column = (int32_t)j, .width = 1, .rows = rows};
        }
    }
    f->panel_count = p + 1 - f->panel;
}

/* The panel that contains the next entry of panel i's last column: its parent in the elimination tree; -1 for a
 * root. */
static int64_t parent_of(const pl_columns *L, const pl_panels *f, const int32_t *panel_of,
                         int64_t i)
{
    const pl_panel *p = &f->panel[i];
    return p->rows > 0 ? panel_of[L->row[L->row_at[p->column + p->width - 1] + 1]] : -1;
}

/* Assigns panels to parts: subtrees of at most total / PARTS numbers, each given to the part that has least; PARTS
 * is the top. If parts do not pay off, all is top. */
static void assign(const pl_columns *L, const pl_panels *f, const int32_t *panel_of,
                   int64_t *weight, int8_t *part)
{
    enum { ROOT = -1, INSIDE = -2 };
    int64_t total = 0, given[PARTS] = {0};
    for (int64_t i = 0; i < f->panel_count; i++)
        total += weight[i] = numbers(&f->panel[i]);
    for (int64_t i = 0; i < f->panel_count; i++) {
        int64_t parent = parent_of(L, f, panel_of, i);
        if (parent >= 0)
            weight[parent] += weight[i];
    }
    int64_t limit = total < PARTS_FROM ? -1 : total / PARTS;
    for (int64_t i = f->panel_count - 1; i >= 0; i--) {
        int64_t parent = parent_of(L, f, panel_of, i);
        part[i] = weight[i] > limit ? PARTS : parent >= 0 && part[parent] < PARTS ? INSIDE : ROOT;
    }
    for (int64_t i = 0; i < f->panel_count; i++) {
        if (part[i] != ROOT)
            continue;
        int8_t least = 0;
        for (int8_t t = 1; t < PARTS; t++)
            if (given[t] < given[least])
                least = t;
        part[i] = least;
        given[least] += weight[i];
    }
    for (int64_t i = f->panel_count - 1; i >= 0; i--)
        if (part[i] == INSIDE)
            part[i] = part[parent_of(L, f, panel_of, i)];
}

/* Orders panels by part, each part in order, and renumbers columns in that order. */
static pl_status arrange(const pl_columns *L, pl_panels *f, const int8_t *part, int32_t *renumber)
{
    pl_panel *sorted = malloc((size_t)f->panel_count * sizeof *sorted);
    if (!sorted)
        return PL_NO_MEMORY;
    int64_t at = 0, column = 0;
    for (int t = 0; t <= PARTS; t++) {
        int64_t first = at, first_column = column;
        for (int64_t i = 0; i < f->panel_count; i++) {
            pl_panel p = f->panel[i];
            if (part[i] != t)
                continue;
            for (int32_t k = 0; k < p.width; k++)
                renumber[p.column + k] = (int32_t)column++;
            sorted[at++] = p;
        }
        if (at > first || t == PARTS) {
            f->part[f->part_count] = first;
            f->column[f->part_count++] = first_column;
        }
    }
    f->part[f->part_count] = at;
    f->column[f->part_count] = column;
    memcpy(f->panel, sorted, (size_t)f->panel_count * sizeof *sorted);
    free(sorted);
    return PL_OK;
}

/* T <- T^-1 for the lower triangle T [w (w + 1) / 2] by rows. */
static void invert(double *T, int32_t w)
{
    for (int32_t i = 0; i < w; i++) {
        double *row = T + i * (i + 1) / 2, inverse[PL_PANEL];
        for (int32_t j = 0; j < i; j++) {
            double sum = 0;
            for (int32_t k = j; k < i; k++)
                sum += row[k] * T[k * (k + 1) / 2 + j];
            inverse[j] = -sum / row[i];
        }
        for (int32_t j = 0; j < i; j++)
            row[j] = inverse[j];
        row[i] = 1 / row[i];
    }
}

/* Rows and numbers of a panel, from its columns' in L. */
static void fill(const pl_columns *L, pl_panels *f, pl_panel *p, int64_t end,
                 const int32_t *renumber)
{
    int32_t w = p->width, column = p->column;
    double *T = f->value + p->value, *below = T + w * (w + 1) / 2;
    int64_t last = column + w - 1;
    const int32_t *row = L->row + L->row_at[last] + 1;
    memset(T, 0, (size_t)numbers(p) * sizeof *T);
    for (int32_t k = 0; k < w; k++) {
        const int32_t *r = L->row + L->row_at[column + k];
        const double *v = L->value + L->value_at[column + k];
        int32_t i = 0;
        for (int32_t e = 0; e < L->count[column + k]; e++) {
            if (r[e] <= last) {
                int32_t q = r[e] - column;
                T[q * (q + 1) / 2 + k] = v[e];
                continue;
            }
            while (row[i] < r[e])
                i++;
            below[(int64_t)i * w + k] = v[e];
        }
    }
    invert(T, w);
    p->own = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        f->row[p->row + i] = renumber[row[i]];
        p->own += renumber[row[i]] < end;
    }
    p->column = renumber[column];
}

static pl_status build(const pl_columns *L, pl_panels *f, int32_t *renumber, int32_t *panel_of,
                       int64_t *weight, int8_t *part)
{
    cut(L, f);
    for (int64_t i = 0; i < f->panel_count; i++)
        for (int32_t k = 0; k < f->panel[i].width; k++)
            panel_of[f->panel[i].column + k] = (int32_t)i;
    assign(L, f, panel_of, weight, part);
    pl_status status = arrange(L, f, part, renumber);
    if (status != PL_OK)
        return status;
    for (int64_t i = 0; i < f->panel_count; i++) {
        f->panel[i].row = f->row_count;
        f->panel[i].value = f->value_count;
        f->row_count += f->panel[i].rows;
        f->value_count += numbers(&f->panel[i]);
    }
    f->row = malloc((size_t)(f->row_count + 1) * sizeof *f->row);
    f->value = aligned(f->value_count);
    if (!f->row || !f->value)
        return PL_NO_MEMORY;
    for (int64_t t = 0; t < f->part_count; t++)
        for (int64_t i = f->part[t]; i < f->part[t + 1]; i++)
            fill(L, f, &f->panel[i], f->column[t + 1], renumber);
    for (int64_t j = 0; j < L->n; j++)
        f->order[renumber[j]] = L->order[j];
    return PL_OK;
}

pl_status pl_panels_create(const pl_columns *L, pl_panels *out)
{
    size_t n = (size_t)L->n;
    pl_panels f = {.n = L->n};
    f.panel = malloc(n * sizeof *f.panel);
    f.part = malloc((PARTS + 2) * sizeof *f.part);
    f.column = malloc((PARTS + 2) * sizeof *f.column);
    f.order = malloc(n * sizeof *f.order);
    int32_t *renumber = malloc(n * sizeof *renumber), *panel_of = malloc(n * sizeof *panel_of);
    int64_t *weight = malloc(n * sizeof *weight);
    int8_t *part = malloc(n);
    pl_status status = PL_NO_MEMORY;
    if (f.panel && f.part && f.column && f.order && renumber && panel_of && weight && part)
        status = build(L, &f, renumber, panel_of, weight, part);
    free(renumber);
    free(panel_of);
    free(weight);
    free(part);
    if (status != PL_OK)
        pl_panels_clear(&f);
    *out = f;
    return status;
}

/* y [n][4], and a copy of the top's rows for each part below it. */
int64_t pl_panels_work(const pl_panels *f)
{
    int64_t top = f->n - f->column[f->part_count - 1];
    return 4 * (f->n + (f->part_count - 1) * top);
}

static void permute_in(const pl_panels *f, const double *b, double *y, int64_t i0, int64_t i1)
{
    for (int64_t i = i0; i < i1; i++) {
        int64_t from = f->order[i];
        for (int k = 0; k < 3; k++)
            y[4 * i + k] = b[k * f->n + from];
        y[4 * i + 3] = 0;
    }
}

static void permute_out(const pl_panels *f, const double *y, double *x, int64_t i0, int64_t i1)
{
    for (int64_t i = i0; i < i1; i++) {
        int64_t to = f->order[i];
        for (int k = 0; k < 3; k++)
            x[k * f->n + to] = y[4 * i + k];
    }
}

static const pl_panels_ops *ops_now(void)
{
    static const pl_panels_ops *const OPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_panels_ops);
    return OPS[pl_isa_current()];
}

void pl_panels_solve3(const pl_panels *f, double *work, int32_t threads, const double *b, double *x)
{
    const pl_panels_ops *ops = ops_now();
    int64_t last = f->part_count - 1, first = f->column[last], rows = f->n - first;
    double *y = work;
    threads = last < 2 || threads < 1 ? 1 : threads < last ? threads : (int32_t)last;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < last; t++) {
            double *top = work + 4 * (f->n + t * rows);
            memset(top, 0, (size_t)(4 * rows) * sizeof *top);
            permute_in(f, b, y, f->column[t], f->column[t + 1]);
            ops->forward(f, f->part[t], f->part[t + 1], y, top);
        }
#pragma omp single
        {
            permute_in(f, b, y, first, f->n);
            for (int64_t t = 0; t < last; t++) {
                const double *top = work + 4 * (f->n + t * rows);
                for (int64_t i = 0; i < 4 * rows; i++)
                    y[4 * first + i] += top[i];
            }
            ops->forward(f, f->part[last], f->panel_count, y, y + 4 * first);
            ops->backward(f, f->part[last], f->panel_count, y);
            permute_out(f, y, x, first, f->n);
        }
#pragma omp for schedule(dynamic)
        for (int64_t t = 0; t < last; t++) {
            ops->backward(f, f->part[t], f->part[t + 1], y);
            permute_out(f, y, x, f->column[t], f->column[t + 1]);
        }
    }
}
