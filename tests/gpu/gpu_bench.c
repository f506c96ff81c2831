/* Times steps of the methods on this machine's GPU, what of its memory they take and how near they come to
 * what moving their bytes takes. Exit status 77 where there is no device, 1 where a step failed. */
#include "tests/gpu/gpu_scene.h"

#include "engine/clock.h"
#include "tests/gpu/predicted.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct size {
    const char *name;
    pl_mesh_source mesh;
    double young;
    bool in_quick, large; /* large: chebyshev_descent alone in a quick run */
} size;

typedef struct method {
    const char *name;
    pl_method_kind method;
    pl_material_kind model;
    int32_t iterations;
} method;

/* What runs have in common. */
typedef struct bench {
    gpu_options options;
    const char *card;    /* its name */
    double bandwidth[2]; /* B/s by precision: double, single */
    bool good;
} bench;

/* Where kernels are run on the host. */
static bool is_small(const bench *b)
{
    return b->options.emulated || gpu_is_standin();
}

/* Bytes that an iteration of chebyshev_descent reads and writes at least once: of a tetrahedron its shape,
 * volume, constants, corners and contributions, written and read; of a vertex its lists, mass, place,
 * prediction, diagonal and last step. The local step of methods with the matrix has the tetrahedron's share
 * and, of ADMM, four split variables read and two written; their global steps are not counted, so that
 * their share of the bandwidth is a lower bound. */
static double bytes_of(const pl_model *m, pl_method_kind kind, double number)
{
    double tet = (9 + 1 + 2 + 16 + 16) * number + 4 * 4 + 4 * 4;
    double vertex = (1 + 3 + 3 + 3 + 3 + 3 + 3) * number + 4 + 4 + 1;
    if (kind == PL_METHOD_ADMM)
        tet += 6 * 9 * number;
    else if (kind != PL_METHOD_CHEBYSHEV_DESCENT && kind != PL_METHOD_PROJECTIVE_DYNAMICS)
        return 0;
    return tet * (double)m->tets + vertex * (double)m->vertices;
}

/* What tests/gpu/predict says that an iteration takes, us; NaN: it does not know this card or body. */
static double predicted(const bench *b, const char *body, where on)
{
    for (size_t k = 0; k < sizeof PREDICTED / sizeof *PREDICTED; k++)
        if (strstr(b->card, PREDICTED[k].card) && strcmp(PREDICTED[k].body, body) == 0 &&
            PREDICTED[k].single == (on == ON_GPU_SINGLE))
            return PREDICTED[k].us;
    return NAN;
}

static void report_row(const bench *b, const gpu_run *r, where on, const size *s, const method *m,
                       double ms, double memory)
{
    double number = on == ON_GPU_SINGLE ? 4 : 8;
    double on_paper = m->method == PL_METHOD_CHEBYSHEV_DESCENT ? predicted(b, s->name, on) : NAN;
    double bytes = m->iterations * bytes_of(r->model, m->method, number);
    printf("%9.3f %9.1f ", ms, 1e3 * ms / m->iterations);
    if (isnan(on_paper))
        printf("%9s ", "-");
    else
        printf("%9.1f ", on_paper);
    if (b->options.emulated) /* whose memory is used again */
        printf("%9s", "-");
    else
        printf("%9.0f", memory / (double)r->model->tets);
    if (bytes > 0 && b->bandwidth[on == ON_GPU_SINGLE] > 0)
        printf(" %7.0f %6.1f%%\n", bytes / ms / 1e6,
               100 * 1e3 * bytes / ms / b->bandwidth[on == ON_GPU_SINGLE]);
    else
        printf(" %7s %7s\n", "-", "-");
}

/* The best frame's time of a step, ms; below 0 where one failed. */
static double time_frames(gpu_run *r, int frames, int64_t steps)
{
    double best = -1;
    for (int k = 0; k < frames; k++) { /* the first warms up */
        double start = pl_clock_ms();
        if (!gpu_run_frame(r))
            return -1;
        double ms = (pl_clock_ms() - start) / (double)steps;
        best = k <= 1 || ms < best ? ms : best;
    }
    return best;
}

/* After a fault nothing comes from the device any more. */
_Noreturn static void give_up(void)
{
    printf("the device has failed: %s; the rest is left out\n", gpu_fault());
    gpu_finish();
    exit(EXIT_FAILURE);
}

/* ---- on the stand-in: no times, but what an iteration asks of the runtime ---- */

static void report_counts(const standin_counts *a, const standin_counts *z, double iterations)
{
    const double per[] = {
        (double)(z->launches - a->launches),
        (double)(z->recorded_launches - a->recorded_launches),
        (double)(z->graphs - a->graphs),
        (double)(z->waits - a->waits),
        (double)(z->copies_up - a->copies_up),
        (double)(z->copies_down - a->copies_down),
        (double)(z->pageable - a->pageable),
        (double)(z->copies_within - a->copies_within + z->clearings - a->clearings),
        (double)(z->bytes_up - a->bytes_up),
        (double)(z->bytes_down - a->bytes_down),
    };
    for (size_t k = 0; k < sizeof per / sizeof *per; k++)
        printf(k < 8 ? " %8.2f" : " %9.0f", per[k] / iterations);
    putchar('\n');
}

