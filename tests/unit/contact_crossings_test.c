/* Surfaces that cross at rest, compared with brute force by exact signs, and bodies inside one another. */
#include "engine/contact/crossings.h"
#include "engine/contact/overlaps.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

/* ---- random surfaces ---- */

/* A body of triangles anywhere and of segments. */
static void add_soup(contact_scene *s, int triangles, int segments)
{
    double x[3 * 120];
    int32_t triangle[3 * 30], segment[2 * 15];
    for (int i = 0; i < 3 * (3 * triangles + 2 * segments); i++)
        x[i] = draw();
    for (int k = 0; k < 3 * triangles; k++)
        triangle[k] = k;
    for (int k = 0; k < 2 * segments; k++)
        segment[k] = 3 * triangles + k;
    contact_scene_add(s, x, 3 * triangles + 2 * segments, triangle, triangles, segment, segments);
}

static bool shares(const int32_t *end, const int32_t *corner)
{
    bool common = false;
    for (int k = 0; k < 6; k++)
        common = common || end[k / 3] == corner[k % 3];
    return common;
}

/* [edges][triangles] on the heap: true if the edge goes through the triangle, without a filter; for different bodies
 * the edge is at `others`. */
static bool *crossings_of(const contact_scene *s, const double *others)
{
    const pl_contact_surface *f = s->surface;
    bool *crosses = calloc((size_t)f->edges * (size_t)f->triangles, sizeof *crosses);
    for (int32_t e = 0; e < f->edges; e++)
        for (int32_t t = 0; t < f->triangles; t++) {
            const int32_t *end = f->edge + 2 * e, *corner = f->triangle + 3 * t;
            const double *x = f->edge_body[e] == f->triangle_body[t] ? s->x : others;
            crosses[e * f->triangles + t] =
                !shares(end, corner) &&
                exact_edge_crosses(x + 3 * end[0], x + 3 * end[1], s->x + 3 * corner[0],
                                   s->x + 3 * corner[1], s->x + 3 * corner[2]);
        }
    return crosses;
}

/* Every edge and triangle, in order. */
static void compare(const contact_scene *s, const bool *crosses, const pl_contact_filter *filter,
                    const pl_contact_crossings *found)
{
    const pl_contact_surface *f = s->surface;
    int64_t at = 0;
    for (int32_t e = 0; e < f->edges; e++)
        for (int32_t t = 0; t < f->triangles; t++) {
            const int32_t a = f->edge_body[e], b = f->triangle_body[t];
            bool due = crosses[e * f->triangles + t] &&
                       (!filter || !filter->ignore[a * filter->bodies + b]);
            bool listed = at < found->count && found->crossing[at].edge == e &&
                          found->crossing[at].triangle == t;
            ck_assert_msg(listed == due, "edge %d, triangle %d: listed %d", e, t, listed);
            at += listed;
        }
    ck_assert_int_eq(at, found->count);
}

static int64_t check_scene(contact_scene *s, const double *others, const bool *crosses,
                           const pl_contact_filter *filter)
{
    int64_t count = 0;
    ck_assert_int_eq(pl_contact_trees_update(s->trees, s->x, others, 0, 1), PL_OK);
    for (int threads = 1; threads <= 3; threads++) {
        pl_contact_crossings found;
        ck_assert_int_eq(pl_contact_crossings_find(s->trees, s->x, others, filter, threads, &found),
                         PL_OK);
        compare(s, crosses, filter, &found);
        count = found.count;
        pl_contact_crossings_clear(&found);
        ck_assert(found.count == 0 && !found.crossing);
    }
    return count;
}

START_TEST(random_surfaces_cross_where_they_do)
{
    static const uint8_t apart[] = {0, 1, 1, 0}, selfless[] = {1, 0, 0, 1};
    int64_t all = 0, between = 0, within = 0;
    seed = 1;
    for (int n = 0; n < 20; n++) {
        contact_scene s = {0};
        add_soup(&s, 12, 5);
        add_soup(&s, 25, 10);
        contact_scene_finish(&s);
        bool *crosses = crossings_of(&s, s.x);
        all += check_scene(&s, s.x, crosses, NULL);
        within += check_scene(&s, s.x, crosses, &(pl_contact_filter){2, apart});
        between += check_scene(&s, s.x, crosses, &(pl_contact_filter){2, selfless});
        free(crosses);
        contact_scene_clear(&s);
    }
    ck_assert_int_gt(within, 100);
    ck_assert_int_gt(between, 100);
    ck_assert_int_eq(all, within + between);
}
END_TEST

