/* Pairs as constraints: weights, normal and gap against exact distances, by hand and by differences;
 * and which way solids push each other where they touch. */
#include "engine/contact/measure.h"
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

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* sum w n . x, and the sum of weights of each feature. */
static double gap_at(const pl_contact_pair *p, const double *x)
{
    double gap = 0;
    for (int k = 0; k < 4 && p->vertex[k] >= 0; k++)
        gap += p->weight[k] * dot(p->normal, x + 3 * p->vertex[k]);
    return gap;
}

static long double exact_distance(const pl_contact_pair *p, const double *x)
{
    exact_point at[4] = {{0}};
    for (int k = 0; k < 4 && p->vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            at[k][c] = x[3 * p->vertex[k] + c];
    switch (p->kind) {
    case PL_CONTACT_VERTEX_TRIANGLE:
        return exact_point_triangle(at[0], at + 1, NULL);
    case PL_CONTACT_EDGE_EDGE:
        return exact_edge_edge(at, at + 2, NULL);
    case PL_CONTACT_VERTEX_EDGE:
        return exact_point_edge(at[0], at[1], at[2], NULL);
    default:
        return exact_point_edge(at[0], at[1], at[1], NULL);
    }
}

static void check_pair(const pl_contact_pair *p, const double *x)
{
    const int first = pl_contact_corners[p->kind][0], second = pl_contact_corners[p->kind][1];
    double own = 0, other = 0;
    for (int k = 0; k < first + second; k++) {
        ck_assert_int_ge(p->vertex[k], 0);
        ck_assert(k < first ? p->weight[k] >= 0 : p->weight[k] <= 0);
        *(k < first ? &own : &other) += p->weight[k];
    }
    for (int k = first + second; k < 4; k++)
        ck_assert_int_eq(p->vertex[k], -1);
    ck_assert_double_eq_tol(own, 1, 1e-15);
    ck_assert_double_eq_tol(other, -1, 1e-15);
    ck_assert_double_eq_tol(dot(p->normal, p->normal), 1, 1e-14);
    ck_assert_double_ge(p->gap, 0);
    ck_assert_double_eq_tol(gap_at(p, x), p->gap, 1e-13);
    ck_assert_double_eq_tol(p->gap, (double)exact_distance(p, x), 1e-13);
}

/* One triangle and one segment each of two bodies. */
static void add_random(contact_scene *s)
{
    const int32_t triangle[] = {0, 1, 2}, segment[] = {3, 4};
    for (int b = 0; b < 2; b++) {
        double x[15];
        for (int i = 0; i < 15; i++)
            x[i] = draw();
        contact_scene_add(s, x, 5, triangle, 1, segment, 1);
    }
    contact_scene_finish(s);
}

static int32_t features(const contact_scene *s, pl_contact_kind kind, int which)
{
    if (kind == PL_CONTACT_EDGE_EDGE || (kind == PL_CONTACT_VERTEX_EDGE && which))
        return s->surface->edges;
    return kind == PL_CONTACT_VERTEX_TRIANGLE && which ? s->surface->triangles
                                                       : s->surface->vertices;
}

static bool shares(const pl_contact_pair *p)
{
    const int first = pl_contact_corners[p->kind][0];
    bool common = false;
    for (int i = 0; i < first; i++)
        for (int j = first; j < 4 && p->vertex[j] >= 0; j++)
            common = common || p->vertex[i] == p->vertex[j];
    return common;
}

START_TEST(random_pairs_are_as_far_apart_as_they_are)
{
    seed = 1;
    for (int n = 0; n < 400; n++) {
        contact_scene s = {0};
        add_random(&s);
        for (int kind = 0; kind < 4; kind++)
            for (int32_t a = 0; a < features(&s, (pl_contact_kind)kind, 0); a++)
                for (int32_t b = 0; b < features(&s, (pl_contact_kind)kind, 1); b++) {
                    pl_contact_pair p = pl_contact_measure(s.surface, s.x, (pl_contact_kind)kind, a,
                                                           b);
                    if (!shares(&p))
                        check_pair(&p, s.x);
                }
        contact_scene_clear(&s);
    }
}
END_TEST

/* ---- by hand ---- */

static void check_vector(const double got[3], double x, double y, double z)
{
    const double due[] = {x, y, z};
    for (int c = 0; c < 3; c++)
        ck_assert_msg(fabs(got[c] - due[c]) <= 1e-14, "component %d: %.17g, not %.17g", c, got[c],
                      due[c]);
}

/* A vertex above and one below the middle of a triangle, which is body 0; a rope beside it. */
START_TEST(a_vertex_and_a_triangle)
{
    for (int up = -1; up <= 1; up += 2) {
        const double x[] = {0, 0, 0, 3, 0, 0, 0, 3, 0}, y[] = {1, 1, 0.25 * up, 5, 5, 5};
        contact_scene s = {0};
        contact_scene_add(&s, x, 3, (const int32_t[]){0, 1, 2}, 1, NULL, 0);
        contact_scene_add(&s, y, 2, NULL, 0, (const int32_t[]){0, 1}, 1);
        contact_scene_finish(&s);
        pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_TRIANGLE, 3, 0);
        ck_assert_int_eq(p.side, up);
        ck_assert_double_eq_tol(p.gap, 0.25, 1e-15);
        check_vector(p.normal, 0, 0, up);
        for (int k = 0; k < 4; k++)
            ck_assert_double_eq_tol(p.weight[k], k ? -1.0 / 3 : 1, 1e-15);
        contact_scene_clear(&s);
    }
}
END_TEST

