/* Surfaces of obstacles as triangles: vertices on the surface that distances are measured to,
 * outward, and area and volume of the closed forms to the order of the discretisation. */
#include "engine/mesh/mesh.h"
#include "engine/obstacles/shape.h"
#include "engine/obstacles/triangulate.h"
#include "engine/vectors.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const double NOWHERE[3];

/* Turned and moved, so that nothing is right by chance. */
static pl_obstacle obstacle_of(pl_obstacle_kind kind)
{
    return (pl_obstacle){.kind = kind,
                         .center = {0.3, -1.2, 2},
                         .axis = {2. / 3, -1. / 3, 2. / 3},
                         .place = {.rotate_axis = {0.6, 0, 0.8}, .rotate_degrees = 40},
                         .radius = 0.7,
                         .tube = 0.2,
                         .has_height = true,
                         .height = 1.8,
                         .size = {1, 2, 3}};
}

typedef struct sums {
    double area, volume;
} sums;

/* By the divergence theorem; the normals must agree with the distance's within 30 degrees. */
static sums measure(const pl_obstacle *o, const pl_solid_arrays *a)
{
    pl_shape *shape;
    sums total = {0};
    double n[3], normal[3], u[3], w[3], middle[3];
    ck_assert_int_eq(pl_shape_create(o, &shape), PL_OK);
    double side = (o->kind == PL_OBSTACLE_MESH ? o->mesh.inside : o->inside) ? -1 : 1;
    for (int64_t i = 0; i < a->vertex_count; i++)
        ck_assert_double_le(fabs(pl_shape_distance(shape, a->vertex + 3 * i, normal)), 1e-12);
    for (int64_t t = 0; t < a->triangle_count; t++) {
        const double *x[3];
        for (int k = 0; k < 3; k++) {
            ck_assert_int_lt(a->triangle[3 * t + k], a->vertex_count);
            x[k] = a->vertex + 3 * a->triangle[3 * t + k];
        }
        pl_vector_subtract(x[1], x[0], u);
        pl_vector_subtract(x[2], x[0], w);
        pl_vector_cross(u, w, n);
        for (int c = 0; c < 3; c++)
            middle[c] = (x[0][c] + x[1][c] + x[2][c]) / 3;
        double length = sqrt(pl_vector_dot(n, n));
        ck_assert_double_gt(length, 0);
        pl_shape_distance(shape, middle, normal);
        ck_assert_double_gt(side * pl_vector_dot(n, normal) / length, 0.86);
        total.area += length / 2;
        total.volume += pl_vector_dot(n, x[0]) / 6;
    }
    pl_shape_destroy(shape);
    return total;
}

/* Every edge lies in two triangles, once each way, where vertices in one place are one. */
static void expect_watertight(const pl_solid_arrays *a)
{
    int64_t *corner = malloc(3 * (size_t)a->triangle_count * sizeof *corner);
    for (int64_t k = 0; k < 3 * a->triangle_count; k++) {
        double apart[3];
        for (corner[k] = 0; corner[k] <= a->triangle[k]; corner[k]++) {
            pl_vector_subtract(a->vertex + 3 * corner[k], a->vertex + 3 * a->triangle[k], apart);
            if (pl_vector_dot(apart, apart) < 1e-24)
                break;
        }
    }
    pl_mesh_arrays arrays = {.vertex_count = a->vertex_count,
                             .vertices = a->vertex,
                             .triangle_count = a->triangle_count,
                             .triangles = corner};
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_from_arrays(&arrays, "", &mesh, &faults), PL_OK);
    ck_assert_int_eq(pl_mesh_check_closed(&mesh, "", &faults), PL_OK);
    ck_assert_msg(faults.total == 0, "%s", faults.count ? faults.items[0].got : "");
    pl_mesh_clear(&mesh);
    free(corner);
}

/* A circle of n sides has sin(2 pi/n) / (2 pi/n) of its area: 1 - 0.0016 at 64. A profile of 12
 * pieces a quarter lacks up to 0.003 more. */
