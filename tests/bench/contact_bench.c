/* Detection of contacts at rest: surfaces of 10 k, 100 k and 1 M triangles, the time of each part and
 * ns a triangle, on one thread and on all. Two scenes: balls in a grid that nearly touch, and a cloth
 * folded into eight layers, which is near itself everywhere. */
#include "tests/bench/bench.h"
#include "tests/support/contact_scene.h"

#include "engine/clock.h"
#include "engine/contact/sweep.h"

#include <check.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 3 };

/* About `triangles` of them: closed balls of about 1200 triangles each, 1 % of their size apart. */
static void add_balls(contact_scene *s, double triangles)
{
    int side = (int)fmax(1, round(cbrt(triangles / 1200)));
    for (int i = 0; i < side * side * side; i++) {
        pl_mesh ball;
        ck_assert_int_eq(pl_mesh_sphere(0.5, 10, &ball), PL_OK);
        contact_scene_add_mesh(
            s, &ball,
            (double[]){1.01 * (i % side), 1.01 * (i / side % side), 1.01 * (i / side / side)});
    }
}

/* A square sheet of 1 m folded along x into eight layers, a fifth of an edge apart. */
static void add_cloth(contact_scene *s, double triangles)
{
    int cells = (int)round(sqrt(triangles / 2));
    const int32_t each[2] = {cells, cells};
    pl_mesh cloth;
    ck_assert_int_eq(pl_mesh_cloth((double[]){1, 1}, each, PL_MESH_DIAGONAL_ALTERNATING, &cloth),
                     PL_OK);
    double gap = 0.2 / cells;
    for (int64_t v = 0; v < cloth.vertex_count; v++) {
        double *x = cloth.vertices + 3 * v, along = 8 * (x[0] + 0.5);
        int layer = along < 8 ? (int)along : 7;
        double part = along - layer;
        x[0] = (layer % 2 ? 1 - part : part) / 8;
        x[2] = gap * (layer + 0.1 * sin(20 * x[0] + 30 * x[1]));
    }
    contact_scene_add_mesh(s, &cloth, (double[3]){0});
}

typedef struct times {
    double surface, build, refit, pairs, sweep;
    int64_t found;
} times;

static void keep_least(double *least, double ms)
{
    if (*least == 0 || ms < *least)
        *least = ms;
}

static times measure(contact_scene *s, double reach, int threads)
{
    times t = {0};
    double *x1 = malloc((size_t)s->vertices * 3 * sizeof *x1);
    const pl_ccd_limits limits = {.least = 1e-3 * reach, .slack = 1e-3 * reach, .iterations = 100};
    for (int64_t i = 0; i < 3 * (int64_t)s->vertices; i++)
        x1[i] = s->x[i] - (i % 3 == 2 ? 0.1 * reach : 0);
    for (int k = 0; k < REPEATS; k++) {
        pl_contact_trees_destroy(s->trees);
        pl_contact_surface_destroy(s->surface);
        double begin = pl_clock_ms();
        contact_scene_finish(s);
        keep_least(&t.surface, pl_clock_ms() - begin);
        for (int again = 0; again < 2; again++) {
            begin = pl_clock_ms();
            ck_assert_int_eq(pl_contact_trees_update(s->trees, s->x, s->x, reach, threads), PL_OK);
            keep_least(again ? &t.refit : &t.build, pl_clock_ms() - begin);
        }
        const pl_contact_rules rules = {.reach = reach};
        pl_contact_pairs pairs;
        begin = pl_clock_ms();
        ck_assert_int_eq(pl_contact_pairs_find(s->trees, s->x, &rules, threads, &pairs), PL_OK);
        keep_least(&t.pairs, pl_clock_ms() - begin);
        t.found = pairs.count;
        pl_contact_pairs_clear(&pairs);
        pl_contact_impacts impacts;
        begin = pl_clock_ms();
        ck_assert_int_eq(pl_contact_sweep(s->trees, s->x, x1, &limits, NULL, threads, &impacts),
                         PL_OK);
        keep_least(&t.sweep, pl_clock_ms() - begin);
        pl_contact_impacts_clear(&impacts);
    }
    free(x1);
    return t;
}

static void print_row(const char *name, void (*add)(contact_scene *, double), double triangles,
                      int threads)
{
    contact_scene s = {0};
    add(&s, triangles);
    contact_scene_finish(&s);
    double edge = 0;
    for (int k = 0; k < 3; k++)
        edge = fmax(edge, fabs(s.x[3 * s.triangle[1] + k] - s.x[3 * s.triangle[0] + k]));
    times t = measure(&s, 0.25 * edge, threads);
    double all = t.build + t.pairs, n = s.triangles;
    printf("  %-6s %8d %7d %9lld %9.1f %8.1f %8.1f %8.1f %8.1f %9.0f %9.0f\n", name, s.triangles,
           threads, (long long)t.found, t.surface, t.build, t.refit, t.pairs, t.sweep,
           1e6 * all / n, 1e6 * (t.refit + t.pairs) / n);
    fflush(stdout);
    contact_scene_clear(&s);
}

static void measure_all(void)
{
    int most = omp_get_num_procs();
    puts(
        "Detection at rest, ms, least of 3; a triangle: ns of build and pairs, of refit and pairs");
    printf("  %-6s %8s %7s %9s %9s %8s %8s %8s %8s %9s %9s\n", "scene", "triangles", "threads",
           "pairs", "(surface)", "build", "refit", "pairs", "sweep", "ns build", "ns refit");
    for (int threads = 1; threads <= most; threads += most > 1 ? most - 1 : 1)
        for (double n = 1e4; n < 2e6; n *= 10) {
            print_row("balls", add_balls, n, threads);
            print_row("cloth", add_cloth, n, threads);
        }
}

int main(void)
{
    return bench_run("contact", measure_all);
}