/* The order of a triangle's corners decides which side is in front. */
START_TEST(a_triangle_that_is_turned)
{
    const double x[] = {0, 0, 0, 3, 0, 0, 0, 3, 0}, y[] = {1, 1, 0.25, 5, 5, 5};
    contact_scene s = {0};
    contact_scene_add(&s, x, 3, (const int32_t[]){0, 2, 1}, 1, NULL, 0);
    contact_scene_add(&s, y, 2, NULL, 0, (const int32_t[]){0, 1}, 1);
    contact_scene_finish(&s);
    pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_TRIANGLE, 3, 0);
    ck_assert_int_eq(p.side, -1);
    check_vector(p.normal, 0, 0, 1);
    contact_scene_clear(&s);
}
END_TEST

/* Two ropes that cross, with the first one above; a vertex beside a rope; two vertices. */
START_TEST(ropes)
{
    const double x[] = {-1, 0, 0.5, 3, 0, 0.5}, y[] = {0, -1, 0, 0, 1, 0};
    contact_scene s = {0};
    contact_scene_add(&s, x, 2, NULL, 0, (const int32_t[]){0, 1}, 1);
    contact_scene_add(&s, y, 2, NULL, 0, (const int32_t[]){0, 1}, 1);
    contact_scene_finish(&s);
    pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_EDGE_EDGE, 0, 1);
    const double cross[] = {0.75, 0.25, -0.5, -0.5}, beside[] = {1, -0.75, -0.25};
    check_vector(p.normal, 0, 0, 1);
    ck_assert_double_eq_tol(p.gap, 0.5, 1e-15);
    for (int k = 0; k < 4; k++)
        ck_assert_double_eq_tol(p.weight[k], cross[k], 1e-15);
    p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_EDGE, 2, 0); /* (0, -1, 0) */
    check_vector(p.normal, 0, -1 / sqrt(1.25), -0.5 / sqrt(1.25));
    for (int k = 0; k < 3; k++)
        ck_assert_double_eq_tol(p.weight[k], beside[k], 1e-15);
    p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_VERTEX, 0, 2);
    const double length = sqrt(1 + 1 + 0.25);
    ck_assert_double_eq_tol(p.gap, length, 1e-15);
    check_vector(p.normal, -1 / length, 1 / length, 0.5 / length);
    contact_scene_clear(&s);
}
END_TEST

