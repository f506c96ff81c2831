/* Wavefront .obj: triangles, polygons, lines, groups, and its faults by line; and the triangles and
 * lines of Gmsh files that have no tetrahedra. */
#include "tests/unit/mesh_files.h"

#include <math.h>

static void bad(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_OBJ, text, NULL, code, got);
}

#define SQUARE "v 0 0 0\nv 1 0 0 1.0\nv 1 1 0 0.2 0.3 0.4\nv 0 1 0\n"

START_TEST(corners_in_every_form)
{
    pl_mesh mesh = read_good(PL_MESH_OBJ, "# made\nmtllib a b.mtl\n" SQUARE
                                          "vn 0 0 1\nvt 0 0\nusemtl red\ns off\n"
                                          "f 1 2/1 3/1/1\nf -4//1 -2 -1\r\n");
    static const int32_t expected[] = {0, 1, 2, 0, 2, 3};
    ck_assert_int_eq(mesh.vertex_count, 4);
    ck_assert_int_eq(mesh.triangle_count, 2);
    ck_assert_mem_eq(mesh.triangles, expected, sizeof expected);
    ck_assert(mesh.triangle_tags == NULL && mesh.face_count == 0 && mesh.tet_count == 0);
    ck_assert(mesh.vertices[6] == 1 && mesh.vertices[7] == 1);
    pl_mesh_clear(&mesh);
}
END_TEST

