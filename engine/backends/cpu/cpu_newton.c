/* Newton's matrix: the groups' Hessians, made semidefinite, summed into a matrix of blocks in a fixed order,
 * and its factor.
 *
 * A block couples two free vertices. It is the sum of its parts, one for each pair of corners of a term, added in the
 * order of the terms. Groups write Hessians by lanes, a few blocks of terms at a time, and their parts are added at
 * once: H is smaller than the Hessians by far, and a mesh's neighbouring terms share its numbers in the cache.
 * Threads share the terms, and then the blocks of H, so each block has its sums in the same order.
 *
 * Contact between bodies couples vertices that share no term. Its rows are added to the sums; if they couple two
 * vertices that the pattern does not, the pattern is rebuilt, including them. Each step has a pattern of its own
 * rows: with one from earlier steps, a restored run would have other bits.
 *
 * The factor is made on request, with a pattern by single rows: row 3 i + k for coordinate k of free vertex i. It
 * lasts until the next one, also if H or its pattern changes. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/linear/blocks.h"
#include "engine/model/groups/project.h"

#include <stdlib.h>
#include <string.h>

/* One pair of corners of one term, which contributes to the pair of free vertices (row, column), row >= column.
 * `pair` is its index in newton.place, or NO_PAIR. */
typedef struct slot {
    int32_t row, column;
    int64_t pair;
} slot;
enum { NO_PAIR = -1 };

/* A pair's block of H, and how its part is added: the first corner's rows and the second's columns, the transpose, or
 * both, if the corners are one vertex. */
enum { AS_IS, TRANSPOSED, BOTH, MODE_BITS = 2, MODE = 3, NOWHERE = -1 };
static int64_t place_of(int64_t block, int64_t mode)
{
    return block << MODE_BITS | mode;
}

/* Number of blocks of terms whose Hessians are made before they are added: few enough for the nearest cache, and
 * enough for a team. */
enum { TERMS_ALONE = 2, TERMS_OF_TEAM = 64, LEAST_A_THREAD = 3 };

typedef struct newton {
    int64_t *first; /* [groups]: their first pairs */
    int64_t *place; /* [pairs]: by groups, terms, corners c >= d: place_of(), or NOWHERE */
    double *terms;  /* Hessians of TERMS_OF_TEAM blocks of a group, by lanes */
    pl_blocks H;
    double *work;     /* of products with H */
    double *in, *out; /* rows in the order of the factor */
    pl_sparse rows;   /* H by single rows, for the factor; empty before the first */
    pl_refactor *factor;
    slot *
        joined; /* [joined_count]: pairs coupled by rows of contact, in their order, included in the pattern */
    int64_t joined_count;
    bool of_before; /* the pattern is of an earlier step */
    bool other;     /* the factor is of another pattern */
    const pl_project_ops *project;
    bool projected; /* H in its current form */
    bool factored;  /* since pl_cpu_hessian_take_factor */
} newton;

/* Shifts, relative to the mean diagonal, that are tried in turn if a projected H cannot be factored. */
static const double SHIFTS[] = {0, 1e-10, 1e-7, 1e-4, 1e-1};

static void release_pattern(newton *w)
{
    free(w->joined);
    pl_blocks_clear(&w->H);
    w->joined = NULL;
    w->joined_count = 0;
    w->other = true;
}

static void release_factor(newton *w)
{
    pl_sparse_clear(&w->rows);
    pl_refactor_destroy(w->factor);
    w->factor = NULL;
}

void pl_cpu_hessian_release(cpu *c)
{
    newton *w = c->newton;
    if (!w)
        return;
    free(w->first);
    free(w->place);
    free(w->terms);
    free(w->work);
    free(w->in);
    free(w->out);
    release_pattern(w);
    release_factor(w);
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
                out[count++] = (slot){i > j ? i : j, i > j ? j : i, NO_PAIR};
        }
    return count;
}

/* Size of the lower triangle of a term's Hessian. */
static int64_t numbers_of(const pl_group *g)
{
    const int64_t n = 3 * g->ops->corners;
    return n * (n + 1) / 2;
}

/* Number of pairs of a term's corners c >= d. */
static int64_t pairs_of(const pl_group *g)
{
    return (int64_t)g->ops->corners * (g->ops->corners + 1) / 2;
}

