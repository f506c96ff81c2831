/* Groups of vector terms, made from arrays: every function compared with its definition, on every instruction set. */
#include "engine/isa.h"
#include "engine/model/groups/isa.h"
#include "engine/model/materials.h"
#include "engine/model/groups/terms.h"
#include "engine/model/groups/hinges.h"
#include "tests/support/group_sums.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POINTS = 24, TERMS = 21 }; /* a block and a half */

/* Deterministic numbers in [-1, 1]. */
static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(*state >> 11) * 0x1p-52 - 1;
}

static void points(double x[3 * POINTS])
{
    uint64_t state = 11;
    for (int i = 0; i < 3 * POINTS; i++)
        x[i] = draw(&state);
}

/* Random corners and shapes of a kind, with the constants of its law. */
typedef struct kind {
    const char *name;
    pl_terms_kind kind;
    pl_material_kind material;
} kind;

static const kind KINDS[] = {
    {"springs", PL_TERMS_LINK_2, 0},
    {"bends", PL_TERMS_LINK_4, 0},
    {"attachments", PL_TERMS_LINK_5, 0},
    {"neo-Hookean triangles", PL_TERMS_TRIANGLES, PL_MATERIAL_NEO_HOOKEAN},
    {"corotated triangles", PL_TERMS_TRIANGLES, PL_MATERIAL_COROTATED},
    {"arap triangles", PL_TERMS_TRIANGLES, PL_MATERIAL_ARAP},
};
enum { SOFT = sizeof KINDS / sizeof *KINDS };

static void make(const kind *k, pl_group *g)
{
    const pl_group_ops *ops = pl_terms_ops(k->kind);
    bool triangles = k->kind == PL_TERMS_TRIANGLES;
    const pl_stretch_ops *material = triangles ? pl_stretch_ops_of(k->material) : NULL;
    pl_terms_list list;
    pl_terms_list_init(&list, ops, triangles ? 1 + material->constants : PL_LINK_CONSTANTS);
    uint64_t state = 5;
    int32_t columns = ops->rows / 3;
    for (int t = 0; t < TERMS; t++) {
        int32_t corner[8];
        double shape[24], offset[3] = {draw(&state), draw(&state), draw(&state)};
        double sum[3] = {0};
        for (int32_t c = ops->corners - 1; c >= 0; c--) {
            corner[c] = (t + 5 * c) % POINTS;
            for (int32_t j = 0; j < columns; j++) {
                shape[c * columns + j] = c > 0 ? draw(&state) : -sum[j];
                sum[j] += shape[c * columns + j];
            }
        }
        double l = 0.3 + 0.2 * draw(&state);
        double link[PL_LINK_CONSTANTS] = {3 + draw(&state), t % 3 == 0 ? 0 : l,
                                          t % 5 == 0 ? l + 0.5 : l, 1};
        if (t % 3 == 0)
            link[PL_LINK_HI] = 0;
        double constants[8] = {0.1, 2 + draw(&state), 3 + draw(&state)};
        pl_term term = {.corners = ops->corners,
                        .corner = corner,
                        .shape = shape,
                        .offset = k->kind == PL_TERMS_LINK_5 ? offset : NULL,
                        .constant = triangles ? constants : link,
                        .weight = triangles ? 0.5 : 2.5,
                        .element = t};
        ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    }
    ck_assert_int_eq(pl_terms_create(&list, material, NULL, g), PL_OK);
    pl_terms_list_clear(&list);
}

static void check_gradient(const pl_group *g, double x[3 * POINTS])
{
    double f[3 * POINTS], scale = 0, e = group_energy(g, x), both[4], sum = 0;
    double *c = pl_block_alloc(pl_group_contributions(g), sizeof *c);
    g->ops->energy_gradient(g, x, both, c, 0, g->blocks);
    for (int64_t b = 0; b < g->blocks; b++)
        sum += both[b];
    ck_assert_double_eq(sum, e);
    g->ops->gradient(g, x, c, 0, g->blocks);
    group_add_up(g, c, POINTS, f);
    for (int i = 0; i < 3 * POINTS; i++)
        scale = fmax(scale, fabs(f[i]));
    for (int i = 0; i < 3 * POINTS; i++) {
        const double h = 1e-5, x0 = x[i];
        x[i] = x0 + h;
        double up = group_energy(g, x);
        x[i] = x0 - h;
        double down = group_energy(g, x);
        x[i] = x0;
        ck_assert_double_eq_tol(f[i], (up - down) / (2 * h), 1e-6 * scale);
    }
    free(c);
}

