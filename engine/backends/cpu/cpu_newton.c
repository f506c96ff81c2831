/* Newton's matrix: the groups' Hessians, made semidefinite, summed into a sparse matrix by gathering in a fixed
 * order, and its factor.
 *
 * Coordinate k of free vertex i is row 3 i + k. The lower triangle is stored by columns; columns of a vertex have
 * its own rows first, then the three rows of each neighbour, ascending. So the position of a pair of vertices in
 * that list gives the place of its entries, and a list of slots gives the places of its parts in the groups'
 * Hessians.
 *
 * Contact between bodies couples vertices that share no term. Its rows are added to the sums; if they couple two
 * vertices that the pattern does not, the pattern is rebuilt, including them. Each step has a pattern of its own
 * rows: with one from earlier steps, a restored run would have other bits. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/model/groups/project.h"

#include <stdlib.h>
#include <string.h>

/* One corner pair of one term, which contributes to the pair of free vertices (row, column). */
typedef struct slot {
    int32_t row, column;
    int64_t part;
} slot;

/* Location of the part of a corner pair (c, d): its term's Hessian begins at `at` in `values`. */
enum { CORNER_BITS = 4, NO_PART = -1 };
static int64_t part_of(int64_t at, int32_t c, int32_t d)
{
    return (at << CORNER_BITS | c) << CORNER_BITS | d;
}

typedef struct newton {
    double *values;      /* the groups' Hessians, one after another */
    int64_t *first;      /* [groups]: start of each */
    int64_t *part;       /* by column, then by row, then in order of groups, terms, corners */
    int64_t *part_start; /* [pairs + 1] */
    int64_t *pair_start; /* [free_vertices + 1]: pairs of a column; its own is the first */
    pl_sparse H;
    double *in, *out; /* rows in the order of H */
    pl_refactor *factor;
    slot *
        joined; /* [joined_count]: pairs coupled by rows of contact, in their order, included in the pattern */
    int64_t joined_count;
    bool of_before; /* the pattern is of an earlier step */
    const pl_project_ops *project;
    bool projected; /* H in its current form */
    bool factored;  /* since pl_cpu_hessian_take_factor */
} newton;

/* Shifts, relative to the mean diagonal, that are tried in turn if a projected H cannot be factored. */
static const double SHIFTS[] = {0, 1e-10, 1e-7, 1e-4, 1e-1};

static void release_pattern(newton *w)
{
    free(w->part);
    free(w->part_start);
    free(w->pair_start);
    free(w->joined);
    pl_sparse_clear(&w->H);
    pl_refactor_destroy(w->factor);
    w->part = w->part_start = w->pair_start = NULL;
    w->joined = NULL;
    w->joined_count = 0;
    w->H = (pl_sparse){0};
    w->factor = NULL;
}

void pl_cpu_hessian_release(cpu *c)
{
    newton *w = c->newton;
    if (!w)
        return;
    free(w->values);
    free(w->first);
    free(w->in);
    free(w->out);
    release_pattern(w);
    free(w);
    c->newton = NULL;
}

/* The pairs of free vertices that a row of contact couples, the later one first; at most 10. */
static int64_t list_couplings(const pl_model *m, const pl_contact_row *row, slot *out)
{
    int64_t count = 0;
    for (int c = 0; c < 4 && row->pair.vertex[c] >= 0; c++)
        for (int d = 0; d <= c; d++) {
            int32_t i = m->free_row[row->pair.vertex[c]], j = m->free_row[row->pair.vertex[d]];
            if (i >= 0 && j >= 0)
                out[count++] = (slot){i > j ? i : j, i > j ? j : i, NO_PART};
        }
    return count;
}

/* Every corner pair of free vertices whose row is not before its column, and an empty one for each vertex, so that
 * the diagonal exists. */
