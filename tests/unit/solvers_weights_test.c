/* The rule for ADMM's weights: how concave elements are, the resulting weights, and the matrix with them. */
#include "engine/solvers/weights.h"
#include "tests/support/host_array.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double YOUNG = 1e5, POISSON = 0.4;

static pl_run *block(const char *model, double weight_scale)
{
    return pl_run_openf(1,
                        "{'pliant': 1, 'solver': {'weight_scale': %g},"
                        " 'materials': {'m': {'model': '%s', 'young': %g, 'poisson': %g}},"
                        " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 1]}}}],"
                        " 'pins': [{'select': {'side': '-x'}}]}",
                        weight_scale, model, YOUNG, POISSON);
}

typedef struct workshop {
    pl_run *run;
    pl_backend *backend;
    pl_weights *weights;
    double *x;
    pl_array *z;
} workshop;

static workshop open_workshop_of(pl_run *run)
{
    workshop w = {.run = run};
    const pl_model *m = w.run->model;
    ck_assert_int_eq(pl_backend_find(PL_DEVICE_CPU)->create(m, 2, NULL, &w.backend), PL_OK);
    ck_assert_int_eq(pl_weights_create(m, w.backend, true, &w.weights), PL_OK);
    w.x = malloc(3 * (size_t)m->vertices * sizeof *w.x);
    w.z = w.backend->ops->memory->alloc(w.backend, pl_group_values(&m->groups[0]));
    return w;
}

static workshop open_workshop(const char *model)
{
    return open_workshop_of(block(model, 1.8));
}

static void close_workshop(workshop *w)
{
    pl_weights_destroy(w->weights);
    ck_assert_ptr_eq(w->backend->model, w->run->model);
    w->backend->ops->memory->release(w->backend, w->z);
    w->backend->ops->destroy(w->backend);
    free(w->x);
    pl_run_close(w->run);
}

/* A step that begins at `stretch` of the rest shape in all directions. */
static void begin_at(workshop *w, double stretch)
{
    for (int64_t i = 0; i < 3 * w->run->model->vertices; i++)
        w->x[i] = stretch * w->run->meshes[0].vertices[i];
    const pl_backend_stage stage = {.x_start = pl_host_array(w->x), .x_pred = pl_host_array(w->x)};
    ck_assert_int_eq(pl_weights_begin(w->weights, &stage, &w->z, false), PL_OK);
}

/* At F = s I of neo-Hookean all stretches have g = mu s - (mu - 3 lambda log s) / s, and the element
 * would turn at (g + g) / (s + s); it is stiff against all else. */
static double concavity_at(double s)
{
    const double mu = YOUNG / (2 * (1 + POISSON)), lambda = 2 * mu * POISSON / (1 - 2 * POISSON);
    return fmax(0, (mu - 3 * lambda * log(s)) / (s * s) - mu);
}

START_TEST(concavity_is_what_theory_says)
{
    static const double stretches[] = {0.6, 0.8, 0.95, 1, 1.2};
    workshop w = open_workshop("neo_hookean");
    const pl_group *g = &w.run->model->groups[0];
    double *out = pl_block_alloc(g->blocks * PL_BLOCK, sizeof *out);
    for (size_t k = 0; k < sizeof stretches / sizeof *stretches; k++) {
        begin_at(&w, stretches[k]);
        w.backend->ops->splitting->concavity(w.backend, 0, w.z, out);
        for (int64_t i = 0; i < g->terms; i++)
            ck_assert_double_eq_tol(out[i] * 24, concavity_at(stretches[k]), 1e-9 * YOUNG);
        for (int64_t i = g->terms; i < g->blocks * PL_BLOCK; i++)
            ck_assert_double_eq(out[i], 0); /* padding */
    }
    free(out);
    close_workshop(&w);
}
END_TEST

/* A sheet in plane stress: with s3 where mu s3 = (mu - lambda log J) / s3, it buckles by g / s, g = mu s - (mu -
 * lambda log J) / s. */
