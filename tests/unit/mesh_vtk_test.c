/* VTK files: written by VTK 9.1 (meshes/), in both formats and every kind of packing, from public projects, and
 * faults. */
#include "tests/unit/mesh_files.h"

#include <math.h>

static void refused_file(pl_mesh_format format, const char *path, const char *code, const char *got)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_blob blob = load(path);
    ck_assert_int_eq(read_blobs(format, &blob, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, code, got);
    pl_faults_clear(&faults);
    free((void *)blob.data);
}

/* Two tetrahedra with regions 7 and 8, a triangle with 3, a field of one and of three components. */
static void check_two(pl_mesh_format format, const char *path)
{
    static const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4}, face[] = {0, 1, 2};
    pl_mesh mesh = read_good_file(format, path);
    ck_assert_msg(mesh.vertex_count == 5 && mesh.tet_count == 2 && mesh.face_count == 1, "%s",
                  path);
    ck_assert_mem_eq(mesh.tets, tets, sizeof tets);
    ck_assert_mem_eq(mesh.faces, face, sizeof face);
    ck_assert(mesh.tet_tags && mesh.tet_tags[0] == 7 && mesh.tet_tags[1] == 8 &&
              mesh.face_tags[0] == 3);
    ck_assert_double_eq(mesh.vertices[14], 1.25);
    const pl_mesh_field *fibre = pl_mesh_find_field(&mesh, "fibre"),
                        *stiffness = pl_mesh_find_field(&mesh, "stiffness");
    ck_assert_msg(fibre && stiffness && mesh.field_count == 2, "%s: %d fields", path,
                  mesh.field_count);
    ck_assert(fibre->components == 3 && fibre->values[0] == 1 && fibre->values[4] == 1 &&
              fibre->values[3] == 0);
    ck_assert(stiffness->components == 1 && stiffness->values[1] == 3.5);
    pl_mesh_clear(&mesh);
}

START_TEST(every_form_of_the_old_format)
{
    static const char *const names[] = {"v42_ascii", "v42_binary", "v51_ascii", "v51_binary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, OWN "two_%s.vtk", names[i]);
        check_two(PL_MESH_VTK, path);
    }
}
END_TEST

START_TEST(every_packing_of_the_xml_format)
{
    static const char *const names[] = {"ascii",    "inline", "inline_zlib", "raw",
                                        "raw_zlib", "base64", "base64_zlib"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, OWN "two_%s.vtu", names[i]);
        check_two(PL_MESH_VTU, path);
    }
    refused_file(PL_MESH_VTU, OWN "two_lz4.vtu", "mesh_unsupported",
                 "line 2: data packed by 'vtkLZ4DataCompressor'");
}
END_TEST

START_TEST(polygons_are_triangles)
{
    for (int k = 0; k < 2; k++) {
        pl_mesh mesh = read_good_file(PL_MESH_VTK, k ? OWN "ball_v51.vtk" : OWN "ball_v42.vtk");
        pl_faults faults = {0};
        ck_assert(mesh.vertex_count == 34 && mesh.triangle_count == 64 && mesh.tet_count == 0);
        ck_assert_int_eq(pl_mesh_check_closed(&mesh, "", &faults), PL_OK);
        pl_mesh_clear(&mesh);
    }
    pl_mesh mesh = read_good_file(PL_MESH_VTK, OWN "plane_quads.vtk");
    pl_mesh_quality quality;
    ck_assert(mesh.vertex_count == 9 && mesh.triangle_count == 8);
    ck_assert_int_eq(pl_mesh_measure(&mesh, &quality), PL_OK);
    ck_assert_double_eq_tol(quality.area, 1, 1e-12);
    pl_mesh_clear(&mesh);
}
END_TEST

#define HEAD  "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define FOUR  "POINTS 4 float\n0 0 0 1 0 0\n0 1 0 0 0 1\n"
#define ONE   "CELLS 1 5\n4 0 1 2 3\n"
#define TYPES "CELL_TYPES 1\n10\n"

static void bad(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_VTK, text, NULL, code, got);
}

