#include "engine/contact/rows.h"

#include "engine/contact/row_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least number of rows for a second thread. */
enum { PARALLEL = 512 };
/* Penalties, relative to the stiffness of the vertices. With 3 and with 30, quasi-Newton takes a fifth more
 * iterations on a stack of four blocks that lands. */
static const double HARD = 10;
/* Maximum number of meetings, after the first, that double a penalty. */
enum { DOUBLINGS = 10 };

/* ---- lists ---- */

pl_status pl_contact_rows_init(pl_contact_rows *rows, int32_t scene_vertices)
{
    *rows = (pl_contact_rows){.scene_vertices = scene_vertices};
    rows->place = malloc(((size_t)scene_vertices + 1) * sizeof *rows->place);
    for (int64_t i = 0; rows->place && i < scene_vertices; i++)
        rows->place[i] = -1;
    return rows->place ? PL_OK : PL_NO_MEMORY;
}

static void clear_lists(pl_contact_rows *rows)
{
    void *lists[] = {rows->vertex, rows->first,  rows->entry,
                     rows->pull,   rows->energy, rows->gradient};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    rows->vertex = NULL;
    rows->first = rows->entry = NULL;
    rows->pull = rows->energy = rows->gradient = NULL;
    rows->room = 0;
}

void pl_contact_rows_clear(pl_contact_rows *rows)
{
    clear_lists(rows);
    free(rows->row);
    free(rows->place);
    *rows = (pl_contact_rows){0};
}

static bool make_room(pl_contact_rows *rows, int64_t count)
{
    if (count <= rows->room)
        return true;
    clear_lists(rows);
    size_t n = 2 * (size_t)count;
    rows->vertex = malloc((4 * n + 1) * sizeof *rows->vertex);
    rows->first = malloc((4 * n + 2) * sizeof *rows->first);
    rows->entry = malloc((4 * n + 1) * sizeof *rows->entry);
    rows->pull = malloc((3 * n + 1) * sizeof *rows->pull);
    rows->energy = malloc((n + 1) * sizeof *rows->energy);
    rows->gradient = malloc((12 * n + 1) * sizeof *rows->gradient);
    if (!rows->vertex || !rows->first || !rows->entry || !rows->pull || !rows->energy ||
        !rows->gradient) {
        clear_lists(rows);
        return false;
    }
    rows->room = (int64_t)n;
    return true;
}

static int by_number(const void *a, const void *b)
{
    int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    return (i > j) - (i < j);
}

/* Lists the vertices of all rows, ascending, each once. */
static void list_vertices(pl_contact_rows *rows)
{
    int64_t count = 0;
    for (int64_t r = 0; r < rows->count; r++)
        for (int k = 0; k < 4; k++) {
            int32_t v = rows->row[r].pair.vertex[k];
            if (v < 0 || rows->place[v] >= 0)
                continue;
            rows->place[v] = 0;
            rows->vertex[count++] = v;
        }
    qsort(rows->vertex, (size_t)count, sizeof *rows->vertex, by_number);
    for (int64_t i = 0; i < count; i++)
        rows->place[rows->vertex[i]] = (int32_t)i;
    rows->touched = count;
}

static void list_entries(pl_contact_rows *rows)
{
    memset(rows->first, 0, (size_t)(rows->touched + 2) * sizeof *rows->first);
    for (int64_t r = 0; r < rows->count; r++)
        for (int k = 0; k < 4; k++)
            if (rows->row[r].pair.vertex[k] >= 0)
                rows->first[rows->place[rows->row[r].pair.vertex[k]] + 2]++;
    for (int64_t i = 0; i < rows->touched; i++)
        rows->first[i + 2] += rows->first[i + 1];
    for (int64_t r = 0; r < rows->count; r++)
        for (int k = 0; k < 4; k++)
            if (rows->row[r].pair.vertex[k] >= 0)
                rows->entry[rows->first[rows->place[rows->row[r].pair.vertex[k]] + 1]++] = 4 * r +
                                                                                           k;
}

static void set_penalties(pl_contact_rows *rows, const double *give)
{
    double *sum = rows->gradient; /* of |w| over a vertex's rows, over W */
    for (int64_t i = 0; i < rows->touched; i++) {
        sum[i] = 0;
        for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
            sum[i] += fabs(rows->row[rows->entry[e] / 4].pair.weight[rows->entry[e] % 4]);
        sum[i] *= give[rows->vertex[i]];
    }
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_pair *p = &rows->row[r].pair;
        double all = 0;
        for (int k = 0; k < 4 && p->vertex[k] >= 0; k++)
            all += fabs(p->weight[k]) * sum[rows->place[p->vertex[k]]];
        int again = rows->row[r].meetings - 1;
        again = again < 0 ? 0 : again < DOUBLINGS ? again : DOUBLINGS;
        rows->row[r].stiffness = all > 0 ? ldexp(HARD / all, again) : 0;
    }
}

pl_status pl_contact_rows_set(pl_contact_rows *rows, pl_contact_row *row, int64_t count,
                              const double *give)
{
    for (int64_t i = 0; i < rows->touched; i++)
        rows->place[rows->vertex[i]] = -1;
    free(rows->row);
    rows->touched = 0;
    rows->row = row;
    rows->count = count;
    if (count > 0 && !make_room(rows, count)) {
        rows->count = 0;
        return PL_NO_MEMORY;
    }
    if (count > 0) {
        list_vertices(rows);
        list_entries(rows);
        set_penalties(rows, give);
    }
    return PL_OK;
}

/* ---- the law ---- */