static void check_hessian(const pl_group *g, double x[3 * POINTS])
{
    int32_t n = 3 * g->ops->corners, entries = n * (n + 1) / 2;
    int64_t count = pl_group_contributions(g);
    double *up = pl_block_alloc(count, sizeof *up), *down = pl_block_alloc(count, sizeof *down);
    double *H = pl_block_alloc(g->blocks * entries * PL_BLOCK, sizeof *H), scale = 0;
    g->ops->hessian(g, x, H, 0, g->blocks);
    for (int64_t i = 0; i < g->blocks * entries * PL_BLOCK; i++)
        scale = fmax(scale, fabs(H[i]));
    for (int64_t t = 0; t < g->terms; t++) {
        int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
        for (int j = 0; j < n; j++) {
            const double h = 1e-6;
            int64_t corner = g->corner[(b * n / 3 + j / 3) * PL_BLOCK + l];
            double *coordinate = &x[3 * corner + j % 3], x0 = *coordinate;
            *coordinate = x0 + h;
            g->ops->gradient(g, x, up, b, b + 1);
            *coordinate = x0 - h;
            g->ops->gradient(g, x, down, b, b + 1);
            *coordinate = x0;
            for (int i = j; i < n; i++) {
                int64_t at = (b * n + i) * PL_BLOCK + l;
                double h_ij = H[(b * entries + i * (i + 1) / 2 + j) * PL_BLOCK + l];
                ck_assert_double_eq_tol(h_ij, (up[at] - down[at]) / (2 * h), 1e-6 * scale);
            }
        }
    }
    free(up), free(down), free(H);
}

START_TEST(derivatives_are_those_of_the_energy)
{
    double x[3 * POINTS];
    pl_group g;
    points(x);
    make(&KINDS[_i], &g);
    check_gradient(&g, x);
    check_hessian(&g, x);
    g.ops->destroy(&g);
}
END_TEST

/* A rotation and a shift change no energy. */
START_TEST(energies_are_invariant_under_motions)
{
    double x[3 * POINTS], y[3 * POINTS];
    const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6};
    pl_group g;
    points(x);
    if (KINDS[_i].kind == PL_TERMS_LINK_5)
        return; /* its offsets are places in the world */
    make(&KINDS[_i], &g);
    for (int i = 0; i < POINTS; i++)
        for (int r = 0; r < 3; r++)
            y[3 * i + r] = R[3 * r] * x[3 * i] + R[3 * r + 1] * x[3 * i + 1] +
                           R[3 * r + 2] * x[3 * i + 2] + 0.25 * (r + 1);
    ck_assert_double_eq_tol(group_energy(&g, y), group_energy(&g, x), 1e-12 * group_energy(&g, x));
    g.ops->destroy(&g);
}
END_TEST

/* Bends over edges, with any rest shape. */
static void make_hinges(const double *rest, pl_group *g)
{
    pl_hinge list[TERMS];
    for (int t = 0; t < TERMS; t++)
        list[t] = (pl_hinge){{t % POINTS, (t + 5) % POINTS, (t + 10) % POINTS, (t + 15) % POINTS},
                             0.5 + t % 3};
    ck_assert_int_eq(pl_hinges_create(rest, list, TERMS, 1, g), PL_OK);
}

START_TEST(derivatives_of_hinges_are_those_of_the_energy)
{
    double rest[3 * POINTS], x[3 * POINTS];
    pl_group g;
    points(rest);
    uint64_t state = 8;
    for (int i = 0; i < 3 * POINTS; i++)
        x[i] = rest[i] + 0.05 * draw(&state);
    make_hinges(rest, &g);
    ck_assert_double_eq_tol(group_energy(&g, rest), 0, 1e-25);
    check_gradient(&g, x);
    check_hessian(&g, x);
    g.ops->destroy(&g);
}
END_TEST

/* Two triangles folded by a small angle: the hinge and Bergou's quadratic form agree, and both are
 * D |e|^2 / (2 A) theta^2. */
