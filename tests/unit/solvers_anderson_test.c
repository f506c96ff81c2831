/* Anderson's acceleration against its textbook form (Walker and Ni 2011): the vector that a local step sees is
 * g - sum gamma_j dg_j, with all g and r kept in double precision and least squares solved apart. */
#include "engine/solvers/anderson.h"
#include "engine/solvers/global_step.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 12, PAIRS = 6 };
static const double RELAXATION = 1.8;

typedef struct workshop {
    pl_run *run;
    const pl_group *group;
    pl_backend *backend;
    pl_anderson_history *history;
    pl_global global;
    int64_t n; /* values of the group */
    double *x, *u, *z;
    double *r[ITERATIONS + 1], *g[ITERATIONS + 1]; /* of every iteration that has ended */
    int k;                                         /* their number */
} workshop;

static workshop open_workshop(int32_t threads)
{
    workshop w = {
        .run = pl_run_open(1, "{'pliant': 1, 'time': {'step': 0.05}, 'solver': {'method': 'admm'},"
                              " 'contact': {'enabled': false},"
                              " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}},"
                              " 'bodies': [{'mesh': {'sphere': {'cells': 6}}}]}")};
    const pl_model *m = w.run->model;
    ck_assert_int_eq(m->group_count, 1); /* of tetrahedra of many sizes, and so weights */
    w.group = &m->groups[0];
    ck_assert_int_gt(w.group->blocks, 32); /* several parts and chunks */
    ck_assert_int_eq(pl_backend_find(PL_DEVICE_CPU)->create(m, threads, NULL, &w.backend), PL_OK);
    ck_assert_int_eq(pl_anderson_create(m, w.backend, &w.history), PL_OK);
    ck_assert(pl_global_init(m, w.backend, &w.global));
    w.n = pl_group_values(w.group);
    w.x = pl_host_alloc(w.backend, 3 * m->vertices);
    w.u = pl_host_alloc(w.backend, w.n);
    w.z = pl_host_alloc(w.backend, w.n);
    for (int64_t i = 0; i < 3 * m->vertices; i++)
        w.x[i] = m->x0[i] + (pl_model_holds(m, i / 3, (int)(i % 3)) ? 0 : 0.02 * sin(5.0 * i));
    return w;
}

static void close_workshop(workshop *w)
{
    pl_anderson_destroy(w->history);
    pl_global_clear(&w->global);
    w->backend->ops->destroy(w->backend);
    for (int i = 0; i < w->k; i++) {
        free(w->r[i]);
        free(w->g[i]);
    }
    free(w->x);
    free(w->u);
    free(w->z);
    pl_run_close(w->run);
}

/* Keeps r and g of the iteration that ended. */
static void keep(workshop *w)
{
    double *r = w->r[w->k] = pl_host_alloc(w->backend, w->n);
    double *g = w->g[w->k] = pl_host_alloc(w->backend, w->n);
    w->k++;
    w->backend->ops->splitting->reduce(w->backend, pl_host_array(w->x),
                                       (pl_array *[]){pl_host_array(r)});
    for (int64_t i = 0; i < w->n; i++) {
        r[i] -= w->z[i];
        g[i] = w->z[i] + w->u[i] + RELAXATION * r[i];
    }
}

static double product(const workshop *w, const double *a1, const double *a0, const double *b1,
                      const double *b0)
{
    const int64_t step = w->group->ops->rows * PL_BLOCK;
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        sum += w->group->weight[i / step * PL_BLOCK + i % PL_BLOCK] * (a1[i] - (a0 ? a0[i] : 0)) *
               (b1[i] - b0[i]);
    return sum;
}

/* x of the symmetric positive definite M x = b, by elimination. */
static void eliminate(double M[PAIRS][PAIRS], double *b, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const double f = M[j][i] / M[i][i];
            for (int c = i; c < count; c++)
                M[j][c] -= f * M[i][c];
            b[j] -= f * b[i];
        }
    for (int i = count - 1; i >= 0; i--) {
        for (int c = i + 1; c < count; c++)
            b[i] -= M[i][c] * b[c];
        b[i] /= M[i][i];
    }
}

