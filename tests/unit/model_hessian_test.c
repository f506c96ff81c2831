/* Hessians that a group makes semidefinite itself: they are semidefinite, bound the Hessian from above, and equal it if
 * that is already semidefinite. */
#include "engine/model/groups/project.h"
#include "engine/model/model.h"
#include "tests/support/lanes_random.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BOX "'mesh': {'box': {'size': [2, 1, 1], 'cells': [3, 2, 2]}}"
#define SHEET                                                                                      \
    "'mesh': {'cloth': {'size': [1, 1], 'cells': [4, 4]}}, 'transform':"                           \
    " {'rotate': {'axis': [1, 0.3, 0.2], 'degrees': 50}}"

/* A material, and a body of it. */
static const char *const SCENES[][2] = {
    {"", BOX},
    {"'model': 'corotated'", BOX},
    {"'model': 'arap'", BOX},
    {"'model': 'stvk'", BOX},
    {"'model': 'fung'", BOX},
    {"'model': 'mooney_rivlin', 'invertible': true", BOX},
    {"'fibers': {'direction': [1, 1, 0], 'stiffness': 1e6}", BOX},
    {"'damping': {'model': 'rayleigh', 'beta': 0.01, 'form': 'merged'}", BOX},
    {"'model': 'stvk', 'thickness': 0.01, 'bending': {'stiffness': 1}", SHEET},
    {"'area': 1e-4", "'mesh': {'cloth': {'cells': [4, 4], 'springs': true}}"},
};

/* Sizes of a group's matrices. */
static int32_t coordinates_of(const pl_group *g)
{
    return 3 * g->ops->corners;
}

static double *copy_of(const double *from, int64_t count)
{
    double *to = pl_block_alloc(count, sizeof *to);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

/* The largest entry of each lane's matrix in block b. */
static double size_of(const double *H, int32_t n, int64_t b, int l)
{
    const int64_t entries = n * (n + 1) / 2;
    double most = 0;
    for (int64_t e = 0; e < entries; e++)
        most = fmax(most, fabs(H[(b * entries + e) * PL_BLOCK + l]));
    return most;
}

/* True where two lists of matrices are alike in block b, lane l, to `share` of a size. */
static bool alike(const double *A, const double *B, int32_t n, int64_t b, int l, double within)
{
    const int64_t entries = n * (n + 1) / 2;
    for (int64_t e = 0; e < entries; e++) {
        const int64_t at = (b * entries + e) * PL_BLOCK + l;
        if (!(fabs(A[at] - B[at]) <= within))
            return false;
    }
    return true;
}

/* Returns how many matrices were lifted. */
static int check_group(const pl_group *g, const double *x)
{
    const int32_t n = coordinates_of(g);
    const int64_t count = pl_group_hessian_values(g);
    double *H = pl_block_alloc(count, sizeof *H), *lifted = pl_block_alloc(count, sizeof *H);
    g->ops->hessian(g, x, H, 0, g->blocks);
    g->ops->semidefinite_hessian(g, x, lifted, 0, 1);
    g->ops->semidefinite_hessian(g, x, lifted, 1, g->blocks);
    double *again = copy_of(lifted, count), *above = copy_of(lifted, count), *nearest;
    for (int64_t i = 0; i < count; i++)
        above[i] -= H[i];
    double *over = copy_of(above, count);
    nearest = copy_of(H, count);
    const pl_project_ops *project = pl_project_find();
    project->semidefinite(again, n, 0, g->blocks);
    project->semidefinite(over, n, 0, g->blocks);
    project->semidefinite(nearest, n, 0, g->blocks);
    int lifts = 0;
    for (int64_t i = 0; i < g->terms; i++) {
        const int64_t b = i / PL_BLOCK;
        const int l = (int)(i % PL_BLOCK);
        const double eps = 1e-9 * fmax(size_of(H, n, b, l), size_of(lifted, n, b, l));
        ck_assert_msg(alike(again, lifted, n, b, l, eps), "%s: %ld is not semidefinite",
                      g->ops->name, (long)i);
        ck_assert_msg(alike(over, above, n, b, l, eps), "%s: %ld is not above its Hessian",
                      g->ops->name, (long)i);
        const bool stays = alike(nearest, H, n, b, l, eps);
        ck_assert_msg(!stays || alike(lifted, H, n, b, l, 10 * eps), "%s: %ld need not be lifted",
                      g->ops->name, (long)i);
        lifts += !stays;
    }
    free(H), free(lifted), free(again), free(above), free(over), free(nearest);
    return lifts;
}

START_TEST(semidefinite_hessians_are_lifted_no_more_than_is_due)
{
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'materials': {'m': {'young': 1e5, 'poisson': 0.4,"
                             " %s}}, 'bodies': [{%s}]}",
                             SCENES[_i][0][0] ? SCENES[_i][0] : "'model': 'neo_hookean'",
                             SCENES[_i][1]);
    const int64_t n = 3 * pl_run_vertices(r);
    double *x = malloc((size_t)n * sizeof *x);
    uint64_t seed = 11;
    int lifts = 0, groups = 0;
    for (int round = 0; round < 2; round++) {
        /* Pressed, then stretched. */
        for (int64_t i = 0; i < n; i++)
            x[i] = pl_run_x(r)[i] * (round == 0 ? 0.7 : 1.2) + random_between(&seed, -0.03, 0.03);
        for (int32_t k = 0; k < r->model->group_count; k++) {
            const pl_group *g = &r->model->groups[k];
            if (!g->ops->semidefinite_hessian)
                continue;
            pl_stage stage = {.scalars = {.a = 1, .h = 0.01, .inertia = 1e4, .span = 0.01},
                              .x_start = pl_run_x(r),
                              .xp = pl_run_x(r),
                              .x_pred = x};
            if (g->ops->freeze)
                g->ops->freeze(g, &stage, 0, g->blocks);
            lifts += check_group(g, x);
            groups++;
        }
    }
    ck_assert_int_gt(groups, 0);
    ck_assert_int_gt(lifts, 0);
    free(x);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model_hessian");
    TCase *t = tcase_create("hessian");
    tcase_add_loop_test(t, semidefinite_hessians_are_lifted_no_more_than_is_due, 0,
                        sizeof SCENES / sizeof *SCENES);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