START_TEST(faults_of_the_old_format)
{
    bad("", "mesh_truncated", "line 1: the file is empty");
    bad("solid\n", "mesh_format", "line 1: 'solid'");
    bad("# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n", "mesh_unsupported",
        "line 4: 'STRUCTURED_GRID'");
    bad(HEAD "POINTS 4 complex\n", "mesh_unsupported", "line 5: 'complex'");
    bad(HEAD "POINTS 4 float\n0 0 0 1 0 x", "mesh_count",
        "line 6: 'x' stands where coordinate 6 of 12");
    bad(HEAD "POINTS 4 float\n0 0 0 1 0", "mesh_truncated",
        "line 6: the file ends in coordinate 6");
    bad(HEAD FOUR "CELLS 1 5\n4 0 1 2 9\n" TYPES, "mesh_index",
        "line 9: tetrahedron 0 (counting from 0) has node 9");
    bad(HEAD FOUR "CELLS 1 5\n5 0 1 2 3\n" TYPES, "mesh_count", "line 9: cell 0 of 1");
    bad(HEAD FOUR "CELLS 2 5\n4 0 1 2 3\n" TYPES, "mesh_count", "line 9: cell 1 of 2");
    bad(HEAD FOUR "CELLS 1 4\n3 0 1 2\n" TYPES, "mesh_syntax",
        "line 9: cell 0 (counting from 0) is of type 10");
    bad(HEAD FOUR ONE "CELL_TYPES 2\n10 10\n", "mesh_count", "line 9: 1 ends of cells");
    bad(HEAD FOUR ONE "CELL_TYPES 1\n12\n", "mesh_unsupported", "line 11: 1 hexahedra, the first");
    bad(HEAD FOUR ONE "CELL_TYPES 1\n24\n", "mesh_unsupported",
        "line 11: 1 second-order tetrahedra");
    bad(HEAD FOUR ONE "CELL_TYPES 1\n77\n", "mesh_unsupported",
        "line 11: 1 cells of VTK's type 77");
    bad(HEAD FOUR ONE TYPES "CELL_DATA 2\nSCALARS a int\nLOOKUP_TABLE default\n1 2\n", "mesh_count",
        "line 15: 2 values");
    bad(HEAD FOUR ONE TYPES "NONSENSE 2\n", "mesh_syntax", "line 12: 'NONSENSE' begins a section");
    bad(HEAD FOUR
        "CELLS 2 4\nOFFSETS vtktypeint64\n0 5\nCONNECTIVITY vtktypeint64\n0 1 2 3\n" TYPES,
        "mesh_syntax", "line 10: cell 0 (counting from 0) goes from corner 0 to 5 of 4");
    bad("# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 99999999999 "
        "float\nxx",
        "mesh_limit", "byte 62: 99999999999 points");
    bad("# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 999999 float\nxx",
        "mesh_truncated", "byte 82: the file ends in the coordinates: 0 of 2999997 exist");
}
END_TEST

#define XML(piece)                                                                                 \
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\">\n"   \
    "<UnstructuredGrid>\n" piece "</UnstructuredGrid>\n</VTKFile>\n"
#define PIECE(points, corners, type)                                                               \
    "<Piece NumberOfPoints=\"4\" NumberOfCells='1'>\n<!-- > -->\n"                                 \
    "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">\n" points      \
    "\n</DataArray></Points>\n<Cells>\n"                                                           \
    "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">\n" corners                  \
    "\n</DataArray>\n"                                                                             \
    "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>\n"                  \
    "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">" type                              \
    "</DataArray>\n</Cells></Piece>\n"
#define CORNERS "0 0 0 1 0 0 0 1 0 0 0 1"

static void bad_xml(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_VTU, text, NULL, code, got);
}

