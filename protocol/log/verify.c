#include "protocol/log/verify.h"

#include "protocol/log/checkpoint.h"
#include "protocol/log/head_recover.h"
#include "protocol/log/log.h"
#include "protocol/log/log_index.h"
#include "protocol/log/record_walk.h"
#include "protocol/scene/scene_json.h"
#include "protocol/log/sealed.h"
#include "protocol/log/session_file.h"
#include "protocol/text/sha256.h"
#include "protocol/log/snapshot.h"
#include "protocol/log/verify_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- documents with a seal ---- */

static const pl_damage_words bad_scene = {"every frame and the other files",
                                          "Restore it from the file that was submitted."};
static const pl_damage_words bad_preflight = {
    "every frame and the other files, but their checksums are unknown",
    "Submit the scene again, or restore the file from a backup."};
static const pl_damage_words bad_derived = {"every frame and the other files",
                                            "Submit the scene again, which recreates the file."};
static const pl_damage_words bad_head = {
    "every frame: readers find the segments without it",
    "Run pliant verify --repair, which rebuilds it. A worker's next attempt does so too."};
static const pl_damage_words bad_exit = {"every frame",
                                         "Read worker.log to see how the run ended."};
static const pl_damage_words bad_warnings = {
    "every frame and its metrics",
    "Read the metrics, which have the same numbers. A worker's next attempt counts them again."};
static const pl_damage_words bad_owned = {"every frame and the other files",
                                          "Keep the daemon's database, which holds the same data. "
                                          "Only pliantd --reindex needs the file."};

static void document_damage(pl_verifier *v, const char *name, const pl_damage_words *words)
{
    pl_verifier_damage(v, name, -1, -1, words, "%s",
                       errno == ENOENT ? "is missing"
                       : errno == EBADMSG
                           ? "is damaged: not JSON of a known format, or its seal does not match"
                           : strerror(errno));
}

static void check_head(pl_verifier *v)
{
    bool recovered = false;
    v->report->files++;
    pl_status status = pl_head_read(v->dir_fd, &v->head);
    v->has_head = status == PL_OK;
    if (v->has_head)
        return;
    int error = errno;
    v->has_head = pl_head_load(v->dir_fd, &v->head, &recovered) == PL_OK;
    errno = error;
    /* A session has neither head nor log before its first frame. */
    if (error != ENOENT || (recovered && !v->report->live) || v->has_ending)
        document_damage(v, "head.json", &bad_head);
}

static void check_exit(pl_verifier *v)
{
    v->report->files++;
    v->has_ending = pl_exit_read(v->dir_fd, &v->ending) == PL_OK;
    if (!v->has_ending && errno != ENOENT)
        document_damage(v, "exit.json", &bad_exit);
}

static void check_warnings(pl_verifier *v)
{
    pl_run_totals totals;
    pl_warnings warnings = {0};
    pl_status status = pl_run_warnings_read(v->dir_fd, &totals, &warnings);
    pl_warnings_clear(&warnings);
    if (status == PL_IO && errno == ENOENT)
        return;
    v->report->files++;
    if (status != PL_OK)
        document_damage(v, "warnings.json", &bad_warnings);
}

/* Compares the log with exit.json, written by a worker that sealed its log. */
static void check_ending(pl_verifier *v)
{
    const pl_segment *last = v->head.segment_count > 0
                                 ? &v->head.segments[v->head.segment_count - 1]
                                 : NULL;
    if (v->report->live || !last)
        return;
    errno = ENOENT;
    if (!v->has_ending && last->frames >= 0 && last->attempt == v->head.attempt &&
        faccessat(v->dir_fd, "exit.json", F_OK, 0) != 0)
        document_damage(v, "exit.json", &bad_exit);
    int64_t claimed = v->ending.frames + 1 -
                      v->head.segments[0].first_frame; /* the part of them that is kept */
    if (v->has_ending && v->ending.attempt == v->head.attempt && claimed > v->report->frames) {
        static const pl_damage_words words = {"the other frames", "Run the scene again."};
        pl_verifier_damage(v, "log", -1, v->report->frames, &words,
                           "has %" PRId64 " frames, but exit.json reports %" PRId64,
                           v->report->frames, claimed);
    }
}

/* Checks a file that only the daemon writes. */
static void check_owned(pl_verifier *v, const char *name, bool needed)
{
    pl_json *document = NULL;
    pl_status status = pl_sealed_read(v->dir_fd, name, 1 << 20, INT32_MAX, &document);
    pl_json_free(document);
    if (status == PL_IO && errno == ENOENT && !needed)
        return;
    v->report->files++;
    if (status != PL_OK)
        document_damage(v, name, &bad_owned);
}

