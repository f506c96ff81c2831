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
#include "engine/isa.h"
#include "engine/backends/cpu/cpu_internal.h"
#include "engine/backends/cpu/cpu_sweep.h"
#include "engine/backends/cpu/cpu_sweep_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HALVINGS = 12 }; /* of a step */

struct sweeps {
    pl_sweep order;
    const pl_pack_loops *loops;
    double *way; /* [rows][3]: r of the rows of contact before a colour moved */
    int64_t room;
    double *kept; /* [threads][kept_size]: what the groups keep of a pack (local.h) */
    int64_t kept_size;
    int32_t kept_threads;
};

/* What a pack is moved with. */
typedef struct mover {
    const cpu *c;
    const pl_sweep *order;
    const pl_contact_rows *rows;
    const pl_stage *stage;
    double noise, *x, *kept;
} mover;

void pl_cpu_sweep_release(cpu *c)
{
    if (!c->sweeps)
        return;
    pl_sweep_destroy(&c->sweeps->order);
    free(c->sweeps->way);
    free(c->sweeps->kept);
    free(c->sweeps);
}

static const pl_pack_loops *loops_of(void)
{
    static const pl_pack_loops *const LOOPS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_pack_loops);
    return LOOPS[pl_isa_current()];
}

/* Numbers that a group keeps of a pack of `blocks` blocks. */
static int64_t kept_by(const pl_local_ops *ops, int64_t blocks)
{
    return !ops->expand && blocks > 0 ? (ops->kept_head + ops->kept_rows * blocks) * PL_BLOCK : 0;
}

