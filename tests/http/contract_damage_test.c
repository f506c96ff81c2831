/* Damage below the daemon: a flipped bit in a session's or a stored mesh's file is answered as such,
 * never handed on, and whatever else there is stays readable. */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include "protocol/text/sha256.h"
#include "protocol/log/verify.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES "Content-Type: application/octet-stream\r\n"

static const char tetrahedron[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
    "$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n";
static char hash[65], target[96];

static void start(void)
{
    daemon_fixture_start(d, NULL);
    pl_sha256_hex(tetrahedron, sizeof tetrahedron - 1, hash);
    snprintf(target, sizeof target, "/v1/meshes/%s", hash);
}

/* One bit of the middle of a file, in place: as a disk does it, without leave. */
static void flip(const char *path)
{
    struct stat st;
    char byte;
    chmod(path, 0600);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_msg(fd >= 0 && fstat(fd, &st) == 0, "%s", path);
    ck_assert_int_eq(pread(fd, &byte, 1, st.st_size / 2), 1);
    byte ^= 1;
    ck_assert_int_eq(pwrite(fd, &byte, 1, st.st_size / 2), 1);
    close(fd);
}

static void check_get(const char *id, const char *what, const char *code)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/%s", id, what);
    if (code)
        http_problem(r, 500, code);
    else
        http_expect(r, 200);
    http_reply_free(r);
}

START_TEST(test_session_files)
{
    static const struct {
        const char *file, *route;
    } rows[] = {{"effective.json", "scene?form=effective"},
                {"scene.json", "scene"},
                {"topology.json", "topology"},
                {"triangles.npy", "topology?array=triangles"},
                {"tets.npy", "topology?array=tets"}};
    enum { ROWS = sizeof rows / sizeof *rows };
    char id[33];
    session_run(d, session_scene(4, 1, ""), id);
    for (int k = 0; k < ROWS; k++)
        check_get(id, rows[k].route, NULL);
    for (int k = 0; k < ROWS; k++) {
        flip(session_path(d, id, rows[k].file));
        check_get(id, rows[k].route, "damaged");
        for (int other = k + 1; other < ROWS; other++)
            check_get(id, rows[other].route, NULL);
        check_get(id, "frames?from=0", NULL);
        check_get(id, "metrics", NULL);
    }
    /* Damage to the sums themselves: the files that they describe are served, because they are not known to be
     * wrong. */
    flip(session_path(d, id, "topology.json")); /* back again */
    flip(session_path(d, id, "preflight.json"));
    check_get(id, "topology", NULL);
}
END_TEST

static void check_frames(const char *id, const http_reply *before)
{
    http_reply *r = http_getf(d, "/v1/sessions/%s/frames?from=0", id);
    http_expect(r, 200);
    ck_assert_uint_eq(r->length, before->length);
    ck_assert_mem_eq(r->body, before->body, r->length);
    http_reply_free(r);
}

START_TEST(test_head)
{
    char id[33];
    session_run(d, session_scene(6, 1, ""), id);
    http_reply *before = http_getf(d, "/v1/sessions/%s/frames?from=0", id);
    flip(session_path(d, id, "head.json"));
    check_frames(id, before);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_eq(unlink(session_path(d, id, "head.json")), 0);
    daemon_fixture_resume(d);
    check_frames(id, before);
    http_reply_free(before);
}
END_TEST

static http_reply *put(void)
{
    return http_call(d, "PUT", target, BYTES, tetrahedron, sizeof tetrahedron - 1);
}

static http_reply *post_with_mesh(void)
{
    char scene[512];
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 1},"
             " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}}, \"bodies\": [{\"name\": \"b\","
             " \"material\": \"m\", \"mesh\": {\"upload\": \"sha256:%s\", \"format\": \"gmsh\"}}]}",
             hash);
    return http_post(d, "/v1/sessions", scene);
}

