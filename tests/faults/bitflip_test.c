/* Damage to a finished session's files: whichever bit is flipped, and whichever file is missing or cut, pl_verify names
 * the file (and the frame if one is lost), every other frame reads with its original bytes, and nothing damaged is ever
 * passed off as good. */
#include "tests/support/session_fixture.h"
#include "tests/support/suite.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/session_file.h"
#include "protocol/text/sha256.h"
#include "protocol/log/verify.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 5, FRAMES = STEPS + 1, SMALL = 400, SAMPLES = 300 };

static const char cube[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n"
                           "3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n"
                           "$EndElements\n";
static char mesh_name[80];

/* A file as the programs left it. */
typedef struct original {
    const char *name;
    char *bytes;
    size_t size;
} original;

/* The positions of frame k's record and metrics record in the segment, and their contents. */
typedef struct stored_part {
    char *payload;
    uint64_t length, offset, size;
} stored_part;

static session_fixture f;
static stored_part parts[FRAMES][2];
static const char *const names[] = {
    "scene.json",  "effective.json",    "preflight.json",    "topology.json", "triangles.npy",
    "tets.npy",    "surface.npy",       mesh_name,           "head.json",     "exit.json",
    "control.log", "log/0001-0000.seg", "log/0001-0000.idx",
};
enum { NAMES = sizeof names / sizeof *names };
static original originals[NAMES];

static const pl_log_part both[2] = {PL_LOG_FRAME, PL_LOG_METRICS};

static void remember_frames(void)
{
    pl_log_reader *r;
    ck_assert_int_eq(pl_log_reader_open(f.directory, &r), PL_OK);
    ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES);
    for (int k = 0; k < FRAMES; k++)
        for (int p = 0; p < 2; p++) {
            stored_part *s = &parts[k][p];
            pl_log_range range;
            ck_assert_int_eq(pl_log_find(r, k, both[p], &range), PL_LOG_OK);
            s->offset = range.offset;
            s->size = range.size;
            ck_assert_int_eq(pl_log_read(r, k, both[p], &s->payload, &s->length), PL_LOG_OK);
        }
    pl_log_reader_close(r);
}

/* A body of a generated box and one of an uploaded mesh, run to its end by the worker; then a command in control.log
 * that no worker reads. */
static void setup(void)
{
    char hash[65], scene[1024];
    pl_sha256_hex(cube, sizeof cube - 1, hash);
    snprintf(mesh_name, sizeof mesh_name, "meshes/%.64s", hash);
    snprintf(scene, sizeof scene,
             "{\"pliant\": 1, \"time\": {\"step\": 0.01, \"steps\": %d},"
             " \"materials\": {\"m\": {\"model\": \"neo_hookean\"}},"
             " \"bodies\": [{\"name\": \"a\", \"material\": \"m\", \"mesh\": {\"box\":"
             " {\"size\": [1, 1, 1], \"cells\": [1, 1, 1]}}}, {\"name\": \"b\", \"material\":"
             " \"m\", \"mesh\": {\"upload\": \"sha256:%s\", \"format\": \"gmsh\"}}]}",
             STEPS, hash);
    session_fixture_create(&f, SESSION_IN_MEMORY, scene);
    session_fixture_write(&f, mesh_name, cube, sizeof cube - 1);
    ck_assert_int_eq(session_fixture_preflight(&f), 0);
    ck_assert_int_eq(session_fixture_run(&f, 1), 0);
    session_fixture_control(&f, "{\"action\": \"cancel\"}");
    session_fixture_control(&f, "{\"action\": \"cancel\", \"again\": 1}");
    for (int i = 0; i < NAMES; i++) {
        originals[i].name = names[i];
        ck_assert_int_eq(
            pl_file_read(f.directory, names[i], 1 << 24, &originals[i].bytes, &originals[i].size),
            PL_OK);
        ck_assert_uint_gt(originals[i].size, 0);
    }
    remember_frames();
}

