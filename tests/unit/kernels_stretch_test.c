/* Every material as a function of its principal stretches: derivatives compared with finite differences, the quotients
 * of the Hessian in F including the case 0/0, and symmetry. */
#include "engine/kernels/stretch_solid.h"
#include "engine/model/groups/isa.h"
#include "engine/model/materials.h"
#include "tests/support/lanes_random.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

typedef struct elements {
    _Alignas(64) double constants[PL_STRETCH_CONSTANTS_MAX * PL_LANES];
    _Alignas(64) double blend[2 * PL_LANES], mu[PL_LANES], lambda[PL_LANES], shear[PL_LANES];
    double fit[PL_LANES];
    double shared[PL_SPLINE_SHARED];
    pl_stretch m;
    pl_real scale; /* of the energy, Pa */
} elements;

/* Materials of mu = 1 to 1e7 and lambda / mu up to `most`; a spline's are alike, of type A. */
static void some_elements(uint64_t *state, int kind, double most, elements *e)
{
    const double first = random_scale(state, 1, 1e7);
    const double first_lambda = first * random_scale(state, 1e-2, most);
    for (int lane = 0; lane < PL_LANES; lane++) {
        const bool one = kind == PL_MATERIAL_SPLINE;
        const double mu = one ? first : random_scale(state, 1, 1e7);
        const double lambda = one ? first_lambda : mu * random_scale(state, 1e-2, most);
        const pl_material material = {.model = (pl_material_kind)kind,
                                      .has_lame = true,
                                      .lame = {mu, lambda},
                                      .splines = {.kind = PL_SPLINES_A + (int)(first) % 2}};
        pl_material_numbers numbers;
        ck_assert_int_eq(pl_material_make(&material, &numbers), PL_OK);
        for (int r = 0; r < PL_STRETCH_CONSTANTS_MAX; r++)
            e->constants[r * PL_LANES + lane] = numbers.constants[r];
        if (numbers.shared)
            memcpy(e->shared, numbers.shared, sizeof e->shared);
        free(numbers.shared);
        e->mu[lane] = mu;
        e->lambda[lane] = lambda;
        e->shear[lane] = numbers.shear;
        e->fit[lane] = numbers.fit;
        e->scale[lane] = mu + lambda;
        e->blend[lane] = random_unit(state);
        e->blend[PL_LANES + lane] = numbers.shear;
    }
    e->m = (pl_stretch){pl_stretch_ops_of((pl_material_kind)kind), e->constants, e->shared, NULL};
}

static void some_stretches(uint64_t *state, const pl_stretch *m, double low, double high,
                           pl_real s[3])
{
    for (int i = 0; i < 3; i++)
        for (int lane = 0; lane < PL_LANES; lane++)
            s[i][lane] = random_between(state, low, high);
    if (m->ops->domain != PL_STRETCH_POSITIVE)
        for (int lane = 0; lane < PL_LANES; lane += 2)
            s[2][lane] = -0.25 * s[2][lane]; /* s1 + s2 stays above the crease */
}

static void check_near(pl_real a, pl_real b, pl_real scale, double tolerance)
{
    for (int lane = 0; lane < PL_LANES; lane++)
        ck_assert_double_le(fabs(a[lane] - b[lane]), tolerance * scale[lane]);
}

START_TEST(derivatives_are_those_of_the_energy)
{
    const double h = 1e-5;
    uint64_t state = 71 + (uint64_t)_i;
    elements e;
    for (int trial = 0; trial < 200; trial++) {
        pl_real s[3], psi, g[3], ahead, behind, g_ahead[3], g_behind[3];
        pl_stretch_curvature c;
        some_elements(&state, _i, 1e2, &e);
        some_stretches(&state, &e.m, 0.5, 1.6, s);
        e.m.ops->energy_gradient(&e.m, s, &psi, g);
        e.m.ops->curvature(&e.m, s, &c);
        for (int j = 0; j < 3; j++) {
            pl_real a[3] = {s[0], s[1], s[2]}, b[3] = {s[0], s[1], s[2]};
            a[j] += h;
            b[j] -= h;
            e.m.ops->energy_gradient(&e.m, a, &ahead, g_ahead);
            e.m.ops->energy_gradient(&e.m, b, &behind, g_behind);
            check_near(g[j], (ahead - behind) / (2 * h), e.scale, 1e-6);
            for (int i = 0; i < 3; i++)
                check_near(c.H[i + 3 * j], (g_ahead[i] - g_behind[i]) / (2 * h), e.scale, 1e-6);
        }
    }
}
END_TEST

