#include "server/upkeep/bundle.h"

#include "protocol/export/zip.h"
#include "protocol/log/session_dir.h"
#include "server/sessions/removal.h"
#include "server/store/database_copy.h"
#include "server/store/store.h"
#include "server/upkeep/bundle_text.h"
#include "server/upkeep/doctor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { TAIL = 1 << 16, LOG_TAIL = 1 << 20, FAILED_MOST = 20, SESSIONS_MOST = 5000 };

typedef struct bundle {
    const char *file, *log;
    pl_options options;
    pl_doctor doctor;
    int out_fd;
    pl_outlet out;
    pl_zip zip;
    pl_counters counters;
    bool failed;
    /* used while sessions are listed */
    pl_json_writer sessions;
    int64_t session_count;
    char failures[FAILED_MOST][33]; /* the newest, in a ring */
    int64_t failure_count;
} bundle;

static const char about[] =
    "A support bundle of Pliant.\n"
    "\n"
    "doctor.json      what pliantd doctor finds\n"
    "options.txt      version and options, as they were given\n"
    "machine.txt      kernel, processor, memory, limits\n"
    "state.txt        files of the state directory with sizes and modes\n"
    "database.txt     rows of each table\n"
    "sessions.json    each session: state, failure, attempts, size; without names and owners\n"
    "failed/          exit.json, warnings.json and worker.log of the newest failed sessions\n"
    "log.txt          the end of the file of --log, if given\n"
    "\n"
    "It has no scenes, meshes, frames, names, labels, webhooks, users or tokens. Runs of 64 hex\n"
    "digits are replaced by [64 hex digits]. Read it before you send it: a failure message may\n"
    "name a body of the scene, and a log names users.\n";

static bool write_out(void *context, const void *data, size_t size)
{
    int fd = *(int *)context;
    for (const char *at = data; size > 0;) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void add(bundle *b, const char *name, pl_text *t)
{
    if (t->text) {
        pl_bundle_hide(t->text, t->length);
        pl_zip_add(&b->zip, name, &(pl_span){t->text, t->length, NULL}, 1);
    }
    b->failed = b->failed || t->failed;
    free(t->text);
    *t = (pl_text){0};
}

static void add_text(bundle *b, const char *name, char *text)
{
    pl_text t = {text, text ? strlen(text) : 0, 0, !text};
    add(b, name, &t);
}

/* ---- machine and options ---- */

static void add_options(bundle *b)
{
    pl_text t = {0};
    pl_text_printf(&t, "pliantd %s\n", PLIANT_VERSION);
    pl_bundle_options(&t, &b->options);
    add(b, "options.txt", &t);
}

static void add_machine(bundle *b)
{
    static const char *const files[] = {
        "/etc/os-release",       "/proc/meminfo",     "/proc/loadavg",
        "/proc/uptime",          "/proc/self/limits", "/proc/self/cgroup",
        "/proc/pressure/memory", "/proc/pressure/io", "/proc/driver/nvidia/version"};
    struct utsname u;
    pl_text t = {0};
    if (uname(&u) == 0) {
        pl_text_printf(&t, "%s %s %s %s\n", u.sysname, u.release, u.version, u.machine);
    }
    pl_bundle_processor(&t);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        pl_text_printf(&t, "\n== %s\n", files[i]);
        pl_bundle_tail(&t, AT_FDCWD, files[i], TAIL);
    }
    add(b, "machine.txt", &t);
}

/* ---- the state ---- */

static void add_state(bundle *b, int state_fd)
{
    pl_text t = {0};
    pl_bundle_list(&t, state_fd, ".");
    add(b, "state.txt", &t);
}

static void see_count(void *context, const char *const *columns)
{
    pl_text_printf(context, "%8s rows of %s\n", columns[1], columns[0]);
}

static void add_database(bundle *b, pl_store *store)
{
    static const char *const tables[] = {
        "sessions", "keys",   "meshes",     "grants",    "users", "user_groups", "members",
        "tokens",   "sweeps", "sweep_rows", "run_times", "audit", "usage_spans", "usage_days"};
    pl_text t = {0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "SELECT '%s', count(*) FROM %s", tables[i], tables[i]);
        pl_store_read(store, &(pl_statement){.sql = sql}, see_count, &t);
    }
    add(b, "database.txt", &t);
}

static void see_session(void *context, const pl_row *row, bool good)
{
    bundle *b = context;
    pl_json_writer *w = &b->sessions;
    if (strcmp(row->state ? row->state : "", "failed") == 0) {
        memcpy(b->failures[b->failure_count++ % FAILED_MOST], row->id, sizeof row->id);
    }
    if (b->session_count++ >= SESSIONS_MOST) {
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, "id", row->id);
    pl_json_set_boolean(w, "good", good);
    pl_json_set_string(w, "state", row->state);
    pl_json_set_string(w, "reason", row->reason);
    pl_json_set_string(w, "desired", row->desired);
    pl_json_set_string(w, "paused_by", row->paused_by);
    pl_json_set_raw(w, "failure", row->failure ? row->failure : "null");
    pl_json_set_raw(w, "warnings", row->warnings ? row->warnings : "null");
    pl_json_set_integer(w, "created_us", row->created_us);
    pl_json_set_integer(w, "since_ms", row->since_ms);
    pl_json_set_integer(w, "frames", row->frames);
    pl_json_set_integer(w, "frame", row->frame);
    pl_json_set_integer(w, "attempt", row->attempt);
    pl_json_set_integer(w, "crashes", row->crashes);
    pl_json_set_integer(w, "memory_retries", row->memory_retries);
    pl_json_set_integer(w, "cores", row->cores);
    pl_json_set_number(w, "memory", row->memory);
    pl_json_set_number(w, "memory_limit", row->memory_limit);
    pl_json_set_boolean(w, "gpu", row->gpu != NULL);
    pl_json_end_object(w);
}

