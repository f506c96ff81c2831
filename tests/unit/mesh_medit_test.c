/* Medit files: free form, references, empty and unknown sections, rejected elements, faults. */
#include "tests/unit/mesh_files.h"

START_TEST(public_file_is_read)
{
    accepted(PL_MESH_MEDIT, MESHES "square_beam.mesh", NULL, 739, 2886, 40000);
}
END_TEST

START_TEST(free_form_references_and_sections)
{
    const char *text =
        "MeshVersionFormatted\n2\n# made by hand\nDimension\n3\n\nVertices 5\n0 0 0 0  1 0 0 9\n"
        "0 1 0 # over two lines\n0\n0 0 1 0\n0 0 -1 3\nCorners\n2\n1 2\nEdges\n1\n1 2 5\n"
        "Triangles\n2\n1 2 3 0\n1 2 4 6\nRidges 0\nQuadrilaterals 0\nTetrahedra\n2\n1 2 3 4 11\n"
        "1 3 2 5 12\nNormals 1\n0.5 0.5 nan\nEnd\nrubbish";
    pl_mesh m;
    pl_faults faults = {0};
    pl_status status = read_texts(PL_MESH_MEDIT, text, NULL, &m, &faults);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(status, PL_OK);
    ck_assert_int_eq(m.vertex_count, 5);
    const int32_t tets[] = {0, 1, 2, 3, 0, 2, 1, 4}, tags[] = {11, 12}, face[] = {0, 1, 3};
    ck_assert_mem_eq(m.tets, tets, sizeof tets);
    ck_assert_mem_eq(m.tet_tags, tags, sizeof tags);
    ck_assert_int_eq(m.face_count, 1);
    ck_assert_mem_eq(m.faces, face, sizeof face);
    ck_assert_int_eq(m.face_tags[0], 6);
    ck_assert_int_eq(m.point_count, 2);
    ck_assert(m.points[0] == 1 && m.point_tags[0] == 9 && m.points[1] == 4 && m.point_tags[1] == 3);
    pl_mesh_clear(&m);
}
END_TEST

#define HEAD  "MeshVersionFormatted 1\nDimension 3\n"
#define NODES "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
#define TET   "Tetrahedra\n1\n1 2 3 4 0\n"

static void bad(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_MEDIT, text, NULL, code, got);
}

START_TEST(faults_are_located)
{
    bad("", "mesh_truncated", "line 1: the file is empty");
    bad("\n$MeshFormat\n", "mesh_format", "line 2: '$MeshFormat'");
    bad("MeshVersionFormatted 1\nDimension 2\nEnd", "mesh_unsupported", "line 2: Dimension 2");
    bad("MeshVersionFormatted 1\n" NODES "End", "mesh_syntax",
        "line 2: Vertices comes before Dimension");
    bad(HEAD NODES TET, "mesh_truncated", "line 12: the file ends without End");
    bad(HEAD NODES TET NODES "End", "mesh_syntax", "line 12: Vertices is given again");
    bad(HEAD NODES "End", "mesh_empty", "line 1: the file has 4 nodes but no tetrahedra");
    bad(HEAD TET "End", "mesh_index", "line 5: tetrahedron 0 (counting from 0) has node 1");
    bad(HEAD NODES "Tetrahedra\n1\n1 2 3 5 0\nEnd", "mesh_index", "line 11: ");
    bad(HEAD NODES "Tetrahedra\n1\n0 1 2 3 0\nEnd", "mesh_index", "line 11: ");
    bad(HEAD NODES "Tetrahedra\n2\n1 2 3 4 0\nEnd", "mesh_count",
        "line 12: 'End' stands where tetrahedron 2 of 2 is expected");
    bad(HEAD NODES "Tetrahedra\n1\n1 2 3 4 0\n1 2 3 4 0\nEnd", "mesh_count",
        "line 12: '1' follows the 1 tetrahedra declared");
    bad(HEAD NODES "Tetrahedra\n1\n1 2 3", "mesh_truncated",
        "line 11: the file ends in tetrahedron 1 of 1");
    bad(HEAD NODES "Tetrahedra\nmany\nEnd", "mesh_count",
        "line 10: 'many' stands where the count is expected");
    bad(HEAD "Vertices\n-4\n" TET "End", "mesh_number",
        "line 4: '-4' in the count is out of range");
    bad(HEAD "Vertices\n9999999\n", "mesh_limit", "line 4: 9999999 vertices");
    bad(HEAD NODES TET "Hexahedra\n2\n1 2 3 4 5 6 7 8 0 1 2 3 4 5 6 7 8 0\nEnd", "mesh_unsupported",
        "line 13: 2 hexahedra");
    bad(HEAD "Vertices\n1\n0 inf 0 0\n" TET "End", "mesh_number",
        "line 5: 'inf' in vertex 1 of 1 is not a finite number");
}
END_TEST

/* A vertex without its reference shifts everything after it: the start of the shift is reported. */
START_TEST(lost_numbers_are_traced)
{
    bad(HEAD "Vertices\n4\n0 0 0 0\n1 0 0\n0 1 0 0\n0.5 0 1 0\n" TET "End", "mesh_syntax",
        "line 8: '0.5' in vertex 3 of 4; line 6 is the first that is not a single record");
    bad("\1\0\0\0", "mesh_format", "line 1: ");
    pl_blob binary = exact("\1\0\0\0\3\0\0\0", 8);
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_blobs(PL_MESH_MEDIT, &binary, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_unsupported", "line 1: a binary Medit file");
    pl_faults_clear(&faults);
    free((void *)binary.data);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("medit");
    tcase_add_test(cases, public_file_is_read);
    tcase_add_test(cases, free_form_references_and_sections);
    tcase_add_test(cases, faults_are_located);
    tcase_add_test(cases, lost_numbers_are_traced);
    return run_cases("mesh_medit", cases);
}
