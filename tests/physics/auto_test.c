/* auto, and what "converged" promises of every method: bodies in balance, their reactions right, friction that
 * holds and stops as Coulomb's does. The numbers are closed forms. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include "engine/model/build/build_model.h"
#include "protocol/scene/scene_json.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const char *const STIFFNESS[] = {"1e3", "1e5", "1e7", "1e9", "2e11"};
static const char *const METHODS[] = {"auto", "newton", "quasi_newton", "admm"};
enum { STIFFNESSES = sizeof STIFFNESS / sizeof *STIFFNESS };

/* A cube of 1 m on a floor, 1,000 kg: in a step that reports convergence the floor carries its weight, less mass
 * damping and less its acceleration. By default it always converges. */
START_TEST(a_floor_carries_what_stands_on_it)
{
    const char *method = METHODS[_i / STIFFNESSES], *young = STIFFNESS[_i % STIFFNESSES];
    const double weight = 9810, h = 0.01, drag = 20;
    const bool standard = _i < STIFFNESSES;
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': %g, 'steps': 60}, 'solver': {%s%s%s},"
                             " 'materials': {'m': {'young': %s, 'poisson': 0.3, 'density': 1000,"
                             "   'damping': {'model': 'rayleigh', 'mass': %g}}},"
                             " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
                             "   'transform': {'translate': [0, 0.5, 0]}}],"
                             " 'obstacles': [{'plane': {}, 'friction': 0.5}]}",
                             h, standard ? "" : "'method': '", standard ? "" : method,
                             standard ? "" : "', 'iterations': 300", young, drag);
    double before = 0;
    for (int k = 0; k < (standard ? 60 : 12); k++) {
        pl_run_frames(r, 1);
        double up = (r->metrics.linear[1] - before) / h + drag * r->metrics.linear[1];
        before = r->metrics.linear[1];
        if (standard)
            ck_assert_int_eq(r->metrics.unconverged, 0);
        if (r->metrics.unconverged == 0 && k > 0)
            ck_assert_msg(fabs(r->metrics.obstacles[0].newton[1] - weight - up) <
                              0.02 * (weight + fabs(up)),
                          "%s, %s Pa, frame %d: the floor pushes with %g N, the body takes %g N",
                          method, young, k + 1, r->metrics.obstacles[0].newton[1], up);
    }
    pl_run_close(r);
}
END_TEST

static const char *const INTEGRATORS[] = {"backward_euler",    "bdf2",    "trapezoidal",
                                          "implicit_midpoint", "tr_bdf2", "sdirk2"};
enum { INTEGRATOR_COUNT = sizeof INTEGRATORS / sizeof *INTEGRATORS };

/* A block of 1e6 Pa slides at 2 m/s on a floor with mu = 0.7. It stops after v^2 / (2 mu g), half a step's way
 * less by backward Euler; friction that came a step late took 3 to 7 % longer. */
START_TEST(friction_stops_where_coulomb_says)
{
    const double mu = 0.7, g = 9.81, v = 2, h = 0.01, stop = v * v / (2 * mu * g);
    const int which = _i % INTEGRATOR_COUNT;
    const bool springs = _i >= INTEGRATOR_COUNT;
    const double due = which == 0 ? stop - v * h / 2 : stop;
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': %g, 'steps': 80, 'integrator': '%s'},"
                             " 'solver': {%s}, 'materials': {'m': {'young': 1e6}},"
                             " 'bodies': [{'mesh': {'box': {'size': [0.4, 0.1, 0.4],"
                             "   'cells': [4, 1, 4]}}, 'transform': {'translate': [0, 0.05, 0]},"
                             "   'initial': {'velocity': [%g, 0, 0]}}],"
                             " 'obstacles': [{'plane': {}, 'friction': %g}]}",
                             h, INTEGRATORS[which], springs ? "'obstacles': 'energy'" : "", v, mu);
    double before = 0, after = 0;
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        before += pl_run_x(r)[3 * i] / (double)pl_run_vertices(r);
    for (int k = 0; k < 80; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
    }
    for (int64_t i = 0; i < pl_run_vertices(r); i++)
        after += pl_run_x(r)[3 * i] / (double)pl_run_vertices(r);
    ck_assert_msg(fabs(after - before - due) < 0.01 * due, "%s: %g m, due %g", INTEGRATORS[which],
                  after - before, due);
    pl_run_close(r);
}
END_TEST