static void teardown(void)
{
    session_fixture_destroy(&f);
}

/* ---- what must hold ---- */

/* Every frame reads unchanged; for frame `hit` (-1: none), a part may be reported damaged. */
static void assert_frames(int64_t hit, const char *what)
{
    pl_log_reader *r;
    ck_assert_int_eq(pl_log_reader_open(f.directory, &r), PL_OK);
    int64_t frames = pl_log_reader_refresh(r);
    ck_assert_msg(frames == FRAMES, "%s: %" PRId64 " frames", what, frames);
    for (int k = 0; k < FRAMES; k++)
        for (int p = 0; p < 2; p++) {
            char *payload;
            uint64_t length;
            pl_log_outcome outcome = pl_log_read(r, k, both[p], &payload, &length);
            if (outcome == PL_LOG_OK) {
                ck_assert_uint_eq(length, parts[k][p].length);
                ck_assert_msg(memcmp(payload, parts[k][p].payload, length) == 0,
                              "%s: frame %d reads differently", what, k);
                free(payload);
            } else {
                ck_assert_msg(outcome == PL_LOG_CORRUPT && k == hit, "%s: frame %d cannot be read",
                              what, k);
            }
        }
    pl_log_reader_close(r);
}

/* The other files read unchanged, or are rejected. */
static void assert_documents(const char *what)
{
    char *bytes;
    size_t size;
    for (int file = 0; file < PL_FILE_COUNT; file++) {
        const original *o = &originals[0];
        while (strcmp(o->name, pl_session_file_name((pl_session_file)file)) != 0)
            o++;
        bool readable = pl_session_file_read(f.directory, (pl_session_file)file, 1 << 24, &bytes,
                                             &size) == PL_OK;
        if (!readable)
            continue;
        ck_assert_msg(size == o->size && memcmp(bytes, o->bytes, size) == 0,
                      "%s: %s reads differently", what, o->name);
        free(bytes);
    }
    pl_exit e;
    ck_assert(pl_exit_read(f.directory, &e) != PL_OK ||
              (strcmp(e.state, "succeeded") == 0 && e.frames == STEPS && e.attempt == 1));
    pl_preflight p;
    if (pl_preflight_read(f.directory, &p) == PL_OK) {
        ck_assert(p.vertices == 12 && p.body_count == 2 && p.sums[PL_FILE_TETS].known);
        pl_preflight_clear(&p);
    }
}

/* The damage is reported for `name`, at the lost frame, and for nothing else except meshes that a damaged scene no
 * longer names correctly. Returns the damages. */
static size_t assert_found(const char *name, int64_t hit, const char *what)
{
    pl_verify_report report = {0};
    ck_assert_int_eq(pl_verify(f.directory, NULL, &report), PL_OK);
    size_t total = report.total, here = 0, frame_named = 0;
    for (size_t i = 0; i < report.count; i++) {
        const pl_damage *d = &report.damages[i];
        bool same = strcmp(d->file, name) == 0;
        here += same;
        frame_named += same && d->frame == hit;
        ck_assert_msg(same ||
                          (strcmp(name, "scene.json") == 0 && strncmp(d->file, "meshes/", 7) == 0),
                      "%s: %s is accused: %s", what, d->file, d->what);
        ck_assert_msg(d->frame < 0 || d->frame == hit,
                      "%s: frame %" PRId64 " is accused, not %" PRId64, what, d->frame, hit);
        ck_assert(d->what[0] && d->readable[0] && d->advice[0]);
    }
    ck_assert_msg(here > 0, "%s was not found", what);
    ck_assert_msg(frame_named > 0, "%s: frame %" PRId64 " is not named", what, hit);
    ck_assert_int_eq(report.frames, FRAMES);
    ck_assert_int_eq(report.frames_lost, hit >= 0);
    pl_verify_report_clear(&report);
    return total;
}

