/* The command line against a real daemon, and `pliant run` without one. */
#include "tests/support/daemon_fixture.h"
#include "tests/support/suite.h"

#include "protocol/json.h"
#include "protocol/params.h"

#include <check.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static daemon_fixture fixture;
static char program[PATH_MAX], out[1 << 18], err[1 << 16];

static const char scene[] =
    "{\"pliant\": 1, \"name\": \"small bar\", \"time\": {\"step\": 0.01, \"steps\": %d},"
    " \"solver\": {\"method\": \"admm\", \"iterations\": 4},"
    " \"materials\": {\"rubber\": {\"model\": \"neo_hookean\", \"young\": 1e5, \"poisson\": 0.4,"
    " \"density\": 1000}},"
    " \"bodies\": [{\"name\": \"bar\", \"mesh\": %s, \"material\": \"rubber\"}],"
    " \"pins\": [{\"body\": \"bar\", \"select\": {\"side\": \"-x\"}}],"
    " \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": -2}}]}";

static void find_program(void)
{
    const char *build = getenv("PLIANT_BUILD");
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    ck_assert_int_gt(length, 0);
    self[length] = '\0';
    const char *folder = build ? build : dirname(dirname(dirname(self)));
    snprintf(program, sizeof program, "%.4000s/pliant", folder);
}

static void setup(void)
{
    find_program();
    daemon_fixture_start(&fixture, NULL);
}

static void teardown(void)
{
    daemon_fixture_stop(&fixture);
}

static const char *path_of(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 400, "%s/%s", fixture.directory, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

static void write_scene(const char *name, int steps, const char *mesh)
{
    char text[2048];
    snprintf(text, sizeof text, scene, steps, mesh);
    write_file(name, text);
}

static void read_file(const char *name, char *text, size_t room)
{
    FILE *f = fopen(path_of(name), "rb");
    size_t size = f ? fread(text, 1, room - 1, f) : 0;
    text[size] = '\0';
    if (f)
        fclose(f);
}

/* Run pliant with the words, in the fixture's folder; its output is in `out` and `err`. Returns its
 * exit status. */
__attribute__((format(printf, 1, 2))) static int pliant(const char *format, ...)
{
    char words[1024], command[PATH_MAX + 2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command,
             "cd '%s' && env -u PLIANT_SERVER -u PLIANT_TOKEN -u PLIANT_TOKEN_FILE '%s' --state "
             "'%s' %s >out 2>err </dev/null",
             fixture.directory, program, fixture.state, words);
    int status = system(command);
    read_file("out", out, sizeof out);
    read_file("err", err, sizeof err);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define BOX "{\"box\": {\"size\": [1, 0.5, 0.5], \"cells\": [4, 2, 2]}}"

/* A session of `steps` frames, submitted; its id. */
static const char *submit(int steps)
{
    static char id[40];
    write_scene("scene.json", steps, BOX);
    ck_assert_msg(pliant("submit scene.json") == 0, "%s", err);
    ck_assert_uint_eq(strlen(out), 33);
    snprintf(id, sizeof id, "%.32s", out);
    return id;
}

START_TEST(submitted_session_is_followed_listed_and_exported)
{
    char id[40];
    struct stat st;
    write_scene("scene.json", 12, BOX);
    ck_assert_msg(pliant("submit scene.json --follow") == 0, "%s", err);
    ck_assert_ptr_nonnull(strstr(err, "succeeded  frame 12 of 12"));
    ck_assert_ptr_nonnull(strstr(err, "12/12  100%"));
    ck_assert_int_eq(pliant("list --state succeeded"), 0);
    ck_assert_ptr_nonnull(strstr(out, "small bar"));
    snprintf(id, sizeof id, "%.12s", out);
    ck_assert_int_eq(pliant("show %.6s", id), 0);
    ck_assert_ptr_nonnull(strstr(out, "bar, 45 vertices"));
    ck_assert_int_eq(pliant("--json show %s", id), 0);
    pl_json *session = pl_json_parse(out, strlen(out), NULL);
    ck_assert_int_eq(pl_json_integer(session, "progress/frame", 0), 12);
    pl_json_free(session);

    ck_assert_int_eq(pliant("export %s --out a.npz", id), 0);
    ck_assert_int_eq(stat(path_of("a.npz"), &st), 0);
    ck_assert_int_gt(st.st_size, 13 * 45 * 12);
    ck_assert_int_eq(pliant("export %s --format vtu --every 5 --out series/a.pvd", id), 0);
    read_file("series/a.pvd", out, sizeof out);
    ck_assert_ptr_nonnull(strstr(out, "a_000010.vtu"));
    ck_assert_int_eq(stat(path_of("series/a_000010.vtu"), &st), 0);
    ck_assert_int_eq(pliant("export %s --size 64x48 --frame 3 --out a.png", id), 0);
    ck_assert_int_eq(stat(path_of("a.png"), &st), 0);
    ck_assert_int_eq(pliant("frames %s --from 2 --to 8 --every 3 --out npy", id), 0);
    ck_assert_int_eq(stat(path_of("npy/frame_000008.npy"), &st), 0);
    ck_assert_int_eq(st.st_size, 128 + 45 * 12);
    ck_assert_int_eq(pliant("metrics %s --from 10", id), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"frame\":12"));
    ck_assert_ptr_null(strstr(out, "\"event\""));
    ck_assert_int_eq(pliant("plot %s --ascii --width 40", id), 0);
    ck_assert_ptr_nonnull(strstr(out, "frame 12"));
    ck_assert_int_eq(pliant("delete %s", id), 0);
    ck_assert_int_eq(pliant("show %s", id), 5);
}
END_TEST

START_TEST(json_follow_gives_each_frame_once)
{
    int frames = 0, next = 0;
    const char *id = submit(30);
    ck_assert_int_eq(pliant("--json follow %s --from 5", id), 0);
    for (char *line = strtok(out, "\n"); line; line = strtok(NULL, "\n")) {
        pl_json *value = pl_json_parse(line, strlen(line), NULL);
        ck_assert_ptr_nonnull(value);
        if (!pl_json_string(value, "event", NULL)) {
            ck_assert_int_eq(pl_json_integer(value, "frame", -1), frames == 0 ? 5 : next);
            next = (int)pl_json_integer(value, "frame", -1) + 1;
            frames++;
        }
        pl_json_free(value);
    }
    ck_assert_int_eq(frames, 26);
}
END_TEST

START_TEST(bad_scene_names_every_fault)
{
    write_file("bad.json", "{\"pliant\": 1, \"time\": {\"step\": -1, \"duraton\": 2}, "
                           "\"materials\": {}, \"bodies\": []}");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pliant("%s bad.json", i ? "validate" : "submit --follow"), 1);
        ck_assert_ptr_nonnull(strstr(err, "/time/step"));
        ck_assert_ptr_nonnull(strstr(err, "/time/duraton"));
        ck_assert_ptr_nonnull(strstr(err, "got       "));
        ck_assert_ptr_nonnull(strstr(err, "expected"));
        ck_assert_str_eq(out, "");
    }
    ck_assert_int_eq(pliant("--json validate bad.json"), 1);
    pl_json *problem = pl_json_parse(out, strlen(out), NULL);
    ck_assert_uint_ge(pl_json_count(pl_json_at(problem, "faults")), 2);
    pl_json_free(problem);
    write_file("broken.json", "{\"pliant\": 1,");
    ck_assert_int_eq(pliant("submit broken.json"), 1);
    ck_assert_int_eq(pliant("submit none.json"), 7);
    ck_assert_int_eq(daemon_fixture_sessions(&fixture), 0);
}
END_TEST

