/* Hostile files: every fixture cut at every byte, and changed in one byte. Whatever comes out is a
 * mesh that passes every index check, or faults; the sanitizers see the rest. */
#include "tests/support/long_form.h"
#include "tests/unit/mesh_files.h"

#include <glob.h>
#include <math.h>

/* A reader's result must be complete. */
static void check_result(pl_status status, pl_mesh *mesh, pl_faults *faults)
{
    if (status == PL_OK) {
        ck_assert_uint_eq(faults->total, 0);
        ck_assert_int_gt(pl_mesh_element_count(mesh), 0);
        for (int64_t i = 0; i < 4 * mesh->tet_count; i++)
            ck_assert(mesh->tets[i] >= 0 && mesh->tets[i] < mesh->vertex_count);
        for (int64_t i = 0; i < 3 * mesh->triangle_count; i++)
            ck_assert(mesh->triangles[i] >= 0 && mesh->triangles[i] < mesh->vertex_count);
        for (int64_t i = 0; i < 2 * mesh->edge_count; i++)
            ck_assert(mesh->edges[i] >= 0 && mesh->edges[i] < mesh->vertex_count);
        for (int64_t i = 0; i < 3 * mesh->face_count; i++)
            ck_assert(mesh->faces[i] >= 0 && mesh->faces[i] < mesh->vertex_count);
        for (int64_t i = 0; i < mesh->point_count; i++)
            ck_assert(mesh->points[i] >= 0 && mesh->points[i] < mesh->vertex_count);
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
            ck_assert(isfinite(mesh->vertices[i]));
        if (pl_mesh_check(mesh, PL_MESH_ORIENTATION_REPAIR, "", faults) == PL_OK) {
            pl_mesh_quality quality;
            int32_t *triangles;
            int64_t count;
            ck_assert_int_eq(pl_mesh_measure(mesh, &quality), PL_OK);
            ck_assert_int_eq(pl_mesh_surface(mesh, &triangles, &count), PL_OK);
            free(triangles);
        }
    } else {
        ck_assert_int_eq(status, PL_INVALID);
        ck_assert_uint_gt(faults->total, 0);
        ck_assert_uint_le(faults->total, PL_FAULTS_MAX);
        ck_assert_ptr_null(mesh->vertices);
        for (size_t i = 0; i < faults->count; i++)
            ck_assert_msg(strncmp(faults->items[i].got, "line ", 5) == 0 ||
                              strncmp(faults->items[i].got, "byte ", 5) == 0,
                          "'%s' is nowhere", faults->items[i].got);
    }
    pl_mesh_clear(mesh);
    pl_faults_clear(faults);
}

static pl_status attempt(pl_mesh_format format, const pl_blob *blobs)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_status status = read_blobs(format, blobs, &mesh, &faults);
    check_result(status, &mesh, &faults);
    return status;
}

/* Cut at every byte, at most about `most` cuts; of the last `tail` bytes any may be left out. */
static void cut(pl_mesh_format format, pl_blob *blobs, int which, size_t most, size_t tail)
{
    const pl_blob whole = blobs[which];
    size_t step = whole.size / most + 1;
    for (size_t n = 0; n < whole.size; n += step) {
        blobs[which] = exact(whole.data, n);
        pl_status status = attempt(format, blobs);
        ck_assert_msg(status == PL_INVALID || n + tail >= whole.size, "%zu of %zu bytes accepted",
                      n, whole.size);
        free((void *)blobs[which].data);
    }
    blobs[which] = whole;
}