/* A polygon is a fan about its first corner; faces may name vertices that come later. */
START_TEST(polygons_are_cut)
{
    pl_mesh mesh = read_good(PL_MESH_OBJ, "f 1 2 3 4 5\nv 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\n"
                                          "v 0 2 0\nv 9 9 9\n");
    static const int32_t expected[] = {0, 1, 2, 0, 2, 3, 0, 3, 4};
    ck_assert_int_eq(mesh.triangle_count, 3);
    ck_assert_mem_eq(mesh.triangles, expected, sizeof expected);
    ck_assert_int_eq(mesh.unused, 1);
    pl_mesh_quality quality;
    ck_assert_int_eq(pl_mesh_measure(&mesh, &quality), PL_OK);
    ck_assert_double_eq_tol(quality.area, 3, 1e-15);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(lines_are_edges_where_there_are_no_faces)
{
    pl_mesh mesh = read_good(PL_MESH_OBJ, SQUARE "o rope\nl 1 2 3\nl -1 1\n");
    static const int32_t expected[] = {0, 1, 1, 2, 3, 0};
    ck_assert_int_eq(mesh.edge_count, 3);
    ck_assert_mem_eq(mesh.edges, expected, sizeof expected);
    ck_assert(mesh.edge_tags && mesh.edge_tags[2] == 1);
    ck_assert_str_eq(mesh.groups[0].name, "rope");
    pl_mesh_clear(&mesh);
    mesh = read_good(PL_MESH_OBJ, SQUARE "l 1 3\nf 1 2 3\n");
    ck_assert(mesh.edge_count == 0 && mesh.triangle_count == 1);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(groups_tag_triangles)
{
    pl_mesh mesh = read_good(PL_MESH_OBJ, SQUARE "g hem \nf 1 2 3\ng\nf 1 3 4\ng my cuff\n"
                                                 "f 1 2 4\n");
    ck_assert_int_eq(mesh.group_count, 2);
    ck_assert_str_eq(mesh.groups[0].name, "hem");
    ck_assert_str_eq(mesh.groups[1].name, "my cuff");
    ck_assert(mesh.groups[1].tag == 2 && mesh.groups[1].dimension == 2);
    ck_assert(mesh.triangle_tags[0] == 1 && mesh.triangle_tags[1] == 0 &&
              mesh.triangle_tags[2] == 2);
    ck_assert_int_eq(mesh.face_count, 2);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(faults_name_the_line)
{
    bad(SQUARE "f 1 2\n", "mesh_syntax", "line 5: too short: ");
    bad(SQUARE "f 1 2 0\n", "mesh_index", "line 5: a corner is");
    bad(SQUARE "f 1 2 -5\n", "mesh_index", "line 5: a corner is");
    bad(SQUARE "f 1 2 x/1\n", "mesh_index", "line 5: a corner is");
    bad(SQUARE "f 1 2 99999999999999999999\n", "mesh_index", "line 5: a corner is");
    bad(SQUARE "f 1 2 5\n", "mesh_index", "line 5: triangle 0");
    bad(SQUARE "l 1\nf 1 2 3\n", "mesh_syntax", "line 5: too short");
    bad("v 0 0\nf 1 1 1\n", "mesh_syntax", "line 1: ");
    bad("v 0 0 nan\nf 1 1 1\n", "mesh_number", "line 1: ");
    bad(SQUARE, "mesh_empty", "line 1: the file has 4 nodes but no elements");
    bad("", "mesh_empty", "line 1: ");
    bad(SQUARE "curv 1\nf 1 2 3\n", "mesh_syntax", "line 5: an unknown line begins with");
}
END_TEST

START_TEST(limits_hold)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    const char text[] = SQUARE "f 1 2 3\nf 1 3 4\n";
    pl_blob blob = exact(text, strlen(text));
    ck_assert_int_eq(pl_mesh_read(PL_MESH_OBJ, &blob, &(pl_mesh_limits){3, 9}, "", &mesh, &faults),
                     PL_INVALID);
    ck_assert_str_eq(faults.items[0].code, "mesh_limit");
    ck_assert_int_eq(pl_mesh_read(PL_MESH_OBJ, &blob, &(pl_mesh_limits){9, 1}, "", &mesh, &faults),
                     PL_INVALID);
    pl_faults_clear(&faults);
    free((void *)blob.data);
}
END_TEST

START_TEST(the_funnel_is_read)
{
    pl_blob blob = load(MESHES "obstacle_funnel.obj");
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_blobs(PL_MESH_OBJ, &blob, &mesh, &faults), PL_OK);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(mesh.vertex_count + mesh.unused, 288);
    ck_assert_int_eq(mesh.triangle_count, 552);
    pl_mesh_clear(&mesh);
    free((void *)blob.data);
}
END_TEST

/* ---- gmsh ---- */

#define NODES "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"
#define HEAD  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"

/* Untagged triangles are elements too; the lines beside them are not. */
START_TEST(gmsh_triangles_are_elements)
{
    pl_mesh mesh = read_good(PL_MESH_GMSH,
                             HEAD NODES "$Elements\n2 4 1 4\n2 1 2 2\n1 1 2 3\n2 1 3 4\n"
                                        "1 1 1 2\n3 1 2\n4 2 3\n$EndElements\n");
    ck_assert(mesh.triangle_count == 2 && mesh.edge_count == 0 && mesh.triangles[5] == 3);
    ck_assert(mesh.triangle_tags == NULL && mesh.face_count == 0);
    pl_mesh_clear(&mesh);
    mesh = read_good(PL_MESH_GMSH, HEAD NODES "$Elements\n1 2 1 2\n1 1 1 2\n3 1 2\n4 2 3\n"
                                              "$EndElements\n");
    ck_assert(mesh.edge_count == 2 && mesh.edges[3] == 2 && mesh.unused == 1);
    pl_mesh_clear(&mesh);
}
END_TEST

/* A triangle in two groups is one element with the first tag, and selected by both. */
START_TEST(gmsh_triangles_of_two_groups)
{
    pl_mesh mesh = read_good(PL_MESH_GMSH, HEAD
                             "$PhysicalNames\n2\n2 7 \"hem\"\n2 8 \"cuff\"\n$EndPhysicalNames\n"
                             "$Entities\n0 0 1 0\n1 0 0 0 1 1 0 2 7 8 0\n$EndEntities\n" NODES
                             "$Elements\n1 2 1 2\n2 1 2 2\n1 1 2 3\n2 1 3 4\n$EndElements\n");
    ck_assert_int_eq(mesh.triangle_count, 2);
    ck_assert(mesh.triangle_tags[0] == 7 && mesh.triangle_tags[1] == 7);
    ck_assert_int_eq(mesh.face_count, 4);
    ck_assert(mesh.face_tags[1] == 8);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("obj");
    tcase_add_test(cases, corners_in_every_form);
    tcase_add_test(cases, polygons_are_cut);
    tcase_add_test(cases, lines_are_edges_where_there_are_no_faces);
    tcase_add_test(cases, groups_tag_triangles);
    tcase_add_test(cases, faults_name_the_line);
    tcase_add_test(cases, limits_hold);
    tcase_add_test(cases, the_funnel_is_read);
    tcase_add_test(cases, gmsh_triangles_are_elements);
    tcase_add_test(cases, gmsh_triangles_of_two_groups);
    return run_cases("mesh_obj", cases);
}
