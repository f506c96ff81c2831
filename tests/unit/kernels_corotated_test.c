/* The corotated solid and ARAP, which is the same with lambda = 0: derivatives compared with finite differences,
 * including inverted elements, invariance, the linear limit, and the proximal operator compared with an independent
 * search. */
#include "engine/kernels/arap.h"
#include "engine/kernels/corotated.h"
#include "engine/kernels/neo_hookean.h"
#include "tests/support/kernel_elements.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Either material through the same functions: `m.lambda` is not read by ARAP's. */
typedef struct kernel {
    const char *name;
    double lambda; /* 1 if the material has it, else 0 */
    pl_real (*energy)(const pl_corotated *m, const pl_mat3 *F);
    void (*gradient)(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P);
    void (*hessian)(const pl_corotated *m, const pl_mat3 *F, pl_real H[81]);
    void (*prox)(const pl_corotated *m, pl_real k, const pl_mat3 *F_tilde, pl_mat3 *F);
    pl_real (*energy_gradient)(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P);
    pl_real (*stretch_energy)(const pl_corotated *m, const pl_real s[3]);
    void (*stretch_gradient)(const pl_corotated *m, const pl_real s[3], pl_real g[3]);
    void (*stretch_hessian)(const pl_corotated *m, const pl_real s[3], pl_real H[9]);
    void (*stretch_prox)(const pl_corotated *m, pl_real k, const pl_real s_tilde[3], pl_real s[3]);
} kernel;

#define WRAP(model)                                                                                \
    static pl_##model model##_of(const pl_corotated *m)                                            \
    {                                                                                              \
        return (pl_##model){m->mu, m->lambda};                                                     \
    }                                                                                              \
    static pl_real model##_energy(const pl_corotated *m, const pl_mat3 *F)                         \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        return pl_##model##_energy(&c, F);                                                         \
    }                                                                                              \
    static void model##_gradient(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P)              \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_gradient(&c, F, P);                                                           \
    }                                                                                              \
    static void model##_hessian(const pl_corotated *m, const pl_mat3 *F, pl_real H[81])            \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_hessian(&c, F, H);                                                            \
    }                                                                                              \
    static void model##_prox(const pl_corotated *m, pl_real k, const pl_mat3 *F_tilde, pl_mat3 *F) \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_prox(&c, k, F_tilde, F);                                                      \
    }                                                                                              \
    static pl_real model##_energy_gradient(const pl_corotated *m, const pl_mat3 *F, pl_mat3 *P)    \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        return pl_##model##_energy_gradient(&c, F, P);                                             \
    }                                                                                              \
    static pl_real model##_stretch_energy(const pl_corotated *m, const pl_real s[3])               \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        return pl_##model##_stretch_energy(&c, s);                                                 \
    }                                                                                              \
    static void model##_stretch_gradient(const pl_corotated *m, const pl_real s[3], pl_real g[3])  \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_stretch_gradient(&c, s, g);                                                   \
    }                                                                                              \
    static void model##_stretch_hessian(const pl_corotated *m, const pl_real s[3], pl_real H[9])   \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_stretch_hessian(&c, s, H);                                                    \
    }                                                                                              \
    static void model##_stretch_prox(const pl_corotated *m, pl_real k, const pl_real s_tilde[3],   \
                                     pl_real s[3])                                                 \
    {                                                                                              \
        const pl_##model c = model##_of(m);                                                        \
        pl_##model##_stretch_prox(&c, k, s_tilde, s);                                              \
    }
WRAP(corotated)
WRAP(arap)

#define ROW(model, has_lambda)                                                                     \
    {                                                                                              \
#model, has_lambda, model##_energy, model##_gradient, model##_hessian, model##_prox,       \
            model##_energy_gradient, model##_stretch_energy, model##_stretch_gradient,             \
            model##_stretch_hessian, model##_stretch_prox                                          \
    }
static const kernel kernels[] = {ROW(corotated, 1), ROW(arap, 0)};

