/* Preflight: the files for a good scene; bad scenes and hostile meshes are rejected with located faults, and cause
 * nothing worse.
 */
#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "protocol/text/sha256.h"
#include "tests/support/session_fixture.h"
#include "tests/support/suite.h"

#include <math.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of the mesh that upload_fixture put there last. */
static char hash[65] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/* A unit cube of five tetrahedra, Gmsh 2.2 text; the first one given with two corners swapped, one
 * vertex too many. */
static const char cube[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                           "$Nodes\n9\n"
                           "1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n"
                           "5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n9 5 5 5\n"
                           "$EndNodes\n"
                           "$Elements\n5\n"
                           "1 4 2 7 1 2 1 4 5\n"
                           "2 4 2 7 1 2 3 4 7\n"
                           "3 4 2 7 1 2 5 6 7\n"
                           "4 4 2 7 1 4 5 7 8\n"
                           "5 4 2 7 1 2 4 5 7\n"
                           "$EndElements\n";

static const char upload_scene[] =
    "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3},"
    " \"materials\": {\"m\": {\"model\": \"neo_hookean\", \"poisson\": 0.495},"
    "  \"sheet\": {\"poisson\": 0.496}},"
    " \"bodies\": [{\"name\": \"cube\", \"material\": \"m\", \"mesh\": {\"upload\": \"sha256:%s\","
    " \"format\": \"gmsh\"}}, {\"material\": \"sheet\", \"mesh\": {\"cloth\": {\"cells\": [1, "
    "1]}}}],"
    " \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0],"
    " \"offset\": -1}}, {\"name\": \"ball\", \"sphere\": {\"center\": [0, -3, 0],"
    " \"radius\": 1}}]}";

static void upload_fixture(session_fixture *f, const void *mesh, size_t size)
{
    char scene[1024], name[128];
    if (mesh)
        pl_sha256_hex(mesh, size, hash);
    snprintf(scene, sizeof scene, upload_scene, hash);
    session_fixture_create(f, NULL, scene);
    snprintf(name, sizeof name, "meshes/%s", hash);
    if (mesh)
        session_fixture_write(f, name, mesh, size);
}

static pl_preflight report_of(const session_fixture *f)
{
    pl_preflight report;
    ck_assert_int_eq(pl_preflight_read(f->directory, &report), PL_OK);
    return report;
}

static bool has_warning(const pl_preflight *report, const char *part)
{
    for (int32_t i = 0; i < report->remark_count; i++)
        if (strstr(report->remarks[i], part))
            return true;
    for (int32_t i = 0; i < report->warnings.count; i++)
        if (strstr(report->warnings.items[i].detail, part))
            return true;
    return false;
}

static int32_t told(const pl_preflight *report)
{
    return report->warnings.count + report->remark_count;
}

static const char *first_told(const pl_preflight *report)
{
    return report->warnings.count ? report->warnings.items[0].detail
           : report->remark_count ? report->remarks[0]
                                  : "";
}

/* An npy file of int32 rows, with its values. */
static int32_t *read_npy(const session_fixture *f, const char *name, const char *shape)
{
    char *bytes;
    size_t size;
    ck_assert_int_eq(pl_file_read(f->directory, name, 1 << 20, &bytes, &size), PL_OK);
    ck_assert_uint_ge(size, 128);
    ck_assert_mem_eq(bytes, "\x93NUMPY\x01\x00", 8);
    size_t header = 10 + (size_t)(unsigned char)bytes[8] + 256 * (size_t)(unsigned char)bytes[9];
    ck_assert_uint_eq(header % 64, 0);
    ck_assert_int_eq(bytes[header - 1], '\n');
    bytes[header - 1] = 0;
    char expected[128];
    snprintf(expected, sizeof expected, "{'descr': '<i4', 'fortran_order': False, 'shape': %s, }",
             shape);
    ck_assert_int_eq(strncmp(bytes + 10, expected, strlen(expected)), 0);
    int32_t *values = malloc(size - header);
    memcpy(values, bytes + header, size - header);
    free(bytes);
    return values;
}

START_TEST(test_accepted)
{
    session_fixture f;
    session_fixture_bar(&f, 20, "");
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    pl_preflight report = report_of(&f);
    ck_assert_uint_eq(report.faults.total, 0);
    /* The bar hangs and has two cells across. */
    ck_assert_int_eq(told(&report), 1);
    ck_assert_int_eq(report.warnings.items[0].code, PL_WARNING_FEW_ELEMENTS);
    ck_assert_int_eq(report.vertices, 99);
    ck_assert_int_eq(report.tets, 240);
    ck_assert_int_eq(report.body_count, 1);
    ck_assert_str_eq(report.bodies[0].name, "bar");
    ck_assert_int_eq(report.bodies[0].vertices, 99);
    ck_assert(report.memory_bytes > 0 && report.frame_bytes >= 99 * 12);
    pl_preflight_clear(&report);

    char *text;
    size_t size;
    ck_assert_int_eq(pl_file_read(f.directory, "topology.json", 1 << 20, &text, &size), PL_OK);
    pl_json *topology = pl_json_parse(text, size, NULL);
    ck_assert_int_eq(pl_json_integer(topology, "vertices", 0), 99);
    ck_assert_int_eq(pl_json_integer(topology, "pins/0/vertices", 0), 9);
    ck_assert_str_eq(pl_json_string(topology, "pins/0/name", ""), "wall");
    ck_assert_str_eq(pl_json_string(topology, "pins/0/body", ""), "bar");
    /* A box surface has 4 (ab + bc + ca) triangles. */
    const pl_json *triangles = pl_json_at(topology, "bodies/0/triangles");
    ck_assert_uint_eq(pl_json_count(triangles), 3 * 4 * (20 + 4 + 20));
    int32_t *array = read_npy(&f, "triangles.npy", "(176, 3)");
    for (size_t i = 0; i < pl_json_count(triangles); i++)
        ck_assert_int_eq(pl_json_integer(pl_json_item(triangles, i), "", -1), array[i]);
    free(array);
    free(read_npy(&f, "tets.npy", "(240, 4)"));
    pl_json_free(topology);
    free(text);

    ck_assert_int_eq(pl_file_read(f.directory, "effective.json", 1 << 20, &text, &size), PL_OK);
    pl_json *effective = pl_json_parse(text, size, NULL);
    ck_assert_str_eq(pl_json_string(effective, "time/integrator", ""), "backward_euler");
    ck_assert_ptr_nonnull(pl_json_at(effective, "gravity"));
    pl_json_free(effective);
    free(text);
    session_fixture_destroy(&f);
}
END_TEST

/* Two bodies: the second one's indices follow the first one's. */
START_TEST(test_two_bodies)
{
    session_fixture f;
    session_fixture_create(
        &f, NULL,
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1},"
        " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
        " \"bodies\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"box\":"
        " {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}}, {\"name\": \"b\", \"material\": \"m\","
        " \"mesh\": {\"vertices\": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],"
        " \"tets\": [[0, 1, 2, 3]]}}]}");
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    pl_preflight report = report_of(&f);
    ck_assert_int_eq(report.body_count, 2);
    ck_assert_int_eq(report.bodies[1].first_vertex, 8);
    pl_preflight_clear(&report);
    int32_t *tets = read_npy(&f, "tets.npy", "(7, 4)");
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(tets[24 + k], 8 + k);
    free(tets);
    int32_t *triangles = read_npy(&f, "triangles.npy", "(16, 3)");
    for (int k = 0; k < 3 * 16; k++)
        ck_assert_int_eq(triangles[k] >= 8, k >= 3 * 12);
    char *text;
    size_t size;
    ck_assert_int_eq(pl_file_read(f.directory, "topology.json", 1 << 20, &text, &size), PL_OK);
    pl_json *topology = pl_json_parse(text, size, NULL);
    const pl_json *second = pl_json_at(topology, "bodies/1/triangles");
    ck_assert_uint_eq(pl_json_count(second), 12);
    for (int k = 0; k < 12; k++)
        ck_assert_int_eq(pl_json_integer(pl_json_item(second, (size_t)k), "", -1),
                         triangles[3 * 12 + k]);
    pl_json_free(topology);
    free(text);
    free(triangles);
    session_fixture_destroy(&f);
}
END_TEST

