#include "engine/solvers/balance.h"

#include <math.h>
#include <stdlib.h>

/* The share of forces that may be unbalanced, and the share of momentum that one step may change in error. */
static const double OF_FORCES = 0.01, OF_MOMENTUM = 1e-4;
/* Relative to the bound: smaller decrements pass alone. */
static const double SURELY = 1e-6;
/* Relative to the tolerance: remaining forces on vertices at rest, as a share of all forces. */
static const double STILL = 1e-3;
/* Rounding errors of a gradient's sum, in roundings of A_ii x_i, which add up in squares. */
static const double ROUNDING = 4;

struct pl_balance {
    const pl_model *model;
    pl_backend *backend;
    double *x, *x_start, *x_pred, *load, *gradient; /* [vertices][3]: what was downloaded */
    double *pin_force;                              /* [body_count]: sum over pins of |force|, N */
    double least_bound;
    bool still; /* for every body: body_is_at_rest() */
};

/* Sums over one body. */
typedef struct body_sums {
    double mass, moved;                  /* kg; sum m |x - x_start|, kg m */
    double centre[3];                    /* radius of gyration, m */
    double force[3], moment[3];          /* imbalance, N, N m */
    double inertia[3], load[3], r2_mass; /* N; sum m |x - c|^2, kg m^2 */
    double rounding, rounding2;          /* sum A_ii |x_i|, N; of its squares, N^2 */
    double residual;                     /* sum |g_i|, N */
} body_sums;

void pl_balance_destroy(pl_balance *balance)
{
    if (!balance)
        return;
    free(balance->x);
    free(balance->pin_force);
    free(balance);
}

pl_balance *pl_balance_create(const pl_model *model, pl_backend *backend)
{
    pl_balance *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    size_t count = 3 * (size_t)model->vertices;
    b->model = model;
    b->backend = backend;
    b->x = malloc(5 * count * sizeof *b->x);
    b->pin_force = malloc((size_t)model->body_count * sizeof *b->pin_force);
    if (!b->x || !b->pin_force) {
        pl_balance_destroy(b);
        return NULL;
    }
    b->x_start = b->x + count;
    b->x_pred = b->x_start + count;
    b->load = b->x_pred + count;
    b->gradient = b->load + count;
    return b;
}

