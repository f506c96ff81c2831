/* One sweep of vertex block descent (Chen, Liu, Zhang, Yuan 2024, "Vertex block descent", algorithm 1): every free
 * vertex takes a Newton step of the objective as a function of its own position,
 *
 *     d = H^-1 f,  f = de/dx_i,  H = d2e/dx_i2 (3 x 3),   x_i <- x_i - alpha d
 *
 * with alpha halved from 1 until the sum of the terms around the vertex is lower. The paper omits this line search.
 * With it a sweep cannot raise the objective, and vertices stay inside the domain of log J.
 *
 * A row of contact can join vertices of one colour. Its U(r) is convex, so that for the m of its corners that move
 * at the same time
 *
 *     U(r + sum w_a d_a) <= sum of U(r + m w_a d_a) / m
 *
 * which is a sum over vertices. Each of them minimises its own part, with r as it was before the colour moved.
 */
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/backends/cpu/cpu_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least pivot of H, relative to A_ii; halvings of a step; Armijo's constant. */
static const double LEAST = 1e-6, ARMIJO = 1e-4;
enum { HALVINGS = 12 };

struct sweeps {
    pl_sweep order;
    double *way; /* [rows][3]: r of the rows of contact before a colour moved */
    int64_t room;
};

/* The vertices of a pack. */
typedef struct pack {
    int64_t index;
    const int32_t *vertex; /* [count] */
    int count, pending;    /* vertices; of these, without a step yet */
    double from[PL_BLOCK][3], d[PL_BLOCK][3];
    double energy[PL_BLOCK], slope[PL_BLOCK],
        alpha[PL_BLOCK]; /* slope: f . d; alpha 0: has moved */
} pack;

void pl_cpu_sweep_release(cpu *c)
{
    if (!c->sweeps)
        return;
    pl_sweep_destroy(&c->sweeps->order);
    free(c->sweeps->way);
    free(c->sweeps);
}

pl_status pl_cpu_sweep_prepare(pl_backend *b)
{
    cpu *c = cpu_of(b);
    struct sweeps *s = calloc(1, sizeof *s);
    pl_status status = s ? pl_sweep_create(b->model, &s->order) : PL_NO_MEMORY;
    if (status != PL_OK) {
        free(s);
        return status;
    }
    c->sweeps = s;
    return PL_OK;
}

void pl_cpu_sweep_refreeze(cpu *c)
{
    for (int32_t k = 0; c->sweeps && k < c->sweeps->order.group_count; k++) {
        pl_sweep_group *g = &c->sweeps->order.group[k];
        if (!g->ops->refreeze)
            continue;
        EACH_RUN(c, g->places.blocks, r)
            g->ops->refreeze(g->of, &g->places, &g->copy, r.b0, r.b1);
    }
}

/* ---- rows of contact ---- */

static pl_status make_room(struct sweeps *s, const pl_contact_rows *rows)
{
    if (!rows || rows->count <= s->room)
        return PL_OK;
    free(s->way);
    s->room = 2 * rows->count;
    s->way = malloc((size_t)s->room * 3 * sizeof *s->way);
    s->room = s->way ? s->room : 0;
    return s->way ? PL_OK : PL_NO_MEMORY;
}

/* Number of the row's corners that move with `vertex`. */
static int moving_with(const pl_sweep *order, const pl_contact_row *row, int32_t vertex)
{
    int count = 0;
    for (int k = 0; k < 4 && row->pair.vertex[k] >= 0; k++)
        count += order->colour_of[row->pair.vertex[k]] == order->colour_of[vertex];
    return count;
}

/* The vertex's parts of the rows' U if it moves by `by`; with f and H, adds their derivatives. */
static double add_rows(const struct sweeps *s, const pl_contact_rows *rows, int32_t vertex,
                       const double by[3], double *f, double *H)
{
    const int32_t place = rows && rows->count > 0 ? rows->place[vertex] : -1;
    double energy = 0;
    for (int64_t e = place < 0 ? 0 : rows->first[place]; place >= 0 && e < rows->first[place + 1];
         e++) {
        const int64_t index = rows->entry[e] / 4;
        const pl_contact_row *row = &rows->row[index];
        const double w = row->pair.weight[rows->entry[e] % 4];
        const int m = moving_with(&s->order, row, vertex);
        double r[3], pull[3], K[3][3];
        for (int k = 0; k < 3; k++)
            r[k] = s->way[3 * index + k] + m * w * by[k];
        energy += pl_contact_row_pull_at(row, r, pull) / m;
        if (!f)
            continue;
        const bool curved = pl_contact_row_hessian_at(row, r, K);
        for (int i = 0, n = 0; i < 3; i++) {
            f[i] += w * pull[i];
            for (int j = 0; j <= i; j++, n++)
                H[n] += curved ? m * w * w * K[i][j] : 0;
        }
    }
    return energy;
}