static pl_corotated load_material(const elements *e)
{
    return (pl_corotated){pl_load(e->mu), pl_load(e->lambda)};
}

/* F = Q diag(s) R^T with random rotations: singular values as wanted, so also next to each other,
 * to zero and to the crease. */
static pl_mat3 some_F_of(uint64_t *state, const pl_real s[3])
{
    const elements a = some_elements(state, 2);
    const pl_mat3 random = load_F(&a);
    pl_mat3 Q, R;
    pl_real ignored[3];
    pl_svd3(&random, &Q, ignored, &R);
    return pl_mat3_compose(&Q, s, &R);
}

/* |a - b| within `tolerance` of `scale` in every lane. */
static void check_near(pl_real a, pl_real b, pl_real scale, double tolerance)
{
    for (int lane = 0; lane < PL_LANES; lane++)
        ck_assert_double_le(fabs(pl_lane(a, lane) - pl_lane(b, lane)),
                            tolerance * pl_lane(scale, lane));
}

/* Signed singular values in order, mostly from -3 to 10 or near rest, some alike or zero. */
/* Elements with such singular values whose s1 + s2 is at least `thick`. */
static elements stretched_elements(uint64_t *state, double thick)
{
    elements e = some_elements(state, 0);
    for (int lane = 0; lane < PL_LANES; lane++) {
        double s[3];
        do
            random_stretches(state, s);
        while (s[1] + s[2] < thick);
        for (int i = 0; i < 3; i++)
            e.s[i][lane] = s[i];
    }
    return e;
}

static void load_stretches(const elements *e, pl_real s[3])
{
    for (int i = 0; i < 3; i++)
        s[i] = pl_load(e->s[i]);
}

/* The nearer the crease, the larger are third derivatives: 1 / (s1 + s2)^2. */
static void check_derivatives(const kernel *k, const pl_corotated *m, const pl_mat3 *F,
                              pl_real scale)
{
    const pl_real h = pl_set1(1e-5), per_2h = pl_set1(1 / 2e-5);
    pl_mat3 P, ahead_P, behind_P;
    pl_real H[81];
    k->gradient(m, F, &P);
    k->hessian(m, F, H);
    check_near(k->energy_gradient(m, F, &ahead_P), k->energy(m, F), scale, 1e-14);
    for (int i = 0; i < 9; i++)
        check_near(ahead_P.m[i], P.m[i], scale, 1e-14);
    for (int j = 0; j < 9; j++) {
        pl_mat3 ahead = *F, behind = *F;
        ahead.m[j] += h;
        behind.m[j] -= h;
        check_near(P.m[j], (k->energy(m, &ahead) - k->energy(m, &behind)) * per_2h, scale, 1e-7);
        k->gradient(m, &ahead, &ahead_P);
        k->gradient(m, &behind, &behind_P);
        for (int i = 0; i < 9; i++) {
            check_near(H[i + 9 * j], (ahead_P.m[i] - behind_P.m[i]) * per_2h, scale, 1e-7);
            check_near(H[i + 9 * j], H[j + 9 * i], scale, 1e-14);
        }
    }
}

START_TEST(derivatives_match_finite_differences)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 41;
    int inverted = 0;
    for (int round = 0; round < 100; round++) {
        const elements e = stretched_elements(&state, 0.1);
        const pl_corotated m = load_material(&e);
        pl_real s[3];
        load_stretches(&e, s);
        const pl_mat3 F = some_F_of(&state, s);
        const pl_real thick = s[1] + s[2];
        check_derivatives(k, &m, &F,
                          (m.mu + m.lambda) * (pl_set1(20) + pl_one() / (thick * thick * thick)));
        for (int lane = 0; lane < PL_LANES; lane++)
            inverted += e.s[2][lane] < 0;
    }
    ck_assert_int_gt(inverted, 100);
}
END_TEST