START_TEST(small_angles_bend_alike)
{
    const double rest[12] = {0, 0, 0, 0, 2, 0, -1.5, 0.5, 0, 1, 1.2, 0}, D = 3, fold = 1e-4;
    const pl_hinge hinge = {{0, 1, 2, 3}, D};
    double x[12], K[4], gradient[12], bend[3] = {0};
    pl_group g;
    memcpy(x, rest, sizeof x);
    x[9] = cos(fold);
    x[11] = sin(fold);
    ck_assert_int_eq(pl_hinges_create(rest, &hinge, 1, 1, &g), PL_OK);
    double k = pl_quadratic_bend(rest, hinge.corner, D, K);
    for (int i = 0; i < 12; i++)
        bend[i % 3] += K[i / 3] * x[i];
    double quadratic = k / 2 * (bend[0] * bend[0] + bend[1] * bend[1] + bend[2] * bend[2]);
    double expected = D * 4 / (2 * 2.5) * fold * fold; /* areas 1.5 and 1 */
    ck_assert_double_eq_tol(fabs(pl_dihedral(x, hinge.corner, gradient)), fold, 1e-12);
    ck_assert_double_eq_tol(group_energy(&g, x), expected, 1e-6 * expected);
    ck_assert_double_eq_tol(quadratic, expected, 1e-6 * expected);
    g.ops->destroy(&g);
}
END_TEST

/* <D x + o - o(0), W^2 q> and D^T W^2 D. */
START_TEST(transpose_and_stiffness_belong_to_reduce)
{
    static const pl_terms_kind HARD[] = {PL_TERMS_TRIANGLE_LIMITS, PL_TERMS_TET_LIMITS};
    kind k = _i < SOFT ? KINDS[_i] : (kind){.kind = HARD[_i - SOFT]};
    double x[3 * POINTS], zero[3 * POINTS] = {0}, f[3 * POINTS];
    pl_group g;
    points(x);
    make(&k, &g);
    int64_t values = pl_group_values(&g);
    double *q = pl_block_alloc(values, sizeof *q), *q0 = pl_block_alloc(values, sizeof *q0);
    double *c = pl_block_alloc(pl_group_contributions(&g), sizeof *c);
    g.ops->reduce(&g, x, q, 0, g.blocks);
    g.ops->reduce(&g, zero, q0, 0, g.blocks);
    for (int64_t i = 0; i < values; i++)
        q[i] -= q0[i];
    g.ops->transpose(&g, q, c, 0, g.blocks);
    group_add_up(&g, c, POINTS, f);
    double by_transpose = 0, by_stiffness = 0, by_rows = 0;
    for (int i = 0; i < 3 * POINTS; i++)
        by_transpose += x[i] * f[i];
    int32_t corners = g.ops->corners;
    for (int64_t t = 0; t < g.terms; t++) {
        double K[PL_CORNERS_MAX * PL_CORNERS_MAX];
        int64_t b = t / PL_BLOCK, l = t % PL_BLOCK;
        g.ops->stiffness(&g, b, (int32_t)l, K);
        const int32_t *corner = g.corner + b * corners * PL_BLOCK + l;
        for (int i = 0; i < corners * corners; i++)
            for (int r = 0; r < 3; r++)
                by_stiffness += K[i] * x[3 * corner[i / corners * PL_BLOCK] + r] *
                                x[3 * corner[i % corners * PL_BLOCK] + r];
        for (int32_t r = 0; r < g.ops->rows; r++) {
            double value = q[(b * g.ops->rows + r) * PL_BLOCK + l];
            by_rows += g.weight[t] * value * value;
        }
    }
    ck_assert_double_eq_tol(by_transpose, by_rows, 1e-12 * by_rows);
    ck_assert_double_eq_tol(by_stiffness, by_rows, 1e-12 * by_rows);
    free(q), free(q0), free(c);
    g.ops->destroy(&g);
}
END_TEST

/* U(z) + w2/2 |z - v|^2 of one term. For links U has a closed form; for triangles the energy function is evaluated at
 * corners that give z. */
