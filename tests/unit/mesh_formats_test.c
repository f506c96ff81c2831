/* Vega, Abaqus, STL and PLY files: our own texts with their faults, what VTK wrote (meshes/), and
 * files of public projects. */
#include "tests/unit/mesh_files.h"

#include <math.h>

/* ---- vega ---- */

#define VEGA_NODES "*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n"
#define VEGA_TETS  "*ELEMENTS\nTET\n2 4 0\n1 1 2 3 4\n2 2 3 4 5\n"

static void bad_vega(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_VEGA, text, NULL, code, got);
}

START_TEST(vega_with_sets)
{
    pl_mesh mesh = read_good(PL_MESH_VEGA, "# made\n\n" VEGA_NODES "\n" VEGA_TETS
                                           "*MATERIAL soft\nENU, 1000, 1e5, 0.4\n*SET none\n9, \n"
                                           "*SET stiff\n 2, 1,\n*REGION\nstiff, soft\n");
    static const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    ck_assert(mesh.vertex_count == 5 && mesh.tet_count == 2);
    ck_assert_mem_eq(mesh.tets, tets, sizeof tets);
    ck_assert(mesh.tet_tags && mesh.tet_tags[0] == 2 && mesh.tet_tags[1] == 2);
    ck_assert_int_eq(mesh.group_count, 1);
    ck_assert_str_eq(mesh.groups[0].name, "stiff");
    ck_assert(mesh.groups[0].tag == 2 && mesh.groups[0].dimension == 3);
    pl_mesh_clear(&mesh);
    accepted(PL_MESH_VEGA, MESHES "beam3_tet.veg", NULL, 208, 450, -1);
}
END_TEST

START_TEST(vega_faults)
{
    bad_vega("", "mesh_truncated", "line 1: the file ends without *VERTICES");
    bad_vega("v 0 0 0\n", "mesh_format", "line 1: 'v'");
    bad_vega(VEGA_NODES, "mesh_truncated", "line 8: the file ends without *ELEMENTS");
    bad_vega(VEGA_NODES "*ELEMENTS\nCUBIC\n1 8 0\n1 1 2 3 4 5 6 7 8\n", "mesh_unsupported",
             "line 9: 1 hexahedra, 'CUBIC'");
    bad_vega(VEGA_NODES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 6\n", "mesh_index",
             "line 11: tetrahedron 0 (counting from 0) has node 6");
    bad_vega(VEGA_NODES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3\n", "mesh_syntax",
             "line 11: the line ends inside");
    bad_vega(VEGA_NODES "*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n2 1 2 3 5\n", "mesh_count",
             "line 12: '2' follows");
    bad_vega(VEGA_NODES "*INCLUDE more.veg\n" VEGA_TETS, "mesh_unsupported", "line 8: '*INCLUDE'");
    bad_vega(VEGA_NODES VEGA_TETS VEGA_NODES, "mesh_syntax", "line 13: '*VERTICES' is given again");
    bad_vega(VEGA_NODES VEGA_TETS "*SET a\n1, x\n", "mesh_syntax", "line 14: 'x' in a set");
    bad_vega("*VERTICES\n3 3 0 0\n1 0 0 0\n2 0 inf 0\n3 0 1 0\n" VEGA_TETS, "mesh_number",
             "line 4: 'inf'");
}
END_TEST

/* ---- abaqus ---- */

#define INP_NODES                                                                                  \
    "*Heading\n** made\n a title\n*NODE\n1, 0, 0, 0\n2, 1., 0, 0\n3, 0, 1, 0\n 4, 0,0 ,1e0\n5, "   \
    "1,1,1\n"

static void bad_inp(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_ABAQUS, text, NULL, code, got);
}