START_TEST(stretch_forms_match_finite_differences_and_F)
{
    const kernel *k = &kernels[_i];
    const pl_real h = pl_set1(1e-5), per_2h = pl_set1(1 / 2e-5);
    uint64_t state = 42;
    for (int round = 0; round < 50; round++) {
        const elements e = stretched_elements(&state, 0);
        const pl_corotated m = load_material(&e);
        pl_real s[3], g[3], H[9], ahead_g[3], behind_g[3];
        load_stretches(&e, s);
        const pl_mat3 F = some_F_of(&state, s);
        const pl_real scale = pl_set1(300) * (m.mu + m.lambda);
        check_near(k->stretch_energy(&m, s), k->energy(&m, &F), scale, 1e-14);
        k->stretch_gradient(&m, s, g);
        k->stretch_hessian(&m, s, H);
        for (int j = 0; j < 3; j++) {
            pl_real ahead[3] = {s[0], s[1], s[2]}, behind[3] = {s[0], s[1], s[2]};
            ahead[j] += h;
            behind[j] -= h;
            const pl_real slope = (k->stretch_energy(&m, ahead) - k->stretch_energy(&m, behind)) *
                                  per_2h;
            check_near(g[j], slope, scale, 1e-9);
            k->stretch_gradient(&m, ahead, ahead_g);
            k->stretch_gradient(&m, behind, behind_g);
            for (int i = 0; i < 3; i++)
                check_near(H[i + 3 * j], (ahead_g[i] - behind_g[i]) * per_2h, scale, 1e-9);
        }
    }
}
END_TEST

/* Next to the crease the Hessian is finite, and its curvature that of the distance it is cut to. */
START_TEST(hessian_is_finite_at_the_crease)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 43;
    for (int round = 0; round < 100; round++) {
        elements e = stretched_elements(&state, 0);
        for (int lane = 0; lane < PL_LANES; lane++) {
            e.s[2][lane] = -e.s[1][lane] + (lane % 2) * 1e-9;
            if (lane % 4 == 0)
                e.s[0][lane] = e.s[1][lane] = e.s[2][lane] = 0;
        }
        const pl_corotated m = load_material(&e);
        pl_real s[3], H[81];
        load_stretches(&e, s);
        const pl_mat3 F = some_F_of(&state, s);
        k->hessian(&m, &F, H);
        const pl_real most = pl_set1(100 / PL_COROTATED_CREASE) * (m.mu + m.lambda);
        for (int a = 0; a < 81; a++)
            check_near(H[a], pl_zero(), most, 1);
    }
}
END_TEST

START_TEST(rotations_on_either_side_change_nothing)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 44;
    for (int round = 0; round < 200; round++) {
        const elements e = some_elements(&state, 1.5), f = some_elements(&state, 2);
        const pl_corotated m = load_material(&e);
        const pl_mat3 F = load_F(&e), random = load_F(&f);
        pl_mat3 Q, rotated = rotate_on_both_sides(&F, &random, &Q);
        check_near(k->energy(&m, &rotated), k->energy(&m, &F), pl_set1(50) * (m.mu + m.lambda),
                   1e-14);
        /* P turns with F from the left: P(Q F) = Q P(F). */
        pl_mat3 P, turned = pl_mat3_mul(&Q, &F), P_turned;
        k->gradient(&m, &F, &P);
        k->gradient(&m, &turned, &P_turned);
        P = pl_mat3_mul(&Q, &P);
        pl_real U_s[3];
        pl_mat3 U, V;
        pl_svd3(&F, &U, U_s, &V);
        const pl_real scale = (m.mu + m.lambda) *
                              (pl_set1(50) + pl_one() / (U_s[1] + U_s[2] + pl_set1(1e-12)));
        for (int i = 0; i < 9; i++)
            check_near(P_turned.m[i], P.m[i], scale, 1e-13);
    }
}
END_TEST

/* At any rotation Psi and P are 0, and at rest H is that of the linear solid:
 * lambda d_ij d_kl + mu (d_ik d_jl + d_il d_jk). */
