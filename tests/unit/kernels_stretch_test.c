/* Every material as a function of its principal stretches: derivatives against finite differences,
 * the quotients of the Hessian in F also where they are 0/0, and symmetry. */
#include "engine/kernels/svd3.h"
#include "engine/model/isa.h"
#include "tests/support/lanes_random.h"

#include <check.h>
#include <stdlib.h>

typedef struct elements {
    _Alignas(64) double constants[PL_STRETCH_CONSTANTS_MAX * PL_LANES];
    pl_stretch m;
    pl_real scale; /* of the energy, Pa */
} elements;

/* Materials of mu = 1 to 1e7 and Poisson's ratios up to 0.495. */
static void some_elements(uint64_t *state, pl_material_kind kind, elements *e)
{
    for (int lane = 0; lane < PL_LANES; lane++) {
        const double mu = random_scale(state, 1, 1e7), lambda = mu * random_scale(state, 1e-2, 1e2);
        e->constants[lane] = mu;
        e->constants[PL_LANES + lane] = lambda;
        e->scale[lane] = mu + lambda;
    }
    e->m = (pl_stretch){pl_stretch_ops_of(kind), e->constants, NULL};
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
        some_elements(&state, (pl_material_kind)_i, &e);
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
        some_elements(&state, (pl_material_kind)_i, &e);
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
                           1e-9 + 100 * gap);
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
        some_elements(&state, (pl_material_kind)_i, &e);
        some_stretches(&state, &e.m, 0.5, 1.6, s);
        const pl_real turned[3] = {s[2], s[0], s[1]};
        e.m.ops->energy_gradient(&e.m, s, &psi, g);
        e.m.ops->energy_gradient(&e.m, turned, &turned_psi, turned_g);
        check_near(psi, turned_psi, e.scale, 1e-13);
        for (int i = 0; i < 3; i++)
            check_near(g[i], turned_g[(i + 1) % 3], e.scale, 1e-13);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kernels_stretch");
    TCase *cases = tcase_create("stretch");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, derivatives_are_those_of_the_energy, 0, PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, quotients_survive_equal_and_opposite_stretches, 0,
                        PL_MATERIAL_KINDS);
    tcase_add_loop_test(cases, any_order_of_the_stretches_is_the_same_element, 0,
                        PL_MATERIAL_KINDS);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