static double norm(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Adds the force of each pin to the body of its vertices. */
static void add_pins(pl_balance *b)
{
    const pl_model *m = b->model;
    for (int32_t i = 0; i < m->body_count; i++)
        b->pin_force[i] = 0;
    for (int32_t p = 0; p < m->pin_count; p++) {
        const pl_pin_model *pin = &m->pins[p];
        double force[3] = {0};
        if (pin->count == 0)
            continue;
        for (int64_t k = 0; k < pin->count; k++)
            for (int c = 0; c < 3; c++)
                force[c] += pin->axes >> c & 1 ? b->gradient[3 * (int64_t)pin->vertex[k] + c] : 0;
        b->pin_force[pl_model_body_of(m, m->first_vertex, pin->vertex[0])] += norm(force);
    }
}

static void find_centre(const pl_balance *b, int64_t first, int64_t end, body_sums *s)
{
    for (int64_t i = first; i < end; i++) {
        double mass = b->model->mass[i];
        s->mass += mass;
        for (int c = 0; c < 3; c++)
            s->centre[c] += mass * b->x[3 * i + c];
    }
    for (int c = 0; c < 3; c++)
        s->centre[c] /= s->mass;
}

static void add_vertex(const pl_balance *b, double inertia, int64_t i, body_sums *s)
{
    const pl_model *m = b->model;
    const double *x = b->x + 3 * i;
    double g[3], r[3], way[3];
    for (int c = 0; c < 3; c++) {
        bool held = pl_model_holds(m, i, c);
        g[c] = held ? 0 : b->gradient[3 * i + c];
        r[c] = x[c] - s->centre[c];
        way[c] = x[c] - b->x_start[3 * i + c];
        s->force[c] += g[c];
        s->inertia[c] += held ? 0 : m->mass[i] * inertia * (x[c] - b->x_pred[3 * i + c]);
        s->load[c] += held ? 0 : b->load[3 * i + c];
    }
    double pull = m->free_row[i] < 0 ? 0 : pl_model_diagonal(m, m->free_row[i]) * norm(x);
    s->rounding += pull;
    s->rounding2 += pull * pull;
    s->residual += norm(g);
    s->moved += m->mass[i] * norm(way);
    s->r2_mass += m->mass[i] * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    for (int c = 0; c < 3; c++) {
        int k = (c + 1) % 3, l = (c + 2) % 3;
        s->moment[c] += r[k] * g[l] - r[l] * g[k];
    }
}

/* The forces on a body, N: weight, loads, inertia and pins. */
static double forces_of(const pl_balance *b, const body_sums *s, double pins)
{
    return s->mass * norm(b->model->gravity) + norm(s->load) + norm(s->inertia) + pins;
}

/* The allowed imbalance, N. */
static double bound_of(const pl_balance *b, const pl_stage_scalars *stage, const body_sums *s,
                       double forces)
{
    double momentum = stage->inertia > 0 ? s->moved / stage->span : 0;
    return OF_FORCES * forces + OF_MOMENTUM * momentum / stage->h +
           ROUNDING * b->backend->ops->epsilon * sqrt(s->rounding2);
}

/* True if sum |g_i| of a body is negligible beside the forces on it, or no more than rounding. */
static bool body_is_at_rest(const pl_balance *b, const body_sums *s, double forces, bool balanced)
{
    return s->residual <= STILL * b->model->solver.tolerance * forces ||
           (balanced && s->residual <= ROUNDING * b->backend->ops->epsilon * s->rounding);
}

/* The largest imbalance of a body at x, relative to its bound: at most 1 if all are in balance. gradient: the
 * objective's there, including contacts (pl_objective_ops). */
static double measure_balance(pl_balance *b, const pl_backend_stage *stage, const pl_array *x,
                              const pl_array *gradient)
{
    const pl_model *m = b->model;
    const pl_memory_ops *memory = b->backend->ops->memory;
    int64_t count = 3 * m->vertices;
    memory->download(b->backend, b->x, x, count);
    memory->download(b->backend, b->x_start, stage->x_start, count);
    memory->download(b->backend, b->x_pred, stage->x_pred, count);
    memory->download(b->backend, b->gradient, gradient, count);
    for (int64_t i = 0; i < count; i++)
        b->load[i] = 0;
    if (stage->load)
        memory->download(b->backend, b->load, stage->load, count);
    add_pins(b);
    double worst = 0;
    b->least_bound = INFINITY;
    b->still = true;
    for (int32_t i = 0; i < m->body_count; i++) {
        body_sums s = {0};
        find_centre(b, m->first_vertex[i], m->first_vertex[i + 1], &s);
        for (int64_t k = m->first_vertex[i]; k < m->first_vertex[i + 1]; k++)
            add_vertex(b, stage->scalars.inertia, k, &s);
        double forces = forces_of(b, &s, b->pin_force[i]);
        double bound = bound_of(b, &stage->scalars, &s, forces);
        double off = fmax(norm(s.force), norm(s.moment) / sqrt(s.r2_mass / s.mass));
        b->least_bound = fmin(b->least_bound, bound);
        worst = off > 0 ? fmax(worst, off / bound) : worst;
        b->still = b->still && body_is_at_rest(b, &s, forces, off <= bound);
    }
    return worst;
}

bool pl_balance_is_at_rest(pl_balance *b, const pl_backend_stage *stage, const pl_array *x,
                           const pl_array *gradient, double *imbalance)
{
    double worst = measure_balance(b, stage, x, gradient);
    if (b->still)
        *imbalance = worst;
    return b->still;
}

bool pl_balance_accepts(pl_balance *b, const pl_backend_stage *stage, const pl_array *x,
                        const pl_array *gradient, double decrement, double bound, double noise,
                        double *imbalance)
{
    *imbalance = NAN;
    if (!(decrement <= fmax(bound, noise)))
        return false;
    if (decrement <= fmax(SURELY * bound, noise))
        return true;
    *imbalance = measure_balance(b, stage, x, gradient);
    return *imbalance <= 1;
}

double pl_balance_least_bound(const pl_balance *b)
{
    return b->least_bound;
}
