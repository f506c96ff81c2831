/* workloads - small fixed pieces of work whose instructions tests/bench/instructions counts under callgrind.
 *
 *     workloads [NAME...]      all of them, in the order of the table
 *
 * Only what `workload_measured` calls is counted, and each of its calls is one workload; preparations are not. Every
 * iteration is made (tolerance 0), on one thread, so a count changes with the code alone. */
#include "tests/bench/bench.h"
#include "tests/support/scene_run.h"
#include "tests/support/session_writer.h"

#include "protocol/scene/scene_json.h"
#include "server/worker/mesh_warnings.h"
#include "server/worker/overlap_warnings.h"
#include "server/worker/start_warnings.h"
#include "server/worker/step_warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a workload does, called once. Its name is the one by which callgrind finds it. */
void workload_measured(void (*work)(void *), void *context);
__attribute__((noinline)) void workload_measured(void (*work)(void *), void *context)
{
    work(context);
    __asm__ volatile("" ::: "memory"); /* no tail call: the count would end before the work */
}

/* ---- a frame by each method ---- */

/* Case A (case_a.h) at a ninth of its tetrahedra: 240 vertices, 756 tetrahedra. */
#define CASE_A(solver)                                                                             \
    "{'pliant': 1, 'time': {'step': 0.04, 'steps': 1}, 'gravity': [0, 0, 0],"                      \
    " 'solver': {" solver ", 'tolerance': 0},"                                                     \
    " 'materials': {'m': {'young': 1e7, 'poisson': 0.399, 'density': 1522}},"                      \
    " 'bodies': [{'mesh': {'box': {'size': [7, 1, 1], 'cells': [14, 3, 3]}},"                      \
    "   'initial': {'shape': {'twisted': {'turns': 1, 'axis': [1, 0, 0]}}}}]}"

/* A cube that lands on a rotated one (touching_bench), 3 cells a side. */
#define LANDING(solver)                                                                            \
    "{'pliant': 1, 'time': {'step': 0.01, 'steps': 6},"                                            \
    " 'solver': {" solver ", 'tolerance': 0}, 'contact': {'enabled': true},"                       \
    " 'materials': {'m': {'model': 'arap', 'young': 1e6, 'poisson': 0.3}},"                        \
    " 'bodies': [{'name': 'held', 'mesh': {'box': {'size': [0.4, 0.4, 0.4],"                       \
    "    'cells': [3, 3, 3]}}},"                                                                   \
    "  {'mesh': {'box': {'size': [0.4, 0.4, 0.4], 'cells': [3, 3, 3]}}, 'transform': {"            \
    "    'rotate': {'axis': [0, 1, 0], 'degrees': 30}, 'translate': [0.05, 0.42, 0.03]},"          \
    "    'initial': {'velocity': [0, -2, 0]}}],"                                                   \
    " 'pins': [{'body': 'held', 'select': {'side': '-y'}}]}"

static void frame(void *run)
{
    pl_run_frames(run, 1);
}

/* The frame after `before` others. */
static void measure_frame(const char *scene, int64_t before)
{
    pl_run *r = pl_run_open(1, scene);
    pl_run_frames(r, before);
    workload_measured(frame, r);
    pl_run_close(r);
}

static void admm(void)
{
    measure_frame(CASE_A("'method': 'admm', 'iterations': 20"), 0);
}

static void quasi_newton(void)
{
    measure_frame(CASE_A("'method': 'quasi_newton', 'iterations': 20"), 0);
}

static void newton(void)
{
    measure_frame(CASE_A("'method': 'newton', 'iterations': 3"), 0);
}

static void chebyshev_descent(void)
{
    measure_frame(CASE_A("'method': 'chebyshev_descent', 'iterations': 20"), 0);
}

static void vertex_block_descent(void)
{
    measure_frame(CASE_A("'method': 'vertex_block_descent', 'iterations': 20"), 0);
}

static void contact_admm(void)
{
    measure_frame(LANDING("'method': 'admm', 'iterations': 10"), 4);
}

static void contact_quasi_newton(void)
{
    measure_frame(LANDING("'method': 'quasi_newton', 'iterations': 10"), 4);
}

/* ---- reading ---- */

typedef struct text {
    char *bytes;
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void append(FILE *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(to, format, arguments);
    va_end(arguments);
}

/* A scene whose mesh of 343 vertices and 1296 tetrahedra is written in it. */
static text inline_scene(void)
{
    text t = {0};
    pl_mesh mesh = {0};
    FILE *to = open_memstream(&t.bytes, &t.length);
    pl_status status = pl_mesh_box((double[]){1, 1, 1}, (int32_t[]){6, 6, 6}, &mesh);
    ck_assert(to && status == PL_OK);
    append(to, "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"bodies\": [{\"mesh\":"
               " {\"vertices\": [");
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        append(to, "%s[%.17g, %.17g, %.17g]", v ? ", " : "", mesh.vertices[3 * v],
               mesh.vertices[3 * v + 1], mesh.vertices[3 * v + 2]);
    append(to, "], \"tets\": [");
    for (int64_t t4 = 0; t4 < mesh.tet_count; t4++)
        append(to, "%s[%d, %d, %d, %d]", t4 ? ", " : "", mesh.tets[4 * t4], mesh.tets[4 * t4 + 1],
               mesh.tets[4 * t4 + 2], mesh.tets[4 * t4 + 3]);
    append(to, "]}}]}");
    fclose(to);
    pl_mesh_clear(&mesh);
    return t;
}

static void decode(void *context)
{
    const text *t = context;
    pl_scene scene;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_scene_decode(t->bytes, t->length, &scene, &faults), PL_DECODE_OK);
    pl_scene_clear(&scene);
}