/* Of the plane none, of the ball triangles that lie on it, with edges as long as 64 sides make them. */
static void check_surfaces(const pl_json *topology)
{
    const pl_json *surfaces = pl_json_at(topology, "obstacle_surfaces");
    const pl_json *ball = pl_json_item(surfaces, 1), *vertices = pl_json_at(ball, "vertices");
    size_t count = pl_json_count(vertices) / 3;
    ck_assert_uint_eq(pl_json_count(surfaces), pl_json_count(pl_json_at(topology, "obstacles")));
    ck_assert(pl_json_is_null(pl_json_item(surfaces, 0)));
    ck_assert(!pl_json_boolean(ball, "inside", true));
    ck_assert_uint_gt(pl_json_count(pl_json_at(ball, "triangles")) / 3, 1000);
    for (size_t v = 0; v < count; v++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++) {
            double centre = pl_json_number(pl_json_item(pl_json_at(ball, "center"), c), "", 0);
            square += pow(pl_json_number(pl_json_item(vertices, 3 * v + c), "", 0) - centre, 2);
        }
        ck_assert_double_eq_tol(square, 1, 1e-5);
    }
    for (size_t i = 0; i < pl_json_count(pl_json_at(ball, "triangles")); i++)
        ck_assert_int_lt(pl_json_integer(pl_json_item(pl_json_at(ball, "triangles"), i), "", -1),
                         (int64_t)count);
}