static void assert_clean(void)
{
    pl_verify_report report = {0};
    ck_assert_int_eq(pl_verify(f.directory, NULL, &report), PL_OK);
    ck_assert_msg(report.total == 0, "%s: %s", report.count ? report.damages[0].file : "",
                  report.count ? report.damages[0].what : "");
    ck_assert_int_eq(report.frames, FRAMES);
    ck_assert_int_eq(report.unchecked, 0);
    ck_assert_int_ge(report.files, NAMES);
    ck_assert_int_eq(report.records, 1 + 2 * FRAMES + 2);
    pl_verify_report_clear(&report);
    assert_frames(-1, "undamaged");
}

/* ---- single bits ---- */

/* The frame that byte `at` of the segment belongs to: -1 for the epoch record and for padding. */
static int64_t frame_at(size_t at)
{
    for (int k = 0; k < FRAMES; k++)
        for (int p = 0; p < 2; p++) {
            const stored_part *s = &parts[k][p];
            if (at >= s->offset && at < s->offset + PL_RECORD_HEADER + s->length)
                return k;
        }
    return -1;
}

static void flip(const original *o, size_t bit)
{
    char what[128];
    char byte = (char)(o->bytes[bit / 8] ^ (1 << bit % 8));
    int64_t hit = strstr(o->name, ".seg") ? frame_at(bit / 8) : -1;
    int fd = openat(f.directory, o->name, O_WRONLY | O_CLOEXEC);
    snprintf(what, sizeof what, "bit %zu of %s", bit, o->name);
    ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
    assert_found(o->name, hit, what);
    bool of_log = strncmp(o->name, "log/", 4) == 0 || strcmp(o->name, "head.json") == 0;
    if (of_log || bit % 16 == 0)
        assert_frames(hit, what);
    if (!of_log || bit % 16 == 0)
        assert_documents(what);
    ck_assert_int_eq(pwrite(fd, &o->bytes[bit / 8], 1, (off_t)(bit / 8)), 1);
    close(fd);
}

/* All bits of small files; of larger ones as many as SAMPLES, at steps that hit every bit number. */
START_TEST(single_bits)
{
    const original *o = &originals[_i];
    size_t bits = 8 * o->size;
    size_t step = o->size <= SMALL ? 1 : (bits / SAMPLES) | 1;
    assert_clean();
    for (size_t bit = 0; bit < bits; bit += step)
        flip(o, bit);
    assert_clean();
}
END_TEST

/* Every bit of the headers of the epoch record, of the first, a middle and the last frame, and of all padding. */
START_TEST(header_bits)
{
    const original *segment = &originals[11];
    const uint64_t at[] = {0, parts[0][0].offset, parts[2][1].offset, parts[FRAMES - 1][0].offset,
                           parts[FRAMES - 1][1].offset};
    ck_assert(strstr(segment->name, ".seg"));
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        for (size_t bit = 0; bit < 8 * PL_RECORD_HEADER; bit++)
            flip(segment, 8 * at[i] + bit);
    int padded = 0;
    for (int k = 0; k < FRAMES; k++)
        for (int p = 0; p < 2; p++) {
            const stored_part *s = &parts[k][p];
            for (uint64_t byte = PL_RECORD_HEADER + s->length; byte < s->size; byte++, padded++)
                for (size_t bit = 0; bit < 8; bit++)
                    flip(segment, 8 * (s->offset + byte) + bit);
        }
    ck_assert_int_gt(padded, 0);
    assert_clean();
}
END_TEST

/* The last frame is not treated as torn if neither head nor index can tell. */
START_TEST(segment_alone)
{
    ck_assert_int_eq(unlinkat(f.directory, "head.json", 0), 0);
    ck_assert_int_eq(unlinkat(f.directory, "log/0001-0000.idx", 0), 0);
    assert_frames(-1, "the segment alone");
    pl_verify_report report = {0};
    ck_assert_int_eq(pl_verify(f.directory, NULL, &report), PL_OK);
    ck_assert_uint_eq(report.total, 2);
    ck_assert_int_eq(report.frames, FRAMES);
    pl_verify_report_clear(&report);
    ck_assert_int_eq(pl_verify_repair(f.directory), PL_OK);
    assert_clean();
}
END_TEST

