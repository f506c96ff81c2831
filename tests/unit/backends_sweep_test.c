/* The order of a sweep, and the sums around a vertex that it uses: every free vertex is in one pack, no term has two
 * vertices of one colour, and energy, gradient and Hessian in each lane are those of the vertex's terms. */
#include "engine/backends/cpu/cpu_sweep.h"
#include "engine/step/state.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SOLVER "'solver': {'method': 'vertex_block_descent', 'iterations': 2}"
#define TIME   "'pliant': 1, 'time': {'step': 0.01, 'steps': 4}, "
#define BALL(material)                                                                             \
    "{" TIME SOLVER ", 'materials': {'m': {'young': 1e5, 'poisson': 0.4, " material "}},"          \
    " 'bodies': [{'mesh': {'sphere': {'radius': 0.5, 'cells': 4}},"                                \
    "             'initial': {'angular_velocity': [3, 1, 2]}}]}"

static const char *const SCENES[] = {
    BALL("'model': 'neo_hookean'"),
    BALL("'model': 'corotated', 'damping': {'viscosity': 40}"),
    BALL("'model': 'arap', 'fibers': {'stiffness': 1e5, 'direction': [1, 1, 0]}"),
    BALL("'model': 'stvk', 'damping': {'model': 'rayleigh', 'beta': 0.01}"),
    BALL("'model': 'fung', 'invertible': true"),
    BALL("'model': 'spline', 'splines': 'B'"),
    BALL("'model': 'neo_hookean', 'damping': {'model': 'principal_strain', 'beta': 0.01,"
         "  'form': 'merged'}"),
    /* A sheet with hinges, ropes, attachments, pins along axes, obstacles with friction. */
    "{" TIME SOLVER ", 'materials': {"
    "   'sheet': {'young': 1e5, 'thickness': 0.01, 'bending': {'model': 'hinge'},"
    "             'damping': {'viscosity': 10}},"
    "   'flat': {'young': 1e5, 'thickness': 0.01, 'bending': {}},"
    "   'rope': {'young': 1e6, 'area': 1e-4, 'bending': {}}, 'solid': {'young': 1e5}},"
    " 'bodies': ["
    "   {'material': 'sheet', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 4]}}},"
    "   {'material': 'flat', 'mesh': {'cloth': {'size': [1, 1], 'cells': [4, 5]}},"
    "    'transform': {'translate': [0, 2, 0]}},"
    "   {'material': 'rope', 'mesh': {'rope': {'length': 1, 'segments': 8}},"
    "    'transform': {'translate': [0, 1.5, 0]}},"
    "   {'material': 'solid', 'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [2, 2, 2]}},"
    "    'transform': {'translate': [-0.5, 1.4, 0]}}],"
    " 'pins': [{'body': 'body-0', 'select': {'side': '-x'}, 'axes': ['y', 'z']},"
    "          {'body': 'body-3', 'select': {'side': '+y'}}],"
    " 'attachments': [{'body': 'body-2', 'select': {'side': '-x'}, 'to': 'body-3'}],"
    " 'obstacles': [{'plane': {'offset': 0.001}, 'friction': 0.4}], 'contact': {'enabled': false}}",
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

static int32_t corner_of(const pl_group *g, int64_t t, int32_t c)
{
    return g->corner[(t / PL_BLOCK * g->ops->corners + c) * PL_BLOCK + t % PL_BLOCK];
}

START_TEST(colours_are_independent)
{
    pl_run *r = pl_run_open(1, SCENES[_i]);
    const pl_model *m = r->model;
    pl_sweep s;
    ck_assert_int_eq(pl_sweep_create(m, &s), PL_OK);
    int *seen = calloc((size_t)m->vertices, sizeof *seen);
    for (int32_t k = 0; k < s.colours; k++)
        for (int64_t i = s.colour[k] * PL_BLOCK; i < s.colour[k + 1] * PL_BLOCK; i++) {
            seen[s.vertex[i]] += i % PL_BLOCK < s.used[i / PL_BLOCK];
            ck_assert_int_eq(s.colour_of[s.vertex[i]], k);
        }
    for (int64_t v = 0; v < m->vertices; v++) {
        ck_assert_int_eq(seen[v], m->free_row[v] >= 0);
        ck_assert_int_eq(s.colour_of[v] >= 0, m->free_row[v] >= 0);
    }
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        for (int64_t t = 0; t < g->terms; t++)
            for (int32_t c = 0; c < g->ops->corners; c++)
                for (int32_t d = 0; d < c; d++) {
                    const int32_t a = corner_of(g, t, c), b = corner_of(g, t, d);
                    ck_assert(a == b || s.colour_of[a] != s.colour_of[b] || s.colour_of[a] < 0);
                }
    }
    free(seen);
    pl_sweep_destroy(&s);
    pl_run_close(r);
}
END_TEST