static void expect_closed(const pl_obstacle *o, double area, double volume, double tolerance)
{
    pl_solid_arrays a;
    ck_assert_int_eq(pl_obstacle_surface_create(o, NOWHERE, 1, &a), PL_OK);
    sums total = measure(o, &a);
    expect_watertight(&a);
    ck_assert_double_le(fabs(total.area / area - 1), tolerance);
    ck_assert_double_le(fabs(total.volume / volume - 1), 2 * tolerance);
    pl_solid_arrays_clear(&a);
}

START_TEST(a_sphere_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_SPHERE);
    double r = o.radius;
    expect_closed(&o, 4 * M_PI * r * r, 4 * M_PI / 3 * r * r * r, 0.003);
    o.inside = true; /* drawn no differently */
    expect_closed(&o, 4 * M_PI * r * r, 4 * M_PI / 3 * r * r * r, 0.003);
}
END_TEST

START_TEST(a_cylinder_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_CYLINDER);
    double r = o.radius, h = o.height;
    expect_closed(&o, 2 * M_PI * r * (r + h), M_PI * r * r * h, 0.002);
}
END_TEST

/* A core disc of radius R - e, widened by e: the quarter tori's area and volume by Pappus. */
START_TEST(a_rounded_cylinder_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_CYLINDER);
    double e = o.rounding = 0.15, r = o.radius - e, h = o.height - 2 * e;
    double area = 2 * M_PI * r * r + 2 * M_PI * o.radius * h +
                  4 * M_PI * (M_PI / 2 * e * r + e * e);
    double volume = M_PI * o.radius * o.radius * h + 2 * M_PI * r * r * e +
                    4 * M_PI * (M_PI / 4 * e * e * r + e * e * e / 3);
    expect_closed(&o, area, volume, 0.003);
}
END_TEST

START_TEST(a_cylinder_without_height_is_cut_at_100_radii)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_CYLINDER);
    pl_solid_arrays a;
    o.has_height = false;
    ck_assert_int_eq(pl_obstacle_surface_create(&o, NOWHERE, 1, &a), PL_OK);
    double from[3], lo = INFINITY, hi = -INFINITY;
    for (int64_t i = 0; i < a.vertex_count; i++) {
        pl_vector_subtract(a.vertex + 3 * i, o.center, from);
        lo = fmin(lo, pl_vector_dot(from, o.axis));
        hi = fmax(hi, pl_vector_dot(from, o.axis));
    }
    ck_assert_double_eq_tol(lo, -50 * o.radius, 1e-9);
    ck_assert_double_eq_tol(hi, 50 * o.radius, 1e-9);
    pl_solid_arrays_clear(&a);
}
END_TEST

START_TEST(a_capsule_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_CAPSULE);
    double r = o.radius, h = o.height;
    expect_closed(&o, 2 * M_PI * r * (2 * r + h), M_PI * r * r * (4 * r / 3 + h), 0.003);
}
END_TEST

START_TEST(a_cone_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_CONE);
    double r = o.radius, h = o.height;
    expect_closed(&o, M_PI * r * (r + hypot(r, h)), M_PI * r * r * h / 3, 0.003);
}
END_TEST

START_TEST(a_torus_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_TORUS);
    double r = o.radius, t = o.tube;
    expect_closed(&o, 4 * M_PI * M_PI * r * t, 2 * M_PI * M_PI * r * t * t, 0.003);
}
END_TEST

START_TEST(a_box_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_BOX);
    expect_closed(&o, 22, 6, 1e-14);
}
END_TEST