/* ---- one vertex ---- */

/* Energy of inertia and load of a vertex at x; with f and H, adds their derivatives. */
static double add_inertia(const pl_model *m, const pl_stage *stage, int32_t vertex,
                          const double x[3], double *f, double *H)
{
    const double k = m->mass[vertex] * stage->scalars.inertia;
    double energy = 0;
    for (int i = 0; i < 3; i++) {
        const double off = x[i] - stage->x_pred[3 * (int64_t)vertex + i];
        const double load = pl_stage_load(stage, 3 * (int64_t)vertex + i);
        if (!pl_model_holds(m, vertex, i))
            energy += 0.5 * k * off * off - load * x[i];
        if (!f)
            continue;
        f[i] += k * off - load;
        H[i * (i + 3) / 2] += k;
    }
    return energy;
}

/* The identity in the rows and columns of held coordinates, and no force. */
static void hold(const pl_model *m, int32_t vertex, double f[3], double H[6])
{
    for (int k = 0; k < 3; k++) {
        if (!pl_model_holds(m, vertex, k))
            continue;
        f[k] = 0;
        for (int i = 0, n = 0; i < 3; i++)
            for (int j = 0; j <= i; j++, n++)
                if (i == k || j == k)
                    H[n] = i == j ? pl_model_diagonal(m, m->free_row[vertex]) : 0;
    }
}

/* d = H^-1 f by H = L D L^T; false: a pivot is below `least`. */
static bool solve_block(const double H[6], const double f[3], double least, double d[3])
{
    if (!(H[0] >= least))
        return false;
    const double l10 = H[1] / H[0], l20 = H[3] / H[0];
    const double d1 = H[2] - l10 * H[1];
    if (!(d1 >= least))
        return false;
    const double l21 = (H[4] - l20 * H[1]) / d1;
    const double d2 = H[5] - l20 * H[3] - l21 * l21 * d1;
    if (!(d2 >= least))
        return false;
    const double y1 = f[1] - l10 * f[0], y2 = f[2] - l20 * f[0] - l21 * y1;
    d[2] = y2 / d2;
    d[1] = y1 / d1 - l21 * d[2];
    d[0] = f[0] / H[0] - l10 * d[1] - l20 * d[2];
    return true;
}

/* The same with a multiple of the identity added to an H that is not definite (Nocedal and Wright 2006, algorithm
 * 3.3). False: H is not finite. */
static bool find_step(double H[6], const double f[3], double diagonal, double d[3])
{
    double shift = 1e-3 * (fabs(H[0]) + fabs(H[2]) + fabs(H[5])) + LEAST * diagonal, added = 0;
    while (!solve_block(H, f, LEAST * diagonal, d)) {
        if (!isfinite(shift))
            return false;
        const double more = shift - added;
        H[0] += more;
        H[2] += more;
        H[5] += more;
        added = shift;
        shift *= 4;
    }
    return true;
}

/* ---- one pack ---- */

static void expand(const struct sweeps *s, const double *x, const pack *p, double *sums)
{
    for (int32_t k = 0; k < s->order.group_count; k++) {
        const pl_sweep_group *g = &s->order.group[k];
        g->ops->expand(&g->copy, x, g->own, sums, g->first[p->index], g->first[p->index + 1]);
    }
}

/* The steps of the vertices, from the sums around them. */
static void find_steps(const cpu *c, const pl_contact_rows *rows, const pl_stage *stage,
                       const double *x, pack *p)
{
    const pl_model *m = c->base.model;
    _Alignas(64) double sums[PL_LOCAL_ROWS * PL_BLOCK] = {0};
    expand(c->sweeps, x, p, sums);
    for (int l = 0; l < p->count; l++) {
        const int32_t v = p->vertex[l];
        const double still[3] = {0};
        double f[3], H[6];
        for (int i = 0; i < 3; i++)
            f[i] = sums[(PL_LOCAL_GRADIENT + i) * PL_BLOCK + l];
        for (int i = 0; i < 6; i++)
            H[i] = sums[(PL_LOCAL_HESSIAN + i) * PL_BLOCK + l];
        memcpy(p->from[l], x + 3 * (int64_t)v, sizeof p->from[l]);
        p->energy[l] = sums[PL_LOCAL_ENERGY * PL_BLOCK + l] +
                       add_inertia(m, stage, v, p->from[l], f, H) +
                       add_rows(c->sweeps, rows, v, still, f, H);
        hold(m, v, f, H);
        const bool found = find_step(H, f, pl_model_diagonal(m, m->free_row[v]), p->d[l]);
        p->slope[l] = f[0] * p->d[l][0] + f[1] * p->d[l][1] + f[2] * p->d[l][2];
        p->alpha[l] = found && p->slope[l] > 0 ? 1 : 0;
        p->pending += p->alpha[l] > 0;
    }
}