/* The most that the groups keep of a pack. */
static int64_t most_kept(const pl_sweep *s)
{
    int64_t most = 0;
    for (int64_t p = 0; p < s->packs; p++) {
        int64_t size = 0;
        for (int32_t k = 0; k < s->group_count; k++)
            size += kept_by(s->group[k].ops, s->group[k].first[p + 1] - s->group[k].first[p]);
        most = size > most ? size : most;
    }
    return most;
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
    s->loops = loops_of();
    s->kept_size = most_kept(&s->order);
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

static pl_status make_room(struct sweeps *s, const pl_contact_rows *rows, int32_t threads)
{
    if (threads > s->kept_threads && s->kept_size > 0) {
        free(s->kept);
        s->kept = pl_block_alloc(threads * s->kept_size, sizeof *s->kept);
        s->kept_threads = s->kept ? threads : 0;
        if (!s->kept)
            return PL_NO_MEMORY;
    }
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
    double shift = 1e-3 * (fabs(H[0]) + fabs(H[2]) + fabs(H[5])) + PL_SWEEP_LEAST * diagonal,
           added = 0;
    while (!solve_block(H, f, PL_SWEEP_LEAST * diagonal, d)) {
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

/* The groups' parts of the sums at x. Energies of groups that keep nothing remain in the sums. */
static void add_terms(const mover *m, int64_t index, pl_pack *p)
{
    double *kept = m->kept, energy[PL_BLOCK];
    for (int32_t k = 0; k < m->order->group_count; k++) {
        const pl_sweep_group *g = &m->order->group[k];
        if (g->ops->expand)
            g->ops->expand(&g->copy, m->x, g->places.own, p->sums, g->first[index],
                           g->first[index + 1]);
    }
    memcpy(energy, p->sums, sizeof energy);
    for (int l = 0; l < PL_BLOCK; l++)
        p->sums[l] = fabs(p->sums[l]);
    for (int32_t k = 0; k < m->order->group_count; k++) {
        const pl_sweep_group *g = &m->order->group[k];
        const int64_t b0 = g->first[index], b1 = g->first[index + 1];
        if (!g->ops->expand)
            g->ops->keep(&g->copy, m->x, p->sums, kept, b0, b1);
        kept += kept_by(g->ops, b1 - b0);
    }
    for (int l = 0; l < PL_BLOCK; l++) {
        p->rounding[l] = m->noise + m->c->base.ops->energy_epsilon * p->sums[l];
        p->sums[l] = energy[l];
    }
}

/* Adds the rows' parts to the sums, or, with `change`, how they change by the move. */
static void add_contact(const mover *m, const int32_t *vertex, int32_t used, bool change,
                        pl_pack *p)
{
    static const double still[3] = {0};
    for (int l = 0; m->rows && m->rows->count > 0 && l < used; l++) {
        const double by[3] = {p->by[l], p->by[PL_BLOCK + l], p->by[2 * PL_BLOCK + l]};
        double f[3] = {0}, H[6] = {0};
        if (change) {
            p->change[l] += add_rows(m->c->sweeps, m->rows, vertex[l], by, NULL, NULL);
            continue;
        }
        const double energy = add_rows(m->c->sweeps, m->rows, vertex[l], still, f, H);
        p->sums[l] += energy;
        p->rounding[l] += m->c->base.ops->energy_epsilon * fabs(energy);
        for (int i = 0; i < 3; i++)
            p->sums[(PL_LOCAL_GRADIENT + i) * PL_BLOCK + l] += f[i];
        for (int i = 0; i < 6; i++)
            p->sums[(PL_LOCAL_HESSIAN + i) * PL_BLOCK + l] += H[i];
    }
}

/* The step of a vertex whose H is not definite. */
static void find_other_step(const pl_pack_of *of, int l, pl_pack *p)
{
    double f[3], H[6], d[3];
    for (int i = 0; i < 3; i++)
        f[i] = p->sums[(PL_LOCAL_GRADIENT + i) * PL_BLOCK + l];
    for (int i = 0; i < 6; i++)
        H[i] = p->sums[(PL_LOCAL_HESSIAN + i) * PL_BLOCK + l];
    if (!find_step(H, f, of->diagonal[l], d))
        return;
    for (int i = 0; i < 3; i++)
        p->d[i * PL_BLOCK + l] = d[i];
    p->slope[l] = f[0] * d[0] + f[1] * d[1] + f[2] * d[2];
    p->alpha[l] = p->slope[l] > 0;
}

static void place(const int32_t *vertex, int32_t used, const pl_pack *p, double *x)
{
    for (int l = 0; l < used; l++)
        for (int i = 0; i < 3; i++)
            if (p->alpha[l] > 0)
                x[3 * (int64_t)vertex[l] + i] = p->from[i * PL_BLOCK + l] + p->by[i * PL_BLOCK + l];
}

/* Adds how the energies of all terms change by the move, at which x is. */
static void add_changes(const mover *m, int64_t index, pl_pack *p)
{
    const double *kept = m->kept;
    _Alignas(64) double energy[PL_BLOCK] = {0};
    for (int32_t k = 0; k < m->order->group_count; k++) {
        const pl_sweep_group *g = &m->order->group[k];
        const int64_t b0 = g->first[index], b1 = g->first[index + 1];
        if (g->ops->expand)
            g->ops->energy(&g->copy, m->x, energy, b0, b1);
        else
            g->ops->change(&g->copy, kept, p->by, p->change, b0, b1);
        kept += kept_by(g->ops, b1 - b0);
    }
    for (int l = 0; l < PL_BLOCK; l++)
        p->change[l] += energy[l] - p->sums[l];
}

/* Returns the number of vertices that have moved. */
static int64_t move_pack(const mover *m, int64_t index)
{
    const pl_sweep *s = m->order;
    const pl_pack_loops *loops = m->c->sweeps->loops;
    const int64_t at = index * PL_BLOCK;
    const int32_t *vertex = s->vertex + at, used = s->used[index];
    const pl_pack_of of = {vertex, s->mass + at, s->diagonal + at, s->held + 3 * at};
    pl_pack p;
    int64_t moved = 0;
    memset(p.sums, 0, sizeof p.sums);
    add_terms(m, index, &p);
    loops->load(&of, m->stage, m->x, &p);
    add_contact(m, vertex, used, false, &p);
    for (uint32_t rest = loops->solve(&of, used, &p); rest; rest &= rest - 1)
        find_other_step(&of, __builtin_ctz(rest), &p);
    bool left = true;
    for (int k = 0; k <= HALVINGS && left; k++) {
        loops->propose(&p);
        place(vertex, used, &p, m->x);
        add_changes(m, index, &p);
        add_contact(m, vertex, used, true, &p);
        left = loops->judge(&p);
    }
    for (int l = 0; l < used; l++) {
        double *to = m->x + 3 * (int64_t)vertex[l];
        const double from[3] = {p.from[l], p.from[PL_BLOCK + l], p.from[2 * PL_BLOCK + l]};
        if (p.alpha[l] > 0)
            memcpy(to, from, sizeof from);
        moved += memcmp(to, from, sizeof from) != 0;
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
    int64_t blocks = 0;
    for (int32_t k = 0; k < s->order.group_count; k++)
        blocks += s->order.group[k].places.blocks;
    const int32_t threads = team(c, blocks / s->order.colours, BLOCKS_A_THREAD);
    if (make_room(s, rows, threads) != PL_OK)
        return PL_NO_MEMORY;
#pragma omp parallel num_threads(threads) reduction(+ : total)
    for (int32_t colour = 0; colour < s->order.colours; colour++) {
        const mover m = {c, &s->order, rows, stage, noise, x, s->kept + OWN_THREAD * s->kept_size};
#pragma omp for schedule(static)
        for (int64_t r = 0; r < row_count; r++)
            pl_contact_row_way(&rows->row[r], x, s->way + 3 * r);
#pragma omp for schedule(static)
        for (int64_t p = s->order.colour[colour]; p < s->order.colour[colour + 1]; p++)
            total += move_pack(&m, p);
    }
    *moved = total;
    return PL_OK;
}