/* The gradient and the Hessian's block of each vertex, [vertices][3] and [vertices][9], by the groups' own functions. */
static void reference(const pl_model *m, const double *x, double *f, double *K)
{
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        const int32_t corners = g->ops->corners, size = 3 * corners;
        double *H = pl_block_alloc(pl_group_hessian_values(g), sizeof *H);
        double *c = pl_block_alloc(m->contributions, sizeof *c);
        g->ops->hessian(g, x, H, 0, g->blocks);
        g->ops->gradient(g, x, c, 0, g->blocks);
        for (int64_t t = 0; t < g->terms; t++)
            for (int32_t p = 0; p < size; p++) {
                const int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
                const int32_t v = corner_of(g, t, p / 3);
                f[3 * v + p % 3] += c[g->contribution + (b * size + p) * PL_BLOCK + l];
                for (int32_t q = 0; q < size; q++) {
                    const int32_t hi = p > q ? p : q, lo = p > q ? q : p;
                    if (corner_of(g, t, q / 3) == v)
                        K[9 * v + 3 * (p % 3) + q % 3] +=
                            H[(b * size * (size + 1) / 2 + hi * (hi + 1) / 2 + lo) * PL_BLOCK + l];
                }
            }
        free(H);
        free(c);
    }
}

/* Sums of a pack at x. energy: of the groups that have energies; theirs only are in the sums' row of energies. */
static void sum_pack(const pl_sweep *s, int64_t pack, const double *x, double *sums, double *energy)
{
    memset(sums, 0, PL_LOCAL_ROWS * PL_BLOCK * sizeof *sums);
    memset(energy, 0, PL_BLOCK * sizeof *energy);
    for (int32_t k = 0; k < s->group_count; k++) {
        const pl_sweep_group *g = &s->group[k];
        if (!g->ops->expand)
            continue;
        g->ops->expand(&g->copy, x, g->places.own, sums, g->first[pack], g->first[pack + 1]);
        g->ops->energy(&g->copy, x, energy, g->first[pack], g->first[pack + 1]);
    }
}

/* Adds the groups that keep what a change needs; by: a move, whose change is added to `change`. */
static void add_changes(const pl_sweep *s, int64_t pack, const double *x, const double *by,
                        double *sums, double *change)
{
    for (int32_t k = 0; k < s->group_count; k++) {
        const pl_sweep_group *g = &s->group[k];
        const int64_t b0 = g->first[pack], b1 = g->first[pack + 1];
        if (g->ops->expand || b0 == b1)
            continue;
        double *kept = pl_block_alloc(
            (g->ops->kept_head + g->ops->kept_rows * (b1 - b0)) * PL_BLOCK, sizeof *kept);
        g->ops->keep(&g->copy, x, sums, kept, b0, b1);
        g->ops->change(&g->copy, kept, by, change, b0, b1);
        free(kept);
    }
}

/* How the energies in a lane change if its vertex moves from x by h along an axis. */
static double change_of(const pl_sweep *s, int64_t pack, int lane, double *x, int axis, double h)
{
    _Alignas(64) double sums[PL_LOCAL_ROWS * PL_BLOCK], energy[PL_BLOCK], before[PL_BLOCK];
    _Alignas(64) double by[3 * PL_BLOCK] = {0}, change[PL_BLOCK] = {0};
    double *at = x + 3 * (int64_t)s->vertex[pack * PL_BLOCK + lane] + axis, was = *at;
    by[axis * PL_BLOCK + lane] = h;
    sum_pack(s, pack, x, sums, before);
    add_changes(s, pack, x, by, sums, change);
    *at += h;
    sum_pack(s, pack, x, sums, energy);
    *at = was;
    for (int l = 0; l < PL_BLOCK; l++)
        ck_assert(l == lane || change[l] == 0);
    return energy[lane] - before[lane] + change[lane];
}

/* The energy of all groups at x, by their own functions. */
static double whole_energy(const pl_model *m, const double *x)
{
    double sum = 0;
    for (int32_t k = 0; k < m->group_count; k++) {
        const pl_group *g = &m->groups[k];
        double *energy = pl_block_alloc(g->blocks, sizeof *energy);
        g->ops->energy(g, x, energy, 0, g->blocks);
        for (int64_t b = 0; b < g->blocks; b++)
            sum += energy[b];
        free(energy);
    }
    return sum;
}

