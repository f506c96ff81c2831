/* Sweeps of whole surfaces: against all pairs, against surfaces that cross by exact signs, and the
 * hard cases of Erleben 2018 ("Methodology for assessing mesh-based contact point methods"). */
#include "engine/contact/sweep.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const pl_ccd_limits limits = {.least = 1e-6, .slack = 1e-6, .iterations = 400};

static pl_contact_impacts sweep(contact_scene *s, const double *x1, int threads)
{
    pl_contact_impacts out;
    ck_assert_int_eq(pl_contact_sweep(s->trees, s->x, x1, &limits, NULL, threads, &out), PL_OK);
    for (int64_t i = 0; i < out.count; i++)
        ck_assert(out.impact[i].time >= out.impact[out.earliest].time);
    ck_assert((out.earliest < 0) == (out.count == 0));
    return out;
}

static int64_t crossings(const contact_scene *s, const double *x)
{
    return exact_crossings(x, s->triangle, s->triangles, s->segment, s->segments, NULL);
}

/* ---- all pairs ---- */

static pl_ccd_impact impact_of(const contact_scene *s, const double *x1, pl_contact_kind kind,
                               const int32_t *first, const int32_t *second)
{
    int count = pl_contact_corners[kind][0];
    const double *from[4], *to[4];
    for (int k = 0; k < 4; k++) {
        int32_t v = k < count ? first[k] : second[k - count];
        from[k] = s->x + 3 * v;
        to[k] = x1 + 3 * v;
    }
    return pl_ccd_find(kind, from, to, &limits);
}

static bool share(const int32_t *a, int as, const int32_t *b, int bs)
{
    for (int k = 0; k < as * bs; k++)
        if (a[k / bs] == b[k % bs])
            return true;
    return false;
}

static void check_impact(const pl_contact_impacts *all, int64_t *at, pl_contact_kind kind,
                         int32_t a, int32_t b, const pl_ccd_impact *i)
{
    const pl_contact_impact *p = &all->impact[*at];
    bool listed = *at < all->count && p->kind == kind && p->feature[0] == a && p->feature[1] == b;
    if (listed != i->hit || (listed && p->time != i->time))
        ck_abort_msg("kind %d, %d and %d: listed %d, hit %d", kind, a, b, listed, i->hit);
    *at += listed;
}

static void compare_with_all_pairs(const contact_scene *s, const double *x1,
                                   const pl_contact_impacts *all)
{
    const pl_contact_surface *f = s->surface;
    int64_t at = 0;
    for (int32_t v = 0; v < f->vertices; v++)
        for (int32_t t = 0; t < f->triangles; t++) {
            if (share(f->vertex + v, 1, f->triangle + 3 * t, 3))
                continue;
            pl_ccd_impact i = impact_of(s, x1, PL_CONTACT_VERTEX_TRIANGLE, f->vertex + v,
                                        f->triangle + 3 * t);
            check_impact(all, &at, PL_CONTACT_VERTEX_TRIANGLE, v, t, &i);
        }
    for (int32_t a = 0; a < f->edges; a++)
        for (int32_t b = a + 1; b < f->edges; b++) {
            if (share(f->edge + 2 * a, 2, f->edge + 2 * b, 2))
                continue;
            pl_ccd_impact i = impact_of(s, x1, PL_CONTACT_EDGE_EDGE, f->edge + 2 * a,
                                        f->edge + 2 * b);
            check_impact(all, &at, PL_CONTACT_EDGE_EDGE, a, b, &i);
        }
    ck_assert_int_eq(at, all->count);
}

static void add_soup(contact_scene *s, int triangles, int segments, uint64_t *seed)
{
    double x[3 * 200];
    int32_t triangle[3 * 40], segment[2 * 20];
    for (int k = 0; k < 3 * triangles; k++) {
        triangle[k] = k;
        for (int c = 0; c < 3; c++)
            x[3 * k + c] = k % 3 ? x[3 * (k - k % 3) + c] + 0.2 * contact_draw(seed)
                                 : contact_draw(seed);
    }
    for (int k = 0; k < segments; k++) {
        segment[2 * k] = 3 * triangles + 2 * k;
        segment[2 * k + 1] = segment[2 * k] + 1;
        for (int i = 0; i < 6; i++)
            x[9 * triangles + 6 * k + i] = contact_draw(seed) * (i < 3 ? 1 : 0.2) +
                                           (i < 3 ? 0 : x[9 * triangles + 6 * k + i - 3]);
    }
    contact_scene_add(s, x, 3 * triangles + 2 * segments, triangle, triangles, segment, segments);
}

