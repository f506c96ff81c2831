/* Session directories as earlier and present versions wrote them: each is read whole, and by its
 * frames' values, through the functions that daemon, worker and command line read with. A version is
 * added here when a format changes, and never taken away while it is to be read. */
#include "protocol/log/log.h"
#include "protocol/log/session_file.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All are of one run: two bodies, a generated box and an uploaded cube, frames 0 to 3. */
static const char *const versions[] = {"session_v1", "session_v2"};
enum { VERTICES = 16, FRAMES = 4 };

static int open_version(int i)
{
    char path[128];
    snprintf(path, sizeof path, "tests/unit/%s", versions[i]);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    return fd;
}

START_TEST(documents)
{
    int fd = open_version(_i);
    pl_head head;
    ck_assert_int_eq(pl_head_read(fd, &head), PL_OK);
    ck_assert_int_eq(head.attempt, 1);
    ck_assert_int_eq(head.segment_count, 1);
    ck_assert_int_eq(head.segments[0].frames, FRAMES);
    pl_head_clear(&head);
    pl_exit e;
    ck_assert_int_eq(pl_exit_read(fd, &e), PL_OK);
    ck_assert_str_eq(e.state, "succeeded");
    ck_assert_int_eq(e.frames, FRAMES - 1);
    pl_preflight p;
    ck_assert_int_eq(pl_preflight_read(fd, &p), PL_OK);
    ck_assert_int_eq(p.body_count, 2);
    ck_assert_str_eq(p.bodies[1].name, "cube");
    ck_assert(p.vertices == VERTICES && p.tets == 12 && p.faults.total == 0);
    ck_assert(p.memory_bytes > 0);
    for (int f = 0; f < PL_FILE_SURFACE; f++)
        ck_assert(p.sums[f].known == (_i > 0)); /* since format 2 */
    ck_assert(!p.sums[PL_FILE_SURFACE].known);  /* later */
    pl_preflight_clear(&p);
    close(fd);
}
END_TEST

START_TEST(files)
{
    int fd = open_version(_i);
    for (int f = 0; f < PL_FILE_SURFACE; f++) {
        char *bytes;
        size_t size;
        ck_assert_int_eq(pl_session_file_read(fd, (pl_session_file)f, 1 << 20, &bytes, &size),
                         PL_OK);
        ck_assert_uint_gt(size, 100);
        free(bytes);
    }
    close(fd);
}
END_TEST

static float read_value(const char *payload, int vertex, int axis)
{
    float value;
    memcpy(&value, payload + PL_FRAME_HEADER + 4 * (3 * vertex + axis), sizeof value);
    return value;
}

START_TEST(frames)
{
    int fd = open_version(_i);
    pl_log_reader *r;
    ck_assert_int_eq(pl_log_reader_open(fd, &r), PL_OK);
    ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES);
    ck_assert(!pl_log_reader_recovered(r));
    for (int k = 0; k < FRAMES; k++) {
        char *payload;
        uint64_t length;
        pl_frame_header header;
        ck_assert_int_eq(pl_log_read(r, k, PL_LOG_FRAME, &payload, &length), PL_OK);
        ck_assert(pl_frame_header_decode((unsigned char *)payload, length, &header));
        ck_assert(header.count == VERTICES && header.step == (uint64_t)k);
        ck_assert(read_value(payload, 0, 0) == -0.5f); /* the wall holds */
        /* The cube falls freely: x0 - g h^2 k (k + 1) / 2, to the precision of its storage. */
        double fall = 9.81 * 0.02 * 0.02 * k * (k + 1) / 2, mean = 0;
        for (int v = 8; v < VERTICES; v++)
            mean += (double)read_value(payload, v, 1) / 8;
        ck_assert_double_eq_tol(mean, 0.5 - fall, 1e-6);
        free(payload);
        ck_assert_int_eq(pl_log_read(r, k, PL_LOG_METRICS, &payload, &length), PL_OK);
        pl_json *metrics = pl_json_parse(payload, length, NULL);
        ck_assert_int_eq(pl_json_integer(metrics, "frame", -1), k);
        pl_json_free(metrics);
        free(payload);
    }
    pl_log_reader_close(r);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protocol/versions");
    TCase *tcase = tcase_create("versions");
    const int count = sizeof versions / sizeof *versions;
    tcase_add_loop_test(tcase, documents, 0, count);
    tcase_add_loop_test(tcase, files, 0, count);
    tcase_add_loop_test(tcase, frames, 0, count);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