START_TEST(abaqus_with_sets)
{
    pl_mesh mesh =
        read_good(PL_MESH_ABAQUS, INP_NODES
                  "*Element, type=C3D4H, elset=soft\n10, 1, 2,\n 3, 4\n"
                  "*ELEMENT, TYPE=C3D4\n11, 2, 3, 4, 5\n*ELEMENT,TYPE=S3R, ELSET=skin\n20, 1,2,3\n"
                  "*Elset, elset=stiff, generate\n 10, 30, 1\n"
                  "*Nset, nset=\"held\", generate\n1, 5, 2\n*NSET, NSET=top\n4, 5,\n"
                  "*Material, name=m\n*Elastic\n1e5, 0.4\n");
    static const int32_t tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
    ck_assert(mesh.vertex_count == 5 && mesh.tet_count == 2);
    ck_assert_mem_eq(mesh.tets, tets, sizeof tets);
    /* An element has the set of its own line, then the first that lists it. */
    ck_assert(mesh.tet_tags && mesh.tet_tags[0] == 1 && mesh.tet_tags[1] == 3);
    ck_assert(mesh.face_count == 1 && mesh.face_tags[0] == 2);
    ck_assert_int_eq(mesh.point_count, 5);
    static const int32_t points[] = {0, 2, 4, 3, 4}, tags[] = {1, 1, 1, 2, 2};
    ck_assert_mem_eq(mesh.points, points, sizeof points);
    ck_assert_mem_eq(mesh.point_tags, tags, sizeof tags);
    static const struct {
        const char *name;
        int32_t tag, dimension;
    } groups[] = {
        {"soft", 1, 3}, {"stiff", 3, 3}, {"skin", 2, 2}, {"\"held\"", 1, 0}, {"top", 2, 0}};
    ck_assert_int_eq(mesh.group_count, 5);
    for (int k = 0; k < 5; k++) {
        ck_assert_str_eq(mesh.groups[k].name, groups[k].name);
        ck_assert(mesh.groups[k].tag == groups[k].tag &&
                  mesh.groups[k].dimension == groups[k].dimension);
    }
    pl_mesh_clear(&mesh);
    mesh = read_good(PL_MESH_ABAQUS, INP_NODES "*ELEMENT, TYPE=M3D3\n1, 1,2,3\n");
    ck_assert(mesh.triangle_count == 1 && mesh.unused == 2);
    pl_mesh_clear(&mesh);
}
END_TEST

START_TEST(abaqus_faults)
{
    bad_inp("", "mesh_empty", "line 1: ");
    bad_inp("1, 2, 3\n", "mesh_format", "line 1: '1, 2, 3'");
    bad_inp(INP_NODES
            "*ELEMENT, TYPE=C3D10, ELSET=A\n1, 1,2,3,4,5,6,7,8,9,\n10\n2, 1,2,3,4,5,6,7,8,9,10\n",
            "mesh_unsupported", "line 10: 2 second-order tetrahedra of type 'C3D10'");
    bad_inp(INP_NODES "*ELEMENT, TYPE=C3D8R\n1, 1,2,3,4,5,6,7,8\n", "mesh_unsupported",
            "line 10: 1 hexahedra of type 'C3D8R'");
    bad_inp(INP_NODES "*ELEMENT, TYPE=U7\n1, 1,2\n", "mesh_unsupported",
            "line 10: 1 elements of type 'U7'");
    bad_inp(INP_NODES "*ELEMENT, TYPE=C3D4\n1, 1,2,3\n", "mesh_syntax",
            "line 11: '1, 1,2,3' ends inside");
    bad_inp(INP_NODES "*ELEMENT, TYPE=C3D4\n1, 1,2,3,4,5\n", "mesh_syntax", "line 11: '5' follows");
    bad_inp(INP_NODES "*ELEMENT, TYPE=C3D4\n1, 1,2,3,7\n", "mesh_index",
            "line 11: tetrahedron 0 (counting from 0) has node 7");
    bad_inp("*NODE\n1, 0, a, 0\n", "mesh_syntax", "line 2: 'a' is a coordinate");
    bad_inp("*NODE\n1, 0, nan, 0\n", "mesh_number", "line 2: 'nan' is a coordinate");
    bad_inp("*INCLUDE, INPUT=mesh.inp\n", "mesh_unsupported", "line 1: '*INCLUDE, INPUT=mesh.inp'");
    bad_inp("*PART, NAME=A\n*END PART\n*PART, NAME=B\n", "mesh_unsupported",
            "line 3: '*PART, NAME=B'");
    bad_inp("*INSTANCE, NAME=A\n0, 0, 2.\n", "mesh_unsupported", "line 2: '0, 0, 2.' moves");
    bad_inp(INP_NODES "*ELEMENT, TYPE=C3D4\n1, 1,2,3,", "mesh_truncated",
            "line 11: the file ends inside");
    bad_inp(INP_NODES "*NSET, NSET=A\n99\n*ELEMENT, TYPE=C3D4\n1, 1,2,3,4\n", "mesh_index",
            "line 10: tagged point 0");
}
END_TEST

