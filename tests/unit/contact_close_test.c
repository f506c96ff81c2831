/* Continuous collision detection of pairs that start closer than they may, or touching (pl_ccd_find_close),
 * and of solids that lie on each other. */
#include "engine/contact/ccd.h"
#include "engine/contact/sweep.h"
#include "tests/support/contact_exact.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    pl_contact_kind kind;
    double x0[4][3], x1[4][3];
} pair;

static const pl_ccd_limits limits = {.least = 1e-3, .slack = 1e-4, .iterations = 400};
static const double NONE[3], UP[] = {0, 0, 1}, DOWN[] = {0, 0, -1};
static uint64_t seed;

static double draw(void)
{
    return contact_draw(&seed);
}

static pl_ccd_impact find(const pair *p, const pl_ccd_limits *l, const double facing[3])
{
    const double *x0[4], *x1[4];
    for (int k = 0; k < 4; k++) {
        x0[k] = p->x0[k];
        x1[k] = p->x1[k];
    }
    return pl_ccd_find_close(p->kind, x0, x1, l, facing);
}

static double distance_at(const pair *p, double t)
{
    exact_point x[4];
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++)
            x[k][c] = (1 - (long double)t) * p->x0[k][c] + (long double)t * p->x1[k][c];
    if (p->kind == PL_CONTACT_VERTEX_TRIANGLE)
        return (double)exact_point_triangle(x[0], x + 1, NULL);
    if (p->kind == PL_CONTACT_EDGE_EDGE)
        return (double)exact_edge_edge(x, x + 2, NULL);
    return (double)exact_point_edge(x[0], x[1], p->kind == PL_CONTACT_VERTEX_EDGE ? x[2] : x[1],
                                    NULL);
}

/* ---- closer than they may ---- */

/* Random pairs whose minimum distance is twice their own. */
START_TEST(close_pairs_keep_a_quarter)
{
    int hits = 0, free = 0;
    seed = 1;
    for (int n = 0; n < 20000; n++) {
        pair p = {.kind = (pl_contact_kind)(n % 4)};
        for (int k = 0; k < 4; k++)
            for (int c = 0; c < 3; c++) {
                p.x0[k][c] = draw();
                p.x1[k][c] = p.x0[k][c] + (n / 4 % 2 ? 1 : 0.2) * draw();
            }
        const double d = distance_at(&p, 0);
        if (d < 1e-6)
            continue;
        const pl_ccd_limits wide = {2 * d, d, 400, 0};
        pl_ccd_impact i = find(&p, &wide, NONE);
        for (int k = 0; k <= 16; k++) {
            const double t = i.time * k / 16;
            ck_assert_msg(distance_at(&p, t) >= 0.25 * d * (1 - 1e-12), "pair %d at %g", n, t);
        }
        if (i.hit && !i.capped)
            ck_assert_msg(distance_at(&p, i.time) <= 0.5 * d * (1 + 1e-9), "pair %d at %g", n,
                          i.time);
        hits += i.hit;
        free += !i.hit;
    }
    ck_assert_int_gt(hits, 1000);
    ck_assert_int_gt(free, 1000);
}
END_TEST