/* The first frame makes what later ones use again. */
static void count_one(bench *b, gpu_run *r, const method *m, int64_t steps)
{
    enum { COUNTED = 2 };
    bool good = gpu_run_frame(r);
    standin_counts before = gpu_counts();
    for (int k = 0; good && k < COUNTED; k++)
        good = gpu_run_frame(r);
    standin_counts after = gpu_counts();
    if (good)
        report_counts(&before, &after, (double)(COUNTED * steps * m->iterations));
    b->good = b->good && good;
}

static void time_one(bench *b, where on, const size *s, const method *m)
{
    gpu_body body = {
        .model = m->model, .mesh = s->mesh, .young = s->young, .poisson = 0.4, .pinned = true};
    pl_solver_settings solver = gpu_solver(m->method, m->iterations);
    int64_t steps = is_small(b) ? 1 : b->options.quick ? 3 : 10;
    int frames = is_small(b) ? 1 : b->options.quick ? 2 : 4;
    int64_t before = gpu_unused();
    gpu_run *r = gpu_run_open(on, &body, &solver, 1.0 / 30, steps);
    double memory = (double)(before - gpu_unused());
    if (!r && !gpu_fault()) { /* an answer: of a card that is smaller */
        printf("%-13s %18s  %-25s %-6s not enough memory\n", s->name, "", m->name,
               on == ON_GPU_SINGLE ? "single" : "double");
        return;
    }
    if (!r)
        give_up();
    printf("%-13s %8lld %9lld  %-25s %-6s ", s->name, (long long)r->model->vertices,
           (long long)r->model->tets, m->name, on == ON_GPU_SINGLE ? "single" : "double");
    fflush(stdout);
    double best = gpu_is_standin() ? 0 : time_frames(r, frames, steps);
    if (gpu_is_standin())
        count_one(b, r, m, steps);
    else if (best >= 0)
        report_row(b, r, on, s, m, best, memory);
    else
        printf("FAILED: %s\n", r->failure.message);
    b->good = b->good && best >= 0;
    fflush(stdout);
    gpu_run_close(r);
    if (gpu_fault())
        give_up();
}

/* ---- many small sessions in one process ---- */

enum { SESSIONS = 64, ROUNDS = 3 };

static void *run_frame(void *run)
{
    return gpu_run_frame(run) ? run : NULL;
}

/* A frame of each, in turn or each by a thread of its own. False where one failed. */
static bool run_frames(gpu_run *const *runs, int count, bool threads)
{
    pthread_t thread[SESSIONS];
    bool started[SESSIONS] = {false}, good = true;
    for (int k = 0; k < count; k++) {
        started[k] = threads && pthread_create(&thread[k], NULL, run_frame, runs[k]) == 0;
        if (!started[k])
            good = gpu_run_frame(runs[k]) && good;
    }
    for (int k = 0; k < count; k++) {
        void *done = NULL;
        if (started[k] && pthread_join(thread[k], &done) == 0)
            good = done && good;
    }
    return good;
}

typedef struct way {
    const char *name;
    bool threads, together;
} way;

/* The best round's ms a step of all; NaN if it is missing. */
static double time_way(bench *b, const way *w, int count, long long *tets)
{
    gpu_run *all[SESSIONS];
    const int64_t steps = is_small(b) ? 1 : 10;
    gpu_body body = {.mesh = is_small(b) ? gpu_box(3, 2, 2) : gpu_box(14, 8, 8),
                     .young = 1e6,
                     .poisson = 0.4,
                     .pinned = true,
                     .threads = 1};
    pl_solver_settings solver = gpu_solver(PL_METHOD_CHEBYSHEV_DESCENT, 96);
    gpu_share(w->together);
    for (int k = 0; k < count; k++)
        if (!(all[k] = gpu_run_open(ON_GPU_SINGLE, &body, &solver, 1.0 / 30, steps))) {
            printf("not enough memory for %d sessions\n", count);
            b->good = false;
            return NAN;
        }
    gpu_share(false);
    double best = NAN;
    for (int round = 0; b->good && round < (is_small(b) ? 1 : ROUNDS); round++) {
        double start = pl_clock_ms();
        b->good = run_frames(all, count, w->threads) && b->good;
        double ms = (pl_clock_ms() - start) / (double)steps;
        best = round <= 1 || ms < best ? ms : best;
    }
    if (gpu_fault())
        give_up();
    *tets = all[0]->model->tets;
    for (int k = 0; k < count; k++)
        gpu_run_close(all[k]);
    return b->good ? best : NAN;
}

