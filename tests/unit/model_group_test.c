/* The term-group table: every function compared with its definition, on every instruction set. */
#include "engine/model/model.h"
#include "engine/model/groups/isa.h"
#include "engine/model/groups/tets.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char SCENE[] =
    "{'pliant': 1, 'solver': {'method': 'admm'}, 'contact': {'enabled': false},"
    " 'materials': {'m': {'young': 1e5, 'poisson': 0.4}},"
    " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [3, 2, 1]}}}],"
    " 'obstacles': [{'plane': {'offset': -1}}]}"; /* 36 tetrahedra: four blocks and a half */

/* Deterministic numbers in [-1, 1]. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

/* Rest positions pushed about by up to `size`: no element inverts for 0.05. */
static double *deformed(const pl_run *r, double size)
{
    size_t count = 3 * (size_t)pl_run_vertices(r);
    double *x = malloc(count * sizeof *x);
    uint64_t state = 42;
    for (size_t i = 0; i < count; i++)
        x[i] = pl_run_x(r)[i] * 1.1 + size * draw(&state);
    return x;
}

static double energy(const pl_group *g, const double *x)
{
    double per_block[64], total = 0;
    ck_assert_int_le(g->blocks, 64);
    g->ops->energy(g, x, per_block, 0, g->blocks);
    for (int64_t b = 0; b < g->blocks; b++)
        total += per_block[b];
    return total;
}

/* Gathered at vertices, [n][3]. */
static double *gathered(const pl_run *r, const double *contributions)
{
    int64_t n = pl_run_vertices(r);
    double *f = calloc(3 * (size_t)n, sizeof *f);
    for (int64_t i = 0; i < n; i++)
        pl_gather_vertex(&r->model->gather, contributions, i, f + 3 * i);
    return f;
}

START_TEST(gradient_is_the_energy_s)
{
    pl_run *r = pl_run_open(1, SCENE);
    const pl_group *g = &r->model->groups[0];
    double *x = deformed(r, 0.05);
    double *c = pl_block_alloc(r->model->contributions, sizeof *c);
    g->ops->gradient(g, x, c, 0, g->blocks);
    double *f = gathered(r, c), scale = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
        scale = fmax(scale, fabs(f[i]));
    for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++) {
        const double h = 1e-5, x0 = x[i];
        x[i] = x0 + h;
        double up = energy(g, x);
        x[i] = x0 - h;
        double down = energy(g, x);
        x[i] = x0;
        ck_assert_double_eq_tol(f[i], (up - down) / (2 * h), 1e-6 * scale);
    }
    free(x), free(c), free(f);
    pl_run_close(r);
}
END_TEST

START_TEST(hessian_is_the_gradient_s)
{
    pl_run *r = pl_run_open(1, SCENE);
    const pl_group *g = &r->model->groups[0];
    double *x = deformed(r, 0.05);
    size_t count = (size_t)r->model->contributions;
    double *up = pl_block_alloc((int64_t)count, sizeof *up);
    double *down = pl_block_alloc((int64_t)count, sizeof *down);
    double *H = pl_block_alloc(g->blocks * 78 * PL_BLOCK, sizeof *H);
    g->ops->hessian(g, x, H, 0, g->blocks);
    /* Every column of every term's 12 x 12 block, from differences of the term's own contributions.
     */
    for (int64_t t = 0; t < g->terms; t++) {
        int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
        for (int j = 0; j < 12; j++) {
            const double h = 1e-6;
            double *coordinate = &x[3 * (int64_t)g->corner[(b * 4 + j / 3) * PL_BLOCK + l] + j % 3];
            double x0 = *coordinate;
            *coordinate = x0 + h;
            g->ops->gradient(g, x, up, b, b + 1);
            *coordinate = x0 - h;
            g->ops->gradient(g, x, down, b, b + 1);
            *coordinate = x0;
            for (int i = j; i < 12; i++) {
                int64_t at = g->contribution + (b * 12 + i) * PL_BLOCK + l;
                double difference = (up[at] - down[at]) / (2 * h);
                double h_ij = H[(b * 78 + i * (i + 1) / 2 + j) * PL_BLOCK + l];
                ck_assert_double_eq_tol(h_ij, difference, 1e-6 * 1e6);
            }
        }
    }
    free(x), free(up), free(down), free(H);
    pl_run_close(r);
}
END_TEST