START_TEST(edges_of_others_may_be_elsewhere)
{
    seed = 2;
    for (int n = 0; n < 20; n++) {
        contact_scene s = {0};
        double others[3 * 200];
        add_soup(&s, 12, 5);
        add_soup(&s, 25, 10);
        contact_scene_finish(&s);
        for (int i = 0; i < 3 * s.vertices; i++)
            others[i] = s.x[i] + draw();
        bool *crosses = crossings_of(&s, others);
        ck_assert_int_gt(check_scene(&s, others, crosses, NULL), 10);
        free(crosses);
        contact_scene_clear(&s);
    }
}
END_TEST

/* A rope that ends in a triangle, that goes along it, that passes through its side, to a corner. */
START_TEST(what_only_touches_does_not_cross)
{
    static const double ropes[][6] = {
        {1, 1, 0, 1, 1, 1},  {0.5, 0.5, 0, 2, 0.5, 0}, {-1, 1, 0, 5, 1, 0},  {0, 1, -1, 0, 1, 1},
        {0, 0, 1, 0, 0, -1}, {1, 1, -1e-12, 1, 1, 1},  {1, 1, -0.5, 1, 1, 1}};
    for (size_t k = 0; k < sizeof ropes / sizeof *ropes; k++) {
        contact_scene s = {0};
        const double x[] = {0, 0, 0, 3, 0, 0, 0, 3, 0};
        contact_scene_add(&s, x, 3, (const int32_t[]){0, 1, 2}, 1, NULL, 0);
        contact_scene_add(&s, ropes[k], 2, NULL, 0, (const int32_t[]){0, 1}, 1);
        contact_scene_finish(&s);
        pl_contact_crossings found;
        ck_assert_int_eq(pl_contact_trees_update(s.trees, s.x, s.x, 0, 1), PL_OK);
        ck_assert_int_eq(pl_contact_crossings_find(s.trees, s.x, s.x, NULL, 1, &found), PL_OK);
        ck_assert_msg(found.count == (k == 6), "rope %zu", k);
        pl_contact_crossings_clear(&found);
        contact_scene_clear(&s);
    }
}
END_TEST

/* ---- bodies in one another ---- */

static const uint8_t SOLID[] = {1, 1, 1};
static const double UNIT[] = {1, 1, 1}, ORIGIN[3];
static const int32_t CELLS[] = {2, 2, 2};

/* Marks of the scene, which is cleared; the diagonal in `own`. True: bodies 0 and 1 overlap. */
static bool overlaps(contact_scene *s, bool own[2])
{
    uint8_t mark[9] = {0};
    const int32_t n = s->bodies;
    contact_scene_finish(s);
    ck_assert_int_eq(pl_contact_overlaps_mark(s->trees, s->x, n, mark), PL_OK);
    for (int32_t i = 0; i < n * n; i++)
        ck_assert_int_eq(mark[i], mark[i % n * n + i / n]);
    own[0] = mark[0];
    own[1] = mark[n + 1];
    bool out = mark[1];
    contact_scene_clear(s);
    return out;
}

static bool boxes_overlap(const double at[3], double size)
{
    bool own[2];
    contact_scene s = {.solid = SOLID};
    contact_scene_add_box(&s, ORIGIN, UNIT, CELLS);
    contact_scene_add_box(&s, at, (const double[]){size, size, size}, CELLS);
    bool out = overlaps(&s, own);
    ck_assert(!own[0] && !own[1]);
    return out;
}