/* The accelerated vector, from the last r and g. Released by the caller. */
static double *textbook(const workshop *w)
{
    const int last = w->k - 1, count = last < PAIRS ? last : PAIRS, first = last - count;
    double M[PAIRS][PAIRS], gamma[PAIRS];
    for (int i = 0; i < count; i++) {
        double *const *a = &w->r[first + i];
        gamma[i] = product(w, w->r[last], NULL, a[1], a[0]);
        for (int j = 0; j < count; j++)
            M[i][j] = product(w, a[1], a[0], w->r[first + j + 1], w->r[first + j]);
    }
    eliminate(M, gamma, count);
    double *v = pl_host_alloc(w->backend, w->n);
    memcpy(v, w->g[last], (size_t)w->n * sizeof *v);
    for (int i = 0; i < count; i++)
        for (int64_t e = 0; e < w->n; e++)
            v[e] -= gamma[i] * (w->g[first + i + 1][e] - w->g[first + i][e]);
    return v;
}

static void local_step(workshop *w, const pl_backend_stage *stage, const pl_mixing *mixing)
{
    pl_array *u = pl_host_array(w->u), *z = pl_host_array(w->z);
    const pl_local_step step = {.x = pl_host_array(w->x),
                                .u = &u,
                                .z = &z,
                                .u_old = &u,
                                .z_old = &z,
                                .relaxation = RELAXATION,
                                .mixing = mixing,
                                .want_sums = true};
    w->backend->ops->splitting->local_step(w->backend, stage, &step);
}

/* The largest difference of the local step's v = z + u from `v`, and the largest step from the last g. */
static double distance(const workshop *w, const double *v, double *step)
{
    double most = *step = 0;
    for (int64_t i = 0; i < w->n; i++) {
        most = fmax(most, fabs(w->z[i] + w->u[i] - v[i]));
        *step = fmax(*step, fabs(v[i] - w->g[w->k - 1][i]));
    }
    return most;
}

/* Twelve iterations: six fill the history, and in the others the newest pair replaces the oldest. The numbers of the
 * history are in single precision, and least squares magnify their roundings. */
START_TEST(local_steps_see_the_accelerated_vector)
{
    workshop w = open_workshop(_i + 1);
    const pl_model *m = w.run->model;
    pl_array *z = pl_host_array(w.z);
    const pl_backend_stage stage = {
        .scalars = {.a = 1, .h = m->h, .inertia = 1 / (m->h * m->h), .time_end = m->h},
        .x_start = pl_host_array(m->x0),
        .x_pred = pl_host_array(m->x0)};
    w.backend->ops->objective->freeze(w.backend, &stage);
    pl_global_begin(&w.global, &stage, pl_host_array(w.x));
    w.backend->ops->splitting->reduce(w.backend, pl_host_array(w.x), &z);
    local_step(&w, &stage, NULL);
    for (int k = 1; k <= ITERATIONS; k++) {
        double length, step;
        ck_assert_int_eq(pl_global_step(&w.global, pl_host_array(w.x), &length), PL_OK);
        keep(&w);
        double *v = textbook(&w);
        const pl_mixing *mixing = pl_anderson_mix(w.history, pl_host_array(w.x), &z, RELAXATION);
        ck_assert_int_eq(mixing ? mixing->count : 0, k - 1 < PAIRS ? k - 1 : PAIRS);
        local_step(&w, &stage, mixing);
        const double off = distance(&w, v, &step);
        ck_assert_double_le(off, k == 1 ? 1e-14 : 1e-6 * step);
        free(v);
    }
    close_workshop(&w);
}
END_TEST

/* After `begin` nothing of the iterations before is left. */
START_TEST(begin_forgets)
{
    workshop w = open_workshop(1);
    pl_array *z = pl_host_array(w.z);
    for (int k = 0; k < 3; k++)
        pl_anderson_mix(w.history, pl_host_array(w.x), &z, RELAXATION);
    pl_anderson_begin(w.history);
    ck_assert_ptr_null(pl_anderson_mix(w.history, pl_host_array(w.x), &z, RELAXATION));
    close_workshop(&w);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("anderson");
    tcase_add_loop_test(t, local_steps_see_the_accelerated_vector, 0, 2);
    tcase_add_test(t, begin_forgets);
    return run_cases("solvers_anderson", t);
}