/* ---- differences ---- */

/* The gap's derivative by a corner is w n: that of the distance, where closest points are inside. */
static int check_differences(contact_scene *s, pl_contact_kind kind, int32_t a, int32_t b)
{
    const double h = 1e-6;
    pl_contact_pair p = pl_contact_measure(s->surface, s->x, kind, a, b);
    bool inside = p.gap > 0.1;
    for (int k = 0; k < 4; k++)
        inside = inside && fabs(p.weight[k]) > 0.05 && fabs(p.weight[k]) <= 1;
    if (!inside)
        return 0;
    for (int k = 0; k < 4; k++)
        for (int c = 0; c < 3; c++) {
            double *at = s->x + 3 * p.vertex[k] + c, was = *at;
            *at = was + h;
            double more = pl_contact_measure(s->surface, s->x, kind, a, b).gap;
            *at = was - h;
            double less = pl_contact_measure(s->surface, s->x, kind, a, b).gap;
            *at = was;
            ck_assert_double_eq_tol((more - less) / (2 * h), p.weight[k] * p.normal[c], 1e-8);
        }
    return 1;
}

START_TEST(the_gap_changes_as_weights_and_normal_say)
{
    int seen[2] = {0};
    seed = 2;
    for (int n = 0; n < 1000; n++) {
        contact_scene s = {0};
        add_random(&s);
        for (int32_t v = 5; v < 10; v++)
            seen[0] += check_differences(&s, PL_CONTACT_VERTEX_TRIANGLE, v, 0);
        for (int32_t b = 4; b < 8; b++)
            seen[1] += check_differences(&s, PL_CONTACT_EDGE_EDGE, 0, b);
        contact_scene_clear(&s);
    }
    ck_assert_int_gt(seen[0], 200);
    ck_assert_int_gt(seen[1], 200);
}
END_TEST

/* ---- solids that touch ---- */

static const uint8_t SOLID[] = {1, 1};
static const double UNIT[] = {1, 1, 1}, ORIGIN[3];
static const int32_t CELLS[] = {2, 2, 2};

/* A cube, body 0, and another one, at an offset from it. */
static contact_scene two_cubes(const double offset[3], const uint8_t *solid)
{
    contact_scene s = {.solid = solid};
    contact_scene_add_box(&s, ORIGIN, UNIT, CELLS);
    contact_scene_add_box(&s, offset, UNIT, CELLS);
    contact_scene_finish(&s);
    return s;
}

static int32_t body_of(const contact_scene *s, const pl_contact_pair *p, int which)
{
    return s->body[p->vertex[which ? pl_contact_corners[p->kind][0] : 0]];
}

/* Calls `look` with each pair of features of the two bodies that are at most `reach` apart. */
typedef void looker(const contact_scene *s, const pl_contact_pair *p, double up);

static int look_at_pairs(const contact_scene *s, double reach, looker *look)
{
    int count = 0;
    for (int kind = 0; kind < 4; kind++)
        for (int32_t a = 0; a < features(s, (pl_contact_kind)kind, 0); a++)
            for (int32_t b = 0; b < features(s, (pl_contact_kind)kind, 1); b++) {
                pl_contact_pair p = pl_contact_measure(s->surface, s->x, (pl_contact_kind)kind, a,
                                                       b);
                int32_t first = body_of(s, &p, 0), second = body_of(s, &p, 1);
                if (first == second || p.gap > reach)
                    continue;
                look(s, &p, first > second ? 1 : -1);
                count++;
            }
    return count;
}

/* Not along or into the surface: within the cone of normals of a cube's corner. */
static void is_outward(const contact_scene *s, const pl_contact_pair *p, double up)
{
    (void)s;
    ck_assert_double_eq_tol(dot(p->normal, p->normal), 1, 1e-14);
    ck_assert_msg(up * p->normal[2] > 0.4, "kind %d of %d, %d: %g %g %g", (int)p->kind,
                  p->feature[0], p->feature[1], p->normal[0], p->normal[1], p->normal[2]);
}