/* ---- stl ---- */

static void check_ball(pl_mesh *mesh, int64_t vertices)
{
    pl_faults faults = {0};
    pl_mesh_quality quality;
    ck_assert(mesh->vertex_count == vertices && mesh->triangle_count == 64);
    ck_assert_int_eq(pl_mesh_check(mesh, PL_MESH_ORIENTATION_REFUSE, "", &faults), PL_OK);
    ck_assert_int_eq(pl_mesh_check_closed(mesh, "", &faults), PL_OK);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(pl_mesh_measure(mesh, &quality), PL_OK);
    ck_assert_double_eq_tol(quality.area, 2.836, 0.001);
    pl_mesh_clear(mesh);
}

/* 64 facets of 192 corners at 34 places. */
START_TEST(stl_is_welded)
{
    pl_mesh mesh = read_good_file(PL_MESH_STL, OWN "ball_binary.stl");
    check_ball(&mesh, 34);
    mesh = read_good_file(PL_MESH_STL, OWN "ball_ascii.stl");
    check_ball(&mesh, 34);
}
END_TEST

#define FACET(a, b, c)                                                                             \
    "facet normal 0 0 1\n outer loop\n  vertex " a "\n  vertex " b "\n  vertex " c                 \
    "\n endloop\nendfacet\n"

static void bad_stl(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_STL, text, NULL, code, got);
}

START_TEST(stl_texts)
{
    pl_mesh mesh =
        read_good(PL_MESH_STL,
                  "solid lid \n" FACET("0 0 0", "1 0 0",
                                       "0 1 0") "endsolid lid\n"
                                                "SOLID base\n" FACET("0 1 -0", "1 0 0", "1 1 0")
                                                    FACET("0 0 0", "0 0 0", "1 1 0") "endsolid\n");
    ck_assert(mesh.vertex_count == 4 && mesh.triangle_count == 2 && mesh.group_count == 2);
    ck_assert(mesh.triangle_tags[0] == 1 && mesh.triangle_tags[1] == 2);
    ck_assert_str_eq(mesh.groups[0].name, "lid");
    pl_mesh_clear(&mesh);
    bad_stl("", "mesh_truncated", "byte 0: 0 bytes");
    bad_stl("v 1 2 3\n", "mesh_format", "byte 0: 8 bytes");
    bad_stl("solid\n" FACET("0 0 0", "1 0 0", "0 1 0"), "mesh_truncated",
            "line 9: the file ends inside a solid");
    bad_stl("solid\nfacet\nouter loop\nvertex 1 2 3\nendloop\nendsolid\n", "mesh_syntax",
            "line 5: 'endloop' ends a facet");
    bad_stl("solid\n" FACET("0 0 0", "1 0 x", "0 1 0") "endsolid\n", "mesh_syntax",
            "line 5: 'x' in facet");
    bad_stl("solid\nfacet\nouter loop\nvertex 1 2 3\nvertex 1 2 4\nvertex 1 1 3\nvertex 1 2 "
            "9\nendloop\n",
            "mesh_unsupported", "line 7: 'vertex' is a fourth corner");
    bad_stl("solid\nfoo\nendsolid\n", "mesh_syntax", "line 2: 'foo' begins a line");
}
END_TEST