static double buckling_at(double s)
{
    const double mu = YOUNG / (2 * (1 + POISSON)), lambda = 2 * mu * POISSON / (1 - 2 * POISSON);
    double low = 0.1, high = 10;
    for (int k = 0; k < 200; k++) {
        double s3 = (low + high) / 2;
        double slope = mu * s3 - (mu - lambda * log(s * s * s3)) / s3;
        *(slope > 0 ? &high : &low) = s3;
    }
    double g = mu * s - (mu - lambda * log(s * s * low)) / s;
    return fmax(0, -g / s);
}

START_TEST(sheets_buckle_as_theory_says)
{
    static const double stretches[] = {0.5, 0.9, 1, 1.2};
    workshop w = open_workshop_of(pl_run_openf(
        1,
        "{'pliant': 1, 'solver': {'method': 'admm'}, 'materials': {'m': {'model': 'neo_hookean',"
        " 'young': %g, 'poisson': %g, 'thickness': 0.01}}, 'bodies': [{'mesh': {'cloth': {'cells':"
        " [3, 3]}}}]}",
        YOUNG, POISSON));
    const pl_group *g = &w.run->model->groups[0];
    double *out = pl_block_alloc(g->blocks * PL_BLOCK, sizeof *out);
    for (size_t k = 0; k < sizeof stretches / sizeof *stretches; k++) {
        begin_at(&w, stretches[k]);
        w.backend->ops->splitting->concavity(w.backend, 0, w.z, out);
        for (int64_t i = 0; i < g->terms; i++)
            ck_assert_double_eq_tol(out[i] / (0.01 / 18), buckling_at(stretches[k]), 1e-8 * YOUNG);
        for (int64_t i = g->terms; i < g->blocks * PL_BLOCK; i++)
            ck_assert_double_eq(out[i], 0);
    }
    free(out);
    close_workshop(&w);
}
END_TEST

/* Up where needed, at a step's beginning and during it, and down when nothing needs it. */
START_TEST(weights_follow_the_rule)
{
    workshop w = open_workshop("neo_hookean");
    const pl_model *rest = w.run->model;
    const double mu = YOUNG / (2 * (1 + POISSON)), low = 1.8 * mu;
    begin_at(&w, 0.96); /* concave by a third of the weight */
    ck_assert(2 * concavity_at(0.96) < low && 4 * concavity_at(0.96) > low);
    ck_assert_ptr_eq(w.backend->model, rest);
    begin_at(&w, 0.8);
    ck_assert_ptr_ne(w.backend->model, rest);
    for (int64_t i = 0; i < rest->groups[0].terms; i++) {
        double density = 24 * w.backend->model->groups[0].weight[i];
        ck_assert_double_ge(density, 4 * concavity_at(0.8));
        ck_assert_double_lt(density, 4 * sqrt(2) * 1.000001 * concavity_at(0.8));
    }
    const pl_model *heavier = w.backend->model;
    begin_at(&w, 0.96); /* 4 (-c) still asks for more than at rest */
    ck_assert_ptr_eq(w.backend->model, heavier);
    begin_at(&w, 1.1);
    ck_assert_ptr_eq(w.backend->model, rest);

    pl_array *u = w.backend->ops->memory->alloc(w.backend, pl_group_values(&rest->groups[0]));
    for (int64_t i = 0; i < pl_group_values(&rest->groups[0]); i++)
        pl_numbers(u)[i] = 1;
    for (int64_t i = 0; i < pl_group_values(&rest->groups[0]); i++)
        pl_numbers(w.z)[i] *= 0.7 / 1.1;
    for (int64_t k = 9; k <= 20; k++) {
        bool renewed;
        ck_assert_int_eq(pl_weights_renew(w.weights, k, &w.z, &u, &renewed), PL_OK);
        ck_assert_int_eq(renewed, k == 10);
    }
    double ratio = rest->groups[0].weight[0] / w.backend->model->groups[0].weight[0];
    ck_assert_double_lt(ratio, 0.5);
    ck_assert_double_eq_tol(pl_numbers(u)[0], ratio, 1e-12); /* w^2 u is unchanged */
    w.backend->ops->memory->release(w.backend, u);
    close_workshop(&w);
}
END_TEST