/* The diagonal by the group's own function, and out of the full Hessian for a group that has none,
 * is the full Hessian's; a hard group's is nothing. For every material, far from rest. */
START_TEST(hessian_diagonal_is_the_hessian_s)
{
    const char *models[] = {"neo_hookean", "corotated", "arap"};
    pl_run *r = pl_run_openf(
        1,
        "{'pliant': 1, 'materials': {'m': {'model': '%s', 'young': 1e5, 'poisson': 0.4}},"
        " 'bodies': [{'mesh': {'box': {'size': [2, 1, 1], 'cells': [3, 2, 1]}}}],"
        " 'obstacles': [{'plane': {'offset': -1}}]}",
        models[_i]);
    const pl_group *g = &r->model->groups[0], *hard = &r->model->groups[1];
    double *x = deformed(r, 0.05);
    int64_t count = r->model->contributions, values = pl_group_hessian_values(g);
    double *own = pl_block_alloc(count, sizeof *own), *common = pl_block_alloc(count, sizeof *own);
    double *H = pl_block_alloc(values, sizeof *H), *scratch = pl_block_alloc(values, sizeof *H);
    pl_group_ops ops = *g->ops;
    pl_group without = *g;
    ops.hessian_diagonal = NULL;
    without.ops = &ops;
    g->ops->hessian(g, x, H, 0, g->blocks);
    pl_group_hessian_diagonal(g, x, own, NULL, 0, g->blocks);
    pl_group_hessian_diagonal(&without, x, common, scratch, 0, 1);
    pl_group_hessian_diagonal(&without, x, common, scratch, 1, g->blocks);
    for (int64_t i = 0; i < g->blocks * 12 * PL_BLOCK; i++) {
        int64_t b = i / (12 * PL_BLOCK), e = i / PL_BLOCK % 12, l = i % PL_BLOCK;
        double entry = H[(b * 78 + e * (e + 1) / 2 + e) * PL_BLOCK + l];
        ck_assert_double_eq(common[g->contribution + i], entry);
        ck_assert_double_eq_tol(own[g->contribution + i], entry, 1e-13 * 1e6);
        ck_assert(b * PL_BLOCK + l >= g->terms || fabs(entry) > 100);
    }
    own[hard->contribution] = 1;
    pl_group_hessian_diagonal(hard, x, own, NULL, 0, hard->blocks);
    ck_assert_double_eq(own[hard->contribution], 0);
    free(x), free(own), free(common), free(H), free(scratch);
    pl_run_close(r);
}
END_TEST

/* <D x, W^2 q> = <x, D^T W^2 q> for every group, and D^T W^2 D equals `stiffness`. */
START_TEST(transpose_and_stiffness_belong_to_reduce)
{
    pl_run *r = pl_run_open(1, SCENE);
    ck_assert_int_eq(r->model->group_count, 2);
    double *x = deformed(r, 0.3);
    uint64_t state = 7;
    for (int32_t k = 0; k < r->model->group_count; k++) {
        const pl_group *g = &r->model->groups[k];
        size_t values = (size_t)pl_group_values(g);
        double *Dx = pl_block_alloc((int64_t)values, sizeof *Dx);
        double *q = pl_block_alloc((int64_t)values, sizeof *q);
        double *c = pl_block_alloc(r->model->contributions, sizeof *c);
        for (size_t i = 0; i < values; i++)
            q[i] = draw(&state);
        g->ops->reduce(g, x, Dx, 0, g->blocks);
        g->ops->transpose(g, q, c, 0, g->blocks);
        double *f = gathered(r, c), left = 0, right = 0, size = 0;
        for (size_t i = 0; i < values; i++) {
            size_t block = i / ((size_t)g->ops->rows * PL_BLOCK), lane = i % PL_BLOCK;
            left += g->weight[block * PL_BLOCK + lane] * Dx[i] * q[i];
            size += fabs(g->weight[block * PL_BLOCK + lane] * Dx[i] * q[i]);
        }
        for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
            right += x[i] * f[i];
        ck_assert_double_eq_tol(left, right, 1e-12 * size);
        free(f);

        g->ops->transpose(g, Dx, c, 0, g->blocks);
        f = gathered(r, c);
        for (int64_t t = 0; t < g->terms; t++) {
            double K[PL_CORNERS_MAX * PL_CORNERS_MAX];
            int32_t m = g->ops->corners;
            int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
            g->ops->stiffness(g, b, (int32_t)l, K);
            for (int32_t i = 0; i < m; i++)
                for (int32_t j = 0; j < m; j++) {
                    const int32_t *corner = g->corner + b * m * PL_BLOCK + l;
                    for (int d = 0; d < 3; d++)
                        f[3 * corner[i * PL_BLOCK] + d] -= K[m * i + j] *
                                                           x[3 * corner[j * PL_BLOCK] + d];
                }
        }
        for (int64_t i = 0; i < 3 * pl_run_vertices(r); i++)
            ck_assert_double_eq_tol(f[i], 0, 1e-8 * 1e5);
        free(Dx), free(q), free(c), free(f);
    }
    free(x);
    pl_run_close(r);
}
END_TEST

