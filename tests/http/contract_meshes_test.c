/* Mesh files: upload, check, grants, and scenes that use them.
 */
#include "protocol/text/sha256.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES "Content-Type: application/octet-stream\r\n"

static void start(void)
{
    /* A cut upload is noticed when its connection has been idle for so long. */
    static const char *const options[] = {"--cores", "2", "--idle-timeout", "3", NULL};
    daemon_fixture_start(d, options);
}

typedef struct mesh_file {
    char *data;
    size_t size;
    char hash[65], target[96];
} mesh_file;

static bool load(const char *path, mesh_file *m)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    m->size = (size_t)ftell(file);
    rewind(file);
    m->data = malloc(m->size + 1);
    ck_assert_uint_eq(fread(m->data, 1, m->size, file), m->size);
    fclose(file);
    pl_sha256_hex(m->data, m->size, m->hash);
    snprintf(m->target, sizeof m->target, "/v1/meshes/%s", m->hash);
    return true;
}

static mesh_file fixture(const char *name)
{
    mesh_file m;
    char path[128];
    snprintf(path, sizeof path, "tests/http/fixtures/%s", name);
    ck_assert_msg(load(path, &m), "%s: tests run from the project's folder", path);
    return m;
}

static http_reply *put(const mesh_file *m)
{
    return http_call(d, "PUT", m->target, BYTES, m->data, m->size);
}

/* Nothing is left of a rejected upload; the temporary file is removed with the request, which ends a moment after its
 * reply. */
static void check_nothing(const mesh_file *m)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;
         daemon_fixture_entries(d, "incoming") > 0; daemon_fixture_nap())
        ck_assert(daemon_fixture_clock() < end);
    ck_assert_int_ne(access(daemon_fixture_path(d, "meshes/%.2s/%s", m->hash, m->hash), F_OK), 0);
    http_reply *r = http_get(d, m->target);
    http_problem(r, 404, "no_such_mesh");
    http_reply_free(r);
}

/* ---- taking ---- */

static void check_report(const http_reply *r, const mesh_file *m)
{
    ck_assert_int_eq(json_count(r->json, "vertices"), 8);
    ck_assert_int_eq(json_count(r->json, "tets"), 6);
    ck_assert_str_eq(json_text(r->json, "format"), "gmsh");
    ck_assert_str_eq(json_text(r->json, "hash"), m->hash);
    for (int i = 0; i < 6; i++) {
        char path[16];
        snprintf(path, sizeof path, "box/%d/%d", i / 3, i % 3);
        ck_assert_double_eq(json_number_value(json_at(r->json, path)), i / 3);
    }
    ck_assert_double_eq_tol(json_number_value(json_at(r->json, "volume")), 1, 1e-12);
    ck_assert_int_eq(json_count(r->json, "tags/0/tag"), 7);
    ck_assert_str_eq(json_text(r->json, "tags/0/name"), "left");
    ck_assert_int_eq(json_count(r->json, "tags/1/tag"), 9);
    ck_assert_str_eq(json_text(r->json, "tags/1/name"), "solid");
}

START_TEST(test_put)
{
    mesh_file m = fixture("cube.msh");
    check_nothing(&m);
    http_reply *r = http_call(d, "HEAD", m.target, NULL, NULL, 0);
    http_expect(r, 404);
    http_reply_free(r);
    r = put(&m);
    http_expect(r, 201);
    ck_assert_str_eq(http_header(r, "Location"), m.target);
    check_report(r, &m);
    http_reply_free(r);
    r = put(&m);
    http_expect(r, 200);
    check_report(r, &m);
    http_reply_free(r);
    r = http_call(d, "HEAD", m.target, NULL, NULL, 0);
    http_expect(r, 200);
    ck_assert_int_eq(atoi(http_header(r, "Content-Length")), (int)m.size);
    ck_assert_uint_eq(r->length, 0);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    daemon_fixture_resume(d);
    r = http_get(d, m.target);
    http_expect(r, 200);
    ck_assert_str_eq(http_header(r, "Content-Type"), "application/octet-stream");
    ck_assert_uint_eq(r->length, m.size);
    ck_assert_mem_eq(r->body, m.data, m.size);
    http_reply_free(r);
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
    free(m.data);
}
END_TEST