/* A tilted box of steel that falls: L-BFGS makes no progress, and Newton takes over; no energy is created. */
static const char DROP[] =
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 60}, 'solver': {%s},"
    " 'materials': {'m': {'young': 2e11, 'poisson': 0.3, 'density': 1000}},"
    " 'bodies': [{'mesh': {'box': {'size': [0.2, 0.3, 0.4], 'cells': [2, 3, 4]}},"
    "   'transform': {'rotate': {'axis': [1, 0.3, 0.2], 'degrees': 33},"
    "                 'translate': [0, 0.5, 0]}}],"
    " 'obstacles': [{'plane': {}, 'friction': 0.4}]}";

START_TEST(newton_takes_over)
{
    pl_run *r = pl_run_openf(1, DROP, "'tolerance': 1e-3"),
           *threads = pl_run_openf(2, DROP, "'tolerance': 1e-3");
    pl_run *weak = pl_run_openf(1, DROP, "'method': 'quasi_newton', 'iterations': 300");
    int64_t newton = 0, unconverged = 0;
    double start = NAN;
    for (int k = 0; k < 60; k++) {
        pl_run_frames(r, 1), pl_run_frames(threads, 1), pl_run_frames(weak, 1);
        const pl_metrics *m = &r->metrics;
        double energy = m->kinetic + m->elastic + m->gravity;
        start = k == 0 ? energy : start;
        ck_assert_int_eq(m->unconverged, 0);
        ck_assert_double_lt(energy, start + 1e-3 * fabs(start));
        ck_assert_int_le(m->newton_iterations, m->iterations);
        newton += m->newton_iterations;
        unconverged += weak->metrics.unconverged;
    }
    ck_assert_int_gt(newton, 10);
    ck_assert_int_gt(unconverged, 20);
    ck_assert_int_eq(weak->metrics.newton_iterations, -1);
    ck_assert(pl_run_hash(r) == pl_run_hash(threads));
    pl_run_close(r), pl_run_close(threads), pl_run_close(weak);
}
END_TEST

/* A ball rolls on a rough floor. Each step is solved again with the grips of its answer; if each solve went to the
 * end, and if L-BFGS forgot its pairs between them, it would take 3,570 iterations and 2,490, and Newton 257. */
START_TEST(grips_take_few_iterations)
{
    const bool newton = _i == 1;
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'step': 0.01, 'steps': 40},"
                             " 'solver': {'method': '%s', 'iterations': 2000, 'tolerance': 3e-6,"
                             "   'linear': 'direct'},"
                             " 'materials': {'m': {'young': 3e5, 'poisson': 0.4}},"
                             " 'bodies': [{'mesh': {'sphere': {'radius': 0.1, 'cells': 5}},"
                             "   'transform': {'translate': [0, 0.102, 0]},"
                             "   'initial': {'velocity': [1, 0, 0]}}],"
                             " 'obstacles': [{'plane': {}, 'friction': 0.6}]}",
                             newton ? "newton" : "quasi_newton");
    int64_t iterations = 0;
    for (int k = 0; k < 40; k++) {
        pl_run_frames(r, 1);
        ck_assert_int_eq(r->metrics.unconverged, 0);
        iterations += r->metrics.iterations;
    }
    ck_assert_int_lt(iterations, newton ? 225 : 2300);
    pl_run_close(r);
}
END_TEST