/* A vertex that moves far changes the whole energy as much as that of its own terms, also out of the domain. */
static void moves_far(const pl_model *m, const pl_sweep *s, int64_t pack, double *x)
{
    static const double BY[] = {1e-3, -2e-2, 5e-2, 3};
    const double before = whole_energy(m, x);
    for (int k = 0; k < 4; k++) {
        double *at = x + 3 * (int64_t)s->vertex[pack * PL_BLOCK] + k % 3, was = *at;
        const double change = change_of(s, pack, 0, x, k % 3, BY[k]);
        *at += BY[k];
        const double after = whole_energy(m, x);
        *at = was;
        ck_assert_int_eq(isfinite(change), isfinite(after));
        if (isfinite(after))
            ck_assert_double_eq_tol(change, after - before, 1e-11 * (fabs(after) + fabs(before)));
    }
}

START_TEST(sums_are_those_of_the_vertex)
{
    pl_run_on_host();
    pl_run *r = pl_run_open(1, SCENES[_i]);
    pl_run_frames(r, 2);
    const pl_model *m = r->model;
    const int64_t n = m->vertices;
    double *x = pl_block_alloc(3 * n, sizeof *x), *f = calloc(3 * (size_t)n, sizeof *f),
           *K = calloc(9 * (size_t)n, sizeof *K);
    for (int64_t i = 0; i < 3 * n; i++)
        x[i] = pl_run_x(r)[i] + 4e-3 * sin(1.7 * (double)i);
    pl_sweep s;
    ck_assert_int_eq(pl_sweep_create(m, &s), PL_OK);
    for (int32_t k = 0; k < s.group_count; k++)
        if (s.group[k].ops->refreeze)
            s.group[k].ops->refreeze(s.group[k].of, &s.group[k].places, &s.group[k].copy, 0,
                                     s.group[k].places.blocks);
    reference(m, x, f, K);
    double force = 0, stiffness = 0;
    for (int64_t i = 0; i < 3 * n; i++)
        force = fmax(force, fabs(f[i]));
    for (int64_t i = 0; i < 9 * n; i++)
        stiffness = fmax(stiffness, fabs(K[i]));
    ck_assert(force > 0 && stiffness > 0);
    for (int64_t p = 0; p < s.packs; p++) {
        _Alignas(64) double sums[PL_LOCAL_ROWS * PL_BLOCK], energy[PL_BLOCK];
        _Alignas(64) double still[3 * PL_BLOCK] = {0}, change[PL_BLOCK] = {0};
        sum_pack(&s, p, x, sums, energy);
        for (int l = 0; l < s.used[p]; l++)
            ck_assert_double_eq_tol(sums[l], energy[l], 1e-10 * (1 + fabs(energy[l])));
        add_changes(&s, p, x, still, sums, change);
        for (int l = 0; l < s.used[p]; l++) {
            const int64_t v = s.vertex[p * PL_BLOCK + l];
            ck_assert_double_eq(change[l], 0);
            for (int i = 0, e = PL_LOCAL_HESSIAN; i < 3; i++) {
                const double h = 1e-6, own = sums[(PL_LOCAL_GRADIENT + i) * PL_BLOCK + l];
                ck_assert_double_eq_tol(own, f[3 * v + i], 1e-9 * force);
                const double up = change_of(&s, p, l, x, i, h),
                             down = change_of(&s, p, l, x, i, -h), slope = (up - down) / (2 * h);
                ck_assert_msg(fabs(own - slope) <= 1e-4 * force, "scene %d, vertex %lld: %g, %g",
                              _i, (long long)v, own, slope);
                for (int j = 0; j <= i; j++, e++)
                    ck_assert_msg(fabs(sums[e * PL_BLOCK + l] - K[9 * v + 3 * i + j]) <=
                                      1e-9 * stiffness,
                                  "scene %d, vertex %lld, %d %d: %g, %g", _i, (long long)v, i, j,
                                  sums[e * PL_BLOCK + l], K[9 * v + 3 * i + j]);
            }
        }
        moves_far(m, &s, p, x);
        for (int l = s.used[p]; l < PL_BLOCK; l++) /* unused lanes hold nothing */
            for (int e = 0; e < PL_LOCAL_ROWS; e++)
                ck_assert(sums[e * PL_BLOCK + l] == 0);
    }
    pl_sweep_destroy(&s);
    free(x);
    free(f);
    free(K);
    pl_run_close(r);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *t = tcase_create("sweep");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, colours_are_independent, 0, SCENE_COUNT);
    tcase_add_loop_test(t, sums_are_those_of_the_vertex, 0, SCENE_COUNT);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