static void place(const pack *p, int l, double *x)
{
    for (int i = 0; i < 3; i++)
        x[3 * (int64_t)p->vertex[l] + i] = p->from[l][i] - p->alpha[l] * p->d[l][i];
}

/* Tries the steps that are not yet taken, and halves those that do not go down. */
static void try_steps(const cpu *c, const pl_contact_rows *rows, const pl_stage *stage,
                      double noise, double *x, pack *p)
{
    const struct sweeps *s = c->sweeps;
    _Alignas(64) double energy[PL_BLOCK] = {0};
    for (int l = 0; l < p->count; l++)
        if (p->alpha[l] > 0)
            place(p, l, x);
    for (int32_t k = 0; k < s->order.group_count; k++) {
        const pl_sweep_group *g = &s->order.group[k];
        g->ops->energy(&g->copy, x, energy, g->first[p->index], g->first[p->index + 1]);
    }
    for (int l = 0; l < p->count; l++) {
        if (!(p->alpha[l] > 0))
            continue;
        const int32_t v = p->vertex[l];
        const double by[3] = {-p->alpha[l] * p->d[l][0], -p->alpha[l] * p->d[l][1],
                              -p->alpha[l] * p->d[l][2]};
        const double e = energy[l] +
                         add_inertia(c->base.model, stage, v, x + 3 * (int64_t)v, NULL, NULL) +
                         add_rows(s, rows, v, by, NULL, NULL);
        const double rounding = noise + c->base.ops->energy_epsilon * fabs(p->energy[l]);
        if (e <= p->energy[l] - ARMIJO * p->alpha[l] * p->slope[l] + rounding) {
            p->alpha[l] = 0;
            p->pending--;
        } else {
            p->alpha[l] /= 2;
        }
    }
}

/* Returns the number of vertices that have moved. */
static int64_t move_pack(const cpu *c, const pl_contact_rows *rows, const pl_stage *stage,
                         double noise, double *x, int64_t index)
{
    const int32_t *vertex = c->sweeps->order.vertex + index * PL_BLOCK;
    pack p = {.index = index, .vertex = vertex};
    int64_t moved = 0;
    while (p.count < PL_BLOCK && vertex[p.count] >= 0)
        p.count++;
    find_steps(c, rows, stage, x, &p);
    for (int k = 0; k <= HALVINGS && p.pending > 0; k++)
        try_steps(c, rows, stage, noise, x, &p);
    for (int l = 0; l < p.count; l++) {
        double *to = x + 3 * (int64_t)vertex[l];
        if (p.alpha[l] > 0)
            memcpy(to, p.from[l], sizeof p.from[l]);
        moved += memcmp(to, p.from[l], sizeof p.from[l]) != 0;
    }
    return moved;
}

pl_status pl_cpu_sweep_vertices(pl_backend *b, const pl_stage *stage, double noise, double *x,
                                int64_t *moved)
{
    cpu *c = cpu_of(b);
    struct sweeps *s = c->sweeps;
    const pl_contact_rows *rows = pl_host_contact_rows(&c->between);
    const int64_t row_count = rows ? rows->count : 0;
    int64_t total = 0;
    if (make_room(s, rows) != PL_OK)
        return PL_NO_MEMORY;
    int64_t blocks = 0;
    for (int32_t k = 0; k < s->order.group_count; k++)
        blocks += s->order.group[k].places.blocks;
    const int32_t threads = team(c, blocks / s->order.colours, BLOCKS_A_THREAD);
#pragma omp parallel num_threads(threads) reduction(+ : total)
    for (int32_t colour = 0; colour < s->order.colours; colour++) {
#pragma omp for schedule(static)
        for (int64_t r = 0; r < row_count; r++)
            pl_contact_row_way(&rows->row[r], x, s->way + 3 * r);
#pragma omp for schedule(static)
        for (int64_t p = s->order.colour[colour]; p < s->order.colour[colour + 1]; p++)
            total += move_pack(c, rows, stage, noise, x, p);
    }
    *moved = total;
    return PL_OK;
}