/* The second cube lies on the first, with the same coordinates there: every pair pushes it up, however
 * rounding falls out. */
START_TEST(cubes_with_a_common_face_push_each_other_out)
{
    const double above[] = {0, 0, 1};
    contact_scene s = two_cubes(above, SOLID);
    ck_assert_int_gt(look_at_pairs(&s, 1e-12, is_outward), 100);
    contact_scene_clear(&s);
}
END_TEST

/* Of a vertex inside of the face and a triangle the direction is the face's own. */
static void is_straight(const contact_scene *s, const pl_contact_pair *p, double up)
{
    const double *v = s->x + 3 * p->vertex[0];
    bool face = p->kind == PL_CONTACT_VERTEX_TRIANGLE && v[0] == 0.5 && v[1] == 0.5;
    if (!face || p->weight[1] == 0 || p->weight[2] == 0 || p->weight[3] == 0)
        return;
    ck_assert_double_eq(p->normal[0], 0);
    ck_assert_double_eq(p->normal[1], 0);
    ck_assert_double_eq(p->normal[2], up);
}

START_TEST(a_vertex_in_a_face_is_pushed_along_its_normal)
{
    const double above[] = {0.125, 0.25, 1};
    contact_scene s = two_cubes(above, SOLID);
    look_at_pairs(&s, 1e-12, is_straight);
    contact_scene_clear(&s);
}
END_TEST

/* Corners that almost coincide, after one cube has slid a little: the vector between them is along the surfaces and
 * carries no information. */
START_TEST(corners_close_to_each_other_push_outwards)
{
    for (int k = 0; k < 3; k++) {
        const double slid[] = {1e-5 * k, 2e-5, 1 + 1e-7};
        contact_scene s = two_cubes(slid, SOLID);
        int count = 0;
        for (int32_t a = 0; a < s.surface->vertices; a++)
            for (int32_t b = 0; b < a; b++) {
                pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_VERTEX, a,
                                                       b);
                if (body_of(&s, &p, 0) == body_of(&s, &p, 1) || p.gap > 3e-5)
                    continue;
                is_outward(&s, &p, 1);
                count++;
            }
        ck_assert_int_eq(count, 9);
        contact_scene_clear(&s);
    }
}
END_TEST

/* Farther apart the direction is the vector between them, as for sheets at any distance. */
START_TEST(others_push_along_the_way_between_them)
{
    const double slid[] = {0.003, 0, 1.004}, near[] = {3e-6, 0, 1 + 4e-6};
    for (int sheets = 0; sheets < 2; sheets++) {
        contact_scene s = two_cubes(sheets ? near : slid, sheets ? NULL : SOLID);
        int32_t top = 0;
        while (s.x[3 * top] != 1 || s.x[3 * top + 1] != 1 || s.x[3 * top + 2] != 1)
            top++;
        int32_t bottom = s.vertices / 2;
        while (s.x[3 * bottom] < 1 || s.x[3 * bottom + 1] != 1 || s.x[3 * bottom + 2] > 1.1)
            bottom++;
        pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_VERTEX,
                                               s.surface->place[bottom], s.surface->place[top]);
        ck_assert_double_eq_tol(p.normal[0], 0.6, 1e-9);
        ck_assert_double_eq_tol(p.normal[1], 0, 1e-9);
        ck_assert_double_eq_tol(p.normal[2], 0.8, 1e-9);
        contact_scene_clear(&s);
    }
}
END_TEST

START_TEST(what_has_no_direction_gets_one)
{
    const double above[] = {0, 0, 1};
    contact_scene s = two_cubes(above, NULL);
    for (int kind = 0; kind < 4; kind++)
        for (int32_t a = 0; a < features(&s, (pl_contact_kind)kind, 0); a++)
            for (int32_t b = 0; b < features(&s, (pl_contact_kind)kind, 1); b++) {
                pl_contact_pair p = pl_contact_measure(s.surface, s.x, (pl_contact_kind)kind, a, b);
                ck_assert_double_eq_tol(dot(p.normal, p.normal), 1, 1e-14);
            }
    contact_scene_clear(&s);
}
END_TEST