/* A file's own bytes tell its format. */
START_TEST(test_every_format)
{
    static const char *const files[][2] = {
        {"two_v51_binary.vtk", "vtk"}, {"two_inline_zlib.vtu", "vtu"}, {"ball_binary.stl", "stl"},
        {"ball_ascii.stl", "stl"},     {"ball_big.ply", "ply"},        {"cube.veg", "vega"},
        {"cube.inp", "abaqus"}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        mesh_file m;
        char path[128];
        snprintf(path, sizeof path, "tests/unit/meshes/%s", files[k][0]);
        ck_assert_msg(load(path, &m), "%s", path);
        http_reply *r = put(&m);
        http_expect(r, 201);
        ck_assert_str_eq(json_text(r->json, "format"), files[k][1]);
        ck_assert_int_gt(json_count(r->json, "tets") + json_count(r->json, "triangles"), 0);
        http_reply_free(r);
        free(m.data);
    }
}
END_TEST

/* In chunks of 100 bytes, and with a client that waits for 100 Continue. */
START_TEST(test_put_chunked)
{
    mesh_file m = fixture("cube.msh");
    char head[512], line[32];
    int n = snprintf(head, sizeof head,
                     "PUT %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n" BYTES
                     "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
                     m.target, d->port, d->token);
    http_connection *c = http_open(d);
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    http_expect(r, 100);
    http_reply_free(r);
    for (size_t at = 0, size; at < m.size; at += size) {
        size = m.size - at < 100 ? m.size - at : 100;
        n = snprintf(line, sizeof line, "%zx\r\n", size);
        ck_assert(http_write(c, line, (size_t)n) && http_write(c, m.data + at, size) &&
                  http_write(c, "\r\n", 2));
    }
    ck_assert(http_write(c, "0\r\n\r\n", 5));
    r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    ck_assert(http_read_body(c, r));
    http_expect(r, 201);
    http_reply_free(r);
    http_close(c);
    free(m.data);
}
END_TEST

/* ---- refusing ---- */

START_TEST(test_wrong_hash)
{
    mesh_file m = fixture("cube.msh");
    m.hash[0] = m.hash[0] == '0' ? '1' : '0';
    snprintf(m.target, sizeof m.target, "/v1/meshes/%s", m.hash);
    http_reply *r = put(&m);
    const json_t *faults = http_problem(r, 422, "wrong_hash");
    ck_assert_uint_eq(json_array_size(faults), 1);
    ck_assert_str_eq(json_text(faults, "0/expected"), m.hash);
    http_reply_free(r);
    check_nothing(&m);
    free(m.data);
}
END_TEST

START_TEST(test_bad_hash)
{
    static const char *const bad[] = {"abc", "../token", "%2e%2e%2ftoken",
                                      "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABAB"
                                      "ABAB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char target[128];
        snprintf(target, sizeof target, "/v1/meshes/%s", bad[i]);
        http_reply *r = http_call(d, "PUT", target, BYTES, "x", 1);
        ck_assert_msg(r->status == 400 || r->status == 404, "%s: %d", bad[i], r->status);
        http_reply_free(r);
        r = http_get(d, target);
        ck_assert_int_eq(r->status, 404);
        http_reply_free(r);
    }
    ck_assert_int_eq(daemon_fixture_entries(d, "incoming"), 0);
}
END_TEST

