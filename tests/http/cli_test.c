/* The command line against a real daemon. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"
#include "protocol/log/log.h"
#include "protocol/log/record.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

START_TEST(submitted_session_is_followed_listed_and_exported)
{
    char id[40];
    struct stat st;
    pliant_write_scene("scene.json", 12, PLIANT_BOX);
    ck_assert_msg(pliant("submit scene.json --follow") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_err, "succeeded  frame 12 of 12"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "12/12  100%"));
    ck_assert_int_eq(pliant("list --state succeeded"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "small bar"));
    snprintf(id, sizeof id, "%.12s", pliant_out);
    ck_assert_int_eq(pliant("show %.6s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "bar, 45 vertices"));
    ck_assert_int_eq(pliant("--json show %s", id), 0);
    pl_json *session = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_int_eq(pl_json_integer(session, "progress/frame", 0), 12);
    pl_json_free(session);

    ck_assert_int_eq(pliant("export %s --out a.npz", id), 0);
    ck_assert_int_eq(stat(pliant_path("a.npz"), &st), 0);
    ck_assert_int_gt(st.st_size, 13 * 45 * 12);
    ck_assert_int_eq(pliant("export %s --format vtu --every 5 --out series/a.pvd", id), 0);
    pliant_read("series/a.pvd", pliant_out, sizeof pliant_out);
    ck_assert_ptr_nonnull(strstr(pliant_out, "a_000010.vtu"));
    ck_assert_int_eq(stat(pliant_path("series/a_000010.vtu"), &st), 0);
    ck_assert_int_eq(pliant("export %s --size 64x48 --frame 3 --out a.png", id), 0);
    ck_assert_int_eq(stat(pliant_path("a.png"), &st), 0);
    ck_assert_int_eq(pliant("frames %s --from 2 --to 8 --every 3 --out npy", id), 0);
    ck_assert_int_eq(pliant("frames %s --raw some.bin --dtype u16 --vertices surface", id), 0);
    ck_assert_int_eq(pliant("frames %s --raw some.bin --dtype u8", id), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "expected one of f32, f64, u16"));
    ck_assert_int_eq(pliant("frames %s --dtype u16", id), 2);
    ck_assert_int_eq(pliant("metrics %s --buckets 2", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"energy/kinetic\""));
    ck_assert_int_eq(pliant("events --once --since 1"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "succeeded"));
    ck_assert_int_eq(pliant("--json events %s --once --since 1", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, id));
    ck_assert_int_eq(stat(pliant_path("npy/frame_000008.npy"), &st), 0);
    ck_assert_int_eq(st.st_size, 128 + 45 * 12);
    ck_assert_int_eq(pliant("metrics %s --from 10", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"frame\":12"));
    ck_assert_ptr_null(strstr(pliant_out, "\"event\""));
    ck_assert_int_eq(pliant("plot %s --ascii --width 40", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "frame 12"));
    ck_assert_int_eq(pliant("plot %s --what contact --ascii --width 40", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "contacts"));
    ck_assert_int_eq(pliant("delete %s", id), 0);
    ck_assert_int_eq(pliant("show %s", id), 5);
}
END_TEST

START_TEST(sessions_are_edited_and_found_by_what_is_said_of_them)
{
    char id[40];
    snprintf(id, sizeof id, "%s", pliant_submit(2));
    ck_assert_int_eq(pliant("edit %s --name 'a&b=c' --label run=8,project=bars --priority -3", id),
                     0);
    ck_assert_int_eq(pliant("list --label run=8,project --name '&b=' --owner owner"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "a&b=c"));
    ck_assert_int_eq(pliant("list --label run=9"), 0);
    ck_assert_str_eq(pliant_out, "");
    ck_assert_int_eq(pliant("edit %s --label run=", id), 0);
    ck_assert_int_eq(pliant("list --label run"), 0);
    ck_assert_str_eq(pliant_out, "");
    ck_assert_int_eq(pliant("--json edit %s --webhook https://example.org/", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"url\":\"https://example.org/\""));
    ck_assert_int_eq(pliant("--json edit %s --webhook none", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"webhook\":null"));
    ck_assert_int_eq(pliant("--json edit %s --keep days=2.5", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"days\":2.5"));
    ck_assert_int_eq(pliant("--json edit %s --keep all", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"days\":0"));
    session_await(&pliant_fixture, id, "succeeded");
    ck_assert_int_eq(pliant("edit %s --keep last=5 --prune", id), 1); /* it is over */
    ck_assert_int_eq(pliant("edit %s --keep first=5", id), 2);
    ck_assert_int_eq(pliant("edit %s --keep last=x", id), 2);
    ck_assert_int_eq(pliant("edit %s", id), 2);
    ck_assert_int_eq(pliant("edit %s --label run", id), 2);
    ck_assert_int_eq(pliant("edit %s --priority 101", id), 2);
    ck_assert_int_eq(pliant("edit %s --webhook nonsense", id), 1);
    ck_assert_int_eq(pliant("edit ffffffff --name x"), 5);
    ck_assert_int_eq(pliant("queue"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "0 wait"));
}
END_TEST