/* ---- outward ---- */

static int32_t vertex_at(const contact_scene *s, int32_t body, double x, double y, double z)
{
    for (int32_t v = 0; v < s->vertices; v++)
        if (s->body[v] == body && s->x[3 * v] == x && s->x[3 * v + 1] == y && s->x[3 * v + 2] == z)
            return s->surface->place[v];
    ck_abort_msg("no vertex of body %d at %g %g %g", body, x, y, z);
}

/* A vertex in the middle of the upper cube's lower face has six or eight triangles around, each seen
 * from two edges, of 1/8 m2; the triangle itself counts once, twice its area. */
START_TEST(outward_is_of_the_triangles_where_closest_points_are)
{
    const double above[] = {0.125, 0.25, 1};
    contact_scene s = two_cubes(above, SOLID);
    int32_t v = vertex_at(&s, 1, 0.625, 0.75, 1), found = -1;
    for (int32_t t = 0; t < s.surface->triangles && found < 0; t++) {
        pl_contact_pair p = pl_contact_measure(s.surface, s.x, PL_CONTACT_VERTEX_TRIANGLE, v, t);
        if (s.surface->triangle_body[t] == 0 && p.gap < 1e-12 && p.weight[1] < -0.06 &&
            p.weight[2] < -0.06 && p.weight[3] < -0.06)
            found = t;
    }
    ck_assert_int_ge(found, 0);
    int32_t around = 0;
    for (int32_t e = s.surface->vertex_first[v]; e < s.surface->vertex_first[v + 1]; e++)
        around++;
    double out[3];
    pl_contact_outward(s.surface, s.x, PL_CONTACT_VERTEX_TRIANGLE, v, found, out);
    check_vector(out, 0, 0, 2 * around * 0.25 + 0.25);
    contact_scene_clear(&s);
}
END_TEST

START_TEST(sheets_have_no_outside)
{
    static const uint8_t none[2], second[] = {0, 1};
    const double above[] = {0, 0, 1};
    contact_scene s = two_cubes(above, none);
    double out[3];
    pl_contact_outward(s.surface, s.x, PL_CONTACT_VERTEX_TRIANGLE, s.surface->vertices - 1, 0, out);
    check_vector(out, 0, 0, 0);
    contact_scene_clear(&s);
    s = two_cubes(above,
                  second); /* a sheet below a solid: out of the solid, which is up for the sheet */
    pl_contact_outward(s.surface, s.x, PL_CONTACT_VERTEX_VERTEX, vertex_at(&s, 1, 0.5, 0.5, 1),
                       vertex_at(&s, 0, 0.5, 0.5, 1), out);
    ck_assert(out[2] > 0 && out[0] == 0 && out[1] == 0);
    contact_scene_clear(&s);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("measure");
    tcase_add_test(t, random_pairs_are_as_far_apart_as_they_are);
    tcase_add_test(t, a_vertex_and_a_triangle);
    tcase_add_test(t, a_triangle_that_is_turned);
    tcase_add_test(t, ropes);
    tcase_add_test(t, the_gap_changes_as_weights_and_normal_say);
    tcase_add_test(t, cubes_with_a_common_face_push_each_other_out);
    tcase_add_test(t, a_vertex_in_a_face_is_pushed_along_its_normal);
    tcase_add_test(t, corners_close_to_each_other_push_outwards);
    tcase_add_test(t, others_push_along_the_way_between_them);
    tcase_add_test(t, what_has_no_direction_gets_one);
    tcase_add_test(t, outward_is_of_the_triangles_where_closest_points_are);
    tcase_add_test(t, sheets_have_no_outside);
    return run_cases("contact_measure", t);
}