/* Files that are not meshes, or broken ones: what is wrong, and on which line. */
START_TEST(test_bad_mesh)
{
    static const struct {
        const char *data, *code, *got; /* NULL data: the fixture bad_index.msh */
    } rows[] = {
        {NULL, "mesh_index", "line 24"},
        {"", "", ""},
        {"hello, world\n", "mesh_format", ""},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 x\n$EndNodes\n", "", "line 6"},
        {"$MeshFormat\n9.9 0 8\n$EndMeshFormat\n", "", "9.9"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n99999999999\n1 0 0 0\n", "", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mesh_file m = fixture("bad_index.msh");
        if (rows[i].data) {
            m.size = strlen(strcpy(m.data, rows[i].data));
            pl_sha256_hex(m.data, m.size, m.hash);
            snprintf(m.target, sizeof m.target, "/v1/meshes/%s", m.hash);
        }
        http_reply *r = put(&m);
        const json_t *faults = http_problem(r, 422, "invalid_mesh");
        ck_assert_uint_ge(json_array_size(faults), 1);
        ck_assert_ptr_nonnull(strstr(json_text(faults, "0/code"), rows[i].code));
        ck_assert_msg(strstr(json_text(faults, "0/got"), rows[i].got) != NULL, "%s", r->body);
        http_reply_free(r);
        check_nothing(&m);
        free(m.data);
    }
}
END_TEST

START_TEST(test_media_type)
{
    mesh_file m = fixture("cube.msh");
    http_reply *r = http_call(d, "PUT", m.target, "Content-Type: application/json\r\n", m.data,
                              m.size);
    http_problem(r, 415, "unsupported_media_type");
    http_reply_free(r);
    r = http_call(d, "PUT", m.target, NULL, m.data, m.size);
    http_problem(r, 415, "unsupported_media_type");
    http_reply_free(r);
    r = http_call(d, "PUT", m.target, BYTES "Authorization: Bearer 0\r\n", m.data, m.size);
    http_problem(r, 401, "unauthorized");
    http_reply_free(r);
    check_nothing(&m);
    free(m.data);
}
END_TEST

/* Over the limit: by its Content-Length before a byte is sent, in chunks when it is passed. */
START_TEST(test_too_large)
{
    static const char *const options[] = {"--max-mesh", "20000", NULL};
    mesh_file m = fixture("cube.msh");
    char head[512], block[8 + 4096 + 2];
    daemon_fixture_stop(d);
    daemon_fixture_start(d, options);
    http_connection *c = http_open(d);
    int n = snprintf(head, sizeof head,
                     "PUT %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n" BYTES
                     "Content-Length: 100000000000\r\n\r\n",
                     m.target, d->port, d->token);
    ck_assert(http_write(c, head, (size_t)n));
    http_reply *r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    http_expect(r, 413);
    http_reply_free(r);
    ck_assert(http_await_close(c, HTTP_PATIENCE_S));
    http_close(c);
    c = http_open(d);
    n = snprintf(head, sizeof head,
                 "PUT %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n" BYTES
                 "Transfer-Encoding: chunked\r\n\r\n",
                 m.target, d->port, d->token);
    ck_assert(http_write(c, head, (size_t)n));
    memcpy(block, "001000\r\n", 8);
    memset(block + 8, 'x', 4096);
    memcpy(block + 8 + 4096, "\r\n", 2);
    for (int i = 0; i < 10; i++)
        if (!http_write(c, block, sizeof block))
            break;
    (void)http_write(c, "0\r\n\r\n", 5);
    r = http_read_head(c);
    ck_assert_ptr_nonnull(r);
    http_expect(r, 413);
    http_reply_free(r);
    http_close(c);
    check_nothing(&m);
    free(m.data);
}
END_TEST

/* A client that goes away in the middle leaves nothing. */
START_TEST(test_cut_upload)
{
    mesh_file m = fixture("cube.msh");
    char head[512];
    int n = snprintf(head, sizeof head,
                     "PUT %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n" BYTES
                     "Content-Length: %zu\r\n\r\n",
                     m.target, d->port, d->token, m.size);
    for (size_t part = 0; part < m.size; part += m.size / 3) {
        http_connection *c = http_open(d);
        ck_assert(http_write(c, head, (size_t)n) && http_write(c, m.data, part));
        http_close(c);
    }
    check_nothing(&m);
    free(m.data);
}
END_TEST

/* ---- grants and use ---- */

static char *scene_with(const mesh_file *m, const char *more)
{
    char *scene = NULL;
    ck_assert_int_gt(asprintf(&scene,
                              "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 3},"
                              " \"bodies\": [{\"name\": \"m\", \"mesh\": {\"upload\": "
                              "\"sha256:%s\"}}]%s}",
                              m->hash, more),
                     0);
    return scene;
}

/* That a file lies in the store is no grant: only an own upload is, read to its end. */
START_TEST(test_grant)
{
    mesh_file m = fixture("cube.msh");
    char *scene = scene_with(&m, "");
    const char *path = daemon_fixture_path(d, "meshes/%.2s/%s", m.hash, m.hash);
    ck_assert_int_eq(mkdir(daemon_fixture_path(d, "meshes/%.2s", m.hash), 0700), 0);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(write(fd, m.data, m.size), (ssize_t)m.size);
    close(fd);
    http_reply *r = http_get(d, m.target);
    http_problem(r, 404, "no_such_mesh");
    http_reply_free(r);
    r = http_post(d, "/v1/sessions", scene);
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    ck_assert_str_eq(json_text(faults, "0/code"), "unknown_mesh");
    http_reply_free(r);
    r = put(&m);
    ck_assert_msg(r->status == 200 || r->status == 201, "%d", r->status);
    http_reply_free(r);
    r = http_get(d, m.target);
    http_expect(r, 200);
    http_reply_free(r);
    free(scene);
    free(m.data);
}
END_TEST

START_TEST(test_use)
{
    mesh_file m = fixture("cube.msh");
    char id[33];
    http_reply_free(put(&m));
    char *scene = scene_with(&m, ", \"pins\": [{\"select\": {\"tag\": \"left\"}}]");
    session_run(d, scene, id);
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "bodies/0/vertices"), 8);
    json_decref(session);
    http_reply *r = http_getf(d, "/v1/sessions/%s/scene?form=effective", id);
    ck_assert_ptr_nonnull(strstr(r->body, m.hash));
    http_reply_free(r);
    /* The session keeps its own: the stored file may go. */
    char inside[80];
    snprintf(inside, sizeof inside, "meshes/%s", m.hash);
    ck_assert_int_eq(access(session_path(d, id, inside), R_OK), 0);
    scene = scene_with(&m, ", \"pins\": [{\"select\": {\"tag\": \"rigt\"}}]");
    r = http_post(d, "/v1/sessions", scene);
    const json_t *faults = http_problem(r, 422, "invalid_scene");
    ck_assert_str_eq(json_text(faults, "0/pointer"), "/pins/0/select/tag");
    http_reply_free(r);
    free(scene);
    free(m.data);
}
END_TEST