/* z = prox(v) makes grad U(z) = w^2 (v - z): the condition for a minimum of eq. 24, in the large.
 */
START_TEST(prox_is_stationary)
{
    pl_run *r = pl_run_open(1, SCENE);
    const pl_group *g = &r->model->groups[0];
    const pl_tets *t = g->data;
    size_t values = (size_t)pl_group_values(g);
    double *v = pl_block_alloc((int64_t)values, sizeof *v);
    double *z = pl_block_alloc((int64_t)values, sizeof *z);
    uint64_t state = 3;
    for (size_t i = 0; i < values; i++)
        v[i] = ((i / PL_BLOCK) % 9 % 4 == 0) + 0.8 * draw(&state); /* I + noise: some inverted */
    pl_stage stage = {0};
    g->ops->prox(g, &stage, v, z, 0, g->blocks);
    for (int64_t k = 0; k < g->terms; k++) {
        int64_t b = k / PL_BLOCK, l = k % PL_BLOCK;
        double F[9], cof[9], P[9];
        for (int e = 0; e < 9; e++)
            F[e] = z[(b * 9 + e) * PL_BLOCK + l];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int a = (i + 1) % 3, c = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
                cof[i + 3 * j] = F[a + 3 * p] * F[c + 3 * q] - F[a + 3 * q] * F[c + 3 * p];
            }
        double J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2];
        ck_assert_double_gt(J, 0);
        const double *constants = t->constants + b * 2 * PL_BLOCK + l;
        double mu = constants[0], lambda = constants[PL_BLOCK];
        double w2 = g->weight[k] / t->volume[k], worst = 0;
        for (int e = 0; e < 9; e++) {
            P[e] = mu * F[e] + (lambda * log(J) - mu) * cof[e] / J;
            worst = fmax(worst, fabs(P[e] - w2 * (v[(b * 9 + e) * PL_BLOCK + l] - F[e])));
        }
        ck_assert_double_le(worst, 1e-6 * (mu + lambda));
    }
    free(v), free(z);
    pl_run_close(r);
}
END_TEST

#if defined(__x86_64__)
/* One ADMM local step and a gradient on each instruction set: the same bits. */
static const pl_group_ops *const OPS[] = {&pl_tets_neo_hookean_ops_v2, &pl_tets_neo_hookean_ops_v3,
                                          &pl_tets_neo_hookean_ops_v4};