/* ---- files with a sum in preflight.json ---- */

static void check_file(pl_verifier *v, pl_session_file file, const pl_file_sum *expected)
{
    const char *name = pl_session_file_name(file);
    const pl_damage_words *words = file == PL_FILE_SCENE ? &bad_scene : &bad_derived;
    pl_file_sum actual = {0};
    int fd = openat(v->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && file == PL_FILE_SURFACE && !expected->known)
        return; /* earlier versions wrote none */
    v->report->files++;
    if (fd < 0 || pl_file_sum_read(fd, &actual) != PL_OK)
        document_damage(v, name, words);
    else if (!expected->known)
        v->report->unchecked++;
    else if (actual.bytes != expected->bytes)
        pl_verifier_damage(v, name, -1, -1, words, "has %" PRIu64 " bytes instead of %" PRIu64,
                           actual.bytes, expected->bytes);
    else if (actual.crc != expected->crc)
        pl_verifier_damage(v, name, -1, -1, words,
                           "is damaged: its CRC-32C is %08" PRIx32 " instead of %08" PRIx32,
                           actual.crc, expected->crc);
    v->report->bytes += actual.bytes;
    if (fd >= 0)
        close(fd);
}

static void check_files(pl_verifier *v)
{
    pl_preflight p = {0};
    v->report->files++;
    bool known = pl_preflight_read(v->dir_fd, &p) == PL_OK;
    if (!known)
        document_damage(v, "preflight.json", &bad_preflight);
    /* A rejected scene has no derived files. */
    bool refused = known && p.faults.total > 0;
    for (int f = 0; f < (refused ? 1 : PL_FILE_COUNT); f++)
        check_file(v, (pl_session_file)f, &p.sums[f]);
    pl_preflight_clear(&p);
}

/* ---- meshes ---- */

static const pl_damage_words bad_mesh = {
    "every frame", "Upload the mesh file again; it is needed only to run the scene again."};

static bool is_hash(const char *name)
{
    return strspn(name, "0123456789abcdef") == 64 && name[64] == 0;
}