/* Without an impact nothing crosses at any time; where something crosses that did not at the start,
 * there is one, and none crosses before the earliest. */
static int check_against_crossings(const contact_scene *s, const double *x1,
                                   const pl_contact_impacts *found)
{
    double *x = malloc((size_t)s->vertices * 3 * sizeof *x);
    double until = found->count ? found->impact[found->earliest].time : 1;
    int crossed = 0;
    for (int k = 1; k <= 4; k++) {
        for (int64_t i = 0; i < 3 * (int64_t)s->vertices; i++)
            x[i] = s->x[i] + until * k / 4 * (x1[i] - s->x[i]);
        ck_assert_int_eq(crossings(s, x), 0);
    }
    if (crossings(s, x1) > 0) {
        ck_assert_int_gt(found->count, 0);
        crossed = 1;
    }
    free(x);
    return crossed;
}

/* Triangles that cross at the start are taken out by drawing again. */
START_TEST(random_sweeps_are_those_of_all_pairs)
{
    uint64_t seed = 1;
    int crossed = 0, free_ones = 0, scenes = 0;
    while (scenes < 150) {
        contact_scene s = {0};
        for (int k = 0; k < 2; k++)
            add_soup(&s, scenes % 3 ? 8 : 16, scenes % 2 ? 4 : 0, &seed);
        if (crossings(&s, s.x) > 0) {
            contact_scene_clear(&s);
            continue;
        }
        contact_scene_finish(&s);
        double *x1 = malloc((size_t)s.vertices * 3 * sizeof *x1);
        double far = scenes % 5 ? 0.03 : 0.3;
        for (int64_t i = 0; i < 3 * (int64_t)s.vertices; i++)
            x1[i] = s.x[i] + far * contact_draw(&seed);
        pl_contact_impacts found = sweep(&s, x1, 2);
        compare_with_all_pairs(&s, x1, &found);
        crossed += check_against_crossings(&s, x1, &found);
        free_ones += found.count == 0;
        for (int threads = 1; threads <= 4; threads++) {
            pl_contact_impacts again = sweep(&s, x1, threads);
            ck_assert_int_eq(again.count, found.count);
            ck_assert_int_eq(again.earliest, found.earliest);
            for (int64_t i = 0; i < found.count; i++)
                ck_assert(again.impact[i].kind == found.impact[i].kind &&
                          again.impact[i].feature[0] == found.impact[i].feature[0] &&
                          again.impact[i].feature[1] == found.impact[i].feature[1] &&
                          again.impact[i].time == found.impact[i].time);
            pl_contact_impacts_clear(&again);
        }
        pl_contact_impacts_clear(&found);
        free(x1);
        contact_scene_clear(&s);
        scenes++;
    }
    ck_assert_int_gt(crossed, 20);
    ck_assert_int_gt(free_ones, 10);
}
END_TEST

/* ---- Erleben's cases ---- */

/* The upper shape has its lowest point or edge at the origin, the lower shape its highest. Edges run along x. */
typedef void add_shape(contact_scene *scene, double x, double z, double up);

/* Four triangles that meet in a tip. */
static void spike(contact_scene *s, double x, double z, double up)
{
    const double at[] = {x, 0, z, x + 0.3, 0, z + up, x - 0.2, 0.3, z + up, x - 0.2, -0.3, z + up};
    contact_scene_add(s, at, 4, (int32_t[]){0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2}, 4, NULL, 0);
}

/* A roof whose ridge runs along x. */
static void wedge(contact_scene *s, double x, double z, double up)
{
    const double at[] = {x - 1, 0,    z,      x + 1, 0,   z,      x - 1, -0.4, z + up,
                         x + 1, -0.4, z + up, x - 1, 0.4, z + up, x + 1, 0.4,  z + up};
    contact_scene_add(s, at, 6, (int32_t[]){0, 1, 3, 0, 3, 2, 0, 5, 1, 0, 4, 5, 2, 3, 5, 2, 5, 4},
                      6, NULL, 0);
}