/* Every pair of corners of free vertices, and an empty one for each vertex, so that the diagonal exists. */
static int64_t list_slots(const pl_model *m, const newton *w, const pl_contact_rows *rows,
                          slot *out)
{
    int64_t count = 0;
    for (int64_t k = 0; rows && k < rows->count; k++)
        count += list_couplings(m, &rows->row[k], out + count);
    for (int32_t i = 0; i < m->free_vertices; i++)
        out[count++] = (slot){i, i, NO_PAIR};
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        int64_t pair = w->first[k];
        for (int64_t t = 0; t < g->terms; t++) {
            const int32_t *corner = g->corner + t / PL_BLOCK * g->ops->corners * PL_BLOCK +
                                    t % PL_BLOCK;
            for (int32_t c = 0; c < g->ops->corners; c++)
                for (int32_t d = 0; d <= c; d++, pair++) {
                    int32_t i = m->free_row[corner[c * PL_BLOCK]];
                    int32_t j = m->free_row[corner[d * PL_BLOCK]];
                    w->place[pair] = i < 0 || j < 0    ? NOWHERE
                                     : i < j           ? TRANSPOSED
                                     : i > j || c == d ? AS_IS
                                                       : BOTH;
                    if (w->place[pair] != NOWHERE)
                        out[count++] = (slot){i > j ? i : j, i > j ? j : i, pair};
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

/* True for the first of sorted slots that contribute to the same pair. */
static bool is_first(const slot *slots, int64_t i)
{
    return i == 0 || slots[i - 1].row != slots[i].row || slots[i - 1].column != slots[i].column;
}

/* The pattern of H, of the pairs of vertices to which sorted slots contribute, and the places of parts in it. */
static pl_status make_pattern(int64_t n, newton *w, const slot *slots, int64_t count)
{
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; i++)
        blocks += is_first(slots, i);
    w->H = (pl_blocks){.n = n};
    w->H.column = calloc((size_t)n + 1, sizeof *w->H.column);
    w->H.row = malloc((size_t)(blocks + 1) * sizeof *w->H.row);
    w->H.value = calloc((size_t)(9 * blocks) + 1, sizeof *w->H.value);
    if (!w->H.column || !w->H.row || !w->H.value)
        return PL_NO_MEMORY;
    blocks = 0;
    for (int64_t i = 0; i < count; i++) {
        if (is_first(slots, i)) {
            w->H.row[blocks++] = slots[i].row;
            w->H.column[slots[i].column + 1] = blocks;
        }
        if (slots[i].pair != NO_PAIR)
            w->place[slots[i].pair] = place_of(blocks - 1, w->place[slots[i].pair]);
    }
    return PL_OK;
}

static pl_status make_matrix(const pl_model *m, newton *w, const pl_contact_rows *rows)
{
    int64_t most = m->free_vertices + (rows ? 10 * rows->count : 0), n = m->free_vertices;
    for (int32_t k = 0; k < m->group_count; k++)
        most += m->groups[k].terms * pairs_of(&m->groups[k]);
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
static pl_status renew_pattern(const pl_model *m, newton *w, const pl_contact_rows *rows)
{
    release_pattern(w);
    pl_status status = keep_joined(m, w, rows);
    return status == PL_OK ? make_matrix(m, w, rows) : status;
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
    int64_t pairs = 0, numbers = 0;
    for (int32_t k = 0; w->first && k < m->group_count; k++) {
        w->first[k] = pairs;
        pairs += m->groups[k].terms * pairs_of(&m->groups[k]);
        numbers = numbers_of(&m->groups[k]) > numbers ? numbers_of(&m->groups[k]) : numbers;
    }
    w->place = malloc((size_t)(pairs + 1) * sizeof *w->place);
    w->terms = pl_block_alloc(TERMS_OF_TEAM * PL_BLOCK * numbers, sizeof *w->terms);
    w->work = pl_block_alloc(pl_blocks_work(m->free_vertices), sizeof *w->work);
    w->in = pl_block_alloc(3 * m->free_vertices, sizeof *w->in);
    w->out = pl_block_alloc(3 * m->free_vertices, sizeof *w->out);
    if (!w->first || !w->place || !w->terms || !w->work || !w->in || !w->out)
        return PL_NO_MEMORY;
    return renew_pattern(m, w, NULL);
}

/* The Hessians of blocks of terms. A group writes those of block b at their place in an array of all blocks, so it is
 * given the address at which such an array would begin. */
static void make_terms(const newton *w, const pl_group *g, const double *x, int64_t from, run r)
{
    const size_t bytes = (size_t)(numbers_of(g) * PL_BLOCK) * sizeof *w->terms;
    double *H = (double *)((uintptr_t)w->terms - (size_t)from * bytes);
    if (w->projected && g->ops->semidefinite_hessian) {
        g->ops->semidefinite_hessian(g, x, H, r.b0, r.b1);
        return;
    }
    g->ops->hessian(g, x, H, r.b0, r.b1);
    if (w->projected)
        w->project->semidefinite(H, 3 * g->ops->corners, r.b0, r.b1);
}

/* B [3][3] by columns += the part of corners c >= d of a term's lower triangle by rows, H [numbers][PL_BLOCK]. */
static inline void add_part(const double *H, int32_t c, int32_t d, int64_t mode, double B[9])
{
    const double *row[3];
    row[0] = H + (3 * c * (3 * c + 1) / 2 + 3 * d) * PL_BLOCK;
    row[1] = row[0] + (3 * c + 1) * PL_BLOCK;
    row[2] = row[1] + (3 * c + 2) * PL_BLOCK;
    if (c == d) { /* symmetric: of the upper triangle, its mirror image */
#pragma GCC unroll 9
        for (int e = 0; e < 9; e++)
            B[e] += row[e / 3 > e % 3 ? e / 3 : e % 3][(e / 3 > e % 3 ? e % 3 : e / 3) * PL_BLOCK];
        return;
    }
    if (mode != TRANSPOSED) {
#pragma GCC unroll 9
        for (int e = 0; e < 9; e++)
            B[e] += row[e % 3][e / 3 * PL_BLOCK];
    }
    if (mode != AS_IS) {
#pragma GCC unroll 9
        for (int e = 0; e < 9; e++)
            B[e] += row[e / 3][e % 3 * PL_BLOCK];
    }
}

/* Adds the parts of blocks of terms [from, to) that lie in blocks [r.b0, r.b1) of H. place: of the group. */
static void add_terms(const newton *w, const pl_group *g, const int64_t *place, int64_t from,
                      int64_t to, run r)
{
    const int64_t first = from * PL_BLOCK,
                  end = to * PL_BLOCK < g->terms ? to * PL_BLOCK : g->terms;
    place += first * pairs_of(g);
    for (int64_t t = first; t < end; t++) {
        const double *H = w->terms + (t / PL_BLOCK - from) * numbers_of(g) * PL_BLOCK +
                          t % PL_BLOCK;
        for (int32_t c = 0; c < g->ops->corners; c++)
            for (int32_t d = 0; d <= c; d++, place++) {
                const int64_t block = *place >> MODE_BITS; /* below 0: nowhere */
                if (block >= r.b0 && block < r.b1)
                    add_part(H, c, d, *place & MODE, w->H.value + 9 * block);
            }
    }
}

static void add_group(const cpu *c, const pl_group *g, const double *x, const int64_t *place)
{
    const newton *w = c->newton;
    const int32_t threads = team(c, g->blocks, LEAST_A_THREAD);
    const int64_t step = threads == 1 ? TERMS_ALONE : TERMS_OF_TEAM;
    for (int64_t from = 0; from < g->blocks; from += step) {
        const int64_t to = from + step < g->blocks ? from + step : g->blocks;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++) {
            const run r = run_of(to - from, part, threads);
            make_terms(w, g, x, from, (run){from + r.b0, from + r.b1});
        }
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t part = 0; part < threads; part++)
            add_terms(w, g, place, from, to, run_of(w->H.column[w->H.n], part, threads));
    }
}

static bool is_held(const pl_model *m, int32_t vertex)
{
    return pl_model_holds(m, vertex, 0) || pl_model_holds(m, vertex, 1) ||
           pl_model_holds(m, vertex, 2);
}

/* Held coordinates have the identity's row and column. */
static void clear_held_pairs(const pl_model *m, int32_t row, int32_t column, double B[9])
{
    if (!is_held(m, row) && !is_held(m, column))
        return;
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 3; r++)
            if (pl_model_holds(m, column, s) || pl_model_holds(m, row, r))
                B[3 * s + r] = 0;
}