/* Half of the way to a triangle is free, and all of it is not; moving away is free, too. */
START_TEST(close_pairs_may_move)
{
    static const double to[] = {1, 0.6, 1e-3, 0.2, -1};
    for (int k = 0; k < 5; k++) {
        const double d = 0.5 * limits.least;
        pair p = {.kind = PL_CONTACT_VERTEX_TRIANGLE,
                  .x0 = {{0.1, 0.1, d}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                  .x1 = {{0.2, 0.1, d * to[k]}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
        ck_assert_msg(find(&p, &limits, NONE).hit == (k > 1), "to %g", to[k]);
    }
}
END_TEST

/* Farther apart than the least distance they are as pl_ccd_find has them. */
START_TEST(others_are_found_alike)
{
    const pl_ccd_limits wide = {0.2, 0.01, 400, 0};
    seed = 2;
    for (int n = 0; n < 4000; n++) {
        pair p = {.kind = (pl_contact_kind)(n % 4)};
        const double *x0[4], *x1[4];
        for (int k = 0; k < 4; k++) {
            for (int c = 0; c < 3; c++) {
                p.x0[k][c] = draw();
                p.x1[k][c] = draw();
            }
            x0[k] = p.x0[k];
            x1[k] = p.x1[k];
        }
        if (distance_at(&p, 0) < 0.3)
            continue;
        pl_ccd_impact a = pl_ccd_find(p.kind, x0, x1, &wide), b = find(&p, &wide, UP);
        ck_assert(a.hit == b.hit && a.capped == b.capped && a.time == b.time);
    }
}
END_TEST

/* ---- touching ---- */

/* A vertex with one move; its position on the triangle in weights of the second and third corner: the face, a side, a
 * corner. */
static const double PLACES[][2] = {{0.25, 0.25}, {0, 0.5}, {0.5, 0.5}, {0, 0}, {1, 0}};

static pair on_triangle(const double place[2], const double move[3])
{
    pair p = {.kind = PL_CONTACT_VERTEX_TRIANGLE,
              .x0 = {{place[0], place[1], 0}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
    memcpy(p.x1, p.x0, sizeof p.x0);
    for (int c = 0; c < 3; c++)
        p.x1[0][c] += move[c];
    return p;
}

/* A sheet has no outside: whichever way the vertex leaves it, a plane parts the two. */
START_TEST(what_touches_may_leave)
{
    const double moves[][3] = {{0, 0, 0.5}, {0.3, -0.2, 0.01}, {0.2, 0.1, 0}, {0, 0, 0}};
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES; k++)
        for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
            pair p = on_triangle(PLACES[k], moves[i]);
            pl_ccd_impact none = find(&p, &limits, NONE), up = find(&p, &limits, UP);
            ck_assert_msg(!none.hit && none.time == 1, "place %zu, move %zu", k, i);
            ck_assert_msg(!up.hit && up.time == 1, "place %zu, move %zu, facing", k, i);
        }
}
END_TEST

/* Out of a solid's inside: the same moves are into it. */
START_TEST(the_inner_side_is_no_way_out)
{
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES; k++) {
        pair up = on_triangle(PLACES[k], UP), down = on_triangle(PLACES[k], DOWN);
        ck_assert(!find(&up, &limits, UP).hit && !find(&down, &limits, DOWN).hit);
        pl_ccd_impact a = find(&up, &limits, DOWN), b = find(&down, &limits, UP);
        ck_assert_msg(a.hit && a.time == 0, "place %zu", k);
        ck_assert_msg(b.hit && b.time == 0, "place %zu", k);
        ck_assert(!find(&down, &limits, NONE).hit);
    }
}
END_TEST

/* While the triangle turns about a side, the vertex that lies in its face goes to the other side. */
START_TEST(what_passes_through_is_hit_at_once)
{
    pair p = on_triangle(PLACES[0], NONE);
    p.x1[3][2] = 0.5;
    p.x1[1][2] = -0.5;
    p.x1[2][2] = -0.5;
    pl_ccd_impact i = find(&p, &limits, NONE);
    ck_assert(i.hit && i.time == 0);
}
END_TEST

/* Two edges that cross in a plane. */
START_TEST(edges_that_touch)
{
    for (int up = -1; up <= 1; up++) {
        pair p = {.kind = PL_CONTACT_EDGE_EDGE,
                  .x0 = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}},
                  .x1 = {{-1, 0, 0.1 * up}, {1, 0, 0.1 * up}, {0, -1, 0}, {0, 1, 0}}};
        ck_assert(!find(&p, &limits, NONE).hit);
        ck_assert_int_eq(find(&p, &limits, UP).hit, up < 0);
        ck_assert_int_eq(find(&p, &limits, DOWN).hit, up > 0);
        p.x1[0][2] = 0.1; /* one end up, one down, with the crossing in the middle moving along */
        p.x1[1][2] = -0.1;
        p.x1[0][0] -= 0.5;
        p.x1[1][0] -= 0.5;
        ck_assert(find(&p, &limits, NONE).hit);
    }
}
END_TEST