START_TEST(two_boxes)
{
    static const struct {
        double at[3], size;
        bool overlap;
    } cases[] = {
        {{2, 0, 0}, 1, false},
        {{1.0001, 0, 0}, 1, false},
        {{1, 0, 0}, 1, false},
        {{1, 1, 1}, 1, false},
        {{1, 1, 0}, 1, false},
        {{0.25, 0.25, 1}, 0.5, false},
        {{0.3, 0.4, 1}, 1, false},
        {{0.5, 0.5, 0.5}, 1, true},
        {{0.9, 0.1, 0.1}, 0.2, true},
        {{0.25, 0.25, 0.25}, 0.5, true},
        {{-0.25, -0.25, -0.25}, 1.5, true},
        {{0, 0, 0}, 1, true},
        {{0, 0, 0}, 0.5, true},
        {{0, 0.02, 0}, 1, true},
        {{0.9, 0.9, 0.9}, 1, true},
        {{0.3, 0.4, 0.99}, 0.2, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        ck_assert_msg(boxes_overlap(cases[k].at, cases[k].size) == cases[k].overlap, "case %zu", k);
}
END_TEST

static void add_rope(contact_scene *s, const double *x)
{
    contact_scene_add(s, x, 3, NULL, 0, (const int32_t[]){0, 1, 1, 2}, 2);
}

START_TEST(a_rope_and_a_box)
{
    static const struct {
        double x[9];
        bool overlap;
    } cases[] = {
        {{-1, 0.3, 0.3, 0.4, 0.3, 0.3, 2, 0.3, 0.3}, true},      /* through it */
        {{0.2, 0.3, 0.3, 0.4, 0.3, 0.3, 0.7, 0.3, 0.3}, true},   /* in it */
        {{-1, 0.3, 1.3, 0.4, 0.3, 1.1, 2, 0.3, 1.3}, false},     /* above */
        {{0.2, 0.3, 1, 0.4, 0.3, 1, 0.7, 0.3, 1}, false},        /* on it */
        {{-1, 0.3, 0.3, -0.2, 0.3, 0.3, -0.1, 0.3, 0.3}, false}, /* beside it */
    };
    bool own[2];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        contact_scene s = {.solid = SOLID};
        contact_scene_add_box(&s, ORIGIN, UNIT, CELLS);
        add_rope(&s, cases[k].x);
        ck_assert_msg(overlaps(&s, own) == cases[k].overlap, "case %zu", k);
    }
}
END_TEST

/* Sheets have no inside: one in a bag of a sheet is not in it. */
START_TEST(sheets_enclose_nothing)
{
    static const uint8_t none[2];
    bool own[2];
    contact_scene s = {.solid = none};
    contact_scene_add_box(&s, ORIGIN, UNIT, CELLS);
    contact_scene_add_box(&s, (const double[]){0.25, 0.25, 0.25}, (const double[]){0.5, 0.5, 0.5},
                          CELLS);
    ck_assert(!overlaps(&s, own));
}
END_TEST

/* A strip with one end bent up and through the other; and not through. */
START_TEST(a_sheet_that_crosses_itself)
{
    static const int32_t triangle[] = {0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4, 4, 5, 6, 5, 7, 6};
    for (int through = 0; through < 2; through++) {
        const double low = through ? -0.3 : 0.2;
        const double x[] = {0,   0, 0, 0,   1, 0, 2,   0,   0,   2,   1,   0,
                            2.1, 0, 1, 2.1, 1, 1, 0.9, 0.1, low, 0.9, 0.9, low};
        bool own[2];
        contact_scene s = {0};
        contact_scene_add(&s, x, 8, triangle, 6, NULL, 0);
        add_rope(&s, (const double[]){5, 5, 5, 6, 5, 5, 7, 5, 5});
        ck_assert(!overlaps(&s, own));
        ck_assert_int_eq(own[0], through);
        ck_assert(!own[1]);
    }
}
END_TEST

/* Pairs already marked are left unchanged and not checked. */
START_TEST(marks_stay)
{
    uint8_t mark[9] = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    const uint8_t due[9] = {0, 1, 1, 1, 0, 0, 1, 0, 0};
    contact_scene s = {.solid = SOLID};
    contact_scene_add_box(&s, ORIGIN, UNIT, CELLS);
    contact_scene_add_box(&s, (const double[]){5, 5, 5}, UNIT, CELLS);
    contact_scene_add_box(&s, (const double[]){0.5, 0.5, 0.5}, UNIT, CELLS);
    contact_scene_finish(&s);
    ck_assert_int_eq(pl_contact_overlaps_mark(s.trees, s.x, 3, mark), PL_OK);
    ck_assert_mem_eq(mark, due, sizeof due);
    s.x[3] = NAN;
    ck_assert_int_eq(pl_contact_overlaps_mark(s.trees, s.x, 3, mark), PL_FAILED);
    contact_scene_clear(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("crossings");
    tcase_add_test(t, random_surfaces_cross_where_they_do);
    tcase_add_test(t, edges_of_others_may_be_elsewhere);
    tcase_add_test(t, what_only_touches_does_not_cross);
    tcase_add_test(t, two_boxes);
    tcase_add_test(t, a_rope_and_a_box);
    tcase_add_test(t, sheets_enclose_nothing);
    tcase_add_test(t, a_sheet_that_crosses_itself);
    tcase_add_test(t, marks_stay);
    return run_cases("contact_crossings", t);
}