START_TEST(instruction_sets_agree_bit_for_bit)
{
    pl_run *r = pl_run_open(1, SCENE);
    pl_group g = r->model->groups[0];
    double *x = deformed(r, 0.2); /* some elements are inverted */
    size_t values = (size_t)pl_group_values(&g), count = (size_t)r->model->contributions;
    double *z[3], *u[3], *c[3], *dual[3];
    pl_block_sums sums[3][64];
    int tried = 0;
    for (int isa = 0; isa <= (int)pl_isa_current(); isa++, tried++) {
        z[isa] = pl_block_alloc((int64_t)values, sizeof(double));
        u[isa] = pl_block_alloc((int64_t)values, sizeof(double));
        c[isa] = pl_block_alloc((int64_t)count, sizeof(double));
        dual[isa] = pl_block_alloc((int64_t)count, sizeof(double));
        memset(sums[isa], 0, sizeof sums[isa]);
        OPS[isa]->reduce(&g, x, z[isa], 0, g.blocks);
        double *u_old = pl_block_alloc((int64_t)values, sizeof(double));
        double *z_old = pl_block_alloc((int64_t)values, sizeof(double));
        pl_admm_local local = {.x = x,
                               .u = u[isa],
                               .z = z[isa],
                               .u_old = u_old,
                               .z_old = z_old,
                               .beta = 0.4,
                               .beta_next = 0.7,
                               .relaxation = 1.3,
                               .to_global = c[isa],
                               .dual = dual[isa],
                               .sums = sums[isa]};
        pl_stage stage = {0};
        OPS[isa]->admm_local(&g, &stage, &local, 0, g.blocks);
        free(u[isa]), free(z[isa]);
        u[isa] = u_old, z[isa] = z_old; /* where the new ones were written */
        ck_assert_mem_eq(z[isa], z[0], values * sizeof(double));
        ck_assert_mem_eq(u[isa], u[0], values * sizeof(double));
        ck_assert_mem_eq(c[isa], c[0], count * sizeof(double));
        ck_assert_mem_eq(dual[isa], dual[0], count * sizeof(double));
        ck_assert_mem_eq(sums[isa], sums[0], sizeof sums[0]);
    }
    for (int isa = 0; isa < tried; isa++)
        OPS[isa]->gradient(&g, x, c[isa], 0, g.blocks);
    for (int isa = 1; isa < tried; isa++)
        ck_assert_mem_eq(c[isa], c[0], count * sizeof(double));
    for (int isa = 0; isa < tried; isa++)
        free(z[isa]), free(u[isa]), free(c[isa]), free(dual[isa]);
    free(x);
    pl_run_close(r);
}
END_TEST

/* Positions that end at the end of memory: a read behind the last vertex crashes. */
START_TEST(nothing_behind_the_last_vertex_is_read)
{
    pl_run *r = pl_run_open(1, SCENE);
    const pl_group *g = &r->model->groups[0];
    size_t bytes = 3 * (size_t)pl_run_vertices(r) * sizeof(double), page = 4096, room = 2 * page;
    ck_assert_uint_lt(bytes, room);
    char *memory = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    ck_assert_int_eq(mprotect(memory + room, page, PROT_NONE), 0);
    double *x = (double *)(memory + room - bytes);
    memcpy(x, pl_run_x(r), bytes);
    double *Dx = pl_block_alloc(pl_group_values(g), sizeof *Dx);
    for (int isa = 0; isa <= (int)pl_isa_current(); isa++) {
        OPS[isa]->reduce(g, x, Dx, 0, g->blocks);
        for (int64_t t = 0; t < g->terms; t++)
            for (int e = 0; e < 9; e++)
                ck_assert_double_eq_tol(Dx[(t / PL_BLOCK * 9 + e) * PL_BLOCK + t % PL_BLOCK],
                                        e % 4 == 0, 1e-14);
    }
    free(Dx);
    munmap(memory, room + page);
    pl_run_close(r);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("term groups");
    TCase *t = tcase_create("term groups");
    tcase_add_test(t, gradient_is_the_energy_s);
    tcase_add_test(t, hessian_is_the_gradient_s);
    tcase_add_loop_test(t, hessian_diagonal_is_the_hessian_s, 0, 3);
    tcase_add_test(t, transpose_and_stiffness_belong_to_reduce);
    tcase_add_test(t, prox_is_stationary);
#if defined(__x86_64__)
    tcase_add_test(t, instruction_sets_agree_bit_for_bit);
    tcase_add_test(t, nothing_behind_the_last_vertex_is_read);
#endif
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