/* The column of free vertex j, of which the terms' part is given. The identity of held coordinates is times a
 * stiffness of the vertex, so that the diagonal has one scale. */
static void finish_column(const pl_model *m, newton *w, int64_t j, double inertia)
{
    const int64_t first = w->H.column[j];
    const int32_t own = m->free_vertex[j];
    for (int64_t p = first; m->partly_held && p < w->H.column[j + 1]; p++)
        clear_held_pairs(m, m->free_vertex[w->H.row[p]], own, w->H.value + 9 * p);
    for (int s = 0; s < 3; s++)
        w->H.value[9 * first + 4 * s] += pl_model_holds(m, own, s) ? pl_model_diagonal(m, j)
                                                                   : inertia * m->mass[own];
}

/* ---- rows of contact ---- */

/* The block of a pair of free vertices; -1: not in the pattern. */
static int64_t find_block(const newton *w, const slot *s)
{
    int64_t lo = w->H.column[s->column], hi = w->H.column[s->column + 1];
    const int64_t end = hi;
    while (lo < hi) {
        int64_t middle = (lo + hi) / 2;
        if (w->H.row[middle] < s->row)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < end && w->H.row[lo] == s->row ? lo : -1;
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
            if (find_block(w, &joined[i]) < 0)
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
    const slot s = {own > other ? own : other, own > other ? other : own, NO_PAIR};
    const int32_t column = m->free_vertex[s.column], below = m->free_vertex[s.row];
    const double weight = row->pair.weight[c] * row->pair.weight[d];
    double *B = w->H.value + 9 * find_block(w, &s);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (!pl_model_holds(m, column, j) && !pl_model_holds(m, below, i))
                B[3 * j + i] += weight * K[i][j];
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
        pl_status status = renew_pattern(m, w, rows);
        if (status != PL_OK) {
            release_pattern(w);
            return status;
        }
    }
    w->projected = project;
    memset(w->H.value, 0, (size_t)(9 * w->H.column[w->H.n]) * sizeof *w->H.value);
    for (int32_t k = 0; k < m->group_count; k++)
        add_group(c, &m->groups[k], x, w->place + w->first[k]);
    int64_t n = m->free_vertices;
    for (int64_t j = 0; j < n; j++)
        finish_column(m, w, j, stage->scalars.inertia);
    if (rows)
        add_rows(m, w, rows, x);
    return PL_OK;
}

