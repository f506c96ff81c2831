/* The neo-Hookean solid: derivatives against finite differences, invariance, the linear limit, and
 * the proximal operator against every stationary point found by bisection in long double. */
#include "engine/kernels/neo_hookean.h"
#include "tests/support/kernel_elements.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static pl_neo_hookean load_material(const elements *e)
{
    return (pl_neo_hookean){pl_load(e->mu), pl_load(e->lambda)};
}

/* |a - b| within `tolerance` of `scale` in every lane. */
static void check_near(pl_real a, pl_real b, pl_real scale, double tolerance)
{
    for (int lane = 0; lane < PL_LANES; lane++)
        ck_assert_double_le(fabs(pl_lane(a, lane) - pl_lane(b, lane)),
                            tolerance * pl_lane(scale, lane));
}

START_TEST(derivatives_match_finite_differences)
{
    const pl_real h = pl_set1(1e-5), per_2h = pl_set1(1 / 2e-5);
    uint64_t state = 21;
    for (int round = 0; round < 50; round++) {
        const elements e = some_elements(&state, 0.25);
        const pl_neo_hookean m = load_material(&e);
        const pl_mat3 F = load_F(&e);
        pl_mat3 P, ahead_P, behind_P;
        pl_real H[81];
        pl_neo_hookean_gradient(&m, &F, &P);
        pl_neo_hookean_hessian(&m, &F, H);
        const pl_real scale = m.mu + m.lambda;
        check_near(pl_neo_hookean_energy_gradient(&m, &F, &ahead_P), pl_neo_hookean_energy(&m, &F),
                   scale, 1e-14);
        for (int i = 0; i < 9; i++)
            check_near(ahead_P.m[i], P.m[i], scale, 1e-14);
        for (int j = 0; j < 9; j++) {
            pl_mat3 ahead = F, behind = F;
            ahead.m[j] += h;
            behind.m[j] -= h;
            const pl_real slope =
                (pl_neo_hookean_energy(&m, &ahead) - pl_neo_hookean_energy(&m, &behind)) * per_2h;
            check_near(P.m[j], slope, scale, 1e-6);
            pl_neo_hookean_gradient(&m, &ahead, &ahead_P);
            pl_neo_hookean_gradient(&m, &behind, &behind_P);
            for (int i = 0; i < 9; i++) {
                check_near(H[i + 9 * j], (ahead_P.m[i] - behind_P.m[i]) * per_2h, scale, 1e-6);
                check_near(H[i + 9 * j], H[j + 9 * i], scale, 1e-14);
            }
        }
    }
}
END_TEST

START_TEST(stretch_forms_match_finite_differences_and_F)
{
    const pl_real h = pl_set1(1e-5), per_2h = pl_set1(1 / 2e-5);
    uint64_t state = 22;
    for (int round = 0; round < 50; round++) {
        const elements e = some_elements(&state, 0.4);
        const pl_neo_hookean m = load_material(&e);
        const pl_real s[3] = {pl_load(e.s[0]), pl_load(e.s[1]), pl_load(e.s[2])};
        const pl_real scale = m.mu + m.lambda;
        pl_mat3 F = pl_mat3_identity();
        pl_real g[3], H[9], ahead_g[3], behind_g[3];
        for (int i = 0; i < 3; i++)
            F.m[4 * i] = s[i];
        check_near(pl_neo_hookean_stretch_energy(&m, s), pl_neo_hookean_energy(&m, &F), scale,
                   1e-14);
        pl_neo_hookean_stretch_gradient(&m, s, g);
        pl_neo_hookean_stretch_hessian(&m, s, H);
        for (int j = 0; j < 3; j++) {
            pl_real ahead[3] = {s[0], s[1], s[2]}, behind[3] = {s[0], s[1], s[2]};
            ahead[j] += h;
            behind[j] -= h;
            const pl_real slope = (pl_neo_hookean_stretch_energy(&m, ahead) -
                                   pl_neo_hookean_stretch_energy(&m, behind)) *
                                  per_2h;
            check_near(g[j], slope, scale, 1e-6);
            pl_neo_hookean_stretch_gradient(&m, ahead, ahead_g);
            pl_neo_hookean_stretch_gradient(&m, behind, behind_g);
            for (int i = 0; i < 3; i++)
                check_near(H[i + 3 * j], (ahead_g[i] - behind_g[i]) * per_2h, scale, 1e-5);
        }
    }
}
END_TEST

START_TEST(rotations_on_either_side_change_nothing)
{
    uint64_t state = 23;
    for (int round = 0; round < 200; round++) {
        const elements e = some_elements(&state, 0.3), f = some_elements(&state, 2);
        const pl_neo_hookean m = load_material(&e);
        const pl_mat3 F = load_F(&e), random = load_F(&f);
        pl_mat3 Q, rotated = rotate_on_both_sides(&F, &random, &Q);
        const pl_real energy = pl_neo_hookean_energy(&m, &F);
        check_near(pl_neo_hookean_energy(&m, &rotated), energy, m.mu + m.lambda, 1e-14);
        check_near(pl_neo_hookean_energy(&m, &rotated), energy, energy, 1e-12);
    }
}
END_TEST