/* r = sum w_a x_a, computed from differences, because the weights sum to 0. */
static void offset_of(const pl_contact_pair *p, const double *x, double r[3])
{
    const double *origin = x + 3 * (int64_t)p->vertex[0];
    r[0] = r[1] = r[2] = 0;
    for (int k = 1; k < 4 && p->vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            r[c] += p->weight[k] * (x[3 * (int64_t)p->vertex[k] + c] - origin[c]);
}

static pl_row_law law_of(const pl_contact_row *row)
{
    return (pl_row_law){.normal = row->pair.normal,
                        .start = row->start,
                        .grip = row->grip,
                        .distance = row->distance,
                        .stiffness = row->stiffness,
                        .force = row->force,
                        .bound = row->bound};
}

void pl_contact_row_slip(const pl_contact_row *row, const double *x, double slip[3])
{
    double r[3];
    offset_of(&row->pair, x, r);
    pl_row_slip(row->pair.normal, row->start, r, slip);
}

static pl_row_state state_at(const pl_contact_row *row, const double *x)
{
    const pl_row_law law = law_of(row);
    double r[3];
    offset_of(&row->pair, x, r);
    return pl_row_at(&law, r);
}

/* U and dU/dr. */
static double evaluate(const pl_contact_row *row, const double *x, double pull[3])
{
    double r[3];
    offset_of(&row->pair, x, r);
    return pl_contact_row_pull_at(row, r, pull);
}

/* gradient = C^T pull at a touched vertex. */
static void gather(pl_contact_rows *rows, int64_t i)
{
    double f[3] = {0};
    for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++) {
        int64_t r = rows->entry[e] / 4;
        double w = rows->row[r].pair.weight[rows->entry[e] % 4];
        for (int c = 0; c < 3; c++)
            f[c] += w * rows->pull[3 * r + c];
    }
    memcpy(rows->gradient + 3 * i, f, sizeof f);
}

double pl_contact_rows_evaluate(pl_contact_rows *rows, const double *x, int threads)
{
    double sum = 0;
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->count > PARALLEL)
    for (int64_t r = 0; r < rows->count; r++)
        rows->energy[r] = evaluate(&rows->row[r], x, rows->pull + 3 * r);
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->touched > PARALLEL)
    for (int64_t i = 0; i < rows->touched; i++)
        gather(rows, i);
    for (int64_t r = 0; r < rows->count; r++)
        sum += rows->energy[r];
    return sum;
}

void pl_contact_rows_pull(pl_contact_rows *rows)
{
    for (int64_t r = 0; r < rows->count; r++)
        for (int c = 0; c < 3; c++)
            rows->pull[3 * r + c] = rows->row[r].grip[c] -
                                    rows->row[r].force * rows->row[r].pair.normal[c];
    for (int64_t i = 0; i < rows->touched; i++)
        gather(rows, i);
}

void pl_contact_row_way(const pl_contact_row *row, const double *x, double r[3])
{
    offset_of(&row->pair, x, r);
}

double pl_contact_row_pull_at(const pl_contact_row *row, const double r[3], double pull[3])
{
    const pl_row_law law = law_of(row);
    return pl_row_pull(&law, r, pull);
}

bool pl_contact_row_hessian_at(const pl_contact_row *row, const double r[3], double K[3][3])
{
    const pl_row_law law = law_of(row);
    return pl_row_hessian(&law, r, K);
}

bool pl_contact_row_hessian(const pl_contact_row *row, const double *x, double K[3][3])
{
    double r[3];
    offset_of(&row->pair, x, r);
    return pl_contact_row_hessian_at(row, r, K);
}

void pl_contact_rows_diagonal(pl_contact_rows *rows, const double *x)
{
    for (int64_t i = 0; i < 3 * rows->touched; i++)
        rows->gradient[i] = 0;
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_row *row = &rows->row[r];
        double K[3][3];
        if (!pl_contact_row_hessian(row, x, K))
            continue;
        for (int k = 0; k < 4 && row->pair.vertex[k] >= 0; k++)
            for (int c = 0; c < 3; c++)
                rows->gradient[3 * (int64_t)rows->place[row->pair.vertex[k]] + c] +=
                    row->pair.weight[k] * row->pair.weight[k] * K[c][c];
    }
}

/* Sets a multiplier; true if it was another. */
static bool replace(double *multiplier, double by)
{
    const bool other = !(*multiplier == by);
    *multiplier = by;
    return other;
}

pl_contact_renewal pl_contact_rows_renew(pl_contact_rows *rows, const double *x)
{
    pl_contact_renewal out = {0};
    for (int64_t r = 0; r < rows->count; r++) {
        pl_contact_row *row = &rows->row[r];
        if (row->stiffness == 0)
            continue;
        const pl_row_state s = state_at(row, x);
        out.lack = fmax(out.lack, (s.t - row->force) / (row->stiffness * row->distance));
        out.changed |= replace(&row->force, s.t);
        out.changed |= replace(&row->bound, row->friction * s.t);
        double share = s.abs > row->bound ? row->bound / s.abs : 1;
        for (int c = 0; c < 3; c++)
            out.changed |= replace(&row->grip[c], share * s.q[c]);
    }
    return out;
}

double pl_contact_rows_lack(const pl_contact_rows *rows, const double *x)
{
    double most = 0;
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_row *row = &rows->row[r];
        double way[3];
        if (row->stiffness == 0)
            continue;
        offset_of(&row->pair, x, way);
        most = fmax(most, 1 - pl_vector_dot(row->pair.normal, way) / row->distance);
    }
    return most;
}