/* Far apart the quotients are what they are called; next to 0/0 they are the limit: where s_i = s_j
 * that is H_ii - H_ij, which they leave with the distance. */
START_TEST(quotients_survive_equal_and_opposite_stretches)
{
    uint64_t state = 171 + (uint64_t)_i;
    elements e;
    for (int trial = 0; trial < 200; trial++) {
        pl_real s[3], psi, g[3];
        pl_stretch_curvature c, at_near;
        some_elements(&state, _i, 1e2, &e);
        some_stretches(&state, &e.m, 0.5, 1.6, s);
        e.m.ops->energy_gradient(&e.m, s, &psi, g);
        e.m.ops->curvature(&e.m, s, &c);
        for (int p = 0; p < 3; p++) {
            const int i = (p + 1) % 3, j = (p + 2) % 3;
            check_near(c.flip[p] * (s[i] - s[j]), g[i] - g[j], e.scale, 1e-11);
            check_near(c.twist[p] * (s[i] + s[j]), g[i] + g[j], e.scale, 1e-11);
            for (double gap = 0; gap < 1e-3; gap = 10 * gap + 1e-14) {
                pl_real near[3] = {s[0], s[1], s[2]};
                near[j] = near[i] + gap;
                e.m.ops->curvature(&e.m, near, &at_near);
                check_near(at_near.flip[p], at_near.H[4 * i] - at_near.H[i + 3 * j], e.scale,
                           1e-9 + 1000 * gap);
            }
        }
    }
}
END_TEST

START_TEST(any_order_of_the_stretches_is_the_same_element)
{
    uint64_t state = 271 + (uint64_t)_i;
    elements e;
    for (int trial = 0; trial < 50; trial++) {
        pl_real s[3], psi, g[3], turned_psi, turned_g[3];
        some_elements(&state, _i, 1e2, &e);
        some_stretches(&state, &e.m, 0.5, 1.6, s);
        const pl_real turned[3] = {s[2], s[0], s[1]};
        e.m.ops->energy_gradient(&e.m, s, &psi, g);
        e.m.ops->energy_gradient(&e.m, turned, &turned_psi, turned_g);
        check_near(psi, turned_psi, e.scale, 1e-12);
        for (int i = 0; i < 3; i++)
            check_near(g[i], turned_g[(i + 1) % 3], e.scale, 1e-12);
    }
}
END_TEST

/* ---- As functions of F ---- */

static pl_mat3 some_matrix(uint64_t *state, double noise)
{
    pl_mat3 F;
    for (int i = 0; i < 9; i++)
        for (int lane = 0; lane < PL_LANES; lane++)
            F.m[i][lane] = (i % 4 == 0) + noise * random_between(state, -1, 1);
    return F;
}

/* F = Q diag(s) R^T with random rotations. */
static pl_mat3 some_F_of(uint64_t *state, const pl_real s[3], pl_mat3 *Q)
{
    const pl_mat3 random = some_matrix(state, 2);
    pl_mat3 R;
    pl_real ignored[3];
    pl_svd3(&random, Q, ignored, &R);
    return pl_mat3_compose(Q, s, &R);
}

enum { PLAIN, BLENDED };

/* In the loops over materials each comes twice, the second time blended into a convex one. */
static void some_solid(uint64_t *state, int loop, elements *e, pl_real s[3])
{
    some_elements(state, loop % PL_MATERIAL_KINDS, 1e2, e);
    some_stretches(state, &e->m, 0.5, 1.6, s);
    if (loop / PL_MATERIAL_KINDS == BLENDED) {
        e->m.blend = e->blend;
        for (int lane = 0; lane < PL_LANES; lane += 3)
            e->blend[lane] = 1;
    }
    for (int lane = 0; lane < PL_LANES; lane += 4) /* stretches alike, as at rest */
        s[1][lane] = s[0][lane] + (lane % 8 ? 1e-9 : 0);
}