static double link_objective(const double c[PL_LINK_CONSTANTS], double w2, const double *v,
                             const double *z)
{
    double r = sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    double d = r - fmin(fmax(r, c[PL_LINK_LO]), c[PL_LINK_HI]), square = 0;
    for (int i = 0; i < 3; i++)
        square += (z[i] - v[i]) * (z[i] - v[i]);
    return c[PL_LINK_K] * d * d / 2 + w2 * square / 2;
}

static pl_group one_link(const double c[PL_LINK_CONSTANTS], double w2)
{
    pl_terms_list list;
    bool hard = isinf(c[PL_LINK_K]);
    pl_terms_list_init(&list, pl_terms_ops(hard ? PL_TERMS_HARD_LINK_2 : PL_TERMS_LINK_2),
                       PL_LINK_CONSTANTS);
    const pl_term term = {2, (int32_t[]){0, 1}, (double[]){-1, 1}, NULL, NULL, c, w2, 0};
    pl_group g;
    ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    ck_assert_int_eq(pl_terms_create(&list, NULL, NULL, &g), PL_OK);
    pl_terms_list_clear(&list);
    return g;
}

static void prox_of(const pl_group *g, const double *v, double *z)
{
    int32_t rows = g->ops->rows;
    double *V = pl_block_alloc(rows * PL_BLOCK, sizeof *V);
    double *Z = pl_block_alloc(rows * PL_BLOCK, sizeof *Z);
    for (int32_t r = 0; r < rows; r++)
        for (int l = 0; l < PL_BLOCK; l++)
            V[r * PL_BLOCK + l] = v[r];
    g->ops->prox(g, NULL, V, Z, 0, 1);
    for (int32_t r = 0; r < rows; r++)
        z[r] = Z[r * PL_BLOCK];
    free(V), free(Z);
}

START_TEST(prox_of_links_is_the_minimum)
{
    uint64_t state = 77;
    static const double LAWS[][PL_LINK_CONSTANTS] = {
        {3, 0.5, 0.5, 1}, {3, 0, 0, 1}, {2, 0, 0.4, 1}, {5, 0.3, 0.6, 1}, {1e4, 0.5, 0.5, 1}};
    for (size_t k = 0; k < sizeof LAWS / sizeof *LAWS; k++)
        for (int trial = 0; trial < 20; trial++) {
            double v[3] = {draw(&state), draw(&state), draw(&state)}, z[3], w2 = 0.5 + trial;
            if (trial == 0)
                v[0] = v[1] = v[2] = 0;
            pl_group g = one_link(LAWS[k], w2);
            prox_of(&g, v, z);
            double best = link_objective(LAWS[k], w2, v, z);
            for (int s = 0; s < 400; s++) {
                double size = s % 2 ? 1 : 1e-3;
                double y[3] = {z[0] + size * draw(&state), z[1] + size * draw(&state),
                               z[2] + size * draw(&state)};
                ck_assert_double_le(best, link_objective(LAWS[k], w2, v, y) * (1 + 1e-12));
            }
            g.ops->destroy(&g);
        }
}
END_TEST

/* Inside nothing moves, to the bit; outside the projection is radial. */
START_TEST(hard_links_project)
{
    static const double LAW[PL_LINK_CONSTANTS] = {INFINITY, 0.95, 1.05, 1};
    pl_group g = one_link(LAW, 2);
    double in[3] = {0.6, 0.8, 0.1}, out[3] = {1.2, 1.6, 0}, z[3];
    prox_of(&g, in, z);
    ck_assert_mem_eq(in, z, sizeof z);
    prox_of(&g, out, z);
    ck_assert_double_eq_tol(z[0], 1.05 * 0.6, 1e-15);
    ck_assert_double_eq_tol(z[1], 1.05 * 0.8, 1e-15);
    g.ops->destroy(&g);
}
END_TEST

/* One triangle on points 0, 1, 2 with F = [x1 - x0, x2 - x0]. */
static pl_group one_triangle(pl_terms_kind of, const pl_stretch_ops *material, const double *c,
                             int32_t constants, double w2)
{
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(of), constants);
    const pl_term term = {
        3, (int32_t[]){0, 1, 2}, (double[]){-1, -1, 1, 0, 0, 1}, NULL, NULL, c, w2, 0};
    pl_group g;
    ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    ck_assert_int_eq(pl_terms_create(&list, material, NULL, &g), PL_OK);
    pl_terms_list_clear(&list);
    return g;
}