START_TEST(small_strain_is_the_linear_solid)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 45;
    const elements e = some_elements(&state, 0);
    const pl_corotated m = load_material(&e);
    const pl_mat3 F = load_F(&e);
    const pl_real ones[3] = {pl_one(), pl_one(), pl_one()};
    const pl_mat3 turned = some_F_of(&state, ones);
    pl_mat3 P;
    pl_real H[81];
    k->gradient(&m, &turned, &P);
    k->hessian(&m, &F, H);
    check_near(k->energy(&m, &turned), pl_zero(), m.mu + m.lambda, 1e-28);
    for (int i = 0; i < 9; i++)
        check_near(P.m[i], pl_zero(), m.mu + m.lambda, 1e-14);
    for (int lane = 0; lane < PL_LANES; lane++)
        for (int a = 0; a < 81; a++) {
            const int i = a % 3, j = a / 3 % 3, p = a / 9 % 3, q = a / 27;
            const double lambda = k->lambda * e.lambda[lane];
            const double linear = lambda * (i == j && p == q) +
                                  e.mu[lane] * ((i == p && j == q) + (i == q && j == p));
            ck_assert_double_le(fabs(pl_lane(H[a], lane) - linear), 4e-15 * (e.mu[lane] + lambda));
        }
}
END_TEST

/* k of Liu 2017, eq. 11, the slope that fits the force f along one stretch from 1/2 to 3/2 best:
 * k = 12 integral of (x - 1) f(x). By Simpson's rule. */
static double stiffness(void (*gradient)(const void *m, const pl_real s[3], pl_real g[3]),
                        const void *m)
{
    enum { HALVES = 2000 };
    double sum = 0;
    for (int i = 0; i <= HALVES; i++) {
        const double x = 0.5 + (double)i / HALVES;
        const pl_real s[3] = {pl_set1(x), pl_one(), pl_one()};
        pl_real g[3];
        gradient(m, s, g);
        sum += (i == 0 || i == HALVES ? 1 : i % 2 ? 4 : 2) * (x - 1) * pl_lane(g[0], 0);
    }
    return 12 * sum / (3.0 * HALVES);
}

static void gradient_corotated(const void *m, const pl_real s[3], pl_real g[3])
{
    pl_corotated_stretch_gradient(m, s, g);
}
static void gradient_arap(const void *m, const pl_real s[3], pl_real g[3])
{
    pl_arap_stretch_gradient(m, s, g);
}
static void gradient_neo_hookean(const void *m, const pl_real s[3], pl_real g[3])
{
    pl_neo_hookean_stretch_gradient(m, s, g);
}

START_TEST(fitted_stiffness_has_its_closed_form)
{
    for (int i = 0; i < 2; i++) {
        const double mu = i == 0, lambda = i == 1;
        const pl_corotated corotated = {pl_set1(mu), pl_set1(lambda)};
        const pl_arap arap = {pl_set1(mu), pl_set1(lambda)};
        const pl_neo_hookean neo = {pl_set1(mu), pl_set1(lambda)};
        ck_assert_double_eq_tol(stiffness(gradient_corotated, &corotated), 2 * mu + lambda, 1e-9);
        ck_assert_double_eq_tol(stiffness(gradient_arap, &arap), 2 * mu, 1e-9);
        ck_assert_double_eq_tol(stiffness(gradient_neo_hookean, &neo),
                                2.18335 * mu + 1.35356 * lambda, 5e-6);
    }
}
END_TEST

/* ---- The prox ---- */

typedef struct target {
    long double mu, lambda, k, s[3];
} target;

static long double objective(const target *t, const long double s[3])
{
    long double sum = 0, trace = -3;
    for (int i = 0; i < 3; i++) {
        sum += t->mu * (s[i] - 1) * (s[i] - 1) + t->k / 2 * (s[i] - t->s[i]) * (s[i] - t->s[i]);
        trace += s[i];
    }
    return sum + t->lambda / 2 * trace * trace;
}

