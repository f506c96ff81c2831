/* Points of contact from rows: their values, and which are listed if there are too many. */
#include "engine/contact/points.h"
#include "tests/support/contact_scene.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* A triangle in the plane z = 0 of body 1, and a vertex above it of body 0's triangle; a rope's vertex of body 2. */
static const double X[] = {0.25, 0.25, 0.5, 0.25, 0.25, 3, 1, 1, 3, 0, 0, 0,
                           1,    0,    0,   0,    1,    0, 0, 0, 9, 0, 0, 10};
static const int32_t BODY[] = {0, 0, 0, 1, 1, 1, 2, 2}, TRIANGLE[] = {0, 1, 2, 3, 4, 5},
                     SEGMENT[] = {6, 7};

static pl_contact_surface *surface_of(void)
{
    pl_contact_surface *s;
    const pl_contact_source source = {8, BODY, 2, TRIANGLE, 1, SEGMENT, NULL};
    ck_assert_int_eq(pl_contact_surface_create(&source, &s), PL_OK);
    return s;
}

static pl_contact_row row_of(double force)
{
    return (pl_contact_row){.pair = {.kind = PL_CONTACT_VERTEX_TRIANGLE,
                                     .vertex = {0, 3, 4, 5},
                                     .weight = {1, -0.5, -0.25, -0.25},
                                     .normal = {0, 0, 1}},
                            .force = force,
                            .grip = {2, -3, 0}};
}

START_TEST(a_point_says_where_and_how)
{
    pl_contact_row row[] = {row_of(7), row_of(0), row_of(5)};
    pl_contact_rows rows = {.count = 3, .row = row};
    pl_contact_bodies bodies = {.surface = surface_of(), .count = 3};
    pl_contact_points points = {0};
    /* The same touch told from the other side: of the triangle's body on the vertex', with the lower body first. */
    row[2].pair.vertex[0] = 3;
    row[2].pair.vertex[1] = 0;
    row[2].pair.vertex[2] = row[2].pair.vertex[3] = -1;
    row[2].pair.weight[1] = -1;
    row[2].pair.normal[2] = -1;
    ck_assert_int_eq(pl_contact_points_find(&rows, &bodies, X, &points), PL_OK);
    ck_assert_int_eq(points.count, 2); /* one carries no force */
    const pl_contact_point *p = points.point;
    ck_assert(p->body[0] == 0 && p->body[1] == 1);
    const double place[] = {0.25, 0.25, 0.25}, newton[] = {2, -3, -7};
    for (int c = 0; c < 3; c++) {
        ck_assert_double_eq_tol(p->place[c], place[c], 1e-15);
        ck_assert_double_eq_tol(p->newton[c], newton[c], 1e-15);
    }
    ck_assert_double_eq_tol(p->gap, 0.5, 1e-15);
    ck_assert(p[1].body[0] == 0 && p[1].body[1] == 1);
    ck_assert_double_eq_tol(p[1].newton[2], -5, 1e-15);
    ck_assert_double_eq_tol(p[1].newton[0], -2, 1e-15);
    ck_assert_double_eq_tol(p[1].gap, 0.5, 1e-15);
    ck_assert_double_eq_tol(p[1].place[0], 0.125, 1e-15);
    pl_contact_points_clear(&points);
    pl_contact_surface_destroy(bodies.surface);
}
END_TEST

/* If there are too many, those with the largest forces stay, in the order of the rows; of equal ones the first. */
START_TEST(too_many_are_cut)
{
    enum { MORE = 1000, ALL = PL_CONTACT_POINTS + MORE };
    pl_contact_row *row = malloc(ALL * sizeof *row);
    pl_contact_rows rows = {.count = ALL, .row = row};
    pl_contact_bodies bodies = {.surface = surface_of(), .count = 3};
    pl_contact_points points = {0};
    int64_t strong = 0;
    for (int64_t i = 0; i < ALL; i++) {
        row[i] = row_of(_i == 0 ? 3 : 1 + (double)(i * 7919 % ALL));
        row[i].grip[0] = (double)i;
    }
    ck_assert_int_eq(pl_contact_points_find(&rows, &bodies, X, &points), PL_OK);
    ck_assert_int_eq(points.count, PL_CONTACT_POINTS);
    for (int64_t i = 0; i < points.count; i++) {
        const double number = points.point[i].newton[0];
        if (_i == 0)
            ck_assert_double_eq(number, (double)i);
        else
            ck_assert_double_gt(-points.point[i].newton[2], MORE);
        ck_assert(i == 0 || number > points.point[i - 1].newton[0]);
        strong += number >= 0;
    }
    ck_assert_int_eq(strong, PL_CONTACT_POINTS);
    pl_contact_points_clear(&points);
    pl_contact_surface_destroy(bodies.surface);
    free(row);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("points");
    tcase_add_test(t, a_point_says_where_and_how);
    tcase_add_loop_test(t, too_many_are_cut, 0, 2);
    return run_cases("contact_points", t);
}