/* ---- whole files ---- */

/* A file that is gone or shorter accuses itself; frames are lost only with the segment's bytes. */
static void assert_shorter(const original *o, size_t kept, const char *what)
{
    pl_verify_report report = {0};
    bool segment = strstr(o->name, ".seg") != NULL;
    ck_assert_int_eq(pl_verify(f.directory, NULL, &report), PL_OK);
    size_t here = 0;
    for (size_t i = 0; i < report.count; i++)
        here += strcmp(report.damages[i].file, o->name) == 0;
    ck_assert_msg(here > 0, "%s was not found", what);
    int64_t lost = 0;
    for (int k = 0; segment && k < FRAMES; k++)
        lost += parts[k][1].offset + parts[k][1].size > kept;
    ck_assert_int_eq(report.frames_lost, lost);
    pl_verify_report_clear(&report);
    if (!segment)
        assert_frames(-1, what);
    assert_documents(what);
}

START_TEST(deleted)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(names[i], "control.log") == 0)
            continue; /* without a command the file is missing */
        ck_assert_int_eq(unlinkat(f.directory, names[i], 0), 0);
        assert_shorter(&originals[i], 0, names[i]);
        session_fixture_write(&f, names[i], originals[i].bytes, originals[i].size);
    }
    assert_clean();
}
END_TEST

START_TEST(truncated)
{
    for (int i = 0; i < NAMES; i++) {
        const original *o = &originals[i];
        size_t step = o->size > 4096 ? 8 * (o->size / 8 / 64) : 8;
        for (size_t kept = 0; kept < o->size; kept += step) {
            char what[128];
            /* A log that only grows has no end to be missed: whole commands may be gone. */
            if (strcmp(o->name, "control.log") == 0 &&
                (kept == 0 || kept == pl_record_size(strlen("{\"action\": \"cancel\"}"))))
                continue;
            snprintf(what, sizeof what, "%s cut to %zu bytes", o->name, kept);
            session_fixture_write(&f, o->name, o->bytes, kept);
            assert_shorter(o, kept, what);
        }
        session_fixture_write(&f, o->name, o->bytes, o->size);
    }
    assert_clean();
}
END_TEST

/* ---- the worker ---- */

static void assert_refused(const char *name, const char *message)
{
    const original *o = &originals[0];
    while (strcmp(o->name, name) != 0)
        o++;
    char *changed = malloc(o->size);
    memcpy(changed, o->bytes, o->size);
    char *digit = strpbrk(changed, "0123456789"); /* still JSON, still a mesh */
    *digit ^= 1;
    session_fixture_write(&f, name, changed, o->size);
    free(changed);
    ck_assert_int_eq(unlinkat(f.directory, "control.log", 0), 0); /* it would cancel */
    ck_assert_int_eq(session_fixture_run(&f, 2), 3);
    pl_exit e = session_fixture_exit(&f);
    ck_assert_str_eq(e.state, "failed");
    ck_assert_msg(strstr(e.failure.message, message) != NULL, "%s", e.failure.message);
    session_fixture_write(&f, name, o->bytes, o->size);
}

START_TEST(worker_refuses_a_changed_scene)
{
    assert_refused("scene.json", "scene.json has changed since it was accepted");
}
END_TEST

START_TEST(worker_refuses_a_changed_mesh)
{
    assert_refused(mesh_name, "mesh_damaged");
}
END_TEST

/* ---- a session that continues ---- */

enum { STOPPED_STEPS = 3000 };
static session_fixture stopped;