/* A bar that L-BFGS is done with at its rate, though not in the iterations that Newton would be counted as. */
static const char SOFT[] = "{'pliant': 1, 'time': {'step': 0.04, 'steps': 12},"
                           " 'solver': {'tolerance': 1e-12},"
                           " 'materials': {'m': {'young': 1e5, 'poisson': 0.45}},"
                           " 'bodies': [{'mesh': {'box': {'size': [3, 1, 1], 'cells': [6, 2, 2]}},"
                           "   'initial': {'shape': {'twisted': {'turns': 0.4}}}}],"
                           " 'pins': [{'select': {'side': '-x'}}]}";
/* A step for which it would need hundreds. */
static const char STIFF[] = "{'pliant': 1, 'time': {'step': 0.01, 'steps': 12},"
                            " 'materials': {'m': {'young': 1e9, 'poisson': 0.49}},"
                            " 'bodies': [{'mesh': {'box': {'size': [1, 0.1, 0.1],"
                            "   'cells': [12, 2, 2]}}}], 'pins': [{'select': {'side': '-x'}}]}";

/* If the rate of L-BFGS predicts less time than Newton needs, it stays; otherwise it hands over, and waits less for it
 * from step to step. */
START_TEST(it_hands_over_by_rate)
{
    pl_run *soft = pl_run_open(1, SOFT), *stiff = pl_run_open(1, STIFF);
    int64_t longest = 0, first = 0, last = 0;
    for (int k = 0; k < 12; k++) {
        pl_run_frames(soft, 1), pl_run_frames(stiff, 1);
        ck_assert_int_eq(soft->metrics.newton_iterations, 0);
        longest = soft->metrics.iterations > longest ? soft->metrics.iterations : longest;
        ck_assert_int_eq(stiff->metrics.unconverged, 0);
        ck_assert_int_gt(stiff->metrics.newton_iterations, 0);
        last = stiff->metrics.iterations - stiff->metrics.newton_iterations;
        first = k == 0 ? last : first;
    }
    ck_assert_int_gt(longest, 40);
    ck_assert_int_gt(first, 30);
    ck_assert_int_lt(last, first / 3);
    pl_run_close(soft), pl_run_close(stiff);
}
END_TEST

/* A saved state includes auto's estimate of Newton's iterations, and its patience. */
START_TEST(it_goes_on_with_the_same_bits)
{
    const bool drop = _i == 0;
    pl_run *r = drop ? pl_run_openf(1, DROP, "") : pl_run_open(1, STIFF);
    pl_run *other = drop ? pl_run_openf(1, DROP, "") : pl_run_open(1, STIFF);
    pl_run_frames(r, drop ? 40 : 6);
    pl_run_go_on(r, other, drop ? 20 : 6);
    pl_run_close(r), pl_run_close(other);
}
END_TEST

/* auto selects ADMM or its own descent by the scene. */
START_TEST(it_is_what_the_scene_needs)
{
    static const struct {
        const char *solver, *material, *initial, *integrator;
        pl_method_kind method;
    } cases[] = {
        {"", "", "'rest'", "backward_euler", PL_METHOD_AUTO},
        {"'method': 'auto'", "", "{'twisted': {'turns': 0.2}}", "backward_euler", PL_METHOD_AUTO},
        {"'obstacles': 'energy'", "", "'rest'", "backward_euler", PL_METHOD_AUTO},
        {"'obstacles': 'hard'", "", "'rest'", "backward_euler", PL_METHOD_ADMM},
        {"", ", 'strain_limit': {'high': 1.2}", "'rest'", "backward_euler", PL_METHOD_ADMM},
        {"", "", "'collapsed'", "backward_euler", PL_METHOD_ADMM},
        {"", "", "{'random': {'seed': 1}}", "backward_euler", PL_METHOD_ADMM},
        {"'method': 'newton'", "", "'rest'", "backward_euler", PL_METHOD_NEWTON},
        {"", "", "'rest'", "tr_bdf2", PL_METHOD_ADMM},
        {"'obstacles': 'energy'", "", "'rest'", "tr_bdf2", PL_METHOD_AUTO},
        {"", ", 'model': 'arap'", "'collapsed'", "backward_euler", PL_METHOD_ADMM},
        {"", ", 'invertible': true", "'collapsed'", "backward_euler", PL_METHOD_ADMM},
        {"", ", 'model': 'arap'", "{'stretched': [1, -1, 1]}", "backward_euler", PL_METHOD_AUTO},
        {"", ", 'invertible': true", "{'stretched': [1, -1, 1]}", "backward_euler", PL_METHOD_AUTO},
        {"", ", 'model': 'fung', 'invertible': true", "{'stretched': [1, -1, 1]}", "backward_euler",
         PL_METHOD_ADMM},
        {"", "", "{'stretched': [1, -1, 1]}", "backward_euler", PL_METHOD_ADMM},
        {"", "", "{'stretched': [1, -1, -1]}", "backward_euler", PL_METHOD_AUTO},
    };
    pl_run *r = pl_run_openf(1,
                             "{'pliant': 1, 'time': {'integrator': '%s'}, 'solver': {%s}, "
                             "'materials': {'m': {'young': 1e5%s}},"
                             " 'bodies': [{'mesh': {'box': {'cells': [2, 2, 2]}},"
                             "   'initial': {'shape': %s}}],"
                             " 'obstacles': [{'plane': {'offset': -2}}]}",
                             cases[_i].integrator, cases[_i].solver, cases[_i].material,
                             cases[_i].initial);
    ck_assert_int_eq(r->scene.solver.method, cases[_i].method);
    ck_assert_int_eq(r->scene.solver.automatic, _i != 7);
    pl_run_frames(r, 1);
    pl_run_close(r);
}
END_TEST