START_TEST(json_follow_gives_each_frame_once)
{
    int frames = 0, next = 0;
    const char *id = pliant_submit(30);
    ck_assert_int_eq(pliant("--json follow %s --from 5", id), 0);
    for (char *line = strtok(pliant_out, "\n"); line; line = strtok(NULL, "\n")) {
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
    pliant_write("bad.json", "{\"pliant\": 1, \"time\": {\"step\": -1, \"duraton\": 2}, "
                             "\"materials\": {}, \"bodies\": []}");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pliant("%s bad.json", i ? "validate" : "submit --follow"), 1);
        ck_assert_ptr_nonnull(strstr(pliant_err, "/time/step"));
        ck_assert_ptr_nonnull(strstr(pliant_err, "/time/duraton"));
        ck_assert_ptr_nonnull(strstr(pliant_err, "got       "));
        ck_assert_ptr_nonnull(strstr(pliant_err, "expected"));
        ck_assert_str_eq(pliant_out, "");
    }
    ck_assert_int_eq(pliant("--json validate bad.json"), 1);
    pl_json *problem = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_uint_ge(pl_json_count(pl_json_at(problem, "faults")), 2);
    pl_json_free(problem);
    pliant_write("broken.json", "{\"pliant\": 1,");
    ck_assert_int_eq(pliant("submit broken.json"), 1);
    ck_assert_int_eq(pliant("submit none.json"), 7);
    ck_assert_int_eq(daemon_fixture_sessions(&pliant_fixture), 0);
}
END_TEST

