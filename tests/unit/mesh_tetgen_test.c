/* TetGen files: both numberings, attributes, markers, comments, and faults by file and line. */
#include "tests/unit/mesh_files.h"

START_TEST(public_files_are_read)
{
    accepted(PL_MESH_TETGEN, MESHES "admm_sphere.node", MESHES "admm_sphere.ele", 957, 3100,
             4.12339);
    accepted(PL_MESH_TETGEN, MESHES "admm_box768.node", MESHES "admm_box768.ele", 413, 1175, 1);
}
END_TEST

START_TEST(scans_are_read)
{
    if (!has_scans())
        skip_test("mesh_tetgen scans_are_read: no " SCANS);
    accepted(PL_MESH_TETGEN, SCANS "admm_bunny_1124.node", SCANS "admm_bunny_1124.ele", 777, 2510,
             -1);
    accepted(PL_MESH_TETGEN, SCANS "armadillo_4k.node", SCANS "armadillo_4k.ele", 1180, 3717, -1);
}
END_TEST

/* 1-based, two attributes and a marker a node, a region a tetrahedron, comments everywhere. */
START_TEST(attributes_markers_and_regions)
{
    const char *node = "# nodes\n\n 5 3 2 1 # head\n1 0 0 0 .5 x 0\n2 1 0 0 .5 .5 -3\n"
                       "3 0 1 0 7 7 4#marked\n  4 0 0 1 0 0 0\n5 0 0 -1 0 0 8\n# the end";
    const char *ele = "3 4 1\r\n1 1 2 3 4 12\r\n2 1 3 2 5 -7.0\r\n3 2 3 4 5 0.5\r\n";
    pl_mesh m;
    pl_faults faults = {0};
    pl_status status = read_texts(PL_MESH_TETGEN, node, ele, &m, &faults);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(status, PL_OK);
    ck_assert_int_eq(m.vertex_count, 5);
    ck_assert(m.vertices[3] == 1 && m.vertices[14] == -1);
    const int32_t tets[] = {0, 1, 2, 3, 0, 2, 1, 4, 1, 2, 3, 4}, tags[] = {12, -7, 0};
    ck_assert_mem_eq(m.tets, tets, sizeof tets);
    ck_assert_mem_eq(m.tet_tags, tags, sizeof tags);
    ck_assert_int_eq(m.point_count, 3);
    const int32_t points[] = {1, 2, 4}, point_tags[] = {-3, 4, 8};
    ck_assert_mem_eq(m.points, points, sizeof points);
    ck_assert_mem_eq(m.point_tags, point_tags, sizeof point_tags);
    pl_mesh_clear(&m);
}
END_TEST

#define NODE "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"
#define ELE  "1 4 0\n0 0 1 2 3\n"

static void bad(const char *node, const char *ele, const char *code, const char *got)
{
    refused(PL_MESH_TETGEN, node, ele, code, got);
}

START_TEST(faults_are_located)
{
    bad("", ELE, "mesh_truncated", "line 1: in the .node file, the file ends in the first line");
    bad(NODE, "", "mesh_truncated", "line 1: in the .ele file, the file ends in the first line");
    bad(NODE, "0 4 0\n", "mesh_empty", "line 1: in the .ele file, the file has 4 nodes");
    bad("4 2 0 0\n", ELE, "mesh_unsupported", "line 1: in the .node file, dimension 2");
    bad("4 3 -1 0\n", ELE, "mesh_number", "line 1: in the .node file, '-1' in the first line");
    bad("4 3 0 0\n0 0 0 0\n1 1 0\n2 0 1 0\n3 0 0 1\n", ELE, "mesh_syntax",
        "line 3: in the .node file, the line ends inside node 2 of 4");
    bad("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 -nan 0\n3 0 0 1\n", ELE, "mesh_number",
        "line 4: in the .node file, '-nan' in node 3 of 4 is not a finite number");
    bad(NODE "4 0 0 1\n", ELE, "mesh_count",
        "line 6: in the .node file, '4' follows the 4 nodes of the first line");
    bad("4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n1 0 0 1\n3 1 1 1", ELE, "mesh_count", "line 6: ");
    bad("5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n1 0 0 1\n3 1 1 1", ELE, "mesh_duplicate",
        "line 5: in the .node file, node 1 is given again");
    bad(NODE, "2 10 0\n0 0 1 2 3 0 1 2 3 0 1\n", "mesh_unsupported",
        "line 1: in the .ele file, 2 second-order tetrahedra (10 nodes)");
    bad(NODE, "1 4 0\n0 1 2 3 4\n", "mesh_index",
        "line 2: in the .ele file, tetrahedron 0 (counting from 0) has node 4");
    bad(NODE, "1 4 0\n0 1 2 3 -1\n", "mesh_number", "line 2: in the .ele file, '-1'");
    bad(NODE, "2 4 0\n0 0 1 2 3\n", "mesh_truncated",
        "line 3: in the .ele file, the file ends in tetrahedron 2 of 2");
    bad(NODE, "1 4 0\n0 0 1 2 3 7\n", "mesh_syntax", "line 2: in the .ele file, '7' follows");
    bad(NODE, "99999999 4 0\n", "mesh_limit", "line 1: in the .ele file, 99999999 tetrahedra");
    bad("1 3 2147483647 0\n0 0 0 0\n", ELE, "mesh_syntax",
        "line 2: in the .node file, the line ends inside node 1 of 1");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("tetgen");
    tcase_add_test(cases, public_files_are_read);
    tcase_add_test(cases, scans_are_read);
    tcase_add_test(cases, attributes_markers_and_regions);
    tcase_add_test(cases, faults_are_located);
    return run_cases("mesh_tetgen", cases);
}
