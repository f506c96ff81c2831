/* Projective dynamics: its iterates, compared with methods that reach them in other ways. */
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>

/* Everything that it supports: ARAP with fibres, membranes, springs that bend, attachments of a body to another and to
 * a place, and pins. Everything moves. */
static const char EVERYTHING[] =
    "{'pliant': 1, 'time': {'step': 0.03, 'steps': 2}, 'output': {'metrics': 'iteration'},"
    " 'solver': {%s, 'iterations': %d, 'tolerance': 0}, 'contact': {'enabled': false},"
    " 'materials': {'solid': {'model': 'arap', 'young': 1e5, 'poisson': 0.3,"
    "     'fibers': {'stiffness': 2e5, 'direction': [1, 1, 0]}},"
    "   'cloth': {'model': 'arap', 'young': 1e5, 'poisson': 0.2, 'thickness': 0.01, 'bending': {}},"
    "   'rope': {'young': 1e6, 'area': 1e-3, 'bending': {}}},"
    " 'bodies': [{'name': 'box', 'mesh': {'box': {'cells': [6, 3, 3], 'size': [2, 1, 1]}},"
    "     'material': 'solid', 'initial': {'shape': {'twisted': {'turns': 0.3,"
    "     'axis': [1, 0, 0]}}}},"
    "   {'name': 'sheet', 'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}}, 'material': "
    "'cloth',"
    "     'transform': {'translate': [0, 1, 0]},"
    "     'initial': {'shape': {'stretched': [1.4, 0.8, 1]}, 'angular_velocity': [1, 2, 3]}},"
    "   {'name': 'rope', 'mesh': {'rope': {'segments': 8}}, 'material': 'rope', 'transform': "
    "{'translate': [1, 1, "
    "0]},"
    "     'initial': {'velocity': [0, 0, 5]}}],"
    " 'pins': [{'body': 'box', 'select': {'side': '-x'}}],"
    " 'attachments': [{'body': 'rope', 'select': {'indices': [0]}, 'to': 'box', 'stiffness': 300},"
    "   {'body': 'sheet', 'select': {'indices': [3]}, 'point': [0, 2, 1], 'stiffness': 200}]}";

/* All projections are single points as seen from this path: a tetrahedron and a triangle with only the corner on the x
 * axis free, and a straight rope from there along x, all pulled along x. So rotations stay the identity, and directions
 * stay on the axis. */
static const char AFFINE[] =
    "{'pliant': 1, 'time': {'step': 0.03, 'steps': 2}, 'gravity': [9, 0, 0],"
    " 'solver': {%s, 'iterations': %d, 'tolerance': 0}, 'contact': {'enabled': false},"
    " 'materials': {'solid': {'model': 'arap', 'young': 1e5, 'poisson': 0.3, 'thickness': 0.01},"
    "   'rope': {'young': 1e6, 'area': 1e-3, 'bending': {}}},"
    " 'bodies': [{'name': 'solid', 'material': 'solid',"
    "     'mesh': {'vertices': [0,0,0, 1,0,0, 0,1,0, 0,0,1, 0,2,0, 1,2,0, 0,3,0],"
    "              'tets': [0,1,2,3], 'triangles': [4,5,6]},"
    "     'initial': {'shape': {'stretched': [1.3, 1, 1]}}},"
    "   {'name': 'rope', 'mesh': {'rope': {'segments': 8}}, 'material': 'rope',"
    "     'transform': {'translate': [1, 0, 0]}, 'initial': {'shape': {'stretched': [0.7, 1, "
    "1]}}}],"
    " 'pins': [{'body': 'solid', 'select': {'indices': [0, 2, 3, 4, 6]}}],"
    " 'attachments': [{'body': 'rope', 'select': {'indices': [0]}, 'to': 'solid',"
    "                  'stiffness': 300},"
    "   {'body': 'rope', 'select': {'indices': [8]}, 'point': [4, 0, 0], 'stiffness': 200}]}";