/* Steiner: a core box with edges a, b, c, widened by e. */
START_TEST(a_rounded_box_has_its_area_and_volume)
{
    pl_obstacle o = obstacle_of(PL_OBSTACLE_BOX);
    double e = o.rounding = 0.25, a = 0.5, b = 1.5, c = 2.5;
    double faces = 2 * (a * b + b * c + c * a), edges = a + b + c;
    expect_closed(&o, faces + 2 * M_PI * e * edges + 4 * M_PI * e * e,
                  a * b * c + faces * e + M_PI * e * e * edges + 4 * M_PI / 3 * e * e * e, 0.003);
}
END_TEST

START_TEST(a_plane_is_a_square_about_the_scene)
{
    pl_obstacle o = {.kind = PL_OBSTACLE_PLANE, .normal = {2. / 3, -1. / 3, 2. / 3}, .offset = 3};
    double around[3] = {5, -4, 1}, middle[3] = {0}, from[3];
    pl_solid_arrays a;
    ck_assert_int_eq(pl_obstacle_surface_create(&o, around, 8, &a), PL_OK);
    ck_assert_double_eq_tol(measure(&o, &a).area, 64, 1e-12);
    for (int64_t i = 0; i < 3 * a.vertex_count; i++)
        middle[i % 3] += a.vertex[i] / (double)a.vertex_count;
    pl_vector_subtract(middle, around, from);
    double away = pl_vector_dot(from, o.normal);
    ck_assert_double_eq_tol(sqrt(pl_vector_dot(from, from)), fabs(away), 1e-12);
    pl_solid_arrays_clear(&a);
}
END_TEST

/* z = 0.5 x on a 2 x 3 grid of spacing 0.4: area of the slanted rectangle. */
START_TEST(a_heightfield_is_its_top)
{
    double heights[] = {0, 0.2, 0.4, 0, 0.2, 0.4};
    pl_obstacle o = obstacle_of(PL_OBSTACLE_HEIGHTFIELD);
    o.rows = 2;
    o.columns = 3;
    o.heights = heights;
    o.spacing = 0.4;
    pl_solid_arrays a;
    ck_assert_int_eq(pl_obstacle_surface_create(&o, NOWHERE, 1, &a), PL_OK);
    ck_assert_int_eq(a.vertex_count, 6);
    ck_assert_int_eq(a.triangle_count, 4);
    ck_assert_double_eq_tol(measure(&o, &a).area, 0.4 * sqrt(0.8 * 0.8 + 0.4 * 0.4), 1e-14);
    pl_solid_arrays_clear(&a);
}
END_TEST

/* A tetrahedron with legs of 1, scaled by 2. */
START_TEST(a_mesh_is_its_own_surface)
{
    double vertices[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    int64_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    pl_obstacle o = {.kind = PL_OBSTACLE_MESH};
    o.mesh.source.vertex_count = 4;
    o.mesh.source.triangle_count = 4;
    o.mesh.source.vertices = vertices;
    o.mesh.source.triangles = triangles;
    o.mesh.transform = (pl_transform){.scale = {2, 2, 2}, .rotate_axis = {0, 0, 1}};
    expect_closed(&o, 4 * (1.5 + sqrt(3) / 2), 8. / 6, 1e-14);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("triangulate");
    tcase_add_test(cases, a_sphere_has_its_area_and_volume);
    tcase_add_test(cases, a_cylinder_has_its_area_and_volume);
    tcase_add_test(cases, a_rounded_cylinder_has_its_area_and_volume);
    tcase_add_test(cases, a_cylinder_without_height_is_cut_at_100_radii);
    tcase_add_test(cases, a_capsule_has_its_area_and_volume);
    tcase_add_test(cases, a_cone_has_its_area_and_volume);
    tcase_add_test(cases, a_torus_has_its_area_and_volume);
    tcase_add_test(cases, a_box_has_its_area_and_volume);
    tcase_add_test(cases, a_rounded_box_has_its_area_and_volume);
    tcase_add_test(cases, a_plane_is_a_square_about_the_scene);
    tcase_add_test(cases, a_heightfield_is_its_top);
    tcase_add_test(cases, a_mesh_is_its_own_surface);
    return run_cases("obstacles_triangulate", cases);
}