/* True if pl_verify accuses exactly this file; "" stands for none. */
static bool is_accused(int dir_fd, const char *name)
{
    pl_verify_report report = {0};
    const pl_verify_options options = {.from_daemon = true};
    ck_assert_int_eq(pl_verify(dir_fd, &options, &report), PL_OK);
    size_t here = 0;
    for (size_t i = 0; i < report.count; i++)
        here += strcmp(report.damages[i].file, name) == 0;
    bool accused = here == report.total && (*name ? here > 0 : true);
    pl_verify_report_clear(&report);
    return accused;
}

static int names_seen;

static void check_folder(const char *id, int dir_fd, const char *folder)
{
    DIR *list = opendir(session_path(d, id, folder));
    ck_assert_ptr_nonnull(list);
    for (struct dirent *e; (e = readdir(list));) {
        char name[300];
        snprintf(name, sizeof name, "%s%s%s", folder, *folder ? "/" : "", e->d_name);
        /* The lock contains nothing, and worker.log is only for people. */
        if (e->d_type != DT_REG || strcmp(name, "lock") == 0 || strcmp(name, "worker.log") == 0)
            continue;
        flip(session_path(d, id, name));
        ck_assert_msg(is_accused(dir_fd, name), "%s", name);
        flip(session_path(d, id, name));
        names_seen++;
    }
    closedir(list);
}

/* Every file that a session of the daemon has, whatever it is called. */
START_TEST(test_every_file_is_checked)
{
    char id[33];
    http_reply_free(put());
    http_reply *r = post_with_mesh();
    http_expect(r, 201);
    snprintf(id, sizeof id, "%s", json_text(r->json, "id"));
    http_reply_free(r);
    session_await(d, id, "succeeded");
    int dir_fd = open(session_path(d, id, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(dir_fd, 0);
    ck_assert(is_accused(dir_fd, ""));
    check_folder(id, dir_fd, "");
    check_folder(id, dir_fd, "log");
    check_folder(id, dir_fd, "meshes");
    ck_assert_int_ge(names_seen, 12);
    ck_assert(is_accused(dir_fd, ""));
    close(dir_fd);
}
END_TEST

/* A damaged stored mesh: a scene that uses it is rejected, and the next upload replaces it. */
START_TEST(test_mesh)
{
    http_reply *r = put();
    http_expect(r, 201);
    http_reply_free(r);
    flip(daemon_fixture_path(d, "meshes/%.2s/%s", hash, hash));
    r = post_with_mesh();
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    ck_assert_str_eq(json_text(faults, "0/code"), "mesh_damaged");
    ck_assert_str_eq(json_text(faults, "0/pointer"), "/bodies/0/mesh/upload");
    http_reply_free(r);
    r = put();
    http_expect(r, 201);
    http_reply_free(r);
    r = http_get(d, target);
    http_expect(r, 200);
    ck_assert_uint_eq(r->length, sizeof tetrahedron - 1);
    ck_assert_mem_eq(r->body, tetrahedron, r->length);
    http_reply_free(r);
    r = post_with_mesh();
    http_expect(r, 201);
    http_reply_free(r);
}
END_TEST

/* The same for its report: the mesh is checked again. */
START_TEST(test_mesh_report)
{
    http_reply *r = put();
    http_expect(r, 201);
    char *report = strdup(r->body);
    http_reply_free(r);
    r = put();
    http_expect(r, 200);
    ck_assert_str_eq(r->body, report);
    http_reply_free(r);
    flip(daemon_fixture_path(d, "meshes/%.2s/%s.json", hash, hash));
    r = put();
    http_expect(r, 201);
    ck_assert_str_eq(r->body, report);
    http_reply_free(r);
    free(report);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: damage");
    TCase *tcase = tcase_create("damage");
    tcase_add_checked_fixture(tcase, start, stop_daemon);
    tcase_set_timeout(tcase, 180);
    tcase_add_test(tcase, test_session_files);
    tcase_add_test(tcase, test_head);
    tcase_add_test(tcase, test_every_file_is_checked);
    tcase_add_test(tcase, test_mesh);
    tcase_add_test(tcase, test_mesh_report);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
