/* The bits of a few runs: any change of the arithmetic, intended or not, shows here.
 *
 *     golden_test --print     the rows of this machine, for golden_hashes.h; `make golden` writes
 *                             the whole table (README.md says when that is right)
 *
 * The numbers are the same on every x86-64 instruction set, so a row is for an OpenBLAS core type, which the supernodal
 * factor depends on, and every instruction set is compared with it. */
#include "tests/physics/golden_hashes.h"
#include "tests/support/scene_run.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct golden_scene {
    const char *name;
    int64_t frames;
    const char *json;
} golden_scene;

static const golden_scene SCENES[] = {
    {"twist", 10,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 10},"
     " 'solver': {'method': 'admm', 'iterations': 15, 'tolerance': 0},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}}}],"
     " 'pins': [{'body': 'body-0', 'select': {'side': '-x'}},"
     "          {'body': 'body-0', 'select': {'side': '+x'},"
     "           'motion': {'axis': [1, 0, 0], 'degrees_per_second': 180}}]}"},
    {"contact", 20,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 20},"
     " 'solver': {'method': 'admm', 'iterations': 20, 'tolerance': 1e-4, 'acceleration': 'none'},"
     " 'bodies': [{'mesh': {'sphere': {'cells': 5}}, 'transform': {'translate': [0, 0.7, 0]},"
     "             'initial': {'velocity': [2, -3, 0]}}],"
     " 'obstacles': [{'plane': {}, 'friction': 0.3},"
     "               {'sphere': {'center': [1, 0, 0], 'radius': 0.3},"
     "                'motion': {'velocity': [-0.5, 0, 0]}}]}"},
    {"materials", 10,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 10},"
     " 'solver': {'method': 'admm', 'iterations': 15, 'tolerance': 0},"
     " 'materials': {'a': {'model': 'corotated'}, 'b': {'model': 'arap'}},"
     " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}}, 'material': 'a',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}},"
     "            {'mesh': {'box': {'cells': [4, 4, 4]}}, 'material': 'b',"
     "             'initial': {'shape': {'random': {'seed': 7}}}}]}"},
    {"collapsed", 10,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 10},"
     " 'solver': {'method': 'admm', 'iterations': 20, 'tolerance': 0},"
     " 'bodies': [{'mesh': {'box': {'cells': [4, 4, 4]}},"
     "             'initial': {'shape': 'collapsed'}}]}"},
    {"descent", 10,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 10},"
     " 'solver': {'method': 'quasi_newton', 'iterations': 10, 'tolerance': 0},"
     " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'corotated'}},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}}, 'material': 'a',"
     "             'initial': {'angular_velocity': [3, 1, 2]}},"
     "            {'mesh': {'sphere': {'cells': 5}}, 'material': 'b',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}}]}"},
    {"newton", 5,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 5},"
     " 'solver': {'method': 'newton', 'iterations': 4, 'tolerance': 0},"
     " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'arap'}},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}}, 'material': 'a',"
     "             'initial': {'angular_velocity': [3, 1, 2]}},"
     "            {'mesh': {'sphere': {'cells': 4}}, 'material': 'b',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}}]}"},
    {"jacobi", 6,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 6},"
     " 'solver': {'method': 'chebyshev_descent', 'iterations': 48, 'tolerance': 0,"
     "            'initial_guess': 'acceleration', 'phases': 2},"
     " 'materials': {'a': {'model': 'neo_hookean'}, 'b': {'model': 'corotated'}},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}}, 'material': 'a',"
     "             'initial': {'angular_velocity': [3, 1, 2]}},"
     "            {'mesh': {'sphere': {'cells': 5}}, 'material': 'b',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}}]}"},
    {"conjugate", 4,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 4},"
     " 'solver': {'method': 'nonlinear_cg', 'iterations': 12, 'tolerance': 0,"
     "            'jacobi_refresh': 5, 'initial_guess': 'step'},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}},"
     "             'initial': {'shape': {'stretched': [1.2, 0.9, 1.1]}}}],"
     " 'pins': [{'select': {'side': '-x'}}]}"},
    {"projective", 8,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 8},"
     " 'solver': {'method': 'projective_dynamics', 'iterations': 12, 'tolerance': 0},"
     " 'materials': {'a': {'model': 'arap'}, 'b': {'model': 'arap', 'bending': {}}},"
     " 'bodies': [{'mesh': {'box': {'size': [4, 1, 1], 'cells': [12, 3, 3]}}, 'material': 'a',"
     "             'initial': {'angular_velocity': [3, 1, 2]}},"
     "            {'mesh': {'cloth': {'size': [1, 1], 'cells': [6, 6]}}, 'material': 'b',"
     "             'initial': {'shape': {'stretched': [1.5, 0.8, 1]}}}]}"},
    {"laws", 5,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 5},"
     " 'solver': {'method': 'admm', 'iterations': 12, 'tolerance': 0},"
     " 'materials': {'a': {'model': 'stvk'}, 'b': {'model': 'mooney_rivlin'},"
     "   'c': {'model': 'fung', 'invertible': true}, 'd': {'model': 'polynomial'},"
     "   'e': {'model': 'spline', 'splines': 'B'}, 'f': {'model': 'stable_neo_hookean'}},"
     " 'bodies': [{'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'a',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}},"
     "            {'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'b',"
     "             'initial': {'shape': {'stretched': [0.6, 1.2, 1.1]}}},"
     "            {'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'c',"
     "             'initial': {'shape': {'random': {'seed': 7}}}},"
     "            {'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'd',"
     "             'initial': {'shape': {'twisted': {'turns': 0.3, 'axis': [0, 1, 0]}}}},"
     "            {'mesh': {'box': {'cells': [3, 3, 3]}}, 'material': 'e',"
     "             'initial': {'shape': {'stretched': [1.5, 1, 0.8]}}},"
     "            {'mesh': {'cloth': {'size': [1, 1], 'cells': [5, 5]}}, 'material': 'f',"
     "             'initial': {'shape': {'stretched': [1.3, 0.8, 1]}}}]}"},
    {"supernodal", 1,
     "{'pliant': 1, 'time': {'step': 0.02, 'steps': 1},"
     " 'solver': {'method': 'admm', 'iterations': 4, 'tolerance': 0},"
     " 'bodies': [{'mesh': {'box': {'cells': [22, 22, 22]}},"
     "             'initial': {'angular_velocity': [1, 2, 3]}}]}"},
};
enum { SCENE_COUNT = sizeof SCENES / sizeof *SCENES };