START_TEST(hessians_in_F_are_those_of_the_energy)
{
    const double h = 1e-5;
    uint64_t state = 371 + (uint64_t)_i;
    elements e;
    for (int trial = 0; trial < 40; trial++) {
        pl_real s[3], H[81];
        pl_mat3 Q, P, P_ahead, P_behind;
        some_solid(&state, _i, &e, s);
        const pl_mat3 F = some_F_of(&state, s, &Q);
        pl_stretch_solid_gradient(&e.m, &F, &P);
        pl_stretch_solid_hessian(&e.m, &F, H);
        for (int j = 0; j < 9; j++) {
            pl_mat3 a = F, b = F;
            a.m[j] += h;
            b.m[j] -= h;
            const pl_real ahead = pl_stretch_solid_energy_gradient(&e.m, &a, &P_ahead);
            const pl_real behind = pl_stretch_solid_energy_gradient(&e.m, &b, &P_behind);
            check_near(P.m[j], (ahead - behind) / (2 * h), e.scale, 1e-6);
            for (int i = 0; i < 9; i++)
                check_near(H[i + 9 * j], (P_ahead.m[i] - P_behind.m[i]) / (2 * h), e.scale, 1e-6);
        }
    }
}
END_TEST

START_TEST(energies_do_not_feel_a_rotation)
{
    uint64_t state = 471 + (uint64_t)_i;
    elements e;
    for (int trial = 0; trial < 50; trial++) {
        pl_real s[3];
        pl_mat3 Q;
        some_solid(&state, _i, &e, s);
        const pl_mat3 F = some_F_of(&state, s, &Q), left = pl_mat3_mul(&Q, &F);
        const pl_mat3 right = pl_mat3_mul(&F, &Q);
        const pl_real psi = pl_stretch_solid_energy(&e.m, &F);
        check_near(pl_stretch_solid_energy(&e.m, &left), psi, e.scale, 1e-12);
        check_near(pl_stretch_solid_energy(&e.m, &right), psi, e.scale, 1e-12);
    }
}
END_TEST

/* At small strain a model given by young and poisson is the linear solid with Lame's constants: at F = I the Hessian is
 * mu (d_ik d_jl + d_il d_jk) + lambda d_ij d_kl, and the stress is 0. ARAP and the polynomial are marked as
 * different. */
START_TEST(small_strain_is_linear_elasticity)
{
    uint64_t state = 571 + (uint64_t)_i;
    elements e;
    pl_real H[81];
    pl_mat3 P, I = pl_mat3_identity();
    if (_i == PL_MATERIAL_ARAP || _i == PL_MATERIAL_POLYNOMIAL)
        return;
    for (int trial = 0; trial < 20; trial++) {
        some_elements(&state, _i, 1e2, &e);
        const pl_real mu = pl_load(e.mu), lambda = pl_load(e.lambda);
        const pl_real psi = pl_stretch_solid_energy_gradient(&e.m, &I, &P);
        pl_stretch_solid_hessian(&e.m, &I, H);
        check_near(psi, pl_zero(), e.scale, 1e-14);
        for (int a = 0; a < 9; a++) {
            check_near(P.m[a], pl_zero(), e.scale, 1e-12);
            for (int b = 0; b < 9; b++) {
                const int i = a % 3, j = a / 3, k = b % 3, l = b / 3;
                const pl_real linear = mu * (double)((i == k && j == l) + (i == l && j == k)) +
                                       lambda * (double)(i == j && k == l);
                check_near(H[a + 9 * b], linear, mu, 1e-6 * 1e-2);
            }
        }
        check_near(pl_load(e.shear), mu, mu, 1e-12);
    }
}
END_TEST

/* ---- The proximal operator ---- */

/* Signed singular values in order, mostly from -3 to 10 or near rest, some alike or zero. */
static void some_target(uint64_t *state, pl_real t[3], int lane)
{
    double s[3];
    random_stretches(state, s);
    for (int i = 0; i < 3; i++)
        t[i][lane] = s[i];
}

static pl_real objective(const pl_stretch *m, pl_real k, const pl_real t[3], const pl_real s[3])
{
    pl_real psi, g[3], far = pl_zero();
    pl_stretch_energy_gradient(m, s, &psi, g);
    for (int i = 0; i < 3; i++)
        far += (s[i] - t[i]) * (s[i] - t[i]);
    return psi + pl_set1(0.5) * k * far;
}

/* Into the region that svd3.h's singular values fill. */
static void make_ordered(pl_real s[3])
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++) {
            const pl_real a = s[i], b = s[i + 1];
            s[i] = pl_max(pl_abs(a), pl_abs(b));
            s[i + 1] = pl_flip_sign(pl_min(pl_abs(a), pl_abs(b)), pl_flip_sign(a, b));
        }
}