/* The reweighted matrix equals that of a model built with such weights: 4 is a level. */
START_TEST(matrix_is_that_of_the_weights)
{
    workshop w = open_workshop("neo_hookean");
    double s = 1;
    while (4 * concavity_at(s) < 3.5 * 1.8 * YOUNG / 2.8)
        s -= 1e-4;
    begin_at(&w, s);
    pl_run *built = block("neo_hookean", 7.2);
    const pl_model *a = w.backend->model, *b = built->model;
    ck_assert_int_eq(a->A.column[a->A.n], b->A.column[b->A.n]);
    for (int64_t i = 0; i < a->free_vertices; i++) {
        ck_assert_double_eq_tol(a->diagonal[i], b->diagonal[i], 1e-12 * b->diagonal[i]);
        for (int64_t e = a->coupling_start[i]; e < a->coupling_start[i + 1]; e++)
            ck_assert_double_eq_tol(a->coupling_value[e], b->coupling_value[e],
                                    1e-12 * b->diagonal[i]);
    }
    double *rhs = calloc(3 * (size_t)a->free_vertices, sizeof *rhs);
    double *x = calloc(3 * (size_t)a->free_vertices, sizeof *x);
    double *y = calloc(3 * (size_t)a->free_vertices, sizeof *y);
    for (int64_t i = 0; i < 3 * a->free_vertices; i++)
        rhs[i] = sin((double)i);
    ck_assert_int_eq(w.backend->ops->matrix->solve(w.backend, pl_host_array(rhs), pl_host_array(x)),
                     PL_OK);
    pl_sparse_multiply(&b->A, x, y, 3);
    for (int64_t i = 0; i < 3 * a->free_vertices; i++)
        ck_assert_double_eq_tol(y[i], rhs[i], 1e-10);
    free(rhs);
    free(x);
    free(y);
    pl_run_close(built);
    close_workshop(&w);
}
END_TEST

/* Squared distances converge with their own weights, and keep them. */
START_TEST(arap_keeps_its_weights)
{
    workshop w = open_workshop("arap");
    begin_at(&w, 0.3);
    ck_assert_ptr_eq(w.backend->model, w.run->model);
    close_workshop(&w);
}
END_TEST

START_TEST(levels_are_saved_and_checked)
{
    workshop w = open_workshop("neo_hookean"), other = open_workshop("neo_hookean");
    begin_at(&w, 0.7);
    pl_bytes_out out = {0};
    pl_weights_save(w.weights, &out);
    pl_bytes_in in = {out.data, out.size, false};
    ck_assert(pl_weights_restore(other.weights, &in));
    begin_at(&w, 0.96);
    begin_at(&other, 0.96); /* of itself this would ask for no other weights */
    for (int64_t i = 0; i < w.run->model->groups[0].terms; i++)
        ck_assert_double_eq(w.backend->model->groups[0].weight[i],
                            other.backend->model->groups[0].weight[i]);
    in = (pl_bytes_in){out.data, out.size - 1, false};
    ck_assert(!pl_weights_restore(other.weights, &in));
    out.data[out.size - 1] = 200;
    in = (pl_bytes_in){out.data, out.size, false};
    ck_assert(!pl_weights_restore(other.weights, &in));
    free(out.data);
    close_workshop(&w);
    close_workshop(&other);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("weights");
    tcase_add_test(t, concavity_is_what_theory_says);
    tcase_add_test(t, sheets_buckle_as_theory_says);
    tcase_add_test(t, weights_follow_the_rule);
    tcase_add_test(t, matrix_is_that_of_the_weights);
    tcase_add_test(t, arap_keeps_its_weights);
    tcase_add_test(t, levels_are_saved_and_checked);
    return run_cases("solvers_weights", t);
}
