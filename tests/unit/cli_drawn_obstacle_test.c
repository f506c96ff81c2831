/* An obstacle is drawn from the topology's triangles and moves according to its motion; it is left out, without an
 * error, if the document has nothing to draw. */
#include "clients/cli/session/drawn_obstacle.h"

#include "tests/support/suite.h"

#define ENTRY "{\"sphere\": {\"center\": [9, 9, 9], \"radius\": 1}}"
#define SURFACE                                                                                    \
    "{\"inside\": false, \"center\": [1, 0, 0], \"vertices\": [1, 0, 0, 2, 0, 0, 1, 1, 0],"        \
    " \"triangles\": [0, 1, 2]}"

static pl_status read_obstacle(const char *entry, const char *surface, pl_drawn_obstacle *out)
{
    pl_json *given = pl_json_parse(entry, strlen(entry), NULL);
    pl_json *drawn = surface ? pl_json_parse(surface, strlen(surface), NULL) : NULL;
    pl_status status = pl_drawn_obstacle_read(given, drawn, out);
    pl_json_free(given);
    pl_json_free(drawn);
    return status;
}

START_TEST(triangles_move_about_the_centre)
{
    pl_drawn_obstacle start, moved;
    ck_assert_int_eq(read_obstacle(ENTRY, SURFACE, &start), PL_OK);
    ck_assert_int_eq(start.vertices, 3);
    ck_assert_int_eq(start.triangles, 1);
    ck_assert_int_eq(pl_drawn_obstacle_copy(&start, &moved), PL_OK);
    pl_motion motion = {
        .present = true, .velocity = {0, 0, 3}, .axis = {0, 0, 1}, .degrees_per_second = 90};
    pl_drawn_obstacle_move(&start, &motion, 1, &moved);
    static const float expected[] = {1, 0, 3, 1, 1, 3, 0, 0, 3};
    for (int i = 0; i < 9; i++)
        ck_assert_float_eq_tol(moved.positions[i], expected[i], 1e-6f);
    ck_assert_float_eq_tol(moved.point[2], 3, 1e-6f);
    pl_drawn_obstacle_clear(&start);
    pl_drawn_obstacle_clear(&moved);
}
END_TEST

START_TEST(plane_needs_no_triangles)
{
    pl_drawn_obstacle o;
    const char *plane = "{\"plane\": {\"normal\": [0, 1, 0], \"offset\": -2}}";
    ck_assert_int_eq(read_obstacle(plane, "null", &o), PL_OK);
    ck_assert_int_eq(o.triangles, 0);
    ck_assert_float_eq(o.normal[1], 1);
    ck_assert_float_eq(o.point[1], -2);
}
END_TEST

START_TEST(what_cannot_be_drawn_is_left_out)
{
    static const char *const surfaces[] = {
        NULL, /* a document of before there were triangles */
        "null",
        "{\"inside\": true, \"vertices\": [0, 0, 0], \"triangles\": [0, 0, 0]}",
        "{\"vertices\": [0, 0, 0, 1, 0, 0, 0, 1, 0], \"triangles\": [0, 1, 3]}",
        "{\"vertices\": [0, 0, 0, 1, 0, 0, 0, 1, 0], \"triangles\": [0, 1, -1]}",
        "{\"vertices\": [], \"triangles\": []}",
    };
    for (size_t k = 0; k < sizeof surfaces / sizeof *surfaces; k++) {
        pl_drawn_obstacle o;
        ck_assert_int_eq(read_obstacle(ENTRY, surfaces[k], &o), PL_INVALID);
        ck_assert_ptr_null(o.positions);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli_drawn_obstacle");
    TCase *t = tcase_create("drawn_obstacle");
    tcase_add_test(t, triangles_move_about_the_centre);
    tcase_add_test(t, plane_needs_no_triangles);
    tcase_add_test(t, what_cannot_be_drawn_is_left_out);
    suite_add_tcase(s, t);
    return run_suite(s);
}