static void time_sessions(bench *b)
{
    static const way WAYS[] = {
        {"in turn", false, false}, {"side by side", true, false}, {"together", true, true}};
    const int count = is_small(b) ? 3 : SESSIONS;
    double first = NAN, on_paper = predicted(b, "64 boxes of 5 k", ON_GPU_SINGLE);
    for (size_t k = 0; b->good && k < sizeof WAYS / sizeof *WAYS; k++) {
        long long tets = 0;
        double ms = time_way(b, &WAYS[k], count, &tets);
        first = k == 0 ? ms : first;
        if (b->good)
            printf("%d sessions of %lld tets, chebyshev_descent, single, %s: %.3f ms a step of "
                   "all, %.0f session steps/s, %.1f times\n",
                   count, tets, WAYS[k].name, ms, 1e3 * count / ms, first / ms);
    }
    pl_shared_launches l = gpu_shared();
    if (l.made > 0)
        printf("together: %lld launches made as %lld in %lld rounds\n", (long long)l.asked,
               (long long)l.made, (long long)l.rounds);
    if (!isnan(on_paper))
        printf("together, predicted: %.3f ms a step of all\n", 96 * on_paper / 1e3);
}

/* ---- methods ---- */

static const method METHODS[] = {
    {"chebyshev_descent", PL_METHOD_CHEBYSHEV_DESCENT, PL_MATERIAL_NEO_HOOKEAN, 96},
    {"projective_dynamics", PL_METHOD_PROJECTIVE_DYNAMICS, PL_MATERIAL_ARAP, 10},
    {"admm", PL_METHOD_ADMM, PL_MATERIAL_NEO_HOOKEAN, 10},
    {"quasi_newton", PL_METHOD_QUASI_NEWTON, PL_MATERIAL_NEO_HOOKEAN, 10},
    {"chebyshev_semi_iterative", PL_METHOD_CHEBYSHEV_SEMI_ITERATIVE, PL_MATERIAL_NEO_HOOKEAN, 10},
    {"nonlinear_cg", PL_METHOD_NONLINEAR_CG, PL_MATERIAL_NEO_HOOKEAN, 30},
    {"lbfgs", PL_METHOD_LBFGS, PL_MATERIAL_NEO_HOOKEAN, 30},
    {"gradient_descent", PL_METHOD_GRADIENT_DESCENT, PL_MATERIAL_NEO_HOOKEAN, 96},
};

/* Every method on this body; of a quick run single precision alone, but of chebyshev_descent. */
static void time_methods(bench *b, const size *s)
{
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++)
        for (where on = ON_GPU_SINGLE; on >= ON_GPU_DOUBLE; on--) {
            bool quick = b->options.quick && !is_small(b);
            if (quick && m > 0 && (s->large || on == ON_GPU_DOUBLE))
                continue;
            time_one(b, on, s, &METHODS[m]);
        }
}

int main(int argc, char **argv)
{
    pl_gpu gpu;
    bench b = {.good = true, .card = gpu.name};
    int status;
    if (!gpu_start(
            argc, argv,
            "usage: gpu-bench [--quick] [--emulated]\n"
            "Times steps on the GPU; --quick: in a few minutes; --emulated: a small body with "
            "the GPU's kernels run on the host.\n",
            &b.options, &gpu, &status))
        return status;
    const size sizes[] = {{"helix, 41 k", gpu_helix(6, 95), 5e7, true, false},
                          {"helix, 83 k", gpu_helix(6, 192), 5e7, false, false},
                          {"helix, 316 k", gpu_helix(10, 264), 5e7, true, false},
                          {"box, 1 M", gpu_box(55, 55, 55), 1e6, false, false},
                          {"box, 5 M", gpu_box(94, 94, 94), 1e6, true, true}};
    const size small = {"box", gpu_box(6, 3, 3), 1e6, true, false};
    for (where on = ON_GPU_DOUBLE; on <= ON_GPU_SINGLE; on++)
        b.bandwidth[on == ON_GPU_SINGLE] = gpu_bandwidth(on);
    printf("%s, %.1f GB of %.1f GB unused; copies move %.0f GB/s; h = 1/30 s\n", gpu.name,
           (double)gpu.unused / 1e9, (double)gpu.memory / 1e9, b.bandwidth[1] / 1e9);
    printf("%-13s %8s %9s  %-25s %-6s ", "body", "vertices", "tets", "method", "");
    if (gpu_is_standin())
        printf("an iteration:\n%66s %8s %8s %8s %8s %8s %8s %8s %8s %9s %9s\n", "", "launches",
               "recorded", "graphs", "waits", "up", "down", "pageable", "within", "bytes up",
               "down");
    else
        printf("%9s %9s %9s %9s %7s %7s\n", "ms/step", "us/iter", "predicted", "bytes/tet", "GB/s",
               "share");
    if (is_small(&b))
        time_methods(&b, &small);
    for (size_t k = 0; !is_small(&b) && k < sizeof sizes / sizeof *sizes; k++)
        if (sizes[k].in_quick || !b.options.quick)
            time_methods(&b, &sizes[k]);
    time_sessions(&b);
    const char *plain = gpu_plain_because();
    printf("iterations of chebyshev_descent: %s%s\n",
           plain ? "plain launches, because of " : "recorded, replayed as one", plain ? plain : "");
    gpu_finish();
    return b.good ? EXIT_SUCCESS : EXIT_FAILURE;
}