START_TEST(stl_bytes)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_blob blob = load(OWN "ball_binary.stl"), cut = {blob.data, blob.size - 7};
    ck_assert_int_eq(read_blobs(PL_MESH_STL, &cut, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_count",
                    "byte 80: 64 facets, but 3193 bytes after the header");
    pl_faults_clear(&faults);
    memset((char *)blob.data + 84 + 50 + 12, 0xff, 4); /* a NaN */
    ck_assert_int_eq(read_blobs(PL_MESH_STL, &blob, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_number", "byte 134: a corner of facet 1");
    pl_faults_clear(&faults);
    free((void *)blob.data);
}
END_TEST

/* ---- ply ---- */

START_TEST(ply_of_every_form)
{
    static const char *const names[] = {OWN "ball_ascii.ply", OWN "ball_little.ply",
                                        OWN "ball_big.ply"};
    for (int k = 0; k < 3; k++) {
        pl_mesh mesh = read_good_file(PL_MESH_PLY, names[k]);
        check_ball(&mesh, 34);
    }
}
END_TEST

#define PLY "ply\nformat ascii 1.0\ncomment by hand\n"
#define PLY_NODES                                                                                  \
    "element vertex 4\nproperty double x\nproperty double y\nproperty double z\nproperty uchar "   \
    "red\n"
#define PLY_FACES   "element face 1\nproperty list uchar int vertex_index\n"
#define PLY_CORNERS "end_header\n0 0 0 7\n1 0 0 7\n1 1 0 7\n0 1 0 7\n"

static void bad_ply(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_PLY, text, NULL, code, got);
}

START_TEST(ply_texts)
{
    static const int32_t triangles[] = {0, 1, 2, 0, 2, 3}, edges[] = {0, 1, 2, 3};
    pl_mesh mesh = read_good(PL_MESH_PLY, PLY PLY_NODES PLY_FACES PLY_CORNERS "4 0 1 2 3\n");
    ck_assert(mesh.vertex_count == 4 && mesh.triangle_count == 2);
    ck_assert_mem_eq(mesh.triangles, triangles, sizeof triangles);
    pl_mesh_clear(&mesh);
    mesh = read_good(PL_MESH_PLY, PLY PLY_NODES "element edge 2\nproperty int vertex1\n"
                                                "property int vertex2\n" PLY_CORNERS "0 1\n2 3\n");
    ck_assert_int_eq(mesh.edge_count, 2);
    ck_assert_mem_eq(mesh.edges, edges, sizeof edges);
    pl_mesh_clear(&mesh);
    bad_ply("", "mesh_truncated", "line 1: '' is the whole file");
    bad_ply("solid x\n", "mesh_format", "line 1: 'solid' begins the file");
    bad_ply("ply\nformat utf8 1.0\n", "mesh_syntax", "line 2: 'utf8'");
    bad_ply(PLY "element vertex x\n", "mesh_syntax", "line 4: 'x' is not a count");
    bad_ply(PLY "property float x\n", "mesh_syntax", "line 4: 'float'");
    bad_ply(PLY "element vertex 1\nproperty half x\n", "mesh_syntax", "line 5: 'half'");
    bad_ply(PLY "element vertex 1\nproperty float x\nend_header\n0\n", "mesh_syntax",
            "line 1: '': not all");
    bad_ply(PLY PLY_NODES "element tristrips 1\nproperty list int int vertex_indices\n" PLY_CORNERS,
            "mesh_unsupported", "line 1: '': triangle strips");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS "3 0 1\n", "mesh_syntax",
            "line 16: the line ends inside face 1");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS "2 0 1\n", "mesh_number",
            "line 16: '2' in face 1 of 1");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS "3 0 1 4\n", "mesh_index", "line 16: triangle 0");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS "3 0 1 1.5\n", "mesh_index", "line 16: triangle 0");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS "3 0 1 2\n3 0 2 3\n", "mesh_count",
            "line 17: more follows");
    bad_ply(PLY PLY_NODES PLY_FACES PLY_CORNERS, "mesh_truncated",
            "line 16: the file ends in face 1");
    bad_ply(PLY PLY_NODES, "mesh_truncated", "line 9: ");
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("formats");
    tcase_add_test(cases, vega_with_sets);
    tcase_add_test(cases, vega_faults);
    tcase_add_test(cases, abaqus_with_sets);
    tcase_add_test(cases, abaqus_faults);
    tcase_add_test(cases, stl_is_welded);
    tcase_add_test(cases, stl_texts);
    tcase_add_test(cases, stl_bytes);
    tcase_add_test(cases, ply_of_every_form);
    tcase_add_test(cases, ply_texts);
    return run_cases("mesh_formats", cases);
}