static void add_failure(bundle *b, int state_fd, const char *id)
{
    static const char *const files[] = {"exit.json", "warnings.json", "worker.log"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[120], name[80];
        pl_text t = {0};
        snprintf(path, sizeof path, "sessions/%.2s/%s/%s", id, id, files[i]);
        snprintf(name, sizeof name, "failed/%s/%s", id, files[i]);
        pl_bundle_tail(&t, state_fd, path, TAIL);
        if (t.length) {
            add(b, name, &t);
        }
        free(t.text);
    }
}

static void add_sessions(bundle *b, int state_fd, pl_store *store)
{
    pl_json_begin_array(&b->sessions);
    pl_store_each(store, see_session, b);
    pl_json_end_array(&b->sessions);
    add_text(b, "sessions.json", pl_json_finish(&b->sessions, NULL));
    int64_t first = b->failure_count > FAILED_MOST ? b->failure_count - FAILED_MOST : 0;
    for (int64_t i = first; i < b->failure_count; i++) {
        add_failure(b, state_fd, b->failures[i % FAILED_MOST]);
    }
}

/* Reads a copy, because opening a database may upgrade it. */
static void add_from_database(bundle *b, int state_fd)
{
    char folder[] = "/tmp/pliant-bundle-XXXXXX", why[400];
    if (!mkdtemp(folder)) {
        return;
    }
    pl_store *store = pl_database_copy(b->options.state, folder, why, sizeof why)
                          ? pl_store_open(folder, false, &b->counters)
                          : NULL;
    if (store) {
        add_database(b, store);
        add_sessions(b, state_fd, store);
    }
    pl_store_close(store);
    pl_remove_tree(AT_FDCWD, folder);
}

/* ---- the bundle ---- */

static void add_all(bundle *b)
{
    int state_fd = open(b->options.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    add_text(b, "README.txt", strdup(about));
    pl_doctor_run(&b->doctor, &b->options);
    add_text(b, "doctor.json", pl_doctor_json(&b->doctor));
    add_options(b);
    add_machine(b);
    if (state_fd >= 0) {
        add_state(b, state_fd);
        add_from_database(b, state_fd);
        close(state_fd);
    }
    if (b->log) {
        pl_text t = {0};
        pl_bundle_tail(&t, AT_FDCWD, b->log, LOG_TAIL);
        add(b, "log.txt", &t);
    }
}

static int write_bundle(bundle *b)
{
    b->out_fd = open(b->file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (b->out_fd < 0) {
        fprintf(stderr, "pliantd: %s: %s\n", b->file, strerror(errno));
        return 1;
    }
    b->out = (pl_outlet){.write = write_out, .context = &b->out_fd};
    pl_zip_open(&b->zip, &b->out);
    add_all(b);
    bool good = pl_zip_finish(&b->zip) == PL_OK && !b->failed;
    good = pl_outlet_flush(&b->out) && good;
    pl_zip_clear(&b->zip);
    good = close(b->out_fd) == 0 && good;
    if (good) {
        printf(
            "%s\nIt has no scenes, names, users or secrets; its README.txt lists the contents.\n",
            b->file);
    } else {
        fprintf(stderr, "pliantd: %s could not be written\n", b->file);
        unlink(b->file);
    }
    return good ? 0 : 1;
}

static const char help[] =
    "usage: pliantd support-bundle FILE.zip [--log FILE] [--config FILE | --state DIR] [OPTIONS OF "
    "pliantd]\n"
    "\n"
    "Writes a zip archive to attach to a bug report: the findings of doctor, the machine, the\n"
    "options, and the causes of failed sessions. It has no scenes, meshes, frames, names, users or "
    "secrets.\n"
    "\n"
    "  --log FILE        also the last megabyte of the daemon's log; it names users\n"
    "\n"
    "Exit status: 0; 1 if FILE exists or cannot be written; 2 if the options are wrong.\n";

/* Removes FILE and --log from argv; false for --help or without a file. */
static bool take_words(bundle *b, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            return false;
        }
        if (strcmp(argv[i], "--log") == 0 && i + 1 < *argc) {
            b->log = argv[++i];
        } else if (i == 1 && argv[i][0] != '-') {
            b->file = argv[i];
        } else {
            argv[kept++] = argv[i];
        }
    }
    *argc = kept;
    argv[kept] = NULL;
    return b->file;
}

int pl_bundle_command(int argc, char **argv)
{
    static bundle b;
    bool asked = argc > 1 && strcmp(argv[1], "--help") == 0;
    if (!take_words(&b, &argc, argv)) {
        fputs(help, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    if (pl_options_parse(argc, argv, &b.options) != PL_OPTIONS_RUN) {
        return 2;
    }
    pl_logf_level(PL_LEVEL_ERROR);
    umask(077);
    int status = write_bundle(&b);
    pl_options_clear(&b.options);
    return status;
}