static int64_t list_slots(const pl_model *m, const newton *w, const pl_contact_rows *rows,
                          slot *out)
{
    int64_t count = 0;
    for (int64_t k = 0; rows && k < rows->count; k++)
        count += list_couplings(m, &rows->row[k], out + count);
    for (int32_t i = 0; i < m->free_vertices; i++)
        out[count++] = (slot){i, i, NO_PART};
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        int32_t corners = g->ops->corners;
        int64_t numbers = g->blocks > 0 ? pl_group_hessian_values(g) / g->blocks : 0;
        for (int64_t t = 0; t < g->terms; t++) {
            int64_t block = t / PL_BLOCK, lane = t % PL_BLOCK;
            int64_t at = w->first[k] + block * numbers + lane;
            const int32_t *corner = g->corner + block * corners * PL_BLOCK + lane;
            for (int32_t c = 0; c < corners; c++)
                for (int32_t d = 0; d < corners; d++) {
                    int32_t row = m->free_row[corner[c * PL_BLOCK]];
                    int32_t column = m->free_row[corner[d * PL_BLOCK]];
                    if (column >= 0 && row >= column)
                        out[count++] = (slot){row, column, part_of(at, c, d)};
                }
        }
    }
    return count;
}

/* Stable sort by row, then by column. */
static void sort_slots(int64_t n, slot *slots, slot *other, int64_t count, int64_t *start)
{
    for (int pass = 0; pass < 2; pass++) {
        const slot *from = pass == 0 ? slots : other;
        slot *to = pass == 0 ? other : slots;
        memset(start, 0, (size_t)(n + 1) * sizeof *start);
        for (int64_t i = 0; i < count; i++)
            start[(pass == 0 ? from[i].row : from[i].column) + 1]++;
        for (int64_t i = 0; i < n; i++)
            start[i + 1] += start[i];
        for (int64_t i = 0; i < count; i++)
            to[start[pass == 0 ? from[i].row : from[i].column]++] = from[i];
    }
}

/* The pairs of vertices to which sorted slots contribute, and the pattern of H. */
static pl_status make_pattern(int64_t n, newton *w, const slot *slots, int64_t count)
{
    int64_t pairs = 0;
    w->part = malloc((size_t)(count + 1) * sizeof *w->part);
    w->part_start = malloc((size_t)(count + 1) * sizeof *w->part_start);
    w->pair_start = calloc((size_t)n + 1, sizeof *w->pair_start);
    w->H = (pl_sparse){.n = 3 * n, .column = calloc((size_t)(3 * n) + 1, sizeof *w->H.column)};
    if (!w->part || !w->part_start || !w->pair_start || !w->H.column)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const slot *a = &slots[i];
        w->part[i] = a->part;
        if (i > 0 && a[-1].row == a->row && a[-1].column == a->column)
            continue;
        w->part_start[pairs++] = i;
        w->pair_start[a->column + 1] = pairs;
    }
    w->part_start[pairs] = count;
    int64_t numbers = 0, at = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t rows = 3 * (w->pair_start[j + 1] - w->pair_start[j]);
        for (int s = 0; s < 3; s++)
            w->H.column[3 * j + s + 1] = numbers += rows - s;
    }
    w->H.row = malloc((size_t)(numbers + 1) * sizeof *w->H.row);
    w->H.value = calloc((size_t)numbers + 1, sizeof *w->H.value);
    if (!w->H.row || !w->H.value)
        return PL_NO_MEMORY;
    for (int64_t j = 0; j < n; j++)
        for (int s = 0; s < 3; s++)
            for (int64_t p = w->pair_start[j]; p < w->pair_start[j + 1]; p++)
                for (int r = p == w->pair_start[j] ? s : 0; r < 3; r++)
                    w->H.row[at++] = 3 * slots[w->part_start[p]].row + r;
    return PL_OK;
}

static pl_status make_matrix(const pl_model *m, newton *w, const pl_contact_rows *rows)
{
    int64_t most = m->free_vertices + (rows ? 10 * rows->count : 0), n = m->free_vertices;
    for (int32_t k = 0; k < m->group_count; k++)
        most += m->groups[k].terms * m->groups[k].ops->corners * m->groups[k].ops->corners;
    slot *slots = malloc((size_t)most * sizeof *slots);
    slot *other = malloc((size_t)most * sizeof *other);
    int64_t *start = malloc((size_t)(n + 1) * sizeof *start);
    pl_status status = PL_NO_MEMORY;
    if (slots && other && start) {
        int64_t count = list_slots(m, w, rows, slots);
        sort_slots(n, slots, other, count, start);
        status = make_pattern(n, w, slots, count);
    }
    free(slots);
    free(other);
    free(start);
    return status;
}