/* The same along y. */
static void wedge_across(contact_scene *s, double x, double z, double up)
{
    const double at[] = {x,       -1, z,      x,       1,  z,      x - 0.4, -1, z + up,
                         x - 0.4, 1,  z + up, x + 0.4, -1, z + up, x + 0.4, 1,  z + up};
    contact_scene_add(s, at, 6, (int32_t[]){0, 1, 3, 0, 3, 2, 0, 5, 1, 0, 4, 5, 2, 3, 5, 2, 5, 4},
                      6, NULL, 0);
}

static void box(contact_scene *s, double x, double z, double up)
{
    pl_mesh mesh;
    ck_assert_int_eq(pl_mesh_box((double[]){0.5, 0.5, 1}, (int32_t[]){2, 2, 2}, &mesh), PL_OK);
    contact_scene_add_mesh(s, &mesh, (double[]){x, 0, z + 0.5 * up});
}

static void sheet(contact_scene *s, double x, double z, int cells)
{
    pl_mesh mesh;
    const int32_t each[2] = {cells, cells};
    ck_assert_int_eq(pl_mesh_cloth((double[]){2, 2}, each, PL_MESH_DIAGONAL_ALTERNATING, &mesh),
                     PL_OK);
    contact_scene_add_mesh(s, &mesh, (double[]){x, 0, z});
}

/* Ground whose vertex, edge or face lies below the origin; its border below it: a cliff. */
static void ground_vertex(contact_scene *s, double x, double z, double up)
{
    sheet(s, x, z, 4);
}

static void ground_face(contact_scene *s, double x, double z, double up)
{
    sheet(s, x + 0.13, z, 3);
}

static void ground_edge(contact_scene *s, double x, double z, double up)
{
    sheet(s, x + 0.25, z, 4);
}

static void cliff(contact_scene *s, double x, double z, double up)
{
    sheet(s, x + 1, z, 3);
}

/* Two walls that meet at a bottom edge along x, a point at which is at the origin. */
static void crack(contact_scene *s, double x, double z, double up)
{
    const double at[] = {x - 1, 0, z,     x + 1, 0,  z,     x - 1, 1,  z + 2,
                         x + 1, 1, z + 2, x - 1, -1, z + 2, x + 1, -1, z + 2};
    contact_scene_add(s, at, 6, (int32_t[]){0, 1, 3, 0, 3, 2, 0, 5, 1, 0, 4, 5}, 4, NULL, 0);
}

static void rope(contact_scene *s, double x, double z, double up)
{
    contact_scene_add(s, (double[]){x - 1, 0, z, x, 0, z, x + 1, 0, z}, 3, NULL, 0,
                      (int32_t[]){0, 1, 1, 2}, 2);
}

static void rope_across(contact_scene *s, double x, double z, double up)
{
    contact_scene_add(s, (double[]){x, -1, z, x, 0.1, z, x, 1, z}, 3, NULL, 0,
                      (int32_t[]){0, 1, 1, 2}, 2);
}

typedef struct hard_case {
    const char *name;
    add_shape *falls, *below;
    double shift; /* of what falls, along x */
} hard_case;

static const hard_case hard_cases[] = {
    {"spike on spike", spike, spike, 0},
    {"spike on wedge", spike, wedge, 0.1},
    {"spike on the end of a wedge", spike, wedge, 1},
    {"wedge on spike", wedge, spike, 0.1},
    {"wedge on wedge, parallel", wedge, wedge, 0.2},
    {"wedge on wedge, end on end", wedge, wedge, 2},
    {"wedge on wedge, crossing", wedge, wedge_across, 0.1},
    {"spike into a crack", spike, crack, 0.1},
    {"wedge into a crack", wedge, crack, 0},
    {"spike on a face", spike, ground_face, 0.01},
    {"spike on an inner edge", spike, ground_edge, 0},
    {"spike on an inner vertex", spike, ground_vertex, 0},
    {"spike on a cliff's edge", spike, cliff, 0},
    {"wedge over a cliff's edge", wedge_across, cliff, 0},
    {"wedge along inner edges", wedge, ground_vertex, 0},
    {"box on a face", box, ground_face, 0},
    {"box on the same grid", box, ground_vertex, 0},
    {"box over a cliff's edge", box, cliff, 0},
    {"rope on rope, crossing", rope, rope_across, 0.3},
    {"rope on rope, joint on joint", rope, rope, 0},
    {"rope on a wedge, parallel", rope, wedge, 0.1},
    {"rope on a face", rope, ground_face, 0},
    {"spike on a rope", spike, rope, 0.1},
};

