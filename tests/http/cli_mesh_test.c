/* pliant mesh: quality, TetGen's two files as one mesh, and surfaces filled by stand-ins for tetgen and gmsh on the
 * PATH; by the real ones if installed. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The corner tetrahedron; with it one turned around, and a flat one. */
static const char NODES[] = "6 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 0 0 -1\n5 1 1 0\n";
static const char ONE[] = "1 4 0\n0 0 1 2 3\n",
                  THREE[] = "3 4 0\n0 0 1 2 3\n1 0 1 2 4\n2 0 1 2 5\n";
static const char SURFACE[] =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
/* Output of the tests' gmsh: a volume of one tetrahedron. */
#define FILLED                                                                                     \
    "$MeshFormat\\n2.2 0 8\\n$EndMeshFormat\\n$Nodes\\n4\\n1 0 0 0\\n2 1 0 0\\n3 0 1 0\\n4 0 0 "   \
    "1\\n$EndNodes\\n$Elements\\n1\\n1 %d 2 1 1 1 2 3%s\\n$EndElements\\n"

static char path_before[4096];

/* A program in a folder that is the whole PATH except /bin and existing folders. */
static void put_program(const char *name, const char *script)
{
    char place[64];
    snprintf(place, sizeof place, "programs/%s", name);
    mkdir(pliant_path("programs"), 0700);
    pliant_write(place, script);
    ck_assert_int_eq(chmod(pliant_path(place), 0700), 0);
}

/* Only the tests' own programs: what these need is named by its whole path. */
static void use_programs(void)
{
    snprintf(path_before, sizeof path_before, "%s", getenv("PATH"));
    mkdir(pliant_path("programs"), 0700);
    char links[600];
    for (int k = 0; k < 2; k++) {
        snprintf(links, sizeof links, "%s/%s", pliant_path("programs"), k ? "env" : "sh");
        unlink(links);
        ck_assert_int_eq(symlink(k ? "/usr/bin/env" : "/bin/sh", links), 0);
    }
    setenv("PATH", pliant_path("programs"), 1);
}

static void use_path_again(void)
{
    setenv("PATH", path_before, 1);
}

START_TEST(quality_is_of_the_file_as_it_is)
{
    pliant_write("three.node", NODES);
    pliant_write("three.ele", THREE);
    ck_assert_int_eq(pliant("--json mesh quality three.ele"), 1); /* a flat one is a fault */
    pl_json *r = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_str_eq(pl_json_string(r, "format", ""), "tetgen");
    ck_assert_int_eq(pl_json_integer(r, "shapes/elements", 0), 3);
    ck_assert_int_eq(pl_json_integer(r, "shapes/flat", 0), 1);
    ck_assert_int_eq(pl_json_integer(r, "shapes/inverted", 0), 1);
    ck_assert_int_eq(pl_json_integer(r, "shapes/worst/0/element", -1), 2);
    ck_assert(pl_json_boolean(r, "shapes/worst/0/flat", false));
    ck_assert_double_eq_tol(pl_json_number(r, "shapes/least_angle/least", 0), 54.7356, 1e-4);
    ck_assert_double_eq_tol(pl_json_number(r, "shapes/volume/mean", 0), 1. / 6, 1e-12);
    ck_assert_uint_eq(pl_json_count(pl_json_at(r, "shapes/aspect/counts")) + 1,
                      pl_json_count(pl_json_at(r, "shapes/aspect/edges")));
    pl_json_free(r);
    ck_assert_int_eq(pliant("mesh quality three.node"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "3 tetrahedra\nflat      1"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "inverted  1  (reordered"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "54.74 to 54.74, mean 54.74\n"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "mesh_degenerate"));
    pliant_write("surface.obj", SURFACE);
    ck_assert_int_eq(pliant("mesh quality surface.obj"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "4 triangles"));
    ck_assert_int_eq(pliant("mesh quality none.msh"), 7);
    ck_assert_int_eq(pliant("mesh qualities surface.obj"), 2);
}
END_TEST

START_TEST(two_files_are_one_mesh)
{
    pliant_write("one.node", NODES);
    ck_assert_int_eq(pliant("mesh convert one.node --out one.msh"), 7); /* half a mesh */
    pliant_write("one.ele", ONE);
    ck_assert_msg(pliant("mesh info one.node") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "tets         1\n"));
    ck_assert_int_eq(pliant("mesh convert one.ele --out one.msh"), 0);
    ck_assert_int_eq(pliant("mesh info one.msh"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "volume       0.166667 m^3"));
}
END_TEST

