/* The collision surface's joints, compared with a search through all triangles; and rejected surfaces. */
#include "engine/contact/surface.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static bool has(const int32_t *corner, int corners, int32_t vertex)
{
    for (int k = 0; k < corners; k++)
        if (corner[k] == vertex)
            return true;
    return false;
}

static void check_edge(const contact_scene *scene, int32_t e)
{
    const pl_contact_surface *s = scene->surface;
    const int32_t *end = s->edge + 2 * e;
    ck_assert_int_lt(end[0], end[1]);
    if (e > 0)
        ck_assert(end[-2] < end[0] || (end[-2] == end[0] && end[-1] < end[1]));
    ck_assert_int_eq(s->edge_body[e], scene->body[end[0]]);
    int32_t at = s->edge_first[e];
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *corner = scene->triangle + 3 * t;
        if (!has(corner, 3, end[0]) || !has(corner, 3, end[1]))
            continue;
        ck_assert_int_lt(at, s->edge_first[e + 1]);
        ck_assert_int_eq(s->edge_triangle[at], t);
        ck_assert(has(corner, 3, s->edge_opposite[at]) && !has(end, 2, s->edge_opposite[at]));
        at++;
    }
    ck_assert_int_eq(at, s->edge_first[e + 1]);
}

static void check_vertex(const contact_scene *scene, int32_t v)
{
    const pl_contact_surface *s = scene->surface;
    int32_t at = s->vertex_first[v];
    ck_assert_int_eq(s->place[s->vertex[v]], v);
    ck_assert_int_eq(s->vertex_body[v], scene->body[s->vertex[v]]);
    for (int32_t e = 0; e < s->edges; e++)
        if (has(s->edge + 2 * e, 2, s->vertex[v])) {
            ck_assert_int_lt(at, s->vertex_first[v + 1]);
            ck_assert_int_eq(s->vertex_edge[at++], e);
        }
    ck_assert_int_eq(at, s->vertex_first[v + 1]);
}

/* Whether three corners, sorted, run the other way round than the source's. */
static bool is_turned(const int32_t *sorted, const int32_t *source)
{
    int k = 0;
    while (source[k] != sorted[0])
        k++;
    return source[(k + 1) % 3] != sorted[1];
}

static void check_surface(const contact_scene *scene)
{
    const pl_contact_surface *s = scene->surface;
    for (int32_t e = 0; e < s->edges; e++)
        check_edge(scene, e);
    for (int32_t v = 0; v < s->vertices; v++)
        check_vertex(scene, v);
    for (int32_t t = 0; t < s->triangles; t++) {
        const int32_t *corner = s->triangle + 3 * t;
        ck_assert(corner[0] < corner[1] && corner[1] < corner[2]);
        ck_assert_int_eq(s->turned[t], is_turned(corner, scene->triangle + 3 * t));
        for (int k = 0; k < 3; k++) {
            const int32_t *end = s->edge + 2 * s->triangle_edge[3 * t + k];
            ck_assert_int_eq(end[0], corner[pl_contact_side[k][0]]);
            ck_assert_int_eq(end[1], corner[pl_contact_side[k][1]]);
        }
    }
}

/* Triangles of random corners share edges by threes and more; with ropes and inner vertices. */
START_TEST(joints_are_those_of_a_search)
{
    uint64_t seed = 1;
    for (int n = 0; n < 30; n++) {
        contact_scene s = {0};
        double x[3 * 12] = {0};
        int32_t triangle[3 * 20], segment[2 * 6];
        for (int body = 0; body < 3; body++) {
            for (int k = 0; k < 20; k++)
                do
                    for (int c = 0; c < 3; c++)
                        triangle[3 * k + c] = (int32_t)(5 + 5 * contact_draw(&seed));
                while (triangle[3 * k] == triangle[3 * k + 1] ||
                       triangle[3 * k] == triangle[3 * k + 2] ||
                       triangle[3 * k + 1] == triangle[3 * k + 2]);
            for (int k = 0; k < 6; k++) {
                segment[2 * k] = (int32_t)(5 + 5 * contact_draw(&seed));
                segment[2 * k + 1] = k % 2 ? 10 : (segment[2 * k] + 1) % 10;
            }
            contact_scene_add(&s, x, 12, triangle, 20, segment, body == 1 ? 6 : 0);
        }
        contact_scene_finish(&s);
        ck_assert_int_lt(s.surface->vertices, s.vertices);
        ck_assert_int_gt(s.surface->ropes, 0);
        ck_assert_int_eq(s.surface->bodies, 3);
        check_surface(&s);
        contact_scene_clear(&s);
    }
}
END_TEST

START_TEST(a_ball_is_closed)
{
    contact_scene s = {0};
    pl_mesh ball;
    ck_assert_int_eq(pl_mesh_sphere(1, 6, &ball), PL_OK);
    contact_scene_add_mesh(&s, &ball, (double[3]){0});
    contact_scene_finish(&s);
    ck_assert_int_eq(2 * s.surface->edges, 3 * s.surface->triangles);
    ck_assert_int_eq(s.surface->vertices - s.surface->edges + s.surface->triangles, 2); /* Euler */
    ck_assert_int_eq(s.surface->ropes, 0);
    check_surface(&s);
    contact_scene_clear(&s);
}
END_TEST

START_TEST(nothing_is_a_surface_too)
{
    contact_scene s = {0};
    contact_scene_add(&s, NULL, 0, NULL, 0, NULL, 0);
    contact_scene_finish(&s);
    ck_assert_int_eq(s.surface->vertices + s.surface->edges + s.surface->triangles, 0);
    pl_contact_pairs pairs = contact_scene_pairs(&s, s.x, 1, 2);
    ck_assert_int_eq(pairs.count, 0);
    pl_contact_pairs_clear(&pairs);
    contact_scene_clear(&s);
}
END_TEST

START_TEST(wrong_indices_are_refused)
{
    const int32_t body[6] = {0, 0, 0, 1, 1, -1};
    const int32_t triangles[][3] = {{0, 1, 6}, {0, -1, 2}, {0, 1, 1}, {2, 1, 2},
                                    {0, 1, 3}, {3, 4, 5},  {5, 5, 5}, {0, 0, 1}};
    const int32_t segments[][2] = {{0, 6}, {-1, 0}, {2, 2}, {2, 3}, {4, 5}};
    pl_contact_surface *s;
    for (size_t k = 0; k < sizeof triangles / sizeof *triangles; k++) {
        const pl_contact_source source = {6, body, 1, triangles[k], 0, NULL, NULL};
        ck_assert_int_eq(pl_contact_surface_create(&source, &s), PL_INVALID);
        ck_assert_ptr_null(s);
    }
    for (size_t k = 0; k < sizeof segments / sizeof *segments; k++) {
        const pl_contact_source source = {6, body, 0, NULL, 1, segments[k], NULL};
        ck_assert_int_eq(pl_contact_surface_create(&source, &s), PL_INVALID);
        ck_assert_ptr_null(s);
    }
    const pl_contact_source many = {6, body, 1 << 29, triangles[0], 0, NULL, NULL};
    ck_assert_int_eq(pl_contact_surface_create(&many, &s), PL_INVALID);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("surface");
    tcase_add_test(t, joints_are_those_of_a_search);
    tcase_add_test(t, a_ball_is_closed);
    tcase_add_test(t, nothing_is_a_surface_too);
    tcase_add_test(t, wrong_indices_are_refused);
    return run_cases("contact_surface", t);
}