static double triangle_objective(const pl_group *g, double w2, const double *v, const double *z)
{
    double x[9] = {0}, square = 0;
    for (int i = 0; i < 6; i++) {
        x[3 + i] = z[i];
        square += (z[i] - v[i]) * (z[i] - v[i]);
    }
    return group_energy(g, x) + w2 * square / 2;
}

START_TEST(prox_of_triangles_is_the_minimum)
{
    uint64_t state = 99;
    const double mu = 2, lambda = _i == 0 ? 3 : 60, c[3] = {0.1, mu, lambda};
    for (pl_material_kind m = 0; m <= PL_MATERIAL_ARAP; m++)
        for (int trial = 0; trial < 12; trial++) {
            double v[6], z[6], w2 = 0.1 * mu * (1 + trial % 3);
            for (int i = 0; i < 6; i++)
                v[i] = trial == 0 ? 0 : (trial < 4 ? 3 : 1) * draw(&state);
            if (trial == 1) /* of rank one */
                for (int i = 0; i < 3; i++)
                    v[3 + i] = 0.5 * v[i];
            pl_group g = one_triangle(PL_TERMS_TRIANGLES, pl_stretch_ops_of(m), c, 3, w2);
            prox_of(&g, v, z);
            double best = triangle_objective(&g, w2, v, z);
            ck_assert(isfinite(best));
            for (int s = 0; s < 300; s++) {
                double size = s % 3 == 0 ? 2 : s % 3 == 1 ? 0.1 : 1e-3, y[6];
                for (int i = 0; i < 6; i++)
                    y[i] = z[i] + size * draw(&state);
                ck_assert_double_le(best,
                                    triangle_objective(&g, w2, v, y) + 1e-9 * (1 + fabs(best)));
            }
            g.ops->destroy(&g);
        }
}
END_TEST

/* Small strain in plane stress: E and nu of the solid. Stretched by e in x with no stress in y, the
 * sheet narrows by nu e and pulls with E e per area. */
START_TEST(a_sheet_has_young_and_poisson_of_its_solid)
{
    const double young = 7, poisson = 0.3, e = 1e-6;
    double c[3] = {1};
    pl_lame(young, poisson, &c[1], &c[2]);
    for (pl_material_kind m = 0; m < PL_MATERIAL_ARAP; m++) {
        pl_group g = one_triangle(PL_TERMS_TRIANGLES, pl_stretch_ops_of(m), c, 3, 1);
        double x[9] = {0, 0, 0, 1 + e, 0, 0, 0, 1 - poisson * e, 0};
        double *f = pl_block_alloc(9 * PL_BLOCK, sizeof *f);
        g.ops->gradient(&g, x, f, 0, 1);
        ck_assert_double_eq_tol(f[3 * PL_BLOCK], young * e, 1e-5 * young * e);
        ck_assert_double_eq_tol(f[7 * PL_BLOCK], 0, 1e-5 * young * e);
        free(f);
        g.ops->destroy(&g);
    }
}
END_TEST

/* Projections: the result is allowed, and no random allowed matrix is nearer. */
START_TEST(limits_project_to_the_nearest)
{
    const double c[PL_LIMIT_CONSTANTS] = {1, 0.9, 1.1};
    uint64_t state = 3;
    pl_group g = one_triangle(PL_TERMS_TRIANGLE_LIMITS, NULL, c, PL_LIMIT_CONSTANTS, 1);
    for (int trial = 0; trial < 50; trial++) {
        double v[6], z[6], again[6], y[6], w[6], d = 0;
        for (int i = 0; i < 6; i++)
            v[i] = trial == 0 ? 0 : 1.5 * draw(&state);
        prox_of(&g, v, z);
        prox_of(&g, z, again);
        for (int i = 0; i < 6; i++) {
            ck_assert_double_eq_tol(z[i], again[i], 1e-14);
            d += (z[i] - v[i]) * (z[i] - v[i]);
        }
        for (int s = 0; s < 50; s++) {
            double other = 0;
            for (int i = 0; i < 6; i++)
                w[i] = z[i] + (s % 2 ? 0.05 : 1) * draw(&state);
            prox_of(&g, w, y); /* somewhere allowed */
            for (int i = 0; i < 6; i++)
                other += (y[i] - v[i]) * (y[i] - v[i]);
            ck_assert_double_le(d, other + 1e-12);
        }
    }
    g.ops->destroy(&g);
}
END_TEST