#define PROJECTIVE   "'method': 'projective_dynamics'"
#define PLAIN_ADMM   "'method': 'admm', 'acceleration': 'none', 'relaxation': 1, 'weight_scale': 2"
#define MATRIX_ALONE "'method': 'quasi_newton', 'window': 0"

/* The largest difference of a coordinate after two steps of k iterations. */
static double difference(const char *scene, const char *a, const char *b, int k)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    pl_run *p = pl_run_openf(2, scene, a, k), *q = pl_run_openf(2, scene, b, k);
#pragma GCC diagnostic pop
    pl_run_frames(p, 2);
    pl_run_frames(q, 2);
    double most = 0;
    for (int64_t i = 0; i < 3 * pl_run_vertices(p); i++)
        most = fmax(most, fabs(pl_run_x(p)[i] - pl_run_x(q)[i]));
    pl_run_close(p);
    pl_run_close(q);
    return most;
}

/* Narain 2016, appendix A: on affine sets plain ADMM with the energies' own weights makes the same
 * iterates. On others it does not. */
START_TEST(admm_on_affine_sets_makes_the_same_iterates)
{
    static const int counts[] = {1, 2, 3, 7, 20};
    int k = counts[_i];
    ck_assert_double_le(difference(AFFINE, PROJECTIVE, PLAIN_ADMM, k), 1e-12);
    if (k > 1) /* the first local step sees u = 0 anyhow, and is the same */
        ck_assert_double_gt(difference(EVERYTHING, PROJECTIVE, PLAIN_ADMM, k), 1e-6);
}
END_TEST

/* Liu 2017, section 4.1: it is quasi-Newton with the constant matrix, no history and steps of 1, of
 * gradients in place of projections. */
START_TEST(descent_on_its_matrix_makes_the_same_iterates)
{
    static const int counts[] = {1, 2, 5, 15};
    ck_assert_double_le(difference(EVERYTHING, PROJECTIVE, MATRIX_ALONE, counts[_i]), 1e-11);
    ck_assert_double_le(difference(AFFINE, PROJECTIVE, MATRIX_ALONE, counts[_i]), 1e-11);
}
END_TEST

/* The objective never increases, and the decrement of an iteration is at most twice the decrease of the objective: e(x)
 * - e(x + d) >= |d|_A^2 / 2, because p is projected once for both. */
START_TEST(every_iteration_goes_down)
{
    pl_run *r = pl_run_openf(2, EVERYTHING, PROJECTIVE, 100);
    pl_run_frames(r, 1);
    const pl_metrics *m = &r->metrics;
    ck_assert_int_eq(m->detail_count, 101);
    ck_assert_double_eq(m->detail[100].objective, m->objective);
    for (int64_t k = 1; k <= 100; k++) {
        double fell = m->detail[k - 1].objective - m->detail[k].objective;
        double d = m->detail[k].decrement;
        ck_assert_double_ge(fell, d * d / 2 - 1e-12 * fabs(m->objective));
    }
    pl_run_close(r);
}
END_TEST

/* Its weights are the energies': a scene's settings of weights change no bit. */
START_TEST(weights_are_the_energies_own)
{
    ck_assert_double_eq(difference(EVERYTHING, PROJECTIVE, PROJECTIVE ", 'weight_scale': 7", 5), 0);
    ck_assert_double_eq(difference(EVERYTHING, PROJECTIVE, PROJECTIVE ", 'stiffness': 'fit'", 5),
                        0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("projective dynamics");
    TCase *t = tcase_create("projective dynamics");
    tcase_add_loop_test(t, admm_on_affine_sets_makes_the_same_iterates, 0, 5);
    tcase_add_loop_test(t, descent_on_its_matrix_makes_the_same_iterates, 0, 4);
    tcase_add_test(t, every_iteration_goes_down);
    tcase_add_test(t, weights_are_the_energies_own);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