/* Edges that lie on each other turn in a plane, about their middle; two vertices part along a surface. */
START_TEST(features_that_lie_on_each_other)
{
    pair p = {.kind = PL_CONTACT_EDGE_EDGE,
              .x0 = {{-1, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {1, 0, 0}},
              .x1 = {{-1, 0, 0}, {1, 0, 0}, {-0.8, -0.6, 0}, {0.8, 0.6, 0}}};
    ck_assert(!find(&p, &limits, NONE).hit);
    memcpy(p.x1, p.x0, sizeof p.x0);
    ck_assert(!find(&p, &limits, NONE).hit);
    pair v = {.kind = PL_CONTACT_VERTEX_VERTEX, .x1 = {{0.5, 0, 0}}};
    ck_assert(!find(&v, &limits, NONE).hit);
    ck_assert(!find(&v, &limits, UP).hit);
    v.x1[0][2] = -0.1;
    ck_assert(find(&v, &limits, UP).hit);
}
END_TEST

/* ---- solids on each other ---- */

static const uint8_t SOLID[] = {1, 1};
static const double UNIT[] = {1, 1, 1}, ORIGIN[3];

/* Impacts of two cubes with a common face, of which the upper one moves by `move`, and up by `turn` times its
 * x. */
static int64_t impacts_of(int32_t cells, const double move[3], double turn, bool *at_once)
{
    contact_scene s = {.solid = SOLID};
    contact_scene_add_box(&s, ORIGIN, UNIT, (const int32_t[]){cells, cells, cells});
    int32_t first = contact_scene_add_box(&s, UP, UNIT, (const int32_t[]){cells, cells, cells});
    contact_scene_finish(&s);
    double *x1 = malloc((size_t)s.vertices * 3 * sizeof *x1);
    memcpy(x1, s.x, (size_t)s.vertices * 3 * sizeof *x1);
    for (int32_t v = first; v < s.vertices; v++) {
        x1[3 * v + 2] += turn * x1[3 * v];
        for (int c = 0; c < 3; c++)
            x1[3 * v + c] += move[c];
    }
    pl_contact_impacts found;
    ck_assert_int_eq(pl_contact_sweep(s.trees, s.x, x1, &limits, NULL, 1, &found), PL_OK);
    *at_once = found.count > 0 && found.impact[found.earliest].time == 0;
    int64_t count = found.count;
    pl_contact_impacts_clear(&found);
    contact_scene_clear(&s);
    free(x1);
    return count;
}

/* With coincident rims each pair alone has some plane between its features on the way down: straight
 * down for two rims on each other, sideways for an upright edge. Only together do they say that a cube
 * goes into the other; the outsides of the solids say it of every pair. */
START_TEST(a_block_does_not_sink_into_the_one_below)
{
    const double moves[][3] = {{0, 0, -0.1}, {0, 0, -1e-6}, {0, 0, -0.9}};
    for (int32_t cells = 1; cells < 4; cells++)
        for (size_t k = 0; k < sizeof moves / sizeof *moves; k++) {
            bool at_once;
            ck_assert_int_gt(impacts_of(cells, moves[k], 0, &at_once), 0);
            ck_assert_msg(at_once, "%d cells, move %zu", cells, k);
        }
}
END_TEST

START_TEST(a_rim_does_not_sink_into_the_block_below)
{
    bool at_once;
    for (int32_t cells = 1; cells < 4; cells++) {
        ck_assert_int_gt(impacts_of(cells, NONE, -0.1, &at_once), 0);
        ck_assert(at_once);
    }
}
END_TEST

START_TEST(a_block_may_be_lifted_and_tipped)
{
    const double up[] = {0, 0, 0.4};
    bool at_once;
    for (int32_t cells = 1; cells < 4; cells++) {
        ck_assert_int_eq(impacts_of(cells, up, 0, &at_once), 0);
        ck_assert_int_eq(impacts_of(cells, NONE, 0.2, &at_once), 0);
        ck_assert_int_eq(impacts_of(cells, NONE, 0, &at_once), 0);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("close");
    tcase_add_test(t, close_pairs_keep_a_quarter);
    tcase_add_test(t, close_pairs_may_move);
    tcase_add_test(t, others_are_found_alike);
    tcase_add_test(t, what_touches_may_leave);
    tcase_add_test(t, the_inner_side_is_no_way_out);
    tcase_add_test(t, what_passes_through_is_hit_at_once);
    tcase_add_test(t, edges_that_touch);
    tcase_add_test(t, features_that_lie_on_each_other);
    tcase_add_test(t, a_block_does_not_sink_into_the_one_below);
    tcase_add_test(t, a_rim_does_not_sink_into_the_block_below);
    tcase_add_test(t, a_block_may_be_lifted_and_tipped);
    return run_cases("contact_close", t);
}