START_TEST(gmsh_fills_a_surface)
{
    static const char gmsh[] = "#!/bin/sh\nprintf '%%s\\n' \"$@\" >'%s'\nwhile [ $# -gt 1 ]; do\n"
                               "[ \"$1\" = -o ] && to=$2\nlast=$2\nshift\ndone\n"
                               "/bin/cat \"$last\" >>'%s'\nprintf '" FILLED "' >\"$to\"\n";
    char script[3000], said[2000];
    pliant_write("surface.obj", SURFACE);
    snprintf(script, sizeof script, gmsh, pliant_path("said"), pliant_path("said"), 4, " 4");
    put_program("gmsh", script);
    use_programs();
    ck_assert_msg(pliant("mesh tetrahedralise surface.obj --volume 1e-3 --out out.mesh") == 0, "%s",
                  pliant_err);
    ck_assert_int_eq(pliant("mesh info out.mesh"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "format       medit"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "tets         1\n"));
    pliant_read("said", said, sizeof said);
    ck_assert_ptr_nonnull(strstr(said, "-3\n"));
    ck_assert_ptr_nonnull(strstr(said, "Merge \"surface.stl\";"));
    ck_assert_ptr_nonnull(strstr(said, "CharacteristicLengthMax = 0.20396489;")); /* 1e-3 m^3 */
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out out.node"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "tetgen is not installed"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --with tetgen --out out.node"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "apt install tetgen"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --with netgen --out out.msh"), 2);
    /* A surface that holds no volume comes back as a surface. */
    snprintf(script, sizeof script, gmsh, pliant_path("said"), pliant_path("said"), 2, "");
    put_program("gmsh", script);
    unlink(pliant_path("out.mesh"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out out.mesh"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no volume"));
    ck_assert_int_ne(access(pliant_path("out.mesh"), F_OK), 0);
    put_program("gmsh", "#!/bin/sh\n/bin/sleep 60\n");
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --limit 1 --out out.mesh"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "took more than 1 s"));
    put_program("gmsh", "#!/bin/sh\nexit 1\n");
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out out.mesh"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "could not fill the surface"));
    unlink(pliant_path("programs/gmsh"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out out.mesh"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "neither tetgen nor gmsh is installed"));
    use_path_again();
}
END_TEST

START_TEST(tetgen_fills_a_surface)
{
    char script[2000], said[800];
    snprintf(script, sizeof script,
             "#!/bin/sh\necho \"$@\" >'%s'\ns=${2%%.stl}\nprintf '%s' >\"$s.1.node\"\n"
             "printf '%s' >\"$s.1.ele\"\n",
             pliant_path("said"), "4 3 0 0\\n1 0 0 0\\n2 1 0 0\\n3 0 1 0\\n4 0 0 1\\n",
             "1 4 0\\n1 1 2 3 4\\n");
    pliant_write("surface.obj", SURFACE);
    put_program("tetgen", script);
    use_programs();
    ck_assert_msg(pliant("mesh tetrahedralise surface.obj --volume 0.5 --out t.node") == 0, "%s",
                  pliant_err);
    pliant_read("said", said, sizeof said);
    ck_assert_msg(strncmp(said, "-pQq1.414a0.5 ", 14) == 0, "%s", said);
    ck_assert_int_eq(pliant("mesh info t.ele"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "tets         1\n"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out t.msh"), 0);
    ck_assert_int_eq(pliant("mesh info t.msh"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "volume       0.166667 m^3"));
    ck_assert_int_eq(pliant("mesh tetrahedralise surface.obj --out t.obj"), 2);
    pliant_write("open.obj", "v 0 0\n");
    ck_assert_int_eq(pliant("mesh tetrahedralise open.obj --out t.msh"), 1);
    use_path_again();
}
END_TEST

/* The same by the programs themselves: the surface's volume is filled. */
START_TEST(installed_programs_fill_a_surface)
{
    static const char *const programs[] = {"tetgen", "gmsh"};
    const char *name = programs[_i];
    char ask[64];
    snprintf(ask, sizeof ask, "command -v %s >/dev/null", name);
    if (system(ask) != 0) {
        skip_test("cli_mesh: %s is not installed", name);
    }
    pliant_write("surface.obj", SURFACE);
    ck_assert_msg(
        pliant("mesh tetrahedralise surface.obj --with %s --volume 1e-3 --out real.msh", name) == 0,
        "%s", pliant_err);
    ck_assert_int_eq(pliant("--json mesh quality real.msh"), 0);
    pl_json *r = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_double_eq_tol(pl_json_number(r, "volume", 0), 1. / 6, 1e-9);
    ck_assert_int_eq(pl_json_integer(r, "shapes/inverted", -1), 0);
    ck_assert_int_gt(pl_json_integer(r, "tets", 0), _i == 0 ? 100 : 0);
    pl_json_free(r);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("mesh");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, pliant_setup_here, pliant_teardown);
    tcase_add_test(t, quality_is_of_the_file_as_it_is);
    tcase_add_test(t, two_files_are_one_mesh);
    tcase_add_test(t, gmsh_fills_a_surface);
    tcase_add_test(t, tetgen_fills_a_surface);
    tcase_add_loop_test(t, installed_programs_fill_a_surface, 0, 2);
    return run_cases("cli_mesh", t);
}