START_TEST(test_upload_with_warnings)
{
    session_fixture f;
    upload_fixture(&f, cube, sizeof cube - 1);
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    pl_preflight report = report_of(&f);
    ck_assert_int_eq(report.vertices, 8 + 4);
    ck_assert_int_eq(report.tets, 5);
    ck_assert(has_warning(&report, "had a negative volume"));
    ck_assert(has_warning(&report, "1 vertices of body 'cube' belong to no element"));
    ck_assert(has_warning(&report, "0.495"));
    ck_assert(!has_warning(&report, "0.496")); /* sheets do not lock */
    pl_preflight_clear(&report);
    char *text;
    size_t size;
    ck_assert_int_eq(pl_file_read(f.directory, "topology.json", 1 << 20, &text, &size), PL_OK);
    pl_json *topology = pl_json_parse(text, size, NULL);
    ck_assert_double_eq(pl_json_number(topology, "obstacles/0/plane/normal/1", 0), 1);
    ck_assert_double_eq(pl_json_number(topology, "obstacles/0/plane/offset", 0), -1);
    ck_assert_str_eq(pl_json_string(topology, "obstacles/1/name", ""), "ball");
    ck_assert_double_eq(pl_json_number(topology, "obstacles/1/sphere/radius", 0), 1);
    check_surfaces(topology);
    pl_json_free(topology);
    free(text);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    session_fixture_destroy(&f);
}
END_TEST

/* The report of a rejected scene; the pointer of its first fault begins as given. */
static void check_refused(session_fixture *f, const char *pointer, const char *code)
{
    ck_assert_int_eq(session_fixture_preflight(f), 1);
    pl_preflight report = report_of(f);
    ck_assert_uint_ge(report.faults.count, 1);
    const pl_fault *fault = &report.faults.items[0];
    ck_assert_msg(strncmp(fault->pointer, pointer, strlen(pointer)) == 0, "at %s, not %s",
                  fault->pointer, pointer);
    if (code)
        ck_assert_str_eq(fault->code, code);
    pl_preflight_clear(&report);
    ck_assert(!session_fixture_has(f, "topology.json"));
    ck_assert(!session_fixture_has(f, "effective.json"));
    session_fixture_destroy(f);
}

