/* Contacts stored with frames: the same bits after kills, and compared when a frame is recomputed. */
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "tests/support/session_compare.h"
#include "tests/support/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 240, KILLS = 6 };

/* A block that lies on another one from the start, and slides. */
static void create(session_fixture *f, int cores)
{
    char *scene = NULL;
    ck_assert_int_gt(
        asprintf(&scene,
                 "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d}, \"contact\":"
                 " {\"friction\": 0.4}, \"solver\": {\"iterations\": 100, \"tolerance\": 1e-3},"
                 " \"bodies\": [{\"name\": \"upper\", \"mesh\": {\"box\": {\"size\":"
                 " [0.3, 0.3, 0.3], \"cells\": [3, 3, 3]}}, \"transform\": {\"translate\":"
                 " [0.02, 0.36, 0.01]}}, {\"name\": \"lower\", \"mesh\": {\"box\": {\"size\":"
                 " [0.4, 0.4, 0.4], \"cells\": [3, 3, 3]}}}],"
                 " \"pins\": [{\"body\": \"lower\", \"select\": {\"side\": \"-y\"}}],"
                 " \"gravity\": [1, -9.81, 0], \"resources\": {\"cores\": %d},"
                 " \"output\": {\"fields\": [\"position\", \"contacts\"]}}",
                 STEPS, cores),
        0);
    session_fixture_create(f, SESSION_IN_MEMORY, scene);
    free(scene);
}

/* The header of a frame, and the length of its payload. */
static uint64_t header_of(const session_fixture *f, int64_t frame, pl_frame_header *out)
{
    pl_log_reader *r;
    char *payload;
    uint64_t length;
    ck_assert_int_eq(pl_log_reader_open(f->directory, &r), PL_OK);
    pl_log_reader_refresh(r);
    ck_assert_int_eq(pl_log_read(r, frame, PL_LOG_FRAME, &payload, &length), PL_LOG_OK);
    ck_assert(pl_frame_header_decode((unsigned char *)payload, length, out));
    free(payload);
    pl_log_reader_close(r);
    return length;
}

/* Kills at random moments, and one thread or two, change no bit of any frame. */
START_TEST(test_kills_and_threads_change_no_bit)
{
    session_fixture whole, f;
    pl_frame_header h;
    create(&whole, 1);
    ck_assert_int_eq(session_fixture_run(&whole, 1), 0);
    header_of(&whole, STEPS, &h);
    ck_assert_uint_gt(h.contacts, 3);
    create(&f, 2);
    srand((unsigned)time(NULL));
    int attempt = 1;
    for (; attempt <= KILLS; attempt++) {
        pid_t pid = session_fixture_start_often(&f, attempt);
        nanosleep(&(struct timespec){.tv_nsec = 10000000 + rand() % 100000000}, NULL);
        kill(pid, SIGKILL);
        session_fixture_wait(pid);
    }
    ck_assert_int_eq(session_fixture_run(&f, attempt), 0);
    ck_assert_int_eq(session_fixture_frames(&f), STEPS + 1);
    ck_assert_int_eq(session_compare(&f, &whole), -1);
    session_fixture_destroy(&f);
    session_fixture_destroy(&whole);
}
END_TEST

/* Killed once a checkpoint and frames after it are there. */
static void create_killed(session_fixture *f, pl_checkpoint *newest)
{
    for (bool there = false; !there;) {
        create(f, 1);
        pid_t pid = session_fixture_start_often(f, 1);
        ck_assert(session_fixture_await(f, 100));
        kill(pid, SIGKILL);
        session_fixture_wait(pid);
        there = session_fixture_frames(f) <= STEPS &&
                pl_checkpoint_newest(f->directory, newest) == PL_OK && newest->frame > 30 &&
                newest->frame < session_fixture_frames(f);
        if (!there)
            session_fixture_destroy(f);
    }
}

/* A point that was changed and sealed again is found by the step to it, and by the checkpoint of its frame. */
START_TEST(test_tampered_points)
{
    session_fixture f;
    pl_checkpoint newest;
    pl_frame_header h;
    create_killed(&f, &newest);
    int64_t frame = newest.frame;
    if (_i == 0) {
        frame = 60;
        for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
            unlinkat(f.directory, pl_checkpoint_name(slot), 0);
    }
    const uint64_t length = header_of(&f, frame, &h);
    ck_assert_uint_gt(h.contacts, 0);
    session_tamper(&f, frame, PL_LOG_FRAME, length - 4, 1, true); /* of a gap, its lowest byte */
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_int_eq(e.failure.code, PL_FAILURE_NOT_REPRODUCIBLE);
    ck_assert_int_eq(e.failure.frame, frame - 1);
    session_fixture_destroy(&f);
}
END_TEST

START_TEST(test_a_killed_run_goes_on)
{
    session_fixture f;
    pl_checkpoint newest;
    create_killed(&f, &newest);
    ck_assert_int_eq(session_fixture_run(&f, 2), 0);
    session_fixture_destroy(&f);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("contacts");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, test_kills_and_threads_change_no_bit);
    tcase_add_loop_test(t, test_tampered_points, 0, 2);
    tcase_add_test(t, test_a_killed_run_goes_on);
    return run_cases("worker_contacts", t);
}