static pl_status keep_joined(const pl_model *m, newton *w, const pl_contact_rows *rows)
{
    if (!rows)
        return PL_OK;
    w->joined = malloc(((size_t)rows->count * 10 + 1) * sizeof *w->joined);
    for (int64_t k = 0; w->joined && k < rows->count; k++)
        w->joined_count += list_couplings(m, &rows->row[k], w->joined + w->joined_count);
    return w->joined ? PL_OK : PL_NO_MEMORY;
}

/* The backend releases what was created. */
static pl_status make_pattern_and_factor(const pl_model *m, newton *w, const pl_contact_rows *rows)
{
    release_pattern(w);
    pl_status status = keep_joined(m, w, rows);
    if (status == PL_OK)
        status = make_matrix(m, w, rows);
    if (status == PL_OK && m->solver.linear == PL_LINEAR_DIRECT)
        status = pl_refactor_create(&w->H, 3, &w->factor);
    return status;
}

pl_status pl_cpu_hessian_prepare(pl_backend *b)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    newton *w = c->newton = calloc(1, sizeof *w);
    if (!w)
        return PL_NO_MEMORY;
    w->project = pl_project_find();
    w->first = calloc((size_t)m->group_count + 1, sizeof *w->first);
    int64_t numbers = 0;
    for (int32_t k = 0; w->first && k < m->group_count; k++) {
        w->first[k] = numbers;
        numbers += pl_group_hessian_values(&m->groups[k]);
    }
    w->values = pl_block_alloc(numbers, sizeof *w->values);
    w->in = pl_block_alloc(3 * m->free_vertices, sizeof *w->in);
    w->out = pl_block_alloc(3 * m->free_vertices, sizeof *w->out);
    pl_status status = w->first && w->values && w->in && w->out ? PL_OK : PL_NO_MEMORY;
    return status == PL_OK ? make_pattern_and_factor(m, w, NULL) : status;
}

/* The 3 x 3 numbers of a pair of vertices, [r][s], from the terms that contain both. */
static void gather_pair(const newton *w, int64_t pair, double sum[3][3])
{
    enum { MASK = (1 << CORNER_BITS) - 1 };
    memset(sum, 0, 9 * sizeof sum[0][0]);
    for (int64_t i = w->part_start[pair]; i < w->part_start[pair + 1]; i++) {
        int64_t part = w->part[i];
        if (part == NO_PART)
            continue;
        int32_t c = (int32_t)(part >> CORNER_BITS & MASK), d = (int32_t)(part & MASK);
        const double *H = w->values + (part >> 2 * CORNER_BITS);
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) {
                int32_t p = 3 * c + r, q = 3 * d + s;
                int32_t hi = p > q ? p : q, lo = p > q ? q : p;
                sum[r][s] += H[(hi * (hi + 1) / 2 + lo) * PL_BLOCK];
            }
    }
}

/* The three columns of free vertex j. Held coordinates have the identity's row and column, times a stiffness of the
 * vertex, so that the diagonal has one scale. */
static void gather_columns(const pl_model *m, const newton *w, int64_t j, double inertia)
{
    const int64_t *column = w->H.column + 3 * j;
    int32_t own = m->free_vertex[j];
    for (int64_t p = w->pair_start[j]; p < w->pair_start[j + 1]; p++) {
        double sum[3][3];
        gather_pair(w, p, sum);
        int64_t k = 3 * (p - w->pair_start[j]);
        int32_t other = m->free_vertex[w->H.row[column[0] + k] / 3];
        for (int s = 0; s < 3; s++)
            for (int r = k == 0 ? s : 0; r < 3; r++) {
                bool held = pl_model_holds(m, own, s) || pl_model_holds(m, other, r);
                w->H.value[column[s] + k - s + r] = held ? 0 : sum[r][s];
            }
    }
    for (int s = 0; s < 3; s++)
        w->H.value[column[s]] += pl_model_holds(m, own, s) ? pl_model_diagonal(m, j)
                                                           : inertia * m->mass[own];
}