/* At rest P = 0 and H is that of the linear solid: lambda d_ij d_kl + mu (d_ik d_jl + d_il d_jk).
 */
START_TEST(small_strain_is_the_linear_solid)
{
    uint64_t state = 24;
    const elements e = some_elements(&state, 0);
    const pl_neo_hookean m = load_material(&e);
    const pl_mat3 F = load_F(&e);
    pl_mat3 P;
    pl_real H[81];
    pl_neo_hookean_gradient(&m, &F, &P);
    pl_neo_hookean_hessian(&m, &F, H);
    for (int lane = 0; lane < PL_LANES; lane++) {
        ck_assert(pl_lane(pl_neo_hookean_energy(&m, &F), lane) == 0);
        for (int a = 0; a < 81; a++) {
            const int i = a % 3, j = a / 3 % 3, k = a / 9 % 3, l = a / 27;
            const double linear = e.lambda[lane] * (i == j && k == l) +
                                  e.mu[lane] * ((i == k && j == l) + (i == l && j == k));
            ck_assert_double_le(fabs(pl_lane(H[a], lane) - linear), 1e-15 * linear);
            ck_assert(pl_lane(P.m[a % 9], lane) == 0);
        }
    }
}
END_TEST

START_TEST(energy_is_infinite_where_inverted_or_flat)
{
    uint64_t state = 25;
    elements e = some_elements(&state, 0.1);
    e.F[4][0] = -1;
    for (int i = 3; i < 6; i++)
        e.F[i][1] = 0;
    const pl_neo_hookean m = load_material(&e);
    const pl_mat3 F = load_F(&e);
    const pl_real psi = pl_neo_hookean_energy(&m, &F);
    ck_assert(pl_lane(psi, 0) == (double)INFINITY && pl_lane(psi, 1) == (double)INFINITY);
    for (int lane = 2; lane < PL_LANES; lane++)
        ck_assert_double_finite(pl_lane(psi, lane));
    pl_mat3 P;
    pl_neo_hookean_gradient(&m, &F, &P);
    ck_assert_double_nan(pl_lane(P.m[0], 0));
    ck_assert_double_nan(pl_lane(P.m[0], 1));
    ck_assert_double_finite(pl_lane(P.m[0], 2));
}
END_TEST

/* ---- The reference for the prox, in long double ---- */

typedef struct reference {
    long double alpha, Lambda, b[3];
} reference;

/* s from t by the quadratics, and the residual of the last condition. */
static long double residual(const reference *r, long double t, long double s[3])
{
    const long double x = 2 * t - r->b[2];
    for (int i = 0; i < 2; i++)
        s[i] = (r->b[i] + sqrtl(x * x + (r->b[i] - r->b[2]) * (r->b[i] + r->b[2]))) / 2;
    s[2] = t;
    return r->alpha + t * (r->b[2] - t) - r->Lambda * logl(s[0] * s[1] * s[2]);
}

static long double objective(const reference *r, const long double s[3])
{
    const long double L = logl(s[0] * s[1] * s[2]);
    long double sum = L * (r->Lambda / 2 * L - r->alpha);
    for (int i = 0; i < 3; i++)
        sum += s[i] * (s[i] / 2 - r->b[i]);
    return sum;
}

/* The least of all minima, by a scan over t and bisection. */
static void brute_force(const reference *r, long double best[3])
{
    enum { SCAN = 600 };
    const long double low = 1e-9L, ratio = powl(40 / low, 1.0L / SCAN);
    long double s[3], t = low, least = INFINITY, value = residual(r, t, s);
    for (int i = 0; i < SCAN; i++, t *= ratio) {
        const long double next = residual(r, t * ratio, s);
        if (value > 0 && next <= 0) {
            long double a = t, b = t * ratio;
            for (int halving = 0; halving < 70; halving++) {
                const long double middle = (a + b) / 2;
                if (residual(r, middle, s) > 0)
                    a = middle;
                else
                    b = middle;
            }
            residual(r, b, s);
            if (objective(r, s) < least) {
                least = objective(r, s);
                memcpy(best, s, 3 * sizeof *best);
            }
        }
        value = next;
    }
    ck_assert(least < INFINITY);
}

/* Ordered signed singular values from any three numbers in [-3, 10], some of them equal or zero. */
static void some_stretches(uint64_t *state, double s[3])
{
    for (int i = 0; i < 3; i++)
        s[i] = random_between(state, -3, 10);
    if (random_unit(state) < 0.3) /* near rest, and moderately compressed */
        for (int i = 0; i < 3; i++)
            s[i] = random_between(state, -0.5, 2);
    for (int i = 1; i < 3; i++) {
        const double roll = random_unit(state);
        s[i] = roll < 0.1 ? s[i - 1] : roll < 0.15 ? 0 : roll < 0.2 ? 1e-6 * s[i] : s[i];
    }
    order_stretches(s);
}

