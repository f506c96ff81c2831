#include "server/api/meshes.h"

#include "protocol/text/json.h"
#include "protocol/log/sealed.h"
#include "protocol/log/session_dir.h"
#include "protocol/text/sha256.h"
#include "server/base/daemon.h"
#include "server/sessions/access.h"
#include "server/tenants/auth.h"
#include "server/tenants/grants.h"
#include "server/run/check_queue.h"
#include "server/sessions/quota.h"
#include "server/base/clock.h"
#include "server/base/logger.h"
#include "server/store/store.h"
#include "server/http/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Publishing a file with its grant, and removing one, exclude each other. */
static pthread_mutex_t publish_mutex = PTHREAD_MUTEX_INITIALIZER;

typedef struct upload {
    pl_store *store;
    pl_tenants *tenants;
    const char *state_path;
    int state_fd;
    pl_counters *counters;
    pl_check_queue *checks;
    int64_t checks_most; /* waiting checks of a user */
    pl_check_ticket ticket;
    pl_request *request;
    pl_sha256 *sha;
    int fd;
    int64_t bytes;
    bool held;          /* its owner already held it */
    char temporary[64]; /* below STATE; "" once it was moved to the mesh's place */
} upload;

static bool hash_well_formed(const char *hash)
{
    return strlen(hash) == 64 && strspn(hash, "0123456789abcdef") == 64;
}

static bool check_hash(pl_request *r)
{
    if (hash_well_formed(pl_request_param(r, 0))) {
        return true;
    }
    pl_reply_problem(r, 400, "bad_hash", "Bad hash",
                     "the path ends in the file's SHA-256 as 64 lower-case hex digits", NULL);
    return false;
}

static void mesh_path(const char *hash, char out[96])
{
    snprintf(out, 96, "meshes/%.2s/%s", hash, hash);
}

/* ---- receiving ---- */

static void upload_close(void *context)
{
    upload *u = context;
    if (u->temporary[0]) {
        unlinkat(u->state_fd, u->temporary, 0);
    }
    if (u->fd >= 0) {
        close(u->fd);
    }
    if (u->sha) {
        char unused[65];
        pl_sha256_finish(u->sha, unused);
    }
    free(u);
}