/* ---- rows of contact ---- */

/* Start of the 3 x 3 numbers of a pair of free vertices among the pairs of their column; -1: not in the pattern. */
static int64_t find_pair(const newton *w, const slot *s)
{
    const int32_t *row = w->H.row + w->H.column[3 * (int64_t)s->column];
    int64_t lo = 0, hi = w->pair_start[s->column + 1] - w->pair_start[s->column];
    while (lo < hi) {
        int64_t middle = (lo + hi) / 2;
        if (row[3 * middle] / 3 < s->row)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < w->pair_start[s->column + 1] - w->pair_start[s->column] && row[3 * lo] / 3 == s->row
               ? lo
               : -1;
}

static bool is_of(const pl_model *m, const newton *w, const pl_contact_rows *rows)
{
    slot joined[10];
    int64_t at = 0;
    for (int64_t k = 0; k < rows->count; k++) {
        int64_t count = list_couplings(m, &rows->row[k], joined);
        for (int64_t i = 0; i < count; i++, at++)
            if (at >= w->joined_count || w->joined[at].row != joined[i].row ||
                w->joined[at].column != joined[i].column)
                return false;
    }
    return at == w->joined_count;
}

static bool covers(const pl_model *m, const newton *w, const pl_contact_rows *rows)
{
    slot joined[10];
    for (int64_t k = 0; k < rows->count; k++) {
        int64_t count = list_couplings(m, &rows->row[k], joined);
        for (int64_t i = 0; i < count; i++)
            if (find_pair(w, &joined[i]) < 0)
                return false;
    }
    return true;
}

/* H += w_c w_d K for corners c and d, in free coordinates. */
static void add_coupling(const pl_model *m, newton *w, const pl_contact_row *row, int c, int d,
                         double K[3][3])
{
    int32_t own = m->free_row[row->pair.vertex[c]], other = m->free_row[row->pair.vertex[d]];
    if (own < 0 || other < 0)
        return;
    const slot s = {own > other ? own : other, own > other ? other : own, NO_PART};
    const int32_t column = m->free_vertex[s.column], below = m->free_vertex[s.row];
    const double weight = row->pair.weight[c] * row->pair.weight[d];
    int64_t k = 3 * find_pair(w, &s);
    for (int j = 0; j < 3; j++)
        for (int i = k == 0 ? j : 0; i < 3; i++)
            if (!pl_model_holds(m, column, j) && !pl_model_holds(m, below, i))
                w->H.value[w->H.column[3 * (int64_t)s.column + j] + k - j + i] += weight * K[i][j];
}

static void add_rows(const pl_model *m, newton *w, const pl_contact_rows *rows, const double *x)
{
    for (int64_t k = 0; k < rows->count; k++) {
        const pl_contact_row *row = &rows->row[k];
        double K[3][3];
        if (!pl_contact_row_hessian(row, x, K))
            continue;
        for (int c = 0; c < 4 && row->pair.vertex[c] >= 0; c++)
            for (int d = 0; d <= c; d++)
                add_coupling(m, w, row, c, d, K);
    }
}

void pl_cpu_hessian_begin(cpu *c)
{
    if (c->newton)
        c->newton->of_before = true;
}

pl_status pl_cpu_hessian_make(pl_backend *b, const pl_stage *stage, const double *x, bool project)
{
    cpu *c = cpu_of(b);
    const pl_model *m = b->model;
    newton *w = c->newton;
    const pl_contact_rows *rows = pl_host_contact_rows(&c->between);
    const bool good = w->H.row &&
                      (!rows || (w->of_before ? is_of(m, w, rows) : covers(m, w, rows)));
    w->of_before = false;
    if (!good) {
        pl_status status = make_pattern_and_factor(m, w, rows);
        if (status != PL_OK) {
            release_pattern(w);
            return status;
        }
    }
    w->projected = project;
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        int32_t threads = team(c, g->blocks, BLOCKS_A_THREAD / 8);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            run r = run_of(g->blocks, part, threads);
            double *H = w->values + w->first[k];
            if (project && g->ops->semidefinite_hessian) {
                g->ops->semidefinite_hessian(g, x, H, r.b0, r.b1);
                continue;
            }
            g->ops->hessian(g, x, H, r.b0, r.b1);
            if (project)
                w->project->semidefinite(H, 3 * g->ops->corners, r.b0, r.b1);
        }
    }
    int64_t n = m->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD / 8)) schedule(static)
    for (int64_t j = 0; j < n; j++)
        gather_columns(m, w, j, stage->scalars.inertia);
    if (rows)
        add_rows(m, w, rows, x);
    return PL_OK;
}