/* The lowest objective found by a search without knowledge of the energy: from several random points, the best of
 * random points around the best, closer and closer. */
static pl_real search(uint64_t *state, const pl_stretch *m, pl_real k, const pl_real t[3],
                      pl_real at_least[3])
{
    enum { STARTS = 10, ROUNDS = 55, POINTS = 22 };
    pl_real least = pl_set1(INFINITY);
    for (int start = 0; start < STARTS; start++) {
        pl_real best[3], s[3], lowest = pl_set1(INFINITY);
        for (int i = 0; i < 3; i++) {
            const pl_real fixed = {0};
            const double at = start == 9 && i == 2 ? -0.5 : start % 2 ? 1 : 0.3;
            best[i] = start < 4 ? t[i] : fixed + at;
        }
        for (int round = 0; round < ROUNDS; round++) {
            const double radius = (start < 2 ? 0.5 : 2.5) * pow(0.72, round);
            pl_real around[3] = {best[0], best[1], best[2]};
            for (int point = 0; point < POINTS; point++) {
                for (int i = 0; i < 3; i++)
                    for (int lane = 0; lane < PL_LANES; lane++)
                        s[i][lane] = around[i][lane] + radius * random_between(state, -1, 1);
                make_ordered(s);
                if (m->ops->domain == PL_STRETCH_POSITIVE && !m->blend)
                    for (int i = 0; i < 3; i++)
                        s[i] = pl_max(s[i], pl_set1(PL_STRETCH_LEAST));
                const pl_real phi = objective(m, k, t, s);
                const pl_mask better = pl_lt(phi, lowest);
                lowest = pl_select(better, phi, lowest);
                for (int i = 0; i < 3; i++)
                    best[i] = pl_select(better, s[i], best[i]);
            }
        }
        const pl_mask lower = pl_lt(lowest, least);
        least = pl_select(lower, lowest, least);
        for (int i = 0; i < 3; i++)
            at_least[i] = pl_select(lower, best[i], at_least[i]);
    }
    return least;
}

START_TEST(prox_is_no_worse_than_a_search)
{
    uint64_t state = 671 + (uint64_t)_i;
    elements e;
    const int blocks = is_long_form() ? 100 : 5;
    for (int trial = 0; trial < blocks; trial++) {
        pl_real t[3], s[3], l[3] = {{0}}, k;
        const double grown = random_scale(&state, 1, 30);
        some_elements(&state, _i % PL_MATERIAL_KINDS, 1e2, &e);
        if (_i / PL_MATERIAL_KINDS == BLENDED)
            e.m.blend = e.blend;
        for (int lane = 0; lane < PL_LANES; lane++) {
            some_target(&state, t, lane);
            k[lane] = 1.8 * e.shear[lane] * grown; /* ADMM's by default, and above */
        }
        pl_stretch_prox(&e.m, k, t, s);
        const pl_real found = objective(&e.m, k, t, s), least = search(&state, &e.m, k, t, l);
        for (int lane = 0; lane < PL_LANES; lane++)
            ck_assert_msg(found[lane] <= least[lane] + 1e-8 * (fabs(least[lane]) + k[lane]),
                          "%s%s: target %g %g %g, k %g mu, lambda %g mu: %.12g at %g %g %g, not "
                          "%.12g at %g %g %g",
                          e.m.ops->name, e.m.blend ? " blended" : "", t[0][lane], t[1][lane],
                          t[2][lane], k[lane] / e.mu[lane], e.lambda[lane] / e.mu[lane],
                          found[lane], s[0][lane], s[1][lane], s[2][lane], least[lane], l[0][lane],
                          l[1][lane], l[2][lane]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_stretch");
    TCase *cases = tcase_create("stretch");
    tcase_add_loop_test(cases, derivatives_are_those_of_the_energy, 0, PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, quotients_survive_equal_and_opposite_stretches, 0,
                        PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, any_order_of_the_stretches_is_the_same_element, 0,
                        PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, hessians_in_F_are_those_of_the_energy, 0, 2 * PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, energies_do_not_feel_a_rotation, 0, 2 * PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, small_strain_is_linear_elasticity, 0, PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, prox_is_no_worse_than_a_search, 0, 2 * PL_MATERIAL_KINDS);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