START_TEST(test_bad_scenes)
{
    static const struct {
        const char *scene, *pointer;
    } bad[] = {
        {"", ""},
        {"{", ""},
        {"[1, 2]", ""},
        {"{\"pliant\": 1, \"pliant\": 1}", ""},
        {"{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"materials\": {\"m\":"
         " {\"model\": \"neo_hookean\", \"yuong\": 1e5}}, \"bodies\": [{\"name\": \"b\","
         " \"material\": \"m\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, "
         "1]}}}]}",
         "/materials/m/yuong"},
        /* Known only once the mesh is there: nothing on the far side of a far box. */
        {"{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1}, \"materials\": {\"m\":"
         " {\"model\": \"neo_hookean\"}}, \"bodies\": [{\"name\": \"b\","
         " \"material\": \"m\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}}],"
         " \"pins\": [{\"body\": \"b\", \"select\": {\"sphere\": {\"center\": [9, 9, 9],"
         " \"radius\": 1}}}]}",
         "/pins/0/select"},
        /* Each part is good, the two together do not exist. */
        {"{\"pliant\": 1, \"solver\": {\"method\": \"quasi_newton\"}, \"bodies\": [{\"mesh\":"
         " {\"box\": {}}}], \"materials\": {\"m\": {\"strain_limit\": {\"high\": 1.1}}}}",
         "/solver/method"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        session_fixture f;
        session_fixture_create(&f, NULL, bad[i].scene);
        check_refused(&f, bad[i].pointer, NULL);
    }
}
END_TEST

START_TEST(test_bad_meshes)
{
    session_fixture f;
    upload_fixture(&f, NULL, 0);
    check_refused(&f, "/bodies/0/mesh/upload", "mesh_missing");
    upload_fixture(&f, "", 0);
    check_refused(&f, "/bodies/0/mesh", NULL);
    upload_fixture(&f, "not a mesh at all", 17);
    check_refused(&f, "/bodies/0/mesh", NULL);
    /* Cut anywhere but inside the closing mark. */
    for (size_t cut = 1; cut < sizeof cube - 16; cut += 7) {
        upload_fixture(&f, cube, cut);
        check_refused(&f, "/bodies/0/mesh", NULL);
    }
    upload_fixture(&f, cube, sizeof cube - 1);
    char other[128];
    snprintf(other, sizeof other, "meshes/%s", hash);
    char *changed = strdup(cube);
    changed[sizeof cube / 2] ^= 1;
    session_fixture_write(&f, other, changed, sizeof cube - 1);
    free(changed);
    check_refused(&f, "/bodies/0/mesh/upload", "mesh_damaged");
    /* A folder and a pipe in the mesh's place neither hang nor crash. */
    char name[128];
    snprintf(name, sizeof name, "meshes/%s", hash);
    upload_fixture(&f, NULL, 0);
    ck_assert_int_eq(mkdirat(f.directory, name, 0700), 0);
    check_refused(&f, "/bodies/0/mesh/upload", "mesh_unreadable");
    upload_fixture(&f, NULL, 0);
    ck_assert_int_eq(mkfifoat(f.directory, name, 0700), 0);
    check_refused(&f, "/bodies/0/mesh/upload", "mesh_unreadable");
}
END_TEST

/* Needing more memory than exists, or than was requested, is rejected before it is used. */
START_TEST(test_too_large)
{
    session_fixture f;
    session_fixture_bar(&f, 1, ", \"resources\": {\"memory\": 1000000}");
    check_refused(&f, "/resources/memory", NULL);
}
END_TEST

START_TEST(test_no_scene)
{
    session_fixture f;
    session_fixture_bar(&f, 1, "");
    ck_assert_int_eq(unlinkat(f.directory, "scene.json", 0), 0);
    ck_assert_int_eq(session_fixture_preflight(&f), 2);
    session_fixture_destroy(&f);
    ck_assert_int_eq(session_fixture_wait(session_fixture_spawn(
                         "pliant-preflight", (const char *const[]){NULL}, NULL, NULL)),
                     2);
}
END_TEST

/* ---- one mesh file ---- */

/* Run the mesh check; its JSON line, parsed. */
static pl_json *mesh_report(const char *text, const char *format, int expected_status)
{
    session_fixture f;
    session_fixture_create(&f, NULL, "");
    session_fixture_write(&f, "file", text, strlen(text));
    char path[600], line[4096] = "";
    snprintf(path, sizeof path, "%s/file", f.path);
    FILE *out = tmpfile();
    const char *const arguments[] = {"--mesh", path, "--format", format, NULL};
    int status =
        session_fixture_wait(session_fixture_spawn("pliant-preflight", arguments, NULL, out));
    rewind(out);
    size_t length = fread(line, 1, sizeof line - 1, out);
    fclose(out);
    session_fixture_destroy(&f);
    ck_assert_int_eq(status, expected_status);
    pl_json *report = pl_json_parse(line, length, NULL);
    ck_assert_msg(report != NULL, "not JSON: %s", line);
    ck_assert_int_eq(pl_json_count(pl_json_at(report, "faults")) > 0, status == 1);
    return report;
}

START_TEST(test_mesh_file)
{
    static const char *const formats[] = {"gmsh", "auto"};
    char file[1024];
    snprintf(file, sizeof file,
             "%s$ElementData\n1\n\"grain\"\n0\n3\n0\n3\n1\n2 0 0 1\n$EndElementData\n", cube);
    for (int i = 0; i < 2; i++) {
        pl_json *r = mesh_report(file, formats[i], 0);
        ck_assert_str_eq(pl_json_string(r, "format", ""), "gmsh");
        ck_assert_int_eq(pl_json_integer(r, "vertices", 0), 8);
        ck_assert_int_eq(pl_json_integer(r, "tets", 0), 5);
        ck_assert_int_eq(pl_json_integer(r, "unused", 0), 1);
        ck_assert_int_ge(pl_json_integer(r, "repaired", 0), 1);
        ck_assert_double_eq_tol(pl_json_number(r, "volume", 0), 1, 1e-12);
        ck_assert_double_eq(pl_json_number(r, "box/1/2", 0), 1);
        ck_assert(pl_json_number(r, "quality/worst", 0) > 0.1);
        ck_assert_int_eq(pl_json_integer(r, "tags/0/tag", 0), 7);
        ck_assert_int_eq(pl_json_integer(r, "tags/0/dimension", 0), 3);
        ck_assert_int_eq(pl_json_count(pl_json_at(r, "fields")), 1);
        ck_assert_str_eq(pl_json_string(r, "fields/0/name", ""), "grain");
        ck_assert_int_eq(pl_json_integer(r, "fields/0/components", 0), 3);
        pl_json_free(r);
    }
}
END_TEST

/* TetGen's two files, each judged alone, 0- and 1-based. */
START_TEST(test_tetgen_halves)
{
    for (int base = 0; base < 2; base++) {
        char text[256];
        snprintf(text, sizeof text, "# nodes\n4 3 0 0\n%d 0 0 0\n%d 1 0 0\n%d 0 1 0\n%d 0 0 1\n",
                 base, base + 1, base + 2, base + 3);
        pl_json *r = mesh_report(text, "auto", 0);
        ck_assert_str_eq(pl_json_string(r, "format", ""), "tetgen_node");
        ck_assert_int_eq(pl_json_integer(r, "vertices", 0), 4);
        ck_assert(pl_json_is_null(pl_json_at(r, "tets")));
        pl_json_free(r);
        snprintf(text, sizeof text, "1 4 1\n# corners\n1 %d %d %d %d 9\n", base, base + 1, base + 2,
                 base + 3);
        r = mesh_report(text, "auto", 0);
        ck_assert_str_eq(pl_json_string(r, "format", ""), "tetgen_ele");
        ck_assert_int_eq(pl_json_integer(r, "tets", 0), 1);
        ck_assert(pl_json_is_null(pl_json_at(r, "vertices")));
        ck_assert_int_eq(pl_json_integer(r, "tags/0/tag", 0), 9);
        pl_json_free(r);
    }
    pl_json_free(mesh_report("4 3 0 0\n0 0 0 0\n1 x 0 0\n", "tetgen_node", 1));
    pl_json_free(mesh_report("2 4 0\n1 0 1 2 3\n", "tetgen_ele", 1));
    pl_json_free(mesh_report("1 10 0\n1 0 1 2 3 4 5 6 7 8 9\n", "tetgen_ele", 1));
}
END_TEST

START_TEST(test_bad_mesh_file)
{
    pl_json *r = mesh_report("what is this", "auto", 1);
    ck_assert_str_eq(pl_json_string(r, "faults/0/code", ""), "mesh_format");
    ck_assert(pl_json_is_null(pl_json_at(r, "format")));
    pl_json_free(r);
    pl_json_free(mesh_report("$MeshFormat\n9.9 0 8\n$EndMeshFormat\n", "auto", 1));
    pl_json_free(mesh_report("", "gmsh", 1));
}
END_TEST

/* Remarks on damping that does not act, or acts inaccurately; none for good damping. */
START_TEST(test_damping_warnings)
{
    static const struct {
        const char *damping, *more, *said;
    } cases[] = {
        {"\"model\": \"rayleigh\", \"beta\": 0.02", "", "beta 0.02 s, more than a step"},
        {"\"model\": \"rayleigh\", \"beta\": 0.005", "", NULL},
        {"\"model\": \"rayleigh\", \"beta\": 0.02, \"second_order\": true", "", NULL},
        {"\"model\": \"rayleigh\", \"beta\": 0.02, \"second_order\": \"auto\"", "",
         "beta 0.02 s, more than a step"},
        {"\"model\": \"rayleigh\", \"beta\": 0.005",
         ", \"initial\": {\"angular_velocity\": [0, 20, 0]}", "turns by 0.2 rad in a step"},
        {"\"model\": \"rayleigh\", \"beta\": 0.005, \"momentum\": \"nonrigid\"",
         ", \"initial\": {\"angular_velocity\": [0, 20, 0]}", NULL},
        {"\"viscosity\": 5}, \"fibers\": {\"stiffness\": 1e4, \"direction\": [1, 0, 0]", "", NULL},
        {"\"model\": \"principal_strain\", \"beta\": 0.005}, \"fibers\": {\"stiffness\": 1e4, "
         "\"direction\": [1, 0, 0]",
         "", "does not act on its fibers"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024];
        snprintf(scene, sizeof scene,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3},"
                 " \"materials\": {\"m\": {\"damping\": {%s}}},"
                 " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}%s}]}",
                 cases[k].damping, cases[k].more);
        session_fixture_create(&f, NULL, scene);
        ck_assert_int_eq(session_fixture_preflight(&f), 0);
        pl_preflight report = report_of(&f);
        ck_assert_msg(told(&report) == (cases[k].said != NULL), "%s: %d of them", scene,
                      told(&report));
        ck_assert(!cases[k].said || has_warning(&report, cases[k].said));
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* Starts: inside an obstacle, of an unusual size, too fast for a thin obstacle; and good ones. */
START_TEST(test_start_warnings)
{
    static const struct {
        const char *body, *obstacle, *said;
    } cases[] = {
        {"", "\"plane\": {\"offset\": -0.5}", NULL}, /* the box's bottom lies on it */
        {"", "\"plane\": {\"offset\": -0.3}",
         "4 vertices of body 'b' begin inside obstacle 'o', the "
         "deepest 0.2 m: the first step moves them to its surface, which ejects them at up to "
         "20 m/s"},
        {", \"transform\": {\"translate\": [0, 0.21, 0]}", "\"plane\": {\"offset\": -0.3}", NULL},
        {"", "\"plane\": {\"offset\": -0.6}, \"margin\": 0.1", NULL},
        {"", "\"plane\": {\"offset\": -0.6}, \"margin\": 0.2",
         "4 vertices of body 'b' begin inside obstacle 'o' or its margin, the deepest 0.1 m: the "
         "first step moves them to its surface, which ejects them at up to 10 m/s"},
        {"", "\"sphere\": {\"radius\": 3}",
         "8 vertices of body 'b' begin inside obstacle 'o', the "
         "deepest 2.13 m"},
        {"", "\"sphere\": {\"radius\": 3, \"inside\": true}", NULL},
        {", \"transform\": {\"scale\": 40}", "\"plane\": {\"offset\": -20}",
         "body 'b' is 69.3 m across"},
        {", \"transform\": {\"scale\": 1e-4}", "\"plane\": {\"offset\": -1}",
         "is 0.000173 m across"},
        {", \"initial\": {\"velocity\": [0, -30, 0]}",
         "\"box\": {\"center\": [0, -2, 0], \"size\": [3, 0.002, 3]}",
         "moves 0.3 m in a step of 0.01 s, but obstacle 'o' is only 0.002 m thick"},
        {", \"initial\": {\"velocity\": [0, -30, 0]}",
         "\"box\": {\"center\": [0, -2, 0], \"size\": [3, 0.02, 3]}", NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024];
        snprintf(
            scene, sizeof scene,
            "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3, \"integrator\": \"tr_bdf2\"},"
            " \"bodies\": [{\"name\": \"b\","
            " \"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}%s}],"
            " \"obstacles\": [{\"name\": \"o\", %s}]}",
            cases[k].body, cases[k].obstacle);
        session_fixture_create(&f, NULL, scene);
        ck_assert_int_eq(session_fixture_preflight(&f), 0);
        pl_preflight report = report_of(&f);
        ck_assert_msg(told(&report) == (cases[k].said != NULL), "%s: %d of them, %s", scene,
                      told(&report), first_told(&report));
        ck_assert_msg(!cases[k].said || has_warning(&report, cases[k].said), "%s",
                      first_told(&report));
        pl_preflight_clear(&report);
        session_fixture_destroy(&f);
    }
}
END_TEST

/* The effective scene has the values chosen for "auto": the form, and second_order by the integrator. */
START_TEST(test_form_of_damping)
{
    static const struct {
        const char *solver, *model, *mesh, *form;
    } cases[] = {
        {"admm", "viscous", "box", "merged"},       {"admm", "strain_rate", "box", "separate"},
        {"newton", "strain_rate", "box", "merged"}, {"quasi_newton", "viscous", "box", "separate"},
        {"admm", "viscous", "cloth", "auto"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        session_fixture f;
        char scene[1024], *text;
        size_t size;
        const bool box = strcmp(cases[k].mesh, "box") == 0;
        snprintf(scene, sizeof scene,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3, \"integrator\": \"%s\"},"
                 " \"solver\": {\"method\": \"%s\"},"
                 " \"materials\": {\"m\": {\"damping\": {\"model\": \"%s\", \"viscosity\": 5}}},"
                 " \"bodies\": [{\"mesh\": {\"%s\": {\"cells\": [1, 1%s]}}}]}",
                 k % 2 ? "bdf2" : "backward_euler", cases[k].solver, cases[k].model, cases[k].mesh,
                 box ? ", 1" : "");
        session_fixture_create(&f, NULL, scene);
        ck_assert_int_eq(session_fixture_preflight(&f), 0);
        ck_assert_int_eq(pl_file_read(f.directory, "effective.json", 1 << 20, &text, &size), PL_OK);
        pl_json *effective = pl_json_parse(text, size, NULL);
        ck_assert_str_eq(pl_json_string(effective, "materials/m/damping/form", ""), cases[k].form);
        ck_assert(pl_json_boolean(effective, "materials/m/damping/second_order", false) ==
                  (k % 2 == 1));
        ck_assert(pl_json_boolean(effective, "materials/m/damping/second_order", true) ==
                  (k % 2 == 1));
        pl_json_free(effective);
        free(text);
        session_fixture_destroy(&f);
    }
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("preflight");
    tcase_set_timeout(tc, 180);
    tcase_add_test(tc, test_accepted);
    tcase_add_test(tc, test_two_bodies);
    tcase_add_test(tc, test_upload_with_warnings);
    tcase_add_test(tc, test_damping_warnings);
    tcase_add_test(tc, test_start_warnings);
    tcase_add_test(tc, test_form_of_damping);
    tcase_add_test(tc, test_bad_scenes);
    tcase_add_test(tc, test_bad_meshes);
    tcase_add_test(tc, test_too_large);
    tcase_add_test(tc, test_no_scene);
    tcase_add_test(tc, test_mesh_file);
    tcase_add_test(tc, test_tetgen_halves);
    tcase_add_test(tc, test_bad_mesh_file);
    Suite *suite = suite_create("worker_preflight");
    suite_add_tcase(suite, tc);
    return run_suite(suite);
}