START_TEST(prox_is_the_minimum_found_by_brute_force)
{
    uint64_t state = 26;
    for (int round = 0; round < 8000 / PL_LANES; round++) {
        elements e = some_elements(&state, 0);
        for (int lane = 0; lane < PL_LANES; lane++) {
            double s[3];
            some_stretches(&state, s);
            for (int i = 0; i < 3; i++)
                e.s[i][lane] = s[i];
            if (lane % 8 == 0)
                e.lambda[lane] = 0;
        }
        const pl_neo_hookean m = load_material(&e);
        const pl_real s_tilde[3] = {pl_load(e.s[0]), pl_load(e.s[1]), pl_load(e.s[2])};
        pl_real s[3];
        pl_neo_hookean_stretch_prox(&m, pl_load(e.k), s_tilde, s);
        for (int lane = 0; lane < PL_LANES; lane++) {
            const long double k = e.k[lane], a = e.mu[lane] + k;
            reference r = {.alpha = e.mu[lane] / a, .Lambda = e.lambda[lane] / a};
            long double best[3];
            for (int i = 0; i < 3; i++)
                r.b[i] = k * e.s[i][lane] / a;
            brute_force(&r, best);
            for (int i = 0; i < 3; i++)
                ck_assert_double_le(fabsl(pl_lane(s[i], lane) / best[i] - 1), 1e-8);
        }
    }
}
END_TEST

/* P(F) + k (F - F~) = 0 and det F > 0, also from an inverted or collapsed F~. */
START_TEST(prox_of_F_is_stationary_and_not_inverted)
{
    uint64_t state = 27;
    for (int round = 0; round < 500; round++) {
        elements e = some_elements(&state, round % 2 ? 0.3 : 1.5);
        for (int i = 0; i < 9; i++)
            e.F[i][0] = i < 3 ? e.F[i][0] : 0;
        const pl_neo_hookean m = load_material(&e);
        const pl_mat3 F_tilde = load_F(&e);
        const pl_real k = pl_load(e.k);
        pl_mat3 F, P;
        pl_neo_hookean_prox(&m, k, &F_tilde, &F);
        pl_neo_hookean_gradient(&m, &F, &P);
        const pl_mat3 inverse = pl_mat3_inverse(&F);
        const pl_real steep = pl_one() + pl_mat3_norm_squared(&inverse);
        for (int i = 0; i < 9; i++)
            check_near(P.m[i] + k * (F.m[i] - F_tilde.m[i]), pl_zero(),
                       (m.mu + m.lambda + k) * steep, 1e-9);
        ck_assert(pl_all(pl_gt(pl_mat3_det(&F), pl_zero())));
    }
}
END_TEST

START_TEST(prox_is_finite_for_every_finite_input)
{
    uint64_t state = 28;
    for (int round = 0; round < 3000; round++) {
        elements e = elements_out_of_scale(&state, round % 3 == 0);
        const pl_neo_hookean m = load_material(&e);
        const pl_mat3 F_tilde = load_F(&e);
        pl_mat3 F;
        pl_neo_hookean_prox(&m, pl_load(e.k), &F_tilde, &F);
        for (int i = 0; i < 9; i++)
            for (int lane = 0; lane < PL_LANES; lane++)
                ck_assert_double_finite(pl_lane(F.m[i], lane));
    }
}
END_TEST

/* Dilated elements take a longer way, together with the others of their block. */
START_TEST(the_rest_of_the_block_does_not_matter)
{
    uint64_t state = 29;
    for (int round = 0; round < 200; round++) {
        elements e = some_elements(&state, 0.6);
        pl_mat3 first, second, F_tilde = load_F(&e);
        const pl_neo_hookean m = load_material(&e);
        pl_neo_hookean_prox(&m, pl_load(e.k), &F_tilde, &first);
        for (int lane = 1; lane < PL_LANES; lane += 2)
            for (int i = 0; i < 9; i++)
                e.F[i][lane] = random_between(&state, -9, 9);
        F_tilde = load_F(&e);
        pl_neo_hookean_prox(&m, pl_load(e.k), &F_tilde, &second);
        for (int lane = 0; lane < PL_LANES; lane += 2)
            for (int i = 0; i < 9; i++)
                ck_assert(pl_lane(first.m[i], lane) == pl_lane(second.m[i], lane));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_neo_hookean");
    TCase *cases = tcase_create("neo_hookean");
    tcase_set_timeout(cases, 240);
    tcase_add_test(cases, derivatives_match_finite_differences);
    tcase_add_test(cases, stretch_forms_match_finite_differences_and_F);
    tcase_add_test(cases, rotations_on_either_side_change_nothing);
    tcase_add_test(cases, small_strain_is_the_linear_solid);
    tcase_add_test(cases, energy_is_infinite_where_inverted_or_flat);
    tcase_add_test(cases, prox_is_the_minimum_found_by_brute_force);
    tcase_add_test(cases, prox_of_F_is_stationary_and_not_inverted);
    tcase_add_test(cases, prox_is_finite_for_every_finite_input);
    tcase_add_test(cases, the_rest_of_the_block_does_not_matter);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