enum { HARD_CASES = sizeof hard_cases / sizeof *hard_cases };

/* The upper body moves by (along, 0, down) from `gap` above the lower one. */
static pl_contact_impacts fall(contact_scene *s, const hard_case *c, double gap, double start,
                               double along, double down)
{
    c->falls(s, c->shift + start, gap, 1);
    int32_t moving = s->vertices;
    c->below(s, 0, 0, -1);
    contact_scene_finish(s);
    double *x1 = malloc((size_t)s->vertices * 3 * sizeof *x1);
    memcpy(x1, s->x, (size_t)s->vertices * 3 * sizeof *x1);
    for (int32_t v = 0; v < moving; v++) {
        x1[3 * v] += along;
        x1[3 * v + 2] -= down;
    }
    pl_contact_impacts out = sweep(s, x1, 2);
    free(x1);
    return out;
}

/* Straight down: free until the least distance, met at the time at which it is reached. */
START_TEST(hard_cases_meet_when_they_should)
{
    const double gap = 0.01;
    for (int k = 0; k < HARD_CASES; k++) {
        const double ends[] = {0.5 * gap,  0.999 * gap, gap - 0.5 * limits.least,
                               1.01 * gap, 1.9 * gap,   150 * gap};
        for (int e = 0; e < 6; e++) {
            contact_scene s = {0};
            pl_contact_impacts found = fall(&s, &hard_cases[k], gap, 0, 0, ends[e]);
            ck_assert_msg((found.count > 0) == (e >= 2), "%s, by %g: %lld", hard_cases[k].name,
                          ends[e], (long long)found.count);
            if (found.count) {
                double time = found.impact[found.earliest].time, touch = gap / ends[e];
                /* in a crack the sides come closer than the tip before it touches */
                double early = 3 * (limits.least + limits.slack) / ends[e];
                ck_assert_msg(time <= touch && time >= touch - early, "%s: %.9g for %.9g",
                              hard_cases[k].name, time, touch);
            }
            pl_contact_impacts_clear(&found);
            contact_scene_clear(&s);
        }
    }
}
END_TEST

/* Along at a small height they are free, however long the way; aslant into it they meet. */
START_TEST(sliding_cases_are_free_until_they_dip)
{
    for (int k = 0; k < HARD_CASES; k++) {
        const hard_case *c = &hard_cases[k];
        if (c->below == crack || c->below == spike)
            continue;
        contact_scene s = {0};
        pl_contact_impacts found = fall(&s, c, 1e-4, -0.5, 1, 0);
        ck_assert_msg(found.count == 0, "%s slides: %lld", c->name, (long long)found.count);
        pl_contact_impacts_clear(&found);
        contact_scene_clear(&s);
        found = fall(&s, c, 1e-4, -0.001, 0.002, 2e-4);
        ck_assert_msg(found.count > 0, "%s dips", c->name);
        pl_contact_impacts_clear(&found);
        contact_scene_clear(&s);
    }
}
END_TEST

START_TEST(what_is_not_finite_is_refused)
{
    uint64_t seed = 2;
    contact_scene s = {0};
    add_soup(&s, 10, 4, &seed);
    contact_scene_finish(&s);
    double *x1 = malloc((size_t)s.vertices * 3 * sizeof *x1);
    for (int n = 0; n < 20; n++) {
        memcpy(x1, s.x, (size_t)s.vertices * 3 * sizeof *x1);
        x1[(n * 31) % (3 * s.vertices)] = n % 3 ? n % 3 == 1 ? NAN : INFINITY : -1e200;
        pl_contact_impacts found;
        ck_assert_int_eq(pl_contact_sweep(s.trees, s.x, x1, &limits, NULL, 2, &found), PL_FAILED);
        ck_assert(found.count == 0 && found.impact == NULL);
    }
    free(x1);
    contact_scene_clear(&s);
}
END_TEST

/* A move on which everything comes near everything ends once it has more pairs than it may: by any number of threads,
 * and not with one pair fewer. */