static void check_mesh(pl_verifier *v, const char *hash)
{
    char name[80], actual[65];
    uint64_t bytes = 0;
    snprintf(name, sizeof name, "meshes/%.64s", hash);
    int fd = openat(v->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    v->report->files++;
    if (fd < 0 || !pl_sha256_file(fd, actual, &bytes))
        document_damage(v, name, &bad_mesh);
    else if (strcmp(actual, hash) != 0)
        pl_verifier_damage(v, name, -1, -1, &bad_mesh,
                           "does not match its name: its SHA-256 is %.16s...", actual);
    v->report->bytes += bytes;
    if (fd >= 0)
        close(fd);
}

/* Checks every mesh file, and reports those that the scene names but the folder lacks. */
static void check_meshes(pl_verifier *v)
{
    int fd = openat(v->dir_fd, "meshes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (is_hash(e->d_name))
            check_mesh(v, e->d_name);
    if (folder)
        closedir(folder);
    char *text, name[80];
    size_t size;
    pl_faults faults = {0};
    pl_outline outline = {0};
    if (pl_file_read(v->dir_fd, "scene.json", (size_t)64 << 20, &text, &size) != PL_OK)
        return;
    if (pl_scene_outline(text, size, &outline, &faults) == PL_DECODE_OK)
        for (int32_t i = 0; i < outline.upload_count; i++) {
            snprintf(name, sizeof name, "meshes/%s", outline.uploads[i].hash);
            if (faccessat(v->dir_fd, name, F_OK, 0) != 0)
                document_damage(v, name, &bad_mesh);
        }
    pl_outline_clear(&outline);
    pl_faults_clear(&faults);
    free(text);
}

/* ---- control.log ---- */

static void check_command(pl_verifier *v, const pl_record_walk *w, pl_walk_event event)
{
    static const pl_damage_words words = {"every frame and the other commands",
                                          "Send the command again if it did not take effect."};
    const char *what = event == PL_WALK_DAMAGE  ? "bytes that belong to no record"
                       : event == PL_WALK_CUT   ? "ends in an incomplete record"
                       : event == PL_WALK_ERROR ? "cannot be read from here on"
                       : !w->payload_good ? "the payload of a command is damaged: its CRC-32C is "
                                            "wrong"
                       : !w->padding_good ? "the padding after a command is not zero"
                                          : NULL;
    if (what && !(event == PL_WALK_CUT && v->report->live))
        pl_verifier_damage(v, "control.log", (int64_t)w->offset, -1, &words, "%s", what);
}

static void check_control(pl_verifier *v)
{
    int fd = openat(v->dir_fd, "control.log", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return; /* there were no commands */
    pl_record_walk w = {.fd = fd, .limit = pl_file_length(fd)};
    pl_walk_event event;
    v->report->files++;
    v->report->bytes += w.limit;
    while ((event = pl_record_walk_step(&w)) != PL_WALK_END) {
        v->report->records += event == PL_WALK_RECORD;
        check_command(v, &w, event);
        if (event == PL_WALK_ERROR)
            break;
    }
    pl_record_walk_clear(&w);
    close(fd);
}

/* ---- checkpoints ---- */

static void check_checkpoint(pl_verifier *v, const char *name, const pl_damage_words *words)
{
    pl_checkpoint c;
    struct stat st;
    if (fstatat(v->dir_fd, name, &st, 0) != 0)
        return;
    v->report->files++;
    v->report->bytes += (uint64_t)st.st_size;
    pl_status status = pl_checkpoint_check_file(v->dir_fd, name, &c);
    /* A running worker may replace the file meanwhile. */
    if (status != PL_OK && v->report->live)
        status = pl_checkpoint_check_file(v->dir_fd, name, &c);
    if (status == PL_IO)
        document_damage(v, name, words);
    else if (status == PL_INVALID)
        pl_verifier_damage(v, name, -1, -1, words, "is damaged: a CRC-32C does not match");
}

static void check_checkpoints(pl_verifier *v)
{
    static const pl_damage_words words = {
        "every frame", "Nothing to do: the run resumes from an older checkpoint, or from frame 0."};
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++)
        check_checkpoint(v, pl_checkpoint_name(slot), &words);
}

/* Checks the document of each snapshot, and its checkpoint. */
static void check_snapshots(pl_verifier *v)
{
    static const pl_damage_words words = {
        "every frame and the other snapshots",
        "Delete the snapshot and create it again from its frame."};
    char names[PL_SNAPSHOTS_MAX][PL_SNAPSHOT_NAME + 1], path[PL_SNAPSHOT_NAME + 20];
    int count = pl_snapshot_names(v->dir_fd, false, names);
    for (int i = 0; i < count; i++) {
        pl_snapshot s;
        pl_snapshot_file(names[i], path);
        v->report->files++;
        errno = 0;
        if (pl_snapshot_read(v->dir_fd, names[i], &s) != PL_OK) {
            document_damage(v, path, &words);
            continue;
        }
        if (s.checkpoint >= 0 && faccessat(v->dir_fd, path, F_OK, 0) != 0)
            document_damage(v, path, &words);
        pl_snapshot_clear(&s);
        check_checkpoint(v, path, &words);
    }
}

/* ---- the whole ---- */

/* Bytes of all segments. */
static uint64_t log_bytes(const pl_verifier *v)
{
    uint64_t total = 0;
    for (int64_t i = 0; i < v->head.segment_count; i++) {
        char name[PL_SEGMENT_NAME];
        pl_segment_name(name, &v->head.segments[i], "seg");
        int fd = openat(v->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        total += fd >= 0 ? pl_file_length(fd) : 0;
        if (fd >= 0)
            close(fd);
    }
    return total;
}

pl_status pl_verify(int dir_fd, const pl_verify_options *options, pl_verify_report *out)
{
    static const pl_verify_options none = {0};
    pl_verifier v = {.dir_fd = dir_fd, .options = options ? options : &none, .report = out};
    out->live = pl_session_locked(dir_fd);
    check_files(&v);
    check_meshes(&v);
    check_exit(&v);
    check_warnings(&v);
    check_head(&v);
    v.total = log_bytes(&v);
    pl_verify_log(&v);
    check_ending(&v);
    check_control(&v);
    check_checkpoints(&v);
    check_snapshots(&v);
    check_owned(&v, "session.json", v.options->from_daemon);
    check_owned(&v, "verdict.json", false);
    pl_head_clear(&v.head);
    return v.status;
}

pl_status pl_verify_repair(int dir_fd)
{
    int lock;
    bool recovered = false;
    pl_head head = {0};
    pl_status status = pl_session_lock(dir_fd, true, &lock);
    if (status != PL_OK)
        return status;
    status = pl_head_load(dir_fd, &head, &recovered);
    if (status == PL_OK && recovered)
        status = pl_head_write(dir_fd, &head);
    if (status == PL_OK && pl_log_reindex(dir_fd) < 0)
        status = PL_IO;
    pl_head_clear(&head);
    close(lock);
    return status;
}