/* A real one, of two files. */
START_TEST(test_tetgen)
{
    mesh_file node, ele;
    char id[33];
    ck_assert(load("tests/unit/meshes/public/admm_box768.node", &node));
    ck_assert(load("tests/unit/meshes/public/admm_box768.ele", &ele));
    http_reply *r = put(&node);
    http_expect(r, 201);
    http_reply_free(r);
    r = put(&ele);
    http_expect(r, 201);
    ck_assert_int_eq(json_count(r->json, "tets"), 1175);
    http_reply_free(r);
    char *scene = NULL;
    ck_assert_int_gt(asprintf(&scene,
                              "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": 2},"
                              " \"bodies\": [{\"mesh\": {\"upload\": {\"node\": \"sha256:%s\", "
                              "\"ele\": \"sha256:%s\"}}}]}",
                              node.hash, ele.hash),
                     0);
    session_run(d, scene, id);
    json_t *session = session_show(d, id);
    ck_assert_int_eq(json_count(session, "bodies/0/tets"), 1175);
    json_decref(session);
    free(node.data);
    free(ele.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contract: meshes");
    TCase *tests = tcase_create("meshes");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_put);
    tcase_add_test(tests, test_every_format);
    tcase_add_test(tests, test_put_chunked);
    tcase_add_test(tests, test_wrong_hash);
    tcase_add_test(tests, test_bad_hash);
    tcase_add_test(tests, test_bad_mesh);
    tcase_add_test(tests, test_media_type);
    tcase_add_test(tests, test_too_large);
    tcase_add_test(tests, test_cut_upload);
    tcase_add_test(tests, test_grant);
    tcase_add_test(tests, test_use);
    tcase_add_test(tests, test_tetgen);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