/* Change one byte to each of some values, at most about `most` places, a quarter of them but in the long form. */
static void change(pl_mesh_format format, pl_blob *blobs, int which, size_t most)
{
    static const char values[] = {0, 1, '\n', ' ', '$', '-', '0', '9', 'e', '\x7F', '\x80', '\xFF'};
    unsigned char *data = (unsigned char *)blobs[which].data;
    size_t places = is_long_form() ? most : most / 4;
    size_t step = blobs[which].size / places + 1;
    for (size_t at = 0; at < blobs[which].size; at += step) {
        unsigned char before = data[at];
        for (size_t v = 0; v < sizeof values; v++) {
            data[at] = (unsigned char)values[v];
            attempt(format, blobs);
        }
        for (int bit = 0; bit < 8; bit++) {
            data[at] = (unsigned char)(before ^ 1 << bit);
            attempt(format, blobs);
        }
        data[at] = before;
    }
}

/* The Gmsh fixtures, malformed ones too; a cut that leaves "$EndElements" is a whole file. */
static void each_gmsh(void (*treat)(pl_blob *blob))
{
    glob_t found;
    ck_assert_int_eq(glob(FIXTURES "*.msh", 0, NULL, &found), 0);
    ck_assert_uint_ge(found.gl_pathc, 9);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        pl_blob blob = load(found.gl_pathv[i]);
        treat(&blob);
        free((void *)blob.data);
    }
    globfree(&found);
}

static void cut_gmsh(pl_blob *blob)
{
    cut(PL_MESH_GMSH, blob, 0, 5000, 2);
}

static void change_gmsh(pl_blob *blob)
{
    change(PL_MESH_GMSH, blob, 0, 400);
}

START_TEST(gmsh_fixtures_cut)
{
    each_gmsh(cut_gmsh);
}
END_TEST

START_TEST(gmsh_fixtures_changed)
{
    each_gmsh(change_gmsh);
}
END_TEST

START_TEST(large_files_cut_and_changed)
{
    pl_blob bar = load(MESHES "bar_10x1x1_mixed_v41bin.msh");
    cut(PL_MESH_GMSH, &bar, 0, is_long_form() ? 150 : 50, 2);
    change(PL_MESH_GMSH, &bar, 0, 20);
    free((void *)bar.data);
    pl_blob beam = load(MESHES "square_beam.mesh");
    cut(PL_MESH_MEDIT, &beam, 0, is_long_form() ? 150 : 50, 2);
    change(PL_MESH_MEDIT, &beam, 0, 20);
    free((void *)beam.data);
    pl_blob box[2] = {load(MESHES "admm_box768.node"), load(MESHES "admm_box768.ele")};
    for (int which = 0; which < 2; which++) {
        cut(PL_MESH_TETGEN, box, which, 100, 70);
        change(PL_MESH_TETGEN, box, which, 20);
    }
    free((void *)box[0].data);
    free((void *)box[1].data);
}
END_TEST

static const char tetgen_node[] =
    "# small\n5 3 1 1\n1 0 0 0 .5 0\n2 1 0 0 .5 1\n3 0 1 0 .5 2\n4 0 0 1 .5 0\n5 0 0 -1e0 .5 -1\n";
static const char tetgen_ele[] = "2 4 1\n1 1 2 3 4 1\n2 1 3 2 5 2.0\n# end\n";
static const char medit_text[] =
    "MeshVersionFormatted 2\nDimension\n3\nVertices\n5\n0 0 0 0\n1 0 0 2\n0 1 0 0\n0 0 1 0\n"
    "0 0 -1.5e0 7\nEdges 1\n1 2 0\nTriangles\n1\n1 2 3 4\nHexahedra\n0\nTetrahedra\n2\n1 2 3 4 1\n"
    "1 3 2 5 2\nEnd\n";

START_TEST(small_texts_cut_and_changed)
{
    pl_blob pair[2] = {exact(tetgen_node, strlen(tetgen_node)),
                       exact(tetgen_ele, strlen(tetgen_ele))};
    cut(PL_MESH_TETGEN, pair, 0, 5000, 2);
    cut(PL_MESH_TETGEN, pair, 1, 5000, 12);
    change(PL_MESH_TETGEN, pair, 0, 5000);
    change(PL_MESH_TETGEN, pair, 1, 5000);
    free((void *)pair[0].data);
    free((void *)pair[1].data);
    pl_blob mesh = exact(medit_text, strlen(medit_text));
    cut(PL_MESH_MEDIT, &mesh, 0, 5000, 2);
    change(PL_MESH_MEDIT, &mesh, 0, 5000);
    free((void *)mesh.data);
}
END_TEST