/* A grid over the signed singular values s0 >= s1 >= |s2|, in coordinates a, b, c >= 0 of that cone,
 *     s = a (1, 0, 0) + b (1, 1, 1) / 2 + c (1, 1, -1) / 2,   s0 - s1 = a, s1 + s2 = b, s1 - s2 = c
 * laid ever more finely about the best point so far. */
static long double brute_force(const target *t, long double best[3])
{
    enum { HALF = 3 };
    long double centre[3] = {0, 0, 0}, spread = 14, least = INFINITY;
    while (spread > 1e-7L) {
        long double winner[3] = {centre[0], centre[1], centre[2]};
        for (int i = -HALF; i <= HALF; i++)
            for (int j = -HALF; j <= HALF; j++)
                for (int l = -HALF; l <= HALF; l++) {
                    const long double a = fmaxl(0, centre[0] + spread * i / HALF);
                    const long double b = fmaxl(0, centre[1] + spread * j / HALF);
                    const long double c = fmaxl(0, centre[2] + spread * l / HALF);
                    const long double s[3] = {a + (b + c) / 2, (b + c) / 2, (b - c) / 2};
                    const long double value = objective(t, s);
                    if (value < least) {
                        least = value;
                        memcpy(best, s, sizeof s);
                        winner[0] = a, winner[1] = b, winner[2] = c;
                    }
                }
        memcpy(centre, winner, sizeof centre);
        spread *= 0.7L;
    }
    return least;
}

/* Also of dilated elements, whose minimum may lie on the crease: each of its three forms occurs. */
START_TEST(prox_is_the_minimum_found_by_brute_force)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 46;
    int creased = 0, square = 0, inverted = 0;
    for (int round = 0; round < 400 / PL_LANES; round++) {
        const elements e = stretched_elements(&state, 0);
        const pl_corotated m = load_material(&e);
        pl_real s_tilde[3], s[3];
        load_stretches(&e, s_tilde);
        k->stretch_prox(&m, pl_load(e.k), s_tilde, s);
        for (int lane = 0; lane < PL_LANES; lane++) {
            const target t = {e.mu[lane],
                              k->lambda * e.lambda[lane],
                              e.k[lane],
                              {e.s[0][lane], e.s[1][lane], e.s[2][lane]}};
            const long double found[3] = {pl_lane(s[0], lane), pl_lane(s[1], lane),
                                          pl_lane(s[2], lane)};
            long double best[3];
            const long double least = brute_force(&t, best), value = objective(&t, found);
            ck_assert(found[0] >= found[1] - 1e-12L && found[1] + found[2] >= -1e-12L);
            ck_assert_double_le((double)(value - least), 1e-13 * (double)(least + t.mu));
            for (int i = 0; i < 3; i++)
                ck_assert_double_le((double)fabsl(found[i] - best[i]), 1e-5);
            creased += found[2] == -found[1] && found[0] > found[1];
            square += found[2] == -found[1] && found[0] == found[1];
            inverted += found[2] < 0;
        }
    }
    if (k->lambda == 0)
        ck_assert_int_eq(creased + square, 0);
    else
        ck_assert(creased > 12 && square > 1 && inverted > creased + square);
}
END_TEST

/* P(F) + k (F - F~) = 0 off the crease, and no other F is better: not one near by, nor one with
 * other rotations. */