START_TEST(limits_of_tetrahedra_turn_them_back)
{
    const double c[PL_LIMIT_CONSTANTS] = {1, 0.9, 1.1};
    pl_terms_list list;
    pl_terms_list_init(&list, pl_terms_ops(PL_TERMS_TET_LIMITS), PL_LIMIT_CONSTANTS);
    const pl_term term = {4,
                          (int32_t[]){0, 1, 2, 3},
                          (double[]){-1, -1, -1, 1, 0, 0, 0, 1, 0, 0, 0, 1},
                          NULL,
                          NULL,
                          c,
                          1,
                          0};
    pl_group g;
    ck_assert_int_eq(pl_terms_list_add(&list, &term), PL_OK);
    ck_assert_int_eq(pl_terms_create(&list, NULL, NULL, &g), PL_OK);
    const double v[9] = {2, 0, 0, 0, 1, 0, 0, 0, -0.5};
    double z[9];
    prox_of(&g, v, z);
    const double expected[9] = {1.1, 0, 0, 0, 1, 0, 0, 0, 0.9};
    for (int i = 0; i < 9; i++)
        ck_assert_double_eq_tol(z[i], expected[i], 1e-14);
    pl_terms_list_clear(&list);
    g.ops->destroy(&g);
}
END_TEST

/* FNV-1a of what every function of every kind writes. */
static uint64_t bits_of_all(void)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < SOFT; i++) {
        double x[3 * POINTS];
        pl_group g;
        points(x);
        make(&KINDS[i], &g);
        int32_t n = 3 * g.ops->corners;
        int64_t values = pl_group_values(&g), entries = g.blocks * n * (n + 1) / 2 * PL_BLOCK;
        int64_t sizes[] = {g.blocks, pl_group_contributions(&g), entries, values, values};
        double *out[5];
        for (int k = 0; k < 5; k++)
            out[k] = pl_block_alloc(sizes[k], sizeof **out);
        g.ops->energy_gradient(&g, x, out[0], out[1], 0, g.blocks);
        g.ops->hessian(&g, x, out[2], 0, g.blocks);
        g.ops->reduce(&g, x, out[3], 0, g.blocks);
        g.ops->prox(&g, NULL, out[3], out[4], 0, g.blocks);
        for (int k = 0; k < 5; k++) {
            for (size_t b = 0; b < (size_t)sizes[k] * sizeof **out; b++)
                hash = (hash ^ ((unsigned char *)out[k])[b]) * 1099511628211u;
            free(out[k]);
        }
        g.ops->destroy(&g);
    }
    return hash;
}

#if defined(__x86_64__)
START_TEST(instruction_sets_give_the_same_bits)
{
    static const char *const NAMES[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
    uint64_t *hashes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork(); /* the instruction set is chosen once a process */
        if (child == 0) {
            setenv("PLIANT_ISA", NAMES[i], 1);
            hashes[i] = bits_of_all();
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert(hashes[i] == hashes[0]);
    }
    munmap(hashes, 4096);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("terms");
    TCase *t = tcase_create("terms");
    tcase_add_loop_test(t, derivatives_are_those_of_the_energy, 0, SOFT);
    tcase_add_test(t, derivatives_of_hinges_are_those_of_the_energy);
    tcase_add_test(t, small_angles_bend_alike);
    tcase_add_loop_test(t, energies_are_invariant_under_motions, 0, SOFT);
    tcase_add_loop_test(t, transpose_and_stiffness_belong_to_reduce, 0, SOFT + 2);
    tcase_add_test(t, prox_of_links_is_the_minimum);
    tcase_add_test(t, hard_links_project);
    tcase_add_loop_test(t, prox_of_triangles_is_the_minimum, 0, 2);
    tcase_add_test(t, a_sheet_has_young_and_poisson_of_its_solid);
    tcase_add_test(t, limits_project_to_the_nearest);
    tcase_add_test(t, limits_of_tetrahedra_turn_them_back);
#if defined(__x86_64__)
    tcase_add_test(t, instruction_sets_give_the_same_bits);
#endif
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