/* The files that VTK wrote, which have every way of packing numbers. Cut behind their cells, files of
 * the old format are still whole meshes. */
START_TEST(own_files_cut_and_changed)
{
    static const struct {
        const char *pattern;
        pl_mesh_format format;
        size_t tail;
    } kinds[] = {{"two_v*.vtk", PL_MESH_VTK, 500},
                 {"ball*.vtk", PL_MESH_VTK, 1200},
                 {"*.vtu", PL_MESH_VTU, 1500},
                 {"*.stl", PL_MESH_STL, 2},
                 {"*.ply", PL_MESH_PLY, 2}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        glob_t found;
        char path[128];
        snprintf(path, sizeof path, "tests/unit/meshes/%s", kinds[k].pattern);
        ck_assert_int_eq(glob(path, 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            pl_blob blob = load(found.gl_pathv[i]);
            cut(kinds[k].format, &blob, 0, 300, kinds[k].tail);
            change(kinds[k].format, &blob, 0, 150);
            free((void *)blob.data);
        }
        globfree(&found);
    }
}
END_TEST

static const char vega_text[] = "# small\n*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 "
                                "1\n*ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n"
                                "*SET a\n1, 1,\n";
static const char abaqus_text[] =
    "*NODE, NSET=all\n1, 0,0,0\n2,1,0,0\n3, 0,1,0\n4, 0,0,1\n*ELEMENT, TYPE=C3D4, ELSET=s\n1, "
    "1,2,\n3,4\n"
    "*ELSET, ELSET=t, GENERATE\n1,9,2\n*NSET, NSET=u, GENERATE\n1,3,1\n";

START_TEST(sets_cut_and_changed)
{
    pl_blob vega = exact(vega_text, strlen(vega_text)),
            abaqus = exact(abaqus_text, strlen(abaqus_text));
    cut(PL_MESH_VEGA, &vega, 0, 5000, 18);
    change(PL_MESH_VEGA, &vega, 0, 5000);
    cut(PL_MESH_ABAQUS, &abaqus, 0, 5000, 70);
    change(PL_MESH_ABAQUS, &abaqus, 0, 5000);
    free((void *)vega.data);
    free((void *)abaqus.data);
}
END_TEST

/* Every reader on every kind of wrong file, and on nothing at all. */
START_TEST(wrong_kinds_are_refused)
{
    const char *texts[] = {
        "",  "\n",  "$",   "$MeshFormat",        "\xEF\xBB\xBF",     "MeshVersionFormatted",
        "1", "1 3", "End", "# only\n# comments", "\n\n\n\n  \t \r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int format = PL_MESH_GMSH; format < PL_MESH_FORMATS; format++) {
            pl_mesh mesh;
            pl_faults faults = {0};
            pl_status status = read_texts((pl_mesh_format)format, texts[i], texts[i], &mesh,
                                          &faults);
            ck_assert_int_eq(status, PL_INVALID);
            check_result(status, &mesh, &faults);
        }
    pl_blob nothing[2] = {{NULL, 0}, {NULL, 0}};
    for (int format = PL_MESH_GMSH; format < PL_MESH_FORMATS; format++)
        ck_assert_int_eq(attempt((pl_mesh_format)format, nothing), PL_INVALID);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("hostile");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, gmsh_fixtures_cut);
    tcase_add_test(cases, gmsh_fixtures_changed);
    tcase_add_test(cases, large_files_cut_and_changed);
    tcase_add_test(cases, small_texts_cut_and_changed);
    tcase_add_test(cases, own_files_cut_and_changed);
    tcase_add_test(cases, sets_cut_and_changed);
    tcase_add_test(cases, wrong_kinds_are_refused);
    return run_cases("mesh_hostile", cases);
}