/* A cube of six tetrahedra in Gmsh's format 2.2. */
static const char cube[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n"
    "5 0 0 1\n6 1 0 1\n7 0 1 1\n8 1 1 1\n$EndNodes\n$Elements\n6\n"
    "1 4 2 1 1 1 2 4 8\n2 4 2 1 1 1 4 3 8\n3 4 2 1 1 1 3 7 8\n4 4 2 1 1 1 7 5 8\n"
    "5 4 2 1 1 1 5 6 8\n6 4 2 1 1 1 6 2 8\n$EndElements\n";

START_TEST(mesh_files_are_uploaded)
{
    write_file("cube.msh", cube);
    write_scene("mesh.json", 3, "{\"file\": \"cube.msh\"}");
    ck_assert_msg(pliant("submit mesh.json --follow") == 0, "%s", err);
    ck_assert_msg(pliant("validate mesh.json") == 0, "%s", err);
    ck_assert_ptr_nonnull(strstr(out, "8 vertices, 6 tetrahedra"));
    write_file("bad.msh", "$MeshFormat\nnothing\n");
    write_scene("badmesh.json", 3, "{\"file\": \"bad.msh\"}");
    ck_assert_int_eq(pliant("submit badmesh.json"), 1);
    ck_assert_ptr_nonnull(strstr(err, "bad.msh"));
    write_scene("nomesh.json", 3, "{\"file\": \"none.msh\"}");
    ck_assert_int_eq(pliant("submit nomesh.json"), 1);
    ck_assert_ptr_nonnull(strstr(err, "/bodies/0/mesh/file"));
}
END_TEST

/* A closed cube of 2 m, and the same without its top. */
static const char solid[] =
    "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n"
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 1 5 7 3\nf 2 4 8 6\n%s";

/* A box that is dropped from 2 mm over the solid, which is half a metre wide, and lies on it. */
START_TEST(obstacles_come_from_files)
{
    static const char form[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 20}, \"bodies\": [{\"mesh\": "
        "{\"box\":"
        " {\"size\": [0.2, 0.2, 0.2], \"cells\": [2, 2, 2]}}, \"transform\": {\"translate\": [0, "
        "0.352,"
        " 0]}}], \"obstacles\": [{\"name\": \"rock\", \"mesh\": {\"file\": \"%s\", \"transform\":"
        " {\"scale\": 0.25}}}], \"expect\": [{\"quantity\": \"position\", \"component\": \"y\","
        " \"statistic\": \"min\", \"min\": 0.2499, \"max\": 0.2501}, {\"quantity\": \"reaction\","
        " \"obstacle\": \"rock\", \"component\": \"y\", \"at\": \"mean\", \"min\": 50}]}";
    struct stat st;
    char text[2048], id[40];
    snprintf(text, sizeof text, solid, "f 3 7 8 4\n");
    write_file("rock.obj", text);
    snprintf(text, sizeof text, form, "rock.obj");
    write_file("rock.json", text);
    ck_assert_msg(pliant("run rock.json --out rock --check") == 0, "%s%s", out, err);
    ck_assert_msg(pliant("compare rock --frame 4 --methods quasi_newton --iterations 20") == 0,
                  "%s%s", out, err);
    ck_assert_msg(pliant("submit rock.json --follow") == 0, "%s", err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", out);
    ck_assert_msg(pliant("check %s", id) == 0, "%s%s", out, err);
    ck_assert_int_eq(pliant("scene %s --effective", id), 0);
    pl_json *document = pl_json_parse(out, strlen(out), NULL);
    ck_assert_str_eq(pl_json_string(document, "obstacles/0/mesh/format", ""), "obj");
    ck_assert_uint_eq(strlen(pl_json_string(document, "obstacles/0/mesh/upload", "")), 7 + 64);
    pl_json_free(document);
    ck_assert_int_eq(pliant("topology %s", id), 0);
    document = pl_json_parse(out, strlen(out), NULL);
    ck_assert_uint_eq(pl_json_count(pl_json_at(document, "obstacles/0/mesh/triangles")), 36);
    pl_json_free(document);
    ck_assert_int_eq(pliant("export %s --size 64x48 --frame 3 --out rock.png", id), 0);
    ck_assert_int_eq(stat(path_of("rock.png"), &st), 0);
    snprintf(text, sizeof text, solid, "");
    write_file("open.obj", text);
    snprintf(text, sizeof text, form, "open.obj");
    write_file("open.json", text);
    ck_assert_int_eq(pliant("submit open.json --follow"), 1);
    ck_assert_ptr_nonnull(strstr(err, "/obstacles/0/mesh"));
    ck_assert_ptr_nonnull(strstr(err, "4 edges have a triangle on one side only"));
}
END_TEST

START_TEST(cancelled_session_is_no_success)
{
    const char *id = submit(100000);
    ck_assert_int_eq(pliant("cancel %s", id), 0);
    ck_assert_int_eq(pliant("follow %s", id), 6);
    ck_assert_ptr_nonnull(strstr(err, "cancelled"));
}
END_TEST

START_TEST(idempotency_key_submits_once)
{
    char first[40];
    write_scene("scene.json", 2, BOX);
    ck_assert_int_eq(pliant("submit scene.json --idempotency-key k1"), 0);
    snprintf(first, sizeof first, "%.33s", out);
    ck_assert_int_eq(pliant("submit scene.json --idempotency-key k1"), 0);
    ck_assert_str_eq(out, first);
}
END_TEST

START_TEST(exit_statuses_tell_what_is_wrong)
{
    ck_assert_int_eq(pliant("lsit"), 2);
    ck_assert_ptr_nonnull(strstr(err, "did you mean list?"));
    ck_assert_int_eq(pliant("list --stat x"), 2);
    ck_assert_ptr_nonnull(strstr(err, "did you mean --state?"));
    ck_assert_int_eq(pliant("show"), 2);
    ck_assert_int_eq(pliant("show zz"), 2);
    ck_assert_int_eq(pliant("show 0123"), 5);
    ck_assert_int_eq(pliant("show 00000000000000000000000000000000"), 5);
    ck_assert_int_eq(pliant("--token nonsense list"), 4);
    ck_assert_int_eq(pliant("--server http://127.0.0.1:1 list"), 3);
    ck_assert_int_eq(pliant("--help"), 0);
    ck_assert_int_eq(pliant("export --help"), 0);
    ck_assert_int_eq(pliant("version"), 0);
    ck_assert_ptr_nonnull(strstr(out, "pliantd "));
    ck_assert_int_eq(pliant("capabilities"), 0);
    ck_assert_ptr_nonnull(strstr(out, "neo_hookean"));
}
END_TEST

START_TEST(run_needs_no_daemon)
{
    struct stat st;
    write_file("cube.msh", cube);
    write_scene("mesh.json", 5, "{\"file\": \"cube.msh\"}");
    ck_assert_msg(pliant("--server http://127.0.0.1:1 run mesh.json --out r --threads 1") == 0,
                  "%s", err);
    ck_assert_ptr_nonnull(strstr(err, "succeeded  5 frames"));
    ck_assert_int_eq(pliant("export r --out r.npz"), 0);
    ck_assert_int_eq(stat(path_of("r.npz"), &st), 0);
    ck_assert_int_eq(pliant("metrics r"), 0);
    ck_assert_ptr_nonnull(strstr(out, "\"frame\":5"));
    ck_assert_int_eq(pliant("run mesh.json --out r"), 7); /* an earlier run lies there */
    ck_assert_int_eq(pliant("run mesh.json --out r --force"), 0);
    ck_assert_int_eq(pliant("run mesh.json --out ."), 7); /* not a run's directory */
    ck_assert_int_eq(stat(path_of("mesh.json"), &st), 0);
    write_scene("bad.json", -3, "{\"boks\": 1}");
    ck_assert_int_eq(pliant("run bad.json --out r2"), 1);
    ck_assert_ptr_nonnull(strstr(err, "/time/steps"));
    ck_assert_ptr_nonnull(strstr(err, "/bodies/0/mesh"));
}
END_TEST

/* Its patch is of the scene as it is written: it can put a mesh in a file's place, and a file in a
 * mesh's. */
START_TEST(quick_form_knows_mesh_files)
{
    static const char form[] =
        "{\"pliant\": 1, \"time\": {\"steps\": 2}, \"bodies\": [{\"mesh\": %s}],"
        " \"metadata\": {\"quick\": {\"bodies\": {\"0\": {\"mesh\": %s}}}}}";
    char text[512];
    write_file("cube.msh", cube);
    snprintf(text, sizeof text, form, "{\"file\": \"cube.msh\"}", "{\"file\": null, \"box\": {}}");
    write_file("box.json", text);
    ck_assert_msg(pliant("run box.json --quick --out box") == 0, "%s", err);
    ck_assert_ptr_nonnull(strstr(err, "729 vertices"));
    ck_assert_ptr_null(strstr(err, "note:"));
    snprintf(text, sizeof text, form, "{\"box\": {}}", "{\"file\": \"cube.msh\", \"box\": null}");
    write_file("file.json", text);
    ck_assert_msg(pliant("run file.json --quick --out file") == 0, "%s", err);
    ck_assert_ptr_nonnull(strstr(err, "8 vertices"));
    write_scene("plain.json", 1, BOX);
    ck_assert_int_eq(pliant("run plain.json --quick --out plain"), 0);
    ck_assert_ptr_nonnull(strstr(err, "note: the scene has no \"metadata\": {\"quick\"}"));
}
END_TEST

/* A free fall of 10 steps of 0.01 s by backward Euler: h^2 g n (n + 1) / 2 = 0.053955 m. */
START_TEST(expectations_decide_the_exit_status)
{
    static const char falling[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 10}, \"bodies\": [{\"name\":"
        " \"box\", \"mesh\": " BOX "}], \"output\": {\"precision\": \"double\"}, \"expect\":"
        " [{\"name\": \"fallen\", \"quantity\": \"displacement\", \"component\": \"y\", \"body\":"
        " \"box\", \"select\": {\"side\": \"+x\"}, \"equals\": %s, \"tolerance\": 1e-9}%s]}";
    char text[1024], id[40];
    snprintf(text, sizeof text, falling, "-0.0539550", "");
    write_file("good.json", text);
    ck_assert_msg(pliant("run good.json --out good --check") == 0, "%s%s", out, err);
    ck_assert_ptr_nonnull(strstr(out, "ok   fallen: displacement y, mean of a selection of box"));
    ck_assert_ptr_nonnull(strstr(out, "-0.053955 (frame 10, 0.1 s), expected -0.053955 within"));
    ck_assert_msg(pliant("submit good.json --follow") == 0, "%s", err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", out);
    ck_assert_msg(pliant("check good %s", id) == 0, "%s%s", out, err);
    snprintf(text, sizeof text, falling, "-0.05", ", {\"quantity\": \"inverted\", \"max\": 0}");
    write_file("wrong.json", text);
    ck_assert_int_eq(pliant("run wrong.json --out wrong"), 0);
    ck_assert_int_eq(pliant("run wrong.json --out wrong --force --check"), 1);
    ck_assert_ptr_nonnull(strstr(out, "FAIL fallen"));
    ck_assert_ptr_nonnull(strstr(out, "ok   expect-1"));
    ck_assert_ptr_nonnull(strstr(out, "1 of 2 expectations do not hold"));
    ck_assert_int_eq(pliant("check good wrong"), 1);
    ck_assert_int_eq(pliant("check wrong --json"), 1);
    pl_json *verdict = pl_json_parse(out, strlen(out), NULL);
    ck_assert_int_eq(pl_json_integer(verdict, "failed", -1), 1);
    ck_assert(!pl_json_boolean(verdict, "expectations/0/passed", true));
    pl_json_free(verdict);
    write_scene("nothing.json", 2, BOX);
    ck_assert_int_eq(pliant("run nothing.json --out nothing --check"), 1);
    write_file(
        "astray.json",
        "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {}}}], \"expect\": [{\"quantity\":"
        " \"velocity\", \"select\": {\"sphere\": {\"center\": [9, 9, 9], \"radius\": 1}},"
        " \"max\": 1}]}");
    ck_assert_int_eq(pliant("run astray.json --out astray"), 1);
    ck_assert_ptr_nonnull(strstr(err, "/expect/0/select"));
}
END_TEST

/* Two methods and an unknown option of one, on a small bar that hangs from a pin. */
START_TEST(methods_are_compared_on_one_frame)
{
    struct stat st;
    write_file(
        "bar.json",
        "{\"pliant\": 1, \"name\": \"bar\", \"time\": {\"step\": 0.03, \"steps\": 5}, \"bodies\":"
        " [{\"mesh\": " BOX "}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]}");
    ck_assert_msg(pliant("compare bar.json --frame 3 --iterations 200 --out c --methods "
                         "admm,quasi_newton:window=4,admm:wndow=2") == 0,
                  "%s%s", out, err);
    ck_assert_ptr_nonnull(strstr(out, "bar, frame 3"));
    ck_assert_ptr_nonnull(strstr(out, "refused: /solver/wndow"));
    ck_assert_int_eq(stat(path_of("c/compare.svg"), &st), 0);
    ck_assert_int_eq(stat(path_of("c/compare.csv"), &st), 0);
    ck_assert_int_eq(pliant("compare bar.json --frame 3 --iterations 200 --json --methods "
                            "admm,quasi_newton"),
                     0);
    pl_json *result = pl_json_parse(out, strlen(out), NULL);
    for (int k = 0; k < 2; k++) { /* both come to the same minimum */
        const pl_json *method = pl_json_item(pl_json_at(result, "methods"), (size_t)k);
        ck_assert_double_eq(pl_json_number(method, "error/0", NAN), 1);
        ck_assert_double_lt(pl_json_number(method, "error/200", NAN), 1e-8);
        ck_assert_int_gt(pl_json_integer(method, "iterations_to/1e-06", 0), 1);
    }
    pl_json_free(result);
    ck_assert_int_eq(pliant("compare bar.json --frame 6"), 2);
    ck_assert_int_eq(pliant("compare bar.json --methods adm"), 2);
    ck_assert_ptr_nonnull(strstr(err, "did you mean admm?"));
    ck_assert_int_eq(pliant("compare none.json"), 7);
    ck_assert_int_eq(pliant("compare bar.json --methods admm:wndow=2"), 1);
    /* A stored session compares like its scene. */
    ck_assert_int_eq(pliant("run bar.json --out bar"), 0);
    ck_assert_int_eq(pliant("compare bar --frame 2 --methods quasi_newton --iterations 20"), 0);
}
END_TEST

/* The stress per rest area of mu/2 (|F|^2 - 3) - mu log J + lambda/2 (log J)^2 on a bar of stretch l
 * whose sides carry none: with the side's stretch s, mu (s^2 - 1) + lambda log (l s^2) = 0, found by
 * bisection, and P = mu (l - 1 / l) + lambda log (l s^2) / l. */
static double neo_hookean_stress(double mu, double lambda, double l)
{
    double lo = 0.1, hi = 10;
    for (int i = 0; i < 200; i++) {
        double s = (lo + hi) / 2;
        if (mu * (s * s - 1) + lambda * log(l * s * s) < 0)
            lo = s;
        else
            hi = s;
    }
    return mu * (l - 1 / l) + lambda * log(l * lo * lo) / l;
}

START_TEST(a_curve_is_the_closed_form)
{
    struct stat st;
    const double young = 2e5, poisson = 0.4;
    double mu = young / (2 * (1 + poisson));
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    write_file("rubber.json", "{\"model\": \"neo_hookean\", \"young\": 2e5, \"poisson\": 0.4}");
    ck_assert_msg(pliant("curve rubber.json --points 12 --json --out c") == 0, "%s%s", out, err);
    pl_json *curves = pl_json_parse(out, strlen(out), NULL);
    ck_assert_uint_eq(pl_json_count(curves), 1);
    const pl_json *curve = pl_json_item(curves, 0);
    ck_assert_uint_eq(pl_json_count(pl_json_at(curve, "stretch")), 13);
    for (size_t i = 0; i < 13; i++) {
        double l = pl_json_number(pl_json_item(pl_json_at(curve, "stretch"), i), "", NAN);
        double P = pl_json_number(pl_json_item(pl_json_at(curve, "stress"), i), "", NAN);
        ck_assert_double_eq_tol(l, 0.6 + 0.1 * (double)i, 1e-12);
        ck_assert_double_eq_tol(P, neo_hookean_stress(mu, lambda, l), 1e-6 * young);
    }
    pl_json_free(curves);
    ck_assert_int_eq(stat(path_of("c/curve.svg"), &st), 0);
    ck_assert_int_eq(stat(path_of("c/curve.csv"), &st), 0);
    write_scene("scene.json", 2, BOX);
    ck_assert_msg(pliant("curve arap scene.json:rubber --points 4") == 0, "%s%s", out, err);
    ck_assert_ptr_nonnull(strstr(out, "arap"));
    ck_assert_ptr_nonnull(strstr(out, "rubber"));
    const pl_param *model = pl_table_param(pl_table_named("material"), "model");
    char every[512] = "curve --from 0.6 --to 1.8 --points 3 --json";
    for (int k = 0; model->choices[k]; k++)
        strcat(strcat(every, " "), model->choices[k]);
    ck_assert_msg(pliant("%s", every) == 0, "%s%s", out, err);
    curves = pl_json_parse(out, strlen(out), NULL);
    for (int k = 0; model->choices[k]; k++) {
        curve = pl_json_item(curves, (size_t)k);
        ck_assert_str_eq(pl_json_string(curve, "material", ""), model->choices[k]);
        ck_assert_uint_eq(pl_json_count(pl_json_at(curve, "stress")), 4);
        ck_assert_int_eq(pl_json_integer(curve, "unconverged", -1), 0);
        const pl_json *stress = pl_json_at(curve, "stress");
        ck_assert(pl_json_number(pl_json_item(stress, 0), "", 0) < 0);
        ck_assert(pl_json_number(pl_json_item(stress, 3), "", 0) > 0);
    }
    pl_json_free(curves);
    write_file("names.json", "{\"materials\": {\"soft, \\\"red\\\"\": {\"model\": \"arap\"}}}");
    ck_assert_msg(pliant("curve names.json --points 2 --out names") == 0, "%s%s", out, err);
    read_file("names/curve.csv", out, sizeof out);
    ck_assert_ptr_nonnull(strstr(out, "\n\"soft, \"\"red\"\"\",1,0\n"));
    write_file("wrong.json", "{\"model\": \"arap\", \"young\": -1}");
    ck_assert_int_eq(pliant("curve wrong.json"), 1);
    ck_assert_ptr_nonnull(strstr(err, "arap can not be measured"));
    ck_assert_ptr_nonnull(strstr(err, "/materials/material/young"));
    setenv("TMPDIR", "/nowhere", 1);
    ck_assert_int_eq(pliant("curve arap"), 7);
    ck_assert_ptr_nonnull(strstr(err, "no temporary directory: No such file"));
    unsetenv("TMPDIR");
    setenv("PLIANT_BINDIR", "/nowhere", 1);
    ck_assert_int_eq(pliant("curve arap"), 1);
    ck_assert_ptr_nonnull(strstr(err, "pliant-preflight can not be started: No such file"));
    unsetenv("PLIANT_BINDIR");
    ck_assert_int_eq(pliant("curve neohookean"), 2);
    ck_assert_ptr_nonnull(strstr(err, "did you mean neo_hookean?"));
    ck_assert_int_eq(pliant("curve scene.json:wood"), 2);
    ck_assert_int_eq(pliant("curve none.json"), 7);
    ck_assert_int_eq(pliant("curve arap --from 1 --to 1"), 2);
}
END_TEST

/* Start pliant in the background. */
static pid_t start(const char *const *words)
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        char *argv[32] = {program, "--state", fixture.state};
        for (int i = 0; words[i]; i++)
            argv[3 + i] = (char *)words[i];
        if (chdir(fixture.directory) == 0 && freopen("err", "w", stderr) &&
            freopen("out", "w", stdout))
            execv(program, argv);
        _exit(127);
    }
    return pid;
}

/* Interrupt it: its exit status. */
static int interrupt(pid_t pid)
{
    int status;
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    read_file("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Start pliant in the background, wait until `err` has `text`, interrupt it: its exit status. */
static int interrupt_at(const char *text, const char *const *words)
{
    pid_t pid = start(words);
    for (double end = daemon_fixture_clock() + 30;
         !strstr(err, text) && daemon_fixture_clock() < end; daemon_fixture_nap())
        read_file("err", err, sizeof err);
    return interrupt(pid);
}

static bool same_files(const char *a, const char *b)
{
    char first[512];
    snprintf(first, sizeof first, "%s", path_of(a));
    char command[1100];
    snprintf(command, sizeof command, "cmp -s '%s' '%s'", first, path_of(b));
    return system(command) == 0;
}

/* Obstacles that have moved by keyframes, away from the body, are drawn as those that stand there. */
START_TEST(pictures_follow_keyframes)
{
    static const char form[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.1, \"steps\": 4}, \"gravity\": [0, 0, 0], "
        "\"bodies\":"
        " [{\"mesh\": " BOX
        "}], \"obstacles\": [{\"sphere\": {\"center\": [%s, 0.5, 0], \"radius\":"
        " 0.125}%s}, {\"box\": {\"center\": [-0.25, 0.5, 0], \"size\": [0.375, 0.125, "
        "0.25]%s}%s}]}";
    char text[1024];
    snprintf(text, sizeof text, form, "-0.25",
             ", \"motion\": {\"keyframes\": [{\"time\": 0.2, \"translate\": [0.5, 0, 0]}]}", "",
             ", \"motion\": {\"keyframes\": [{\"time\": 0.2, \"rotate\": {\"axis\": [0, 1, 0],"
             " \"degrees\": 90}}]}");
    write_file("moved.json", text);
    snprintf(text, sizeof text, form, "0.25", "",
             ", \"rotate\": {\"axis\": [0, 1, 0], \"degrees\": 90}", "");
    write_file("there.json", text);
    ck_assert_msg(pliant("run moved.json --out moved") == 0, "%s", err);
    ck_assert_msg(pliant("run there.json --out there") == 0, "%s", err);
    ck_assert_int_eq(pliant("export moved --size 96x72 --frame 0 --out start.png"), 0);
    ck_assert_int_eq(pliant("export moved --size 96x72 --frame 4 --out moved.png"), 0);
    ck_assert_int_eq(pliant("export there --size 96x72 --frame 4 --out there.png"), 0);
    ck_assert(!same_files("start.png", "moved.png"));
    ck_assert(same_files("moved.png", "there.png"));
}
END_TEST

static void flip_bit(const char *path, off_t at)
{
    char byte;
    FILE *f = fopen(path, "r+");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    byte = (char)(fgetc(f) ^ 4);
    ck_assert_int_eq(fseek(f, at, SEEK_SET), 0);
    fputc(byte, f);
    fclose(f);
}

START_TEST(verify_finds_damage)
{
    char id[40], path[512];
    write_scene("scene.json", 8, BOX);
    ck_assert_msg(pliant("submit scene.json --follow") == 0, "%s", err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", out);
    ck_assert_msg(pliant("verify %s", id) == 0, "%s%s", out, err);
    ck_assert_ptr_nonnull(strstr(out, "clean: "));
    ck_assert_ptr_nonnull(strstr(out, " 9 frames, "));
    ck_assert_int_eq(pliant("verify 0123456789"), 5);
    ck_assert_ptr_nonnull(strstr(err, "--state"));

    ck_assert_int_eq(pliant("run scene.json --out here"), 0);
    ck_assert_int_eq(pliant("--json verify here"), 0);
    snprintf(path, sizeof path, "%s", path_of("here/log/0001-0000.seg"));
    flip_bit(path, 3000);
    ck_assert_int_eq(pliant("verify here"), 1);
    ck_assert_ptr_nonnull(strstr(out, "log/0001-0000.seg, byte "));
    ck_assert_ptr_nonnull(strstr(out, "CRC-32C is wrong"));
    ck_assert_ptr_nonnull(strstr(out, "readable: every other frame"));
    ck_assert_ptr_nonnull(strstr(out, "1 of 9 frames lost"));
    ck_assert_int_eq(pliant("--json verify here"), 1);
    pl_json *report = pl_json_parse(out, strlen(out), NULL);
    ck_assert_int_eq(pl_json_integer(report, "damages_total", 0), 1);
    ck_assert_str_eq(pl_json_string(report, "damages/0/file", ""), "log/0001-0000.seg");
    ck_assert_int_ge(pl_json_integer(report, "damages/0/frame", -1), 0);
    ck_assert(!pl_json_boolean(report, "clean", true));
    pl_json_free(report);
    flip_bit(path, 3000);
    flip_bit(path_of("here/head.json"), 20);
    flip_bit(path_of("here/log/0001-0000.idx"), 50);
    ck_assert_int_eq(pliant("verify here"), 1);
    ck_assert_ptr_nonnull(strstr(out, "head.json: is damaged"));
    ck_assert_int_eq(pliant("metrics here"), 0); /* reads on, and says so */
    ck_assert_ptr_nonnull(strstr(err, "9 frames were found again"));
    ck_assert_int_eq(pliant("verify here --repair"), 0);
}
END_TEST

START_TEST(interrupt_stops_watching_but_not_the_session)
{
    char id[40];
    snprintf(id, sizeof id, "%s", submit(100000));
    err[0] = '\0';
    ck_assert_int_eq(interrupt_at("/100000", (const char *[]){"follow", id, NULL}), 130);
    ck_assert_ptr_nonnull(strstr(err, "the session goes on"));
    ck_assert_int_eq(pliant("show %s", id), 0);
    ck_assert_ptr_nonnull(strstr(out, "running"));
    ck_assert_int_eq(pliant("cancel %s", id), 0);
}
END_TEST

/* Wait until `pliant show` says so. */
static void await_shown(const char *id, const char *text)
{
    for (double end = daemon_fixture_clock() + 30;; daemon_fixture_nap()) {
        ck_assert_int_eq(pliant("show %s", id), 0);
        if (strstr(out, text))
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "%s", out);
    }
}

START_TEST(paused_session_is_shown_and_goes_on)
{
    char id[40], listed[13];
    snprintf(id, sizeof id, "%s", submit(100000));
    snprintf(listed, sizeof listed, "%.12s", id);
    await_shown(id, "running");
    ck_assert_int_eq(pliant("pause %s", id), 0);
    ck_assert_ptr_nonnull(strstr(err, "asked to pause"));
    await_shown(id, "by user; pliant resume");
    ck_assert_int_eq(pliant("list --state paused"), 0);
    ck_assert_ptr_nonnull(strstr(out, "paused"));
    err[0] = '\0';
    ck_assert_int_eq(interrupt_at("paused after frame", (const char *[]){"follow", id, NULL}), 130);
    ck_assert_int_eq(pliant("resume %s", id), 0);
    await_shown(id, "running");
    ck_assert_int_eq(pliant("cancel %s", id), 0);
    /* That it is to be cancelled is shown at once: the list is of what it is. */
    for (double end = daemon_fixture_clock() + 30;; daemon_fixture_nap()) {
        ck_assert_int_eq(pliant("list --state cancelled"), 0);
        if (strstr(out, listed))
            break;
        ck_assert_msg(daemon_fixture_clock() < end, "%s", out);
    }
    ck_assert_int_eq(pliant("resume %s", id), 1);
    ck_assert_ptr_nonnull(strstr(err, "only a session that has not ended"));
}
END_TEST

START_TEST(interrupted_run_can_go_on)
{
    write_scene("long.json", 2000, BOX);
    err[0] = '\0';
    ck_assert_int_eq(
        interrupt_at("/2000", (const char *[]){"run", "long.json", "--out", "r", NULL}), 130);
    ck_assert_ptr_nonnull(strstr(err, "pliant run --resume --out r"));
    ck_assert_int_eq(pliant("frames r --to 0"), 0); /* its frames stay */
    ck_assert_ptr_nonnull(strstr(out, "45 vertices"));
    ck_assert_int_eq(pliant("run long.json --resume --out r"), 2);
    ck_assert_int_eq(pliant("run --resume --out r"), 0);
    ck_assert_ptr_nonnull(strstr(err, "succeeded"));
    ck_assert_int_eq(pliant("frames r --from 2000"), 0);
    ck_assert_int_eq(pliant("run --resume --out r"), 0);
    ck_assert_ptr_nonnull(strstr(err, "already"));
    ck_assert_int_eq(pliant("run --resume --out none"), 7);
}
END_TEST

/* How many paths match; `name` counts from the fixture's folder. */
static size_t count_paths(const char *name)
{
    glob_t found;
    size_t count = glob(path_of(name), 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

START_TEST(interrupted_curve_leaves_nothing)
{
    const char *words[20] = {"curve", "--points", "1000"};
    for (int k = 0; k < 12; k++)
        words[3 + k] = "arap"; /* seconds of work */
    ck_assert_int_eq(mkdir(path_of("scratch"), 0777), 0);
    setenv("TMPDIR", path_of("scratch"), 1);
    pid_t pid = start(words);
    unsetenv("TMPDIR");
    for (double end = daemon_fixture_clock() + 30; daemon_fixture_clock() < end;
         daemon_fixture_nap())
        if (count_paths("scratch/pliant-*/head.json") > 0)
            break;
    ck_assert_int_eq(interrupt(pid), 130);
    read_file("out", out, sizeof out);
    ck_assert_str_eq(out, "");
    ck_assert_uint_eq(count_paths("scratch/*"), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli");
    TCase *t = tcase_create("daemon");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, submitted_session_is_followed_listed_and_exported);
    tcase_add_test(t, json_follow_gives_each_frame_once);
    tcase_add_test(t, bad_scene_names_every_fault);
    tcase_add_test(t, mesh_files_are_uploaded);
    tcase_add_test(t, obstacles_come_from_files);
    tcase_add_test(t, cancelled_session_is_no_success);
    tcase_add_test(t, idempotency_key_submits_once);
    tcase_add_test(t, exit_statuses_tell_what_is_wrong);
    tcase_add_test(t, run_needs_no_daemon);
    tcase_add_test(t, quick_form_knows_mesh_files);
    tcase_add_test(t, expectations_decide_the_exit_status);
    tcase_add_test(t, methods_are_compared_on_one_frame);
    tcase_add_test(t, a_curve_is_the_closed_form);
    tcase_add_test(t, pictures_follow_keyframes);
    tcase_add_test(t, verify_finds_damage);
    tcase_add_test(t, interrupt_stops_watching_but_not_the_session);
    tcase_add_test(t, paused_session_is_shown_and_goes_on);
    tcase_add_test(t, interrupted_run_can_go_on);
    tcase_add_test(t, interrupted_curve_leaves_nothing);
    suite_add_tcase(s, t);
    return run_suite(s);
}