static void *upload_open(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    char id[33];
    upload *u = check_hash(r) ? calloc(1, sizeof *u) : NULL;
    if (!u) {
        return NULL;
    }
    u->store = d->store;
    u->tenants = d->tenants;
    u->state_path = d->state;
    u->state_fd = d->state_fd;
    u->counters = &d->counters;
    u->checks = d->check_queue;
    u->checks_most = d->options.max_checks;
    u->sha = pl_sha256_create();
    u->fd = -1;
    if (u->sha && pl_random_id(id) == 0) {
        snprintf(u->temporary, sizeof u->temporary, "incoming/mesh-%s", id);
        u->fd = openat(u->state_fd, u->temporary,
                       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    if (u->fd < 0) {
        int error = errno;
        u->temporary[0] = 0;
        upload_close(u);
        if (!pl_reply_shortage(r, error)) {
            pl_reply_problem(r, 500, "internal", "The upload cannot be stored",
                             "no temporary file could be created", NULL);
        }
        return NULL;
    }
    return u;
}

static int upload_write(void *context, const char *data, size_t size)
{
    upload *u = context;
    pl_sha256_update(u->sha, data, size);
    u->bytes += (int64_t)size;
    while (size > 0) {
        ssize_t n = write(u->fd, data, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

const pl_sink pl_mesh_sink = {upload_open, upload_write, upload_close};

/* ---- checking and storing ---- */

/* The checker's report, preceded by "hash" and "bytes". */
static char *extend_report(const char *report, const char *hash, int64_t bytes)
{
    size_t end = strlen(report);
    while (end > 0 && strchr(" \r\n\t", report[end - 1])) {
        end--;
    }
    char *text = NULL;
    if (end < 2 || report[0] != '{' || report[end - 1] != '}') {
        return NULL;
    }
    int n = asprintf(&text, "{\"hash\": \"%s\", \"bytes\": %lld, %.*s", hash, (long long)bytes,
                     (int)(end - 1), report + 1);
    return n < 0 ? NULL : text;
}

static void take_faults(const char *report, pl_faults *faults)
{
    pl_json *json = pl_json_parse(report, strlen(report), NULL);
    const pl_json *list = pl_json_at(json, "faults");
    for (size_t i = 0; i < pl_json_count(list); i++) {
        const pl_json *f = pl_json_item(list, i);
        pl_faults_add(faults, pl_json_string(f, "pointer", ""),
                      pl_json_string(f, "code", "mesh_invalid"), pl_json_string(f, "got", ""),
                      pl_json_string(f, "expected", ""), pl_json_string(f, "hint", ""));
    }
    pl_json_free(json);
}

static void reply_internal(pl_request *r, const char *what)
{
    int error = errno;
    pl_logf(PL_LEVEL_ERROR, "a mesh could not be stored: %s: %s", what, strerror(error));
    if (!pl_reply_shortage(r, error)) {
        pl_reply_problem(r, 500, "internal", "The mesh could not be stored", "see the log", NULL);
    }
}

/* The report of an accepted file, malloc'ed; NULL after replying. */
static char *take_report(pl_request *r, upload *u, const char *hash)
{
    pl_check_ticket *t = &u->ticket;
    pl_preflight_outcome outcome = t->outcome;
    char *output = t->begun ? pl_preflight_output(&t->run) : NULL;
    char *report = NULL;
    if (t->begun) {
        pl_preflight_end(&t->run);
    }
    if (outcome == PL_PREFLIGHT_GOOD && output) {
        report = extend_report(output, hash, u->bytes);
    } else if (outcome == PL_PREFLIGHT_FAULTS && output) {
        take_faults(output, &t->faults);
    }
    if (outcome == PL_PREFLIGHT_STOPPED) {
        pl_reply_problem(r, 503, "shutdown", "Shutting down", "the daemon is shutting down", NULL);
    } else if (t->faults.total) {
        pl_reply_problem(r, 422, "invalid_mesh", "The mesh cannot be used",
                         "every fault found is listed; nothing was stored", &t->faults);
    } else if (!report) {
        errno = outcome == PL_PREFLIGHT_BUSY ? EAGAIN : EPROTO;
        reply_internal(r, outcome == PL_PREFLIGHT_BROKEN || outcome == PL_PREFLIGHT_BUSY
                              ? "the check"
                              : "the check's report");
    }
    pl_faults_clear(&t->faults);
    free(output);
    return report;
}

/* Write file, directory entries and database, in this order. */
static bool keep(upload *u, const char *owner, const char *hash, const char *report)
{
    char path[96], parent[16], beside[112];
    int state_fd = u->state_fd;
    mesh_path(hash, path);
    snprintf(parent, sizeof parent, "meshes/%.2s", hash);
    snprintf(beside, sizeof beside, "%s.json", path);
    mkdirat(state_fd, parent, 0700);
    pthread_mutex_lock(&publish_mutex);
    bool good = fchmod(u->fd, 0400) == 0 && fsync(u->fd) == 0 &&
                pl_sealed_write_text(state_fd, beside, report, false) == PL_OK &&
                renameat(state_fd, u->temporary, state_fd, path) == 0;
    if (good) {
        u->temporary[0] = 0;
        int dir_fd = openat(state_fd, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        good = dir_fd >= 0 && fsync(dir_fd) == 0;
        if (dir_fd >= 0) {
            close(dir_fd);
        }
    }
    good = good && pl_grant_add(u->store, owner, hash, u->bytes, report);
    pthread_mutex_unlock(&publish_mutex);
    return good;
}

/* True if the stored file still matches its hash; if it is damaged, this upload replaces it. */
static bool is_sound(int state_fd, const char *hash)
{
    char path[96], actual[65];
    uint64_t bytes;
    mesh_path(hash, path);
    int fd = openat(state_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    bool sound = pl_sha256_file(fd, actual, &bytes) && strcmp(actual, hash) == 0;
    if (!sound) {
        pl_logf(PL_LEVEL_ERROR, "mesh %s was damaged and is stored again", hash);
    }
    close(fd);
    return sound;
}

/* If the file is already stored, the report from its upload. */
static char *known_report(int state_fd, const char *hash)
{
    char path[96], beside[112], *text = NULL;
    struct stat st;
    mesh_path(hash, path);
    snprintf(beside, sizeof beside, "%s.json", path);
    if (fstatat(state_fd, path, &st, 0) != 0 ||
        pl_sealed_read_text(state_fd, beside, 1 << 20, &text) != PL_OK) {
        return NULL;
    }
    return text;
}

static void ask(void *context)
{
    upload *u = context;
    pl_check_queue_ask(u->checks, &u->ticket);
}

/* 201 if it is new to its owner, regardless of other users, or replaces a damaged file. */
static void reply_kept(pl_request *r, const upload *u, const char *hash, char *report)
{
    pl_reply_json(r, u->held ? 200 : 201, report);
    if (!u->held) {
        pl_reply_header(r, "Location", "/v1/meshes/%s", hash);
    }
}

static void mesh_checked(pl_request *r)
{
    upload *u = pl_request_sink(r);
    const char *hash = pl_request_param(r, 0), *owner = pl_request_owner(r), *group;
    char *report = take_report(r, u, hash);
    if (!report || !pl_request_group(r, &group)) {
        free(report);
        return;
    }
    if (!keep(u, owner, hash, report) || (group && !pl_grant_to_group(u->store, group, hash))) {
        free(report);
        reply_internal(r, "keeping it");
        return;
    }
    atomic_fetch_add(&u->counters->meshes_stored, 1);
    atomic_fetch_add(&u->counters->mesh_bytes, u->bytes);
    u->held = false; /* otherwise the file was lost or damaged */
    reply_kept(r, u, hash, report);
}

static void go_on(void *context)
{
    upload *u = context;
    pl_request_continue(u->request, mesh_checked);
}

static void check_file(pl_request *r, upload *u)
{
    u->request = r;
    u->ticket = (pl_check_ticket){.owner = pl_request_owner(r),
                                  .order = pl_clock_us(),
                                  .option = "--mesh",
                                  .until_ms = INT64_MAX,
                                  .done = go_on,
                                  .context = u};
    snprintf(u->ticket.path, sizeof u->ticket.path, "%s/%s", u->state_path, u->temporary);
    pl_request_await(r, ask, u);
}

void pl_handle_mesh_put(pl_request *r)
{
    upload *u = pl_request_sink(r);
    const char *hash = pl_request_param(r, 0), *owner = pl_request_owner(r), *group;
    char actual[65];
    pl_sha256_finish(u->sha, actual);
    u->sha = NULL;
    if (!pl_request_group(r, &group)) {
        return;
    }
    if (strcmp(actual, hash) != 0) {
        pl_faults faults = {0};
        pl_faults_add(&faults, "", "wrong_hash", actual, hash, "the path names another file");
        pl_reply_problem(r, 422, "wrong_hash", "Wrong hash",
                         "the body's SHA-256 is not the one in the path; nothing was stored",
                         &faults);
        pl_faults_clear(&faults);
        return;
    }
    u->held = pl_grant_held(u->store, owner, hash);
    if (!u->held && !pl_quota_allows_mesh(r, u->tenants, u->store, u->bytes)) {
        return;
    }
    bool sound = is_sound(u->state_fd, hash);
    pthread_mutex_lock(&publish_mutex);
    char *report = sound ? known_report(u->state_fd, hash) : NULL;
    bool granted = report && pl_grant_add(u->store, owner, hash, u->bytes, report);
    pthread_mutex_unlock(&publish_mutex);
    if (granted && group && !pl_grant_to_group(u->store, group, hash)) {
        free(report);
        reply_internal(r, "the group's grant");
        return;
    }
    if (granted) {
        reply_kept(r, u, hash, report);
        return;
    }
    free(report);
    if (pl_check_queue_takes(u->checks, r, 0, u->checks_most)) {
        check_file(r, u);
    }
}

/* ---- reading ---- */

void pl_handle_mesh_get(pl_request *r)
{
    pl_daemon *d = pl_request_daemon(r);
    const char *hash = pl_request_param(r, 0);
    char path[96];
    struct stat st;
    int fd = -1;
    if (hash_well_formed(hash) && pl_grant_held(d->store, pl_request_owner(r), hash)) {
        mesh_path(hash, path);
        fd = openat(d->state_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    }
    if (fd < 0 || fstat(fd, &st) != 0) {
        pl_reply_problem(r, 404, "no_such_mesh", "No such mesh",
                         "you have not uploaded a file with this hash", NULL);
        return;
    }
    if (pl_reply_unchanged(r, "%s", hash)) {
        close(fd);
        return;
    }
    pl_reply_file(r, "application/octet-stream", fd, 0, (uint64_t)st.st_size, NULL, 0);
}

/* ---- sweeping ---- */

typedef struct kept_meshes {
    pl_store *store;
    int state_fd;
} kept_meshes;

/* A session's directory holds a hard link of each mesh it uses. */
static bool forget(void *context, const char *hash)
{
    const kept_meshes *kept = context;
    char path[96], beside[112];
    struct stat st;
    mesh_path(hash, path);
    snprintf(beside, sizeof beside, "%s.json", path);
    if (fstatat(kept->state_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink > 1) {
        return false;
    }
    pthread_mutex_lock(&publish_mutex);
    bool gone = pl_mesh_forget(kept->store, hash);
    if (gone) {
        unlinkat(kept->state_fd, path, 0);
        unlinkat(kept->state_fd, beside, 0);
    }
    pthread_mutex_unlock(&publish_mutex);
    return gone;
}

void pl_meshes_sweep(pl_store *store, int state_fd)
{
    kept_meshes kept = {store, state_fd};
    int gone = pl_meshes_each_stale(store, forget, &kept);
    if (gone) {
        pl_logf(PL_LEVEL_INFO, "%d meshes removed after a day without use", gone);
    }
}