static void scene_parse(void)
{
    text t = inline_scene();
    workload_measured(decode, &t);
    free(t.bytes);
}

/* What pliant-preflight does for a scene before it writes its report. */
static void check(void *fixture)
{
    const session_fixture *f = fixture;
    pl_session_scene s = {0};
    pl_faults faults = {0};
    pl_estimate estimate;
    pl_warnings warnings = {0};
    int64_t pins[2];
    ck_assert_int_eq(pl_session_scene_read(f->directory, &s, &faults), PL_OK);
    ck_assert_int_eq(pl_session_scene_load(f->directory, &s, &faults), PL_OK);
    ck_assert_int_eq(pl_scene_check(&s.scene, s.meshes, &estimate, pins, &faults), PL_OK);
    ck_assert_int_eq(pl_start_warnings(&s.scene, s.meshes, &warnings), PL_OK);
    ck_assert_int_eq(pl_mesh_warnings(&s.scene, s.meshes, &warnings), PL_OK);
    ck_assert_int_eq(pl_step_warnings(&s.scene, s.meshes, &warnings), PL_OK);
    ck_assert_int_eq(pl_overlap_warnings(&s.scene, s.meshes, &warnings), PL_OK);
    pl_warnings_clear(&warnings);
    pl_session_scene_clear(&s);
}

/* Two bars above each other. */
static const char two_bars[] =
    "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"contact\": {\"enabled\": true},"
    " \"bodies\": [{\"mesh\": {\"box\": {\"size\": [4, 1, 1], \"cells\": [16, 4, 4]}}},"
    "  {\"mesh\": {\"box\": {\"size\": [4, 1, 1], \"cells\": [16, 4, 4]}},"
    "   \"transform\": {\"translate\": [0, 1.1, 0]}}],"
    " \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": -0.6}}]}";

static void preflight(void)
{
    session_fixture f;
    session_fixture_create(&f, NULL, two_bars);
    workload_measured(check, &f);
    session_fixture_destroy(&f);
}

/* ---- writing ---- */

enum { FRAMES_WRITTEN = 40 };

typedef struct writing {
    session_writer w;
    pl_metrics metrics;
} writing;

static void write_frames(void *context)
{
    writing *to = context;
    int64_t written, bad;
    for (int64_t k = 0; k < FRAMES_WRITTEN; k++) {
        ck_assert_int_eq(pl_frame_writer_begin(&to->w.frames, k, to->w.state, &to->metrics), PL_OK);
        ck_assert_int_eq(pl_frame_writer_append(&to->w.frames, true, &written, &bad), PL_OK);
    }
}

static void frame_write(void)
{
    session_fixture f;
    writing to;
    session_fixture_create(&f, NULL, two_bars);
    session_writer_open(&f, &to.w);
    pl_state_measure(to.w.model, to.w.state, &to.metrics);
    workload_measured(write_frames, &to);
    session_writer_close(&to.w);
    pl_log_writer_close(to.w.log);
    session_fixture_destroy(&f);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    void (*run)(void);
} WORKLOADS[] = {{"admm", admm},
                 {"quasi_newton", quasi_newton},
                 {"newton", newton},
                 {"chebyshev_descent", chebyshev_descent},
                 {"vertex_block_descent", vertex_block_descent},
                 {"contact_admm", contact_admm},
                 {"contact_quasi_newton", contact_quasi_newton},
                 {"preflight", preflight},
                 {"scene_parse", scene_parse},
                 {"frame_write", frame_write}};
enum { COUNT = sizeof WORKLOADS / sizeof *WORKLOADS };

static char **wanted; /* NULL-terminated; empty: all */

static bool is_wanted(const char *name)
{
    for (char **w = wanted; *w; w++)
        if (strcmp(*w, name) == 0)
            return true;
    return !*wanted;
}

static void run_all(void)
{
    for (int k = 0; k < COUNT; k++)
        if (is_wanted(WORKLOADS[k].name)) {
            WORKLOADS[k].run();
            puts(WORKLOADS[k].name);
        }
}

int main(int argc, char **argv)
{
    wanted = argv + 1;
    int status = bench_run("workloads", run_all);
    printf("kernels on %s, numerics class %s\n", pl_engine_isa(), pl_engine_class());
    return status;
}