START_TEST(mesh_files_are_uploaded)
{
    pliant_write("cube.msh", PLIANT_CUBE);
    pliant_write_scene("mesh.json", 3, "{\"file\": \"cube.msh\"}");
    ck_assert_msg(pliant("submit mesh.json --follow") == 0, "%s", pliant_err);
    ck_assert_msg(pliant("validate mesh.json") == 0, "%s", pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "8 vertices, 6 tetrahedra"));
    char hash[65];
    ck_assert_int_eq(pliant("meshes"), 0);
    snprintf(hash, sizeof hash, "%.64s", pliant_out);
    ck_assert_ptr_nonnull(strstr(pliant_out, "8 vertices"));
    ck_assert_int_eq(pliant("meshes --delete %s", hash), 0);
    ck_assert_int_eq(pliant("meshes"), 0);
    ck_assert_str_eq(pliant_out, "");
    ck_assert_int_eq(pliant("meshes --delete %s", hash), 5);
    ck_assert_int_eq(pliant("meshes --delete x"), 2);
    pliant_write("bad.msh", "$MeshFormat\nnothing\n");
    pliant_write_scene("badmesh.json", 3, "{\"file\": \"bad.msh\"}");
    ck_assert_int_eq(pliant("submit badmesh.json"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "bad.msh"));
    pliant_write_scene("nomesh.json", 3, "{\"file\": \"none.msh\"}");
    ck_assert_int_eq(pliant("submit nomesh.json"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/bodies/0/mesh/file"));
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
        " \"statistic\": \"min\", \"min\": 0.2498, \"max\": 0.2501}, {\"quantity\": \"reaction\","
        " \"obstacle\": \"rock\", \"component\": \"y\", \"at\": \"mean\", \"min\": 50}]}";
    struct stat st;
    char text[2048], id[40];
    snprintf(text, sizeof text, solid, "f 3 7 8 4\n");
    pliant_write("rock.obj", text);
    snprintf(text, sizeof text, form, "rock.obj");
    pliant_write("rock.json", text);
    ck_assert_msg(pliant("run rock.json --out rock --check") == 0, "%s%s", pliant_out, pliant_err);
    ck_assert_msg(pliant("compare rock --frame 4 --methods quasi_newton --iterations 20") == 0,
                  "%s%s", pliant_out, pliant_err);
    ck_assert_msg(pliant("submit rock.json --follow") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", pliant_out);
    ck_assert_msg(pliant("check %s", id) == 0, "%s%s", pliant_out, pliant_err);
    ck_assert_int_eq(pliant("scene %s --effective", id), 0);
    pl_json *document = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_str_eq(pl_json_string(document, "obstacles/0/mesh/format", ""), "obj");
    ck_assert_uint_eq(strlen(pl_json_string(document, "obstacles/0/mesh/upload", "")), 7 + 64);
    pl_json_free(document);
    ck_assert_int_eq(pliant("topology %s", id), 0);
    document = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_uint_eq(pl_json_count(pl_json_at(document, "obstacles/0/mesh/triangles")), 36);
    pl_json_free(document);
    ck_assert_int_eq(pliant("export %s --size 64x48 --frame 3 --out rock.png", id), 0);
    ck_assert_int_eq(stat(pliant_path("rock.png"), &st), 0);
    snprintf(text, sizeof text, solid, "");
    pliant_write("open.obj", text);
    snprintf(text, sizeof text, form, "open.obj");
    pliant_write("open.json", text);
    ck_assert_int_eq(pliant("submit open.json --follow"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/obstacles/0/mesh"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "has one triangle; 4 such edges in all"));
}
END_TEST

START_TEST(cancelled_session_is_no_success)
{
    const char *id = pliant_submit(100000);
    ck_assert_int_eq(pliant("control %s '{\"gravity\": [0, 1, 0]}'", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "takes control 1"));
    ck_assert_int_ne(pliant("control %s '{\"gravity\": 1}'", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/gravity"));
    ck_assert_int_eq(pliant("step %s --frames 3", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "continues to frame"));
    session_await_frame(&pliant_fixture, id, 2);
    ck_assert_int_eq(pliant("branch %s '{\"name\": \"other\"}' --frame 2", id), 0);
    ck_assert_uint_eq(strlen(pliant_out), 33);
    char other[40];
    snprintf(other, sizeof other, "%.32s", pliant_out);
    ck_assert_int_eq(pliant("delete %s", other), 0);
    ck_assert_int_eq(pliant("snapshot %s early --frame 1", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "early"));
    ck_assert_int_ne(pliant("snapshot %s early", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "has a snapshot 'early'"));
    ck_assert_int_eq(pliant("snapshot %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "frame 1 "));
    ck_assert_int_eq(pliant("branch %s --snapshot early", id), 0);
    snprintf(other, sizeof other, "%.32s", pliant_out);
    ck_assert_int_eq(pliant("delete %s", other), 0);
    ck_assert_int_eq(pliant("snapshot %s early --delete", id), 0);
    ck_assert_int_ne(pliant("branch %s --snapshot early", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "no snapshot of this name"));
    ck_assert_int_eq(pliant("probes %s", id), 0);
    ck_assert_str_eq(pliant_out, "");
    ck_assert_int_eq(pliant("cancel %s", id), 0);
    ck_assert_int_eq(pliant("follow %s", id), 6);
    ck_assert_ptr_nonnull(strstr(pliant_err, "cancelled"));
}
END_TEST

START_TEST(idempotency_key_submits_once)
{
    char first[40];
    pliant_write_scene("scene.json", 2, PLIANT_BOX);
    ck_assert_int_eq(pliant("submit scene.json --idempotency-key k1"), 0);
    snprintf(first, sizeof first, "%.33s", pliant_out);
    ck_assert_int_eq(pliant("submit scene.json --idempotency-key k1"), 0);
    ck_assert_str_eq(pliant_out, first);
}
END_TEST

START_TEST(exit_statuses_tell_what_is_wrong)
{
    ck_assert_int_eq(pliant("lsit"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean list?"));
    ck_assert_int_eq(pliant("list --stat x"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean --state?"));
    ck_assert_int_eq(pliant("show"), 2);
    ck_assert_int_eq(pliant("show zz"), 5);
    ck_assert_int_eq(pliant("show 0123"), 5);
    ck_assert_int_eq(pliant("show 00000000000000000000000000000000"), 5);
    ck_assert_int_eq(pliant("--token nonsense list"), 4);
    ck_assert_int_eq(pliant("--server http://127.0.0.1:1 list"), 3);
    ck_assert_int_eq(pliant("--help"), 0);
    ck_assert_int_eq(pliant("export --help"), 0);
    ck_assert_int_eq(pliant("version"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "pliantd "));
    ck_assert_int_eq(pliant("capabilities"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "neo_hookean"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"exports\""));
}
END_TEST

/* A free fall of 10 steps of 0.01 s by backward Euler: h^2 g n (n + 1) / 2 = 0.053955 m. */
START_TEST(expectations_decide_the_exit_status)
{
    static const char falling[] =
        "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 10}, \"bodies\": [{\"name\":"
        " \"box\", \"mesh\": " PLIANT_BOX "}], \"output\": {\"precision\": \"double\"}, \"expect\":"
        " [{\"name\": \"fallen\", \"quantity\": \"displacement\", \"component\": \"y\", \"body\":"
        " \"box\", \"select\": {\"side\": \"+x\"}, \"equals\": %s, \"tolerance\": 1e-9}%s]}";
    char text[1024], id[40];
    snprintf(text, sizeof text, falling, "-0.0539550", "");
    pliant_write("good.json", text);
    ck_assert_msg(pliant("run good.json --out good --check") == 0, "%s%s", pliant_out, pliant_err);
    ck_assert_ptr_nonnull(
        strstr(pliant_out, "ok   fallen: displacement y, mean of a selection of box"));
    ck_assert_ptr_nonnull(
        strstr(pliant_out, "-0.053955 (frame 10, 0.1 s), expected -0.053955 within"));
    ck_assert_msg(pliant("submit good.json --follow") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", pliant_out);
    ck_assert_msg(pliant("check good %s", id) == 0, "%s%s", pliant_out, pliant_err);
    snprintf(text, sizeof text, falling, "-0.05", ", {\"quantity\": \"inverted\", \"max\": 0}");
    pliant_write("wrong.json", text);
    ck_assert_int_eq(pliant("run wrong.json --out wrong"), 0);
    ck_assert_int_eq(pliant("run wrong.json --out wrong --force --check"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "FAIL fallen"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "ok   expect-1"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "1 of 2 expectations do not hold"));
    ck_assert_int_eq(pliant("check good wrong"), 1);
    ck_assert_int_eq(pliant("check wrong --json"), 1);
    pl_json *outcome = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_int_eq(pl_json_integer(outcome, "failed", -1), 1);
    ck_assert(!pl_json_boolean(outcome, "expectations/0/passed", true));
    pl_json_free(outcome);
    pliant_write_scene("nothing.json", 2, PLIANT_BOX);
    ck_assert_int_eq(pliant("run nothing.json --out nothing --check"), 1);
    pliant_write(
        "astray.json",
        "{\"pliant\": 1, \"bodies\": [{\"mesh\": {\"box\": {}}}], \"expect\": [{\"quantity\":"
        " \"velocity\", \"select\": {\"sphere\": {\"center\": [9, 9, 9], \"radius\": 1}},"
        " \"max\": 1}]}");
    ck_assert_int_eq(pliant("run astray.json --out astray"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "/expect/0/select"));
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

/* Position of the payload of a run's frame in its first segment. */
static off_t payload_of(const char *run, int64_t frame)
{
    pl_log_reader *reader;
    pl_log_range range;
    int directory = open(run, O_RDONLY | O_DIRECTORY);
    ck_assert_int_eq(pl_log_reader_open(directory, &reader), PL_OK);
    ck_assert_int_eq(pl_log_find(reader, frame, PL_LOG_FRAME, &range), PL_LOG_OK);
    pl_log_reader_close(reader);
    close(directory);
    return (off_t)range.offset + PL_RECORD_HEADER;
}

START_TEST(verify_finds_damage)
{
    char id[40], path[512];
    pliant_write_scene("scene.json", 8, PLIANT_BOX);
    ck_assert_msg(pliant("submit scene.json --follow") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant("list"), 0);
    snprintf(id, sizeof id, "%.12s", pliant_out);
    ck_assert_msg(pliant("verify %s", id) == 0, "%s%s", pliant_out, pliant_err);
    ck_assert_ptr_nonnull(strstr(pliant_out, "clean: "));
    ck_assert_ptr_nonnull(strstr(pliant_out, " 9 frames, "));
    ck_assert_int_eq(pliant("verify 0123456789"), 5);
    ck_assert_ptr_nonnull(strstr(pliant_err, "--state"));

    ck_assert_int_eq(pliant("run scene.json --out here"), 0);
    ck_assert_int_eq(pliant("--json verify here"), 0);
    snprintf(path, sizeof path, "%s", pliant_path("here/log/0001-0000.seg"));
    const off_t at = payload_of(pliant_path("here"), 2) + 100;
    flip_bit(path, at);
    ck_assert_int_eq(pliant("verify here"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "log/0001-0000.seg, byte "));
    ck_assert_ptr_nonnull(strstr(pliant_out, "CRC-32C is wrong"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "readable: every other frame"));
    ck_assert_ptr_nonnull(strstr(pliant_out, "1 of 9 frames lost"));
    ck_assert_int_eq(pliant("--json verify here"), 1);
    pl_json *report = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_int_eq(pl_json_integer(report, "damages_total", 0), 1);
    ck_assert_str_eq(pl_json_string(report, "damages/0/file", ""), "log/0001-0000.seg");
    ck_assert_int_eq(pl_json_integer(report, "damages/0/frame", -1), 2);
    ck_assert(!pl_json_boolean(report, "clean", true));
    pl_json_free(report);
    flip_bit(path, at);
    flip_bit(pliant_path("here/head.json"), 20);
    flip_bit(pliant_path("here/log/0001-0000.idx"), 50);
    ck_assert_int_eq(pliant("verify here"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "head.json: is damaged"));
    ck_assert_int_eq(pliant("metrics here"), 0); /* continues reading, and says so */
    ck_assert_ptr_nonnull(strstr(pliant_err, "9 frames were found again"));
    ck_assert_int_eq(pliant("verify here --repair"), 0);
}
END_TEST

START_TEST(interrupt_stops_watching_but_not_the_session)
{
    char id[40];
    snprintf(id, sizeof id, "%s", pliant_submit(100000));
    ck_assert_int_eq(pliant_interrupt_at("/100000", (const char *[]){"follow", id, NULL}), 130);
    ck_assert_ptr_nonnull(strstr(pliant_err, "the session continues"));
    ck_assert_int_eq(pliant("show %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "running"));
    ck_assert_int_eq(pliant("cancel %s", id), 0);
}
END_TEST

/* Wait until `pliant show` says so. */
static void await_shown(const char *id, const char *text)
{
    for (double end = daemon_fixture_clock() + 60;; daemon_fixture_nap()) {
        ck_assert_int_eq(pliant("show %s", id), 0);
        if (strstr(pliant_out, text))
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "%s", pliant_out);
    }
}

START_TEST(paused_session_is_shown_and_goes_on)
{
    char id[40], listed[13];
    snprintf(id, sizeof id, "%s", pliant_submit(100000));
    snprintf(listed, sizeof listed, "%.12s", id);
    await_shown(id, "running");
    ck_assert_int_eq(pliant("pause %s", id), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "asked to pause"));
    await_shown(id, "by user; pliant resume");
    ck_assert_int_eq(pliant("list --state paused"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "paused"));
    ck_assert_int_eq(
        pliant_interrupt_at("paused after frame", (const char *[]){"follow", id, NULL}), 130);
    ck_assert_int_eq(pliant("resume %s", id), 0);
    await_shown(id, "running");
    ck_assert_int_eq(pliant("cancel %s", id), 0);
    /* A cancel request is shown at once: the list shows the present state. */
    for (double end = daemon_fixture_clock() + 60;; daemon_fixture_nap()) {
        ck_assert_int_eq(pliant("list --state cancelled"), 0);
        if (strstr(pliant_out, listed))
            break;
        ck_assert_msg(daemon_fixture_clock() < end, "%s", pliant_out);
    }
    ck_assert_int_eq(pliant("resume %s", id), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "only a session that has not ended"));
}
END_TEST

/* A bar of 77 m that stops after two iterations: reported before and after, locally and by the daemon, and not a
 * success with --strict. */
START_TEST(warnings_are_told_and_strict_minds_them)
{
    char scene[512];
    snprintf(
        scene, sizeof scene,
        "{\"pliant\": 1, \"name\": \"odd\", \"time\": {\"step\": 0.01, \"steps\": 5}, \"solver\":"
        " {\"method\": \"admm\", \"iterations\": 2, \"tolerance\": 1e-9}, \"bodies\": [{\"mesh\":"
        " %s, \"transform\": {\"scale\": 63}}], \"pins\": [{\"select\": {\"side\": \"-x\"}}]}",
        PLIANT_BOX);
    pliant_write("odd.json", scene);
    ck_assert_int_eq(pliant("validate odd.json"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "warning: odd_size: body 'body-0' is 77.2 m across"));
    ck_assert_int_eq(pliant("run odd.json --out odd"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "warning: odd_size:"));
    ck_assert_ptr_nonnull(strstr(pliant_err, "warning: unconverged: 5 of 5 frames did not reach"));
    ck_assert_int_eq(pliant("run odd.json --out odd --force --strict"), 1);
    ck_assert_int_eq(pliant("--json run odd.json --out odd --force --strict"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"warnings\": [{\"code\":\"odd_size\""));
    ck_assert_ptr_nonnull(strstr(pliant_out, "\"code\":\"unconverged\""));
    ck_assert_int_eq(pliant("submit odd.json --follow"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_err, "warning: unconverged: 5 of 5 frames"));
    ck_assert_int_eq(pliant("submit odd.json --follow --strict"), 1);
    ck_assert_int_eq(pliant("submit odd.json --strict"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "warning: odd_size:"));
    ck_assert_int_eq(pliant("list --name odd --state succeeded"), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "odd  odd_size, unconverged\n"));
    ck_assert_int_eq(pliant("show %.12s", pliant_out), 0);
    ck_assert_ptr_nonnull(strstr(pliant_out, "warning    unconverged: 5 of 5"));
    /* Having none is not an error. */
    pliant_write("calm.json",
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3}, \"bodies\":"
                 " [{\"mesh\": {\"box\": {\"cells\": [2, 2, 2]}}}]}");
    ck_assert_int_eq(pliant("run calm.json --out calm --strict"), 0);
    ck_assert_int_eq(pliant("submit calm.json --follow --strict"), 0);
    ck_assert_ptr_null(strstr(pliant_err, "warning"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("daemon");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, pliant_setup, pliant_teardown);
    tcase_add_test(t, submitted_session_is_followed_listed_and_exported);
    tcase_add_test(t, sessions_are_edited_and_found_by_what_is_said_of_them);
    tcase_add_test(t, json_follow_gives_each_frame_once);
    tcase_add_test(t, bad_scene_names_every_fault);
    tcase_add_test(t, mesh_files_are_uploaded);
    tcase_add_test(t, obstacles_come_from_files);
    tcase_add_test(t, cancelled_session_is_no_success);
    tcase_add_test(t, idempotency_key_submits_once);
    tcase_add_test(t, exit_statuses_tell_what_is_wrong);
    tcase_add_test(t, expectations_decide_the_exit_status);
    tcase_add_test(t, verify_finds_damage);
    tcase_add_test(t, interrupt_stops_watching_but_not_the_session);
    tcase_add_test(t, paused_session_is_shown_and_goes_on);
    tcase_add_test(t, warnings_are_told_and_strict_minds_them);
    return run_cases("cli", t);
}