START_TEST(prox_of_F_is_stationary_and_the_least)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 47;
    for (int round = 0; round < 500; round++) {
        const elements e = stretched_elements(&state, 0);
        const pl_corotated m = load_material(&e);
        const pl_real stiff = pl_load(e.k), half = pl_set1(0.5);
        pl_real s_tilde[3], s[3];
        load_stretches(&e, s_tilde);
        const pl_mat3 F_tilde = some_F_of(&state, s_tilde);
        pl_mat3 F, P, U, V, step;
        k->prox(&m, stiff, &F_tilde, &F);
        k->gradient(&m, &F, &P);
        pl_svd3(&F, &U, s, &V);
        const pl_real scale = pl_set1(20) * (m.mu + pl_set1(k->lambda) * m.lambda + stiff);
        const pl_mask creased = pl_lt(s[1] + s[2], pl_set1(1e-3));
        pl_real value = k->energy(&m, &F);
        for (int i = 0; i < 9; i++) {
            const pl_real off = F.m[i] - F_tilde.m[i], sum = P.m[i] + stiff * off;
            check_near(pl_select(creased, pl_zero(), sum), pl_zero(), scale, 1e-10);
            value += half * stiff * off * off;
        }
        for (int trial = 0; trial < 20; trial++) {
            const double size = random_scale(&state, 1e-3, 3);
            for (int i = 0; i < 9; i++)
                for (int lane = 0; lane < PL_LANES; lane++)
                    step.m[i][lane] = pl_lane(F.m[i], lane) + size * random_between(&state, -1, 1);
            pl_real other = k->energy(&m, &step);
            for (int i = 0; i < 9; i++)
                other += half * stiff * (step.m[i] - F_tilde.m[i]) * (step.m[i] - F_tilde.m[i]);
            ck_assert(pl_all(pl_ge(other, value - pl_set1(1e-12) * scale)));
        }
    }
}
END_TEST

START_TEST(prox_is_finite_for_every_finite_input)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 48;
    for (int round = 0; round < 2000; round++) {
        elements e = elements_out_of_scale(&state, round % 3 == 0);
        for (int i = 0; i < 9; i++)
            e.F[i][0] = 0;
        const pl_corotated m = load_material(&e);
        const pl_mat3 F_tilde = load_F(&e);
        pl_mat3 F;
        k->prox(&m, pl_load(e.k), &F_tilde, &F);
        for (int i = 0; i < 9; i++)
            for (int lane = 0; lane < PL_LANES; lane++)
                ck_assert_double_finite(pl_lane(F.m[i], lane));
    }
}
END_TEST

/* Elements on the crease take a longer way, together with the others of their block. */
START_TEST(the_rest_of_the_block_does_not_matter)
{
    const kernel *k = &kernels[_i];
    uint64_t state = 49;
    for (int round = 0; round < 200; round++) {
        elements e = some_elements(&state, 0.3);
        pl_mat3 first, second, F_tilde = load_F(&e);
        const pl_corotated m = load_material(&e);
        k->prox(&m, pl_load(e.k), &F_tilde, &first);
        for (int lane = 1; lane < PL_LANES; lane += 2)
            for (int i = 0; i < 9; i++)
                e.F[i][lane] = random_between(&state, -9, 9);
        F_tilde = load_F(&e);
        k->prox(&m, pl_load(e.k), &F_tilde, &second);
        for (int lane = 0; lane < PL_LANES; lane += 2)
            for (int i = 0; i < 9; i++)
                ck_assert(pl_lane(first.m[i], lane) == pl_lane(second.m[i], lane));
    }
}
END_TEST

int main(void)
{
    enum { COUNT = sizeof kernels / sizeof *kernels };
    Suite *suite = suite_create("kernels_corotated");
    TCase *cases = tcase_create("corotated");
    tcase_set_timeout(cases, 240);
    tcase_add_loop_test(cases, derivatives_match_finite_differences, 0, COUNT);
    tcase_add_loop_test(cases, stretch_forms_match_finite_differences_and_F, 0, COUNT);
    tcase_add_loop_test(cases, hessian_is_finite_at_the_crease, 0, COUNT);
    tcase_add_loop_test(cases, rotations_on_either_side_change_nothing, 0, COUNT);
    tcase_add_loop_test(cases, small_strain_is_the_linear_solid, 0, COUNT);
    tcase_add_test(cases, fitted_stiffness_has_its_closed_form);
    tcase_add_loop_test(cases, prox_is_the_minimum_found_by_brute_force, 0, COUNT);
    tcase_add_loop_test(cases, prox_of_F_is_stationary_and_the_least, 0, COUNT);
    tcase_add_loop_test(cases, prox_is_finite_for_every_finite_input, 0, COUNT);
    tcase_add_loop_test(cases, the_rest_of_the_block_does_not_matter, 0, COUNT);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