static uint64_t run_hash(const golden_scene *scene)
{
    pl_run *r = pl_run_open(1, scene->json);
    pl_run_frames(r, scene->frames);
    uint64_t hash = pl_run_hash(r);
    pl_run_close(r);
    return hash;
}

/* "x86-64 SkylakeX": architecture and core type of the numerics class. */
static const char *row_class(void)
{
    static char text[128];
    const char *isa = pl_engine_isa(), *core = strrchr(pl_engine_class(), ' ');
    int architecture = strncmp(isa, "x86-64", 6) == 0 ? 6 : (int)strlen(isa);
    snprintf(text, sizeof text, "%.*s%s", architecture, isa, core);
    return text;
}

static const golden_hash *find_row(const char *scene)
{
    for (size_t i = 0; i < sizeof GOLDEN / sizeof *GOLDEN; i++)
        if (strcmp(GOLDEN[i].machine, row_class()) == 0 && strcmp(GOLDEN[i].scene, scene) == 0)
            return &GOLDEN[i];
    return NULL;
}

/* Whether the table has anything of this kind of machine. */
static bool known(void)
{
    for (size_t i = 0; i < sizeof GOLDEN / sizeof *GOLDEN; i++)
        if (strcmp(GOLDEN[i].machine, row_class()) == 0)
            return true;
    return false;
}

#ifdef __x86_64__
static const char *const ISAS[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
#else
static const char *const ISAS[] = {"base"};
#endif

START_TEST(bits_are_as_they_were)
{
    const golden_scene *scene = &SCENES[_i % SCENE_COUNT];
    setenv("PLIANT_ISA", ISAS[_i / SCENE_COUNT], 1);
    if (strcmp(pl_engine_isa(), ISAS[_i / SCENE_COUNT]) != 0)
        skip_test("golden %s: not with %s on this processor", scene->name, ISAS[_i / SCENE_COUNT]);
    const golden_hash *row = find_row(scene->name);
    if (!row && !known())
        skip_test("golden %s: no row of %s; `make golden` adds it (tests/physics/README.md)",
                  scene->name, row_class());
    ck_assert_msg(row, "%s has no row: make golden", scene->name);
    uint64_t hash = run_hash(scene);
    ck_assert_msg(hash == row->hash, "%s on %s: the bits changed, %016llx", scene->name,
                  pl_engine_class(), (unsigned long long)hash);
}
END_TEST

static int print_rows(void)
{
    for (int i = 0; i < SCENE_COUNT; i++)
        printf("    {\"%s\", \"%s\", 0x%016llX},\n", row_class(), SCENES[i].name,
               (unsigned long long)run_hash(&SCENES[i]));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--print") == 0)
        return print_rows();
    Suite *suite = suite_create("golden");
    TCase *t = tcase_create("golden");
    int isas = sizeof ISAS / sizeof *ISAS;
    tcase_add_loop_test(t, bits_are_as_they_were, 0, SCENE_COUNT * isas);
    suite_add_tcase(suite, t);
    return run_suite(suite);
}