/* Hard limits under integrators without damping are rejected, by name; under the others they run. */
START_TEST(limits_need_an_integrator_that_loses)
{
    static const char *const MATERIALS[] = {"'strain_limit': {}", "'inextensible': 'rope'"};
    const bool rope = _i >= INTEGRATOR_COUNT;
    const int i = _i % INTEGRATOR_COUNT;
    char text[512];
    snprintf(text, sizeof text,
             "{'pliant': 1, 'time': {'integrator': '%s'}, 'materials': {'m': {'young': 1e5, %s}},"
             " 'bodies': [{'mesh': {%s}}]}",
             INTEGRATORS[i], MATERIALS[rope], rope ? "'rope': {}" : "'cloth': {}");
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    pl_scene scene;
    pl_faults faults = {0};
    pl_mesh mesh;
    pl_estimate estimate;
    ck_assert_int_eq(pl_scene_decode(text, strlen(text), &scene, &faults), PL_DECODE_OK);
    pl_mesh_limits limits = {1 << 24, 1 << 26};
    ck_assert_int_eq(pl_body_load(&scene, 0, NULL, &limits, &mesh, &faults), PL_OK);
    bool refused = strcmp(INTEGRATORS[i], "trapezoidal") == 0 ||
                   strcmp(INTEGRATORS[i], "implicit_midpoint") == 0;
    pl_status status = pl_scene_check(&scene, &mesh, &estimate, NULL, &faults);
    ck_assert_msg(status == (refused ? PL_INVALID : PL_OK), "%s, %s: %d", INTEGRATORS[i],
                  MATERIALS[rope], status);
    if (refused)
        ck_assert_str_eq(faults.items[0].pointer, "/time/integrator");
    pl_faults_clear(&faults);
    pl_mesh_clear(&mesh);
    pl_scene_clear(&scene);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("auto");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, a_floor_carries_what_stands_on_it, 0, 4 * STIFFNESSES);
    tcase_add_loop_test(c, friction_stops_where_coulomb_says, 0, 2 * INTEGRATOR_COUNT);
    tcase_add_test(c, newton_takes_over);
    tcase_add_loop_test(c, grips_take_few_iterations, 0, 2);
    tcase_add_test(c, it_hands_over_by_rate);
    tcase_add_loop_test(c, it_goes_on_with_the_same_bits, 0, 2);
    tcase_add_loop_test(c, it_is_what_the_scene_needs, 0, 16);
    tcase_add_loop_test(c, limits_need_an_integrator_that_loses, 0, 2 * INTEGRATOR_COUNT);
    return run_cases("auto", c);
}