pl_status pl_cpu_hessian_factor(pl_backend *b)
{
    newton *w = cpu_of(b)->newton;
    double mean = 0;
    for (int64_t j = 0; j < w->H.n; j++)
        mean += w->H.value[w->H.column[j]] / (double)w->H.n;
    pl_status status = PL_FAILED;
    size_t tries = w->projected ? sizeof SHIFTS / sizeof *SHIFTS : 1;
    for (size_t i = 0; status == PL_FAILED && i < tries; i++)
        status = pl_refactor_make(w->factor, &w->H, SHIFTS[i] * mean);
    w->factored = status == PL_OK;
    return status;
}

bool pl_cpu_hessian_take_factor(cpu *c)
{
    bool factored = c->newton && c->newton->factored;
    if (factored)
        c->newton->factored = false;
    return factored;
}

static void to_vertices(int64_t n, const double *rows, double *to)
{
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            to[3 * i + k] = rows[k * n + i];
}

static void to_rows(int64_t n, const double *from, double *rows)
{
    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < n; i++)
            rows[k * n + i] = from[3 * i + k];
}

pl_status pl_cpu_hessian_solve(pl_backend *b, const double *rows, double *out)
{
    newton *w = cpu_of(b)->newton;
    int64_t n = b->model->free_vertices;
    to_vertices(n, rows, w->in);
    pl_status status = pl_refactor_solve(w->factor, w->in, w->out);
    to_rows(n, w->out, out);
    return status;
}

void pl_cpu_hessian_multiply(pl_backend *b, const double *rows, double *out)
{
    newton *w = cpu_of(b)->newton;
    int64_t n = b->model->free_vertices;
    to_vertices(n, rows, w->in);
    pl_sparse_multiply(&w->H, w->in, w->out, 1);
    to_rows(n, w->out, out);
}

/* x = B^-1 r for the symmetric positive definite 3 x 3 B of columns a, b, c from the diagonal down,
 * by B = L D L^T. */
static void solve_block(const double *a, const double *b, const double *c, double x[3])
{
    double l10 = a[1] / a[0], l20 = a[2] / a[0];
    double d1 = b[0] - l10 * a[1], l21 = (b[1] - l20 * a[1]) / d1;
    double d2 = c[0] - l20 * a[2] - l21 * l21 * d1;
    x[1] -= l10 * x[0];
    x[2] -= l20 * x[0] + l21 * x[1];
    x[2] /= d2;
    x[1] = x[1] / d1 - l21 * x[2];
    x[0] = x[0] / a[0] - l10 * x[1] - l20 * x[2];
}

void pl_cpu_hessian_jacobi(pl_backend *b, const double *rows, double *out)
{
    cpu *c = cpu_of(b);
    const newton *w = c->newton;
    int64_t n = b->model->free_vertices;
#pragma omp parallel for num_threads(team(c, n, ROWS_A_THREAD)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        const int64_t *column = w->H.column + 3 * i;
        double x[3] = {rows[i], rows[n + i], rows[2 * n + i]};
        solve_block(w->H.value + column[0], w->H.value + column[1], w->H.value + column[2], x);
        for (int k = 0; k < 3; k++)
            out[k * n + i] = x[k];
    }
}