START_TEST(the_work_of_a_sweep_is_bounded)
{
    uint64_t seed = 3;
    contact_scene s = {0};
    add_soup(&s, 60, 8, &seed);
    contact_scene_finish(&s);
    double *x1 = malloc((size_t)s.vertices * 3 * sizeof *x1);
    for (int32_t i = 0; i < 3 * s.vertices; i++)
        x1[i] = 10 * contact_draw(&seed);
    int64_t enough = 0;
    for (int64_t step = 1 << 20; step > 0; step /= 2) { /* the largest bound that is exceeded */
        pl_ccd_limits few = limits;
        few.work = enough + step;
        pl_contact_impacts found;
        ck_assert_int_eq(pl_contact_sweep(s.trees, s.x, x1, &few, NULL, 1, &found), PL_OK);
        enough += found.crowded ? step : 0;
        pl_contact_impacts_clear(&found);
    }
    ck_assert_int_gt(enough, s.surface->edges);
    pl_ccd_limits tenth = limits;
    tenth.work = enough / 10;
    pl_contact_impacts ended;
    ck_assert_int_eq(pl_contact_sweep(s.trees, s.x, x1, &tenth, NULL, 1, &ended), PL_OK);
    ck_assert(ended.crowded && ended.work < enough / 2); /* a leaf's work may be beyond */
    pl_contact_impacts_clear(&ended);
    pl_contact_impacts whole = sweep(&s, x1, 1);
    for (int threads = 1; threads <= 4; threads++)
        for (int more = 0; more < 2; more++) {
            pl_ccd_limits few = limits;
            few.work = enough + more;
            pl_contact_impacts found;
            ck_assert_int_eq(pl_contact_sweep(s.trees, s.x, x1, &few, NULL, threads, &found),
                             PL_OK);
            ck_assert(found.crowded == !more);
            ck_assert_int_eq(found.count, more ? whole.count : 0);
            ck_assert((found.earliest < 0) == !more);
            pl_contact_impacts_clear(&found);
        }
    pl_contact_impacts_clear(&whole);
    free(x1);
    contact_scene_clear(&s);
}
END_TEST

/* ---- the checker itself ---- */

START_TEST(the_checker_sees_what_crosses)
{
    const double a[3] = {0, 0, 0}, b[3] = {1, 0, 0}, c[3] = {0, 1, 0};
    const struct {
        double p[3], q[3];
        bool crosses;
    } cases[] = {
        {{0.2, 0.2, -1}, {0.2, 0.2, 1}, true},
        {{0.2, 0.2, 1}, {0.2, 0.2, 2}, false},
        {{0.6, 0.6, -1}, {0.6, 0.6, 1}, false},
        {{0.5, 0.5, -1}, {0.5, 0.5, 1}, true},
        {{0.5, 0.5 + 1e-15, -1}, {0.5, 0.5 + 1e-15, 1}, false},
        {{0.2, 0.2, 0}, {0.3, 0.3, 0}, false},
        {{0.2, 0.2, 1e-300}, {0.2, 0.2, 1}, false},
        {{0.2, 0.2, -1e-300}, {0.2, 0.2, 1}, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        ck_assert_msg(exact_edge_crosses(cases[k].p, cases[k].q, a, b, c) == cases[k].crosses &&
                          exact_edge_crosses(cases[k].q, cases[k].p, c, b, a) == cases[k].crosses,
                      "case %zu", k);
    contact_scene s = {0};
    sheet(&s, 0, 0, 4);
    int32_t first[3];
    ck_assert_int_eq(crossings(&s, s.x), 0);
    contact_scene_add(&s, (double[]){0.1, 0.3, -1, 0.1, 0.3, 1}, 2, NULL, 0, (int32_t[]){0, 1}, 1);
    ck_assert_int_eq(exact_crossings(s.x, s.triangle, s.triangles, s.segment, 1, first), 1);
    ck_assert(first[0] == 25 && first[1] == 26);
    contact_scene_clear(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("sweep");
    tcase_add_test(t, random_sweeps_are_those_of_all_pairs);
    tcase_add_test(t, hard_cases_meet_when_they_should);
    tcase_add_test(t, sliding_cases_are_free_until_they_dip);
    tcase_add_test(t, what_is_not_finite_is_refused);
    tcase_add_test(t, the_work_of_a_sweep_is_bounded);
    tcase_add_test(t, the_checker_sees_what_crosses);
    return run_cases("contact_sweep", t);
}