/* ---- the factor ---- */

/* The symbolic factor, unless that of the last one serves. */
static pl_status prepare_factor(newton *w)
{
    if (w->factor && !w->other)
        return PL_OK;
    release_factor(w);
    pl_status status = pl_blocks_pattern(&w->H, &w->rows);
    if (status == PL_OK)
        status = pl_refactor_create(&w->rows, 3, &w->factor);
    w->other = status != PL_OK;
    return status;
}

pl_status pl_cpu_hessian_factor(pl_backend *b)
{
    newton *w = cpu_of(b)->newton;
    double mean = 0;
    pl_status status = prepare_factor(w);
    if (status != PL_OK)
        return PL_NO_MEMORY;
    pl_blocks_values(&w->H, &w->rows);
    for (int64_t j = 0; j < w->rows.n; j++)
        mean += w->rows.value[w->rows.column[j]] / (double)w->rows.n;
    status = PL_FAILED;
    size_t tries = w->projected ? sizeof SHIFTS / sizeof *SHIFTS : 1;
    for (size_t i = 0; status == PL_FAILED && i < tries; i++)
        status = pl_refactor_make(w->factor, &w->rows, SHIFTS[i] * mean);
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
    cpu *c = cpu_of(b);
    pl_blocks_multiply(&c->newton->H, c->newton->work, c->threads, rows, out);
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
        const double *D = w->H.value + 9 * w->H.column[i];
        double x[3] = {rows[i], rows[n + i], rows[2 * n + i]};
        solve_block(D, D + 4, D + 8, x);
        for (int k = 0; k < 3; k++)
            out[k * n + i] = x[k];
    }
}