static void setup_stopped(void)
{
    char *scene = session_fixture_scene(STOPPED_STEPS, "");
    session_fixture_create(&stopped, SESSION_IN_MEMORY, scene);
    free(scene);
    ck_assert_int_eq(session_fixture_preflight(&stopped), 0);
    pid_t worker = session_fixture_start(&stopped, 1);
    ck_assert(session_fixture_await(&stopped, 3));
    kill(worker, SIGTERM);
    ck_assert_int_eq(session_fixture_wait(worker), 6);
}

static void teardown_stopped(void)
{
    session_fixture_destroy(&stopped);
}

/* The damages that pl_verify finds in the stopped session; all must be in `name`. */
static size_t accused(const char *name)
{
    pl_verify_report report = {0};
    ck_assert_int_eq(pl_verify(stopped.directory, NULL, &report), PL_OK);
    size_t total = report.total;
    for (size_t i = 0; i < report.count; i++)
        ck_assert_msg(strcmp(report.damages[i].file, name) == 0, "%s is accused, not %s: %s",
                      report.damages[i].file, name, report.damages[i].what);
    pl_verify_report_clear(&report);
    return total;
}

START_TEST(checkpoints)
{
    int found = 0;
    ck_assert_uint_eq(accused(""), 0);
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++) {
        original o = {.name = pl_checkpoint_name(slot)};
        if (pl_file_read(stopped.directory, o.name, 1 << 24, &o.bytes, &o.size) != PL_OK)
            continue;
        found++;
        for (size_t bit = 0; bit < 8 * o.size;
             bit += bit < 8 * PL_CHECKPOINT_HEADER ? 1 : (8 * o.size / SAMPLES) | 1) {
            o.bytes[bit / 8] ^= (char)(1 << bit % 8);
            session_fixture_write(&stopped, o.name, o.bytes, o.size);
            ck_assert_msg(accused(o.name) == 1, "bit %zu of %s", bit, o.name);
            o.bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        for (size_t kept = 0; kept < o.size; kept += 8 * (o.size / 8 / 64 + 1)) {
            session_fixture_write(&stopped, o.name, o.bytes, kept);
            ck_assert_msg(accused(o.name) == 1, "%s cut to %zu", o.name, kept);
        }
        session_fixture_write(&stopped, o.name, o.bytes, o.size);
        free(o.bytes);
    }
    ck_assert_int_ge(found, 1);
    ck_assert_uint_eq(accused(""), 0);
}
END_TEST

/* Without its head, the next attempt finds the chain again, continues from its checkpoint and commits no frame
 * twice. */
START_TEST(goes_on_without_head)
{
    int64_t before = session_fixture_frames(&stopped);
    ck_assert_int_eq(unlinkat(stopped.directory, "head.json", 0), 0);
    ck_assert_int_eq(session_fixture_run(&stopped, 2), 0);
    ck_assert_uint_eq(accused(""), 0);
    ck_assert_int_eq(session_fixture_frames(&stopped), STOPPED_STEPS + 1);
    pl_head head;
    ck_assert_int_eq(pl_head_read(stopped.directory, &head), PL_OK);
    ck_assert_int_eq(head.segment_count, 2);
    ck_assert_int_eq(head.segments[1].first_frame, before);
    pl_head_clear(&head);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bitflip");
    TCase *tcase = tcase_create("bitflip");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 180);
    tcase_add_loop_test(tcase, single_bits, 0, NAMES);
    tcase_add_test(tcase, header_bits);
    tcase_add_test(tcase, segment_alone);
    tcase_add_test(tcase, deleted);
    tcase_add_test(tcase, truncated);
    tcase_add_test(tcase, worker_refuses_a_changed_scene);
    tcase_add_test(tcase, worker_refuses_a_changed_mesh);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("stopped");
    tcase_add_checked_fixture(tcase, setup_stopped, teardown_stopped);
    tcase_set_timeout(tcase, 180);
    tcase_add_test(tcase, checkpoints);
    tcase_add_test(tcase, goes_on_without_head);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