START_TEST(faults_of_the_xml_format)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(
        read_texts(PL_MESH_VTU, XML(PIECE(CORNERS, "0 1 2 3", "10")), NULL, &mesh, &faults), PL_OK);
    pl_mesh_clear(&mesh);
    bad_xml("", "mesh_truncated", "line 1: the file is empty");
    bad_xml("$MeshFormat\n", "mesh_format", "line 1: '$MeshFormat");
    bad_xml("<VTKFile type=\"PolyData\">", "mesh_unsupported", "line 1: a file of type 'PolyData'");
    bad_xml(XML(PIECE("0 0 0 1 0", "0 1 2 3", "10")), "mesh_truncated",
            "line 8: points has fewer numbers than the 12");
    bad_xml(XML(PIECE(CORNERS " 5", "0 1 2 3", "10")), "mesh_count",
            "line 7: points has more numbers");
    bad_xml(XML(PIECE(CORNERS, "0 1 2 z", "10")), "mesh_syntax",
            "line 11: 'z' in number 3 of connectivity");
    bad_xml(XML(PIECE(CORNERS, "0 1 2 4", "10")), "mesh_index",
            "line 11: tetrahedron 0 (counting from 0) has node 4");
    bad_xml(XML(PIECE("0 0 0 1 0 0 0 nan 0 0 0 1", "0 1 2 3", "10")), "mesh_number",
            "line 7: a coordinate of point 2 of 4");
    bad_xml(XML(PIECE(CORNERS, "0 1 2 3", "14")), "mesh_unsupported", "line 14: 1 pyramids");
    bad_xml("<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"4\" "
            "NumberOfCells=\"1\"><Points>",
            "mesh_truncated", "line 1: the file ends before its grid does");
    bad_xml(XML("<Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">\n</Piece>"), "mesh_syntax",
            "line 5: the piece that ends here has no points");
    bad_xml(XML("<Piece NumberOfCells=\"1\">\n</Piece>"), "mesh_syntax",
            "line 4: a piece without its counts");
    refused_file(PL_MESH_VTU, OWN "hexahedron.vtu", "mesh_unsupported", "line 36: 1 hexahedra");
}
END_TEST

/* An array's declared size is compared with the counts before any memory is allocated. */
START_TEST(sizes_that_lie)
{
    pl_blob blob = load(OWN "two_raw_zlib.vtu");
    char *at = memmem(blob.data, blob.size, "NumberOfPoints=\"5\"", 18);
    ck_assert(at != NULL);
    at[16] = '9';
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_blobs(PL_MESH_VTU, &blob, &mesh, &faults), PL_INVALID);
    ck_assert_msg(strcmp(faults.items[0].code, "mesh_count") == 0 &&
                      strstr(faults.items[0].got, "points have another size"),
                  "%s", faults.items[0].got);
    pl_faults_clear(&faults);
    free((void *)blob.data);
}
END_TEST

/* Files from other projects; the fixtures as listed: one is inverted, one is of version 5.1. */
START_TEST(files_of_others)
{
    accepted(PL_MESH_VTK, MESHES "drake_torus.vtk", NULL, 115, 286, -1);
    accepted(PL_MESH_VTK, FIXTURES "drake_inflation_infeasible_vertex_vtk5.vtk", NULL, 19, 22, -1);
    pl_mesh mesh = read_good_file(PL_MESH_VTK, FIXTURES "drake_one_negative_tetrahedron.vtk");
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_INVALID);
    ck_assert_msg(strstr(faults.items[0].got, "element 0"), "%s", faults.items[0].got);
    pl_faults_clear(&faults);
    ck_assert_int_eq(pl_mesh_check(&mesh, PL_MESH_ORIENTATION_REPAIR, "", &faults), PL_OK);
    ck_assert_int_eq(mesh.repaired, 1);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("vtk");
    tcase_add_test(cases, every_form_of_the_old_format);
    tcase_add_test(cases, every_packing_of_the_xml_format);
    tcase_add_test(cases, polygons_are_triangles);
    tcase_add_test(cases, faults_of_the_old_format);
    tcase_add_test(cases, faults_of_the_xml_format);
    tcase_add_test(cases, sizes_that_lie);
    tcase_add_test(cases, files_of_others);
    return run_cases("mesh_vtk", cases);
}
