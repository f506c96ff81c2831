#include "server/upkeep/doctor.h"

#include "protocol/log/fresh.h"
#include "protocol/log/session_dir.h"
#include "protocol/log/small_file.h"
#include "server/http/listener.h"
#include "server/http/tls.h"
#include "server/run/reconcile.h"
#include "server/store/database_copy.h"
#include "server/store/row.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { TOKEN_DIGITS = 64, FILES_LOW = 1000, SOON_S = 14 * 86400, AHEAD_S = 300 };
#define GB 1e9

/* ---- the directory ---- */

/* Opens the state directory; -1 after reporting why the other checks are impossible. */
static int open_state(pl_doctor *d)
{
    const char *path = d->options->state;
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        pl_doctor_say(d, "state", PL_FINDING_OK, NULL, "%s is missing; a daemon creates it", path);
    } else if (fd < 0 || fstat(fd, &st) != 0) {
        pl_doctor_say(d, "state", PL_FINDING_ERROR,
                      "run doctor as the daemon's user: sudo -u pliant pliantd doctor ...",
                      "%s: %s", path, strerror(errno));
    } else if (st.st_uid != geteuid()) {
        pl_doctor_say(d, "state", PL_FINDING_ERROR,
                      "run the daemon and doctor as that user, or chown -R the directory",
                      "%s belongs to uid %u, but this process runs as uid %u", path, st.st_uid,
                      geteuid());
    } else if (st.st_mode & 077) {
        pl_doctor_say(d, "state", PL_FINDING_ERROR, "chmod 700 the directory",
                      "%s is open to other users: mode %04o", path, st.st_mode & 07777);
    } else if (faccessat(fd, ".", R_OK | W_OK | X_OK, 0) != 0) {
        pl_doctor_say(d, "state", PL_FINDING_ERROR,
                      "mount the file system for writing; check dmesg for disk errors",
                      "%s cannot be written: %s", path, strerror(errno));
    } else {
        pl_doctor_say(d, "state", PL_FINDING_OK, NULL, "%s", path);
    }
    return fd;
}

static void look_at_folders(pl_doctor *d, int fd)
{
    static const char *const folders[] = {"incoming", "sessions", "meshes", "sweeps"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct stat st;
        if (fstatat(fd, folders[i], &st, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
            continue;
        }
        if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 0700) != 0700) {
            pl_doctor_say(d, "state", PL_FINDING_ERROR,
                          "make it a directory of the daemon's user with mode 700",
                          "%s/%s is not usable: mode %06o, uid %u", d->options->state, folders[i],
                          st.st_mode, st.st_uid);
        }
    }
}

/* SQLite's log is safe on a network file system only while a single machine opens it. */
static void look_at_file_system(pl_doctor *d, int fd)
{
    bool jobs = strcmp(d->options->batch, "none") != 0;
    if (!pl_is_on_network(fd)) {
        return;
    }
    pl_doctor_say(d, "disk", jobs ? PL_FINDING_WARNING : PL_FINDING_ERROR,
                  jobs ? "open its database on this machine only, and back it up often"
                       : "move the state directory to a local disk",
                  "the state directory is on a network file system or FUSE%s",
                  jobs ? ", as required by jobs on other machines"
                       : "; the database is not safe there");
}

static void look_at_disk(pl_doctor *d, int fd)
{
    struct statvfs room;
    struct stat held;
    if (fstatvfs(fd, &room) != 0) {
        pl_doctor_say(d, "disk", PL_FINDING_ERROR, "check dmesg", "%s", strerror(errno));
        return;
    }
    look_at_file_system(d, fd);
    double free_bytes = (double)room.f_bavail * (double)room.f_frsize;
    double size = (double)room.f_blocks * (double)room.f_frsize;
    double kept = fstatat(fd, "reserve", &held, AT_SYMLINK_NOFOLLOW) == 0
                      ? 512.0 * (double)held.st_blocks
                      : 0;
    double wanted = (double)d->options->disk_reserve;
    double reserve = wanted < size / 8 ? wanted : size / 8; /* the same formula as in the daemon */
    bool no_files = room.f_files > 0 && room.f_favail < FILES_LOW;
    bool full = free_bytes + kept < reserve || no_files;
    bool low = free_bytes < 0.05 * size;
    pl_doctor_say(d, "disk",
                  full  ? PL_FINDING_ERROR
                  : low ? PL_FINDING_WARNING
                        : PL_FINDING_OK,
                  full || low
                      ? "delete sessions (pliant delete ID), set output.retention, or enlarge "
                        "the file system"
                      : NULL,
                  "%.1f GB of %.1f GB free%s", free_bytes / GB, size / GB,
                  no_files ? "; no more files can be created" : "");
}

/* Looks for files with a time in the future. */
static void look_at_future(pl_doctor *d, int fd)
{
    static const char *const files[] = {"pliant.db", "pliant.db-wal", "usage.json", "url"};
    time_t now = time(NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat st;
        if (fstatat(fd, files[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime > now + AHEAD_S) {
            pl_doctor_say(d, "clock", PL_FINDING_ERROR, "compare the clock with another machine's",
                          "%s was written %.0f s in the future", files[i],
                          difftime(st.st_mtime, now));
            return;
        }
    }
}

/* ---- the database ---- */

static void note_session(void *context, int parent_fd, const char *path, const char *name)
{
    ++*(int *)context;
}

static void look_at_database(pl_doctor *d, int fd)
{
    char answer[300];
    int sessions = 0;
    pl_each_below(fd, "sessions", note_session, &sessions);
    if (faccessat(fd, "pliant.db", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        bool lost = sessions > 0 || faccessat(fd, "tenants.json", F_OK, 0) == 0;
        pl_doctor_say(d, "database", lost ? PL_FINDING_ERROR : PL_FINDING_OK,
                      lost ? "rebuild it: pliantd --reindex --state DIR, without a daemon" : NULL,
                      lost ? "missing, although there are %d sessions"
                           : "missing, and there are no sessions",
                      sessions);
    } else if (!pl_database_ask(d->options->state, "user_version", answer, sizeof answer)) {
        pl_doctor_say(d, "database", PL_FINDING_ERROR,
                      "rebuild it: pliantd --reindex --state DIR, without a daemon", "%s", answer);
    } else if (atoi(answer) > PL_ROW_FORMAT) {
        pl_doctor_say(d, "database", PL_FINDING_ERROR,
                      "install the version that wrote it, or a newer one; a backup from before the "
                      "upgrade can be restored",
                      "format %s of a newer pliantd; this one supports up to %d", answer,
                      PL_ROW_FORMAT);
    } else if (!pl_database_ask(d->options->state, "quick_check(1)", answer, sizeof answer) ||
               strcmp(answer, "ok") != 0) {
        pl_doctor_say(d, "database", PL_FINDING_ERROR,
                      "rebuild it: pliantd --reindex --state DIR, without a daemon", "damaged: %s",
                      answer);
    } else {
        pl_doctor_say(d, "database", PL_FINDING_OK, NULL, "intact; %d session directories",
                      sessions);
    }
}

/* ---- secrets ---- */

static void look_at_token(pl_doctor *d, int fd)
{
    const char *given = d->options->token_file;
    struct stat st;
    char *text = NULL;
    size_t size = 0;
    int at = given ? AT_FDCWD : fd;
    const char *name = given ? given : "token";
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        pl_doctor_say(d, "token", given ? PL_FINDING_ERROR : PL_FINDING_OK,
                      given ? "name an existing file" : NULL, "%s: %s", name, strerror(errno));
        return;
    }
    bool read = pl_file_read(at, name, 4096, &text, &size) == PL_OK;
    size = read ? strspn(text, "0123456789abcdefABCDEF") : 0;
    if (read) {
        explicit_bzero(text, strlen(text));
    }
    free(text);
    if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || (!given && st.st_uid != geteuid())) {
        pl_doctor_say(d, "token", PL_FINDING_ERROR, "chmod 600 it, owned by the daemon's user",
                      "%s is accessible to others: mode %04o, uid %u", name, st.st_mode & 07777,
                      st.st_uid);
    } else if (size != TOKEN_DIGITS) {
        pl_doctor_say(d, "token", PL_FINDING_ERROR, "remove it: the daemon makes a new one",
                      "%s does not hold 64 hex digits", name);
    } else {
        pl_doctor_say(d, "token", PL_FINDING_OK, NULL, "%s is accessible to its owner only", name);
    }
}

static void look_at_certificate(pl_doctor *d)
{
    const pl_options *o = d->options;
    if (!o->tls_cert) {
        return;
    }
    int64_t ends = pl_tls_ends(o->tls_cert), left = ends - (int64_t)time(NULL);
    if (!pl_tls_load(o->tls_cert, o->tls_key) || ends < 0) {
        pl_doctor_say(d, "tls", PL_FINDING_ERROR, "see the line above",
                      "certificate and key cannot be used");
    } else {
        pl_doctor_say(d, "tls",
                      left <= 0       ? PL_FINDING_ERROR
                      : left < SOON_S ? PL_FINDING_WARNING
                                      : PL_FINDING_OK,
                      left < SOON_S ? "renew it, then send the daemon SIGHUP" : NULL,
                      "the certificate %s %lld days", left <= 0 ? "expired" : "is valid for",
                      (long long)llabs(left) / 86400);
    }
    pl_tls_clear();
}

/* ---- addresses ---- */

static void look_at_address(pl_doctor *d)
{
    const pl_options *o = d->options;
    char url[PL_URL_MAX];
    if (d->running) {
        return; /* the daemon uses it */
    }
    int fd = pl_listener_open_address(o, url);
    int why = errno;
    if (fd >= 0) {
        close(fd);
        pl_doctor_say(d, "listen", PL_FINDING_OK, NULL, "%s port %d is free", o->listen_host,
                      o->listen_port);
        return;
    }
    pl_doctor_say(d, "listen", PL_FINDING_ERROR,
                  why == EADDRINUSE ? "find its user with ss -ltnp, or choose another --listen"
                  : why == EACCES   ? "choose a port above 1023, with a proxy in front"
                                    : "choose an address of this machine",
                  "%s port %d: %s", o->listen_host, o->listen_port, strerror(why));
}

static void look_at_socket(pl_doctor *d)
{
    const char *path = d->options->listen_unix;
    char folder[PATH_MAX];
    if (!path) {
        return;
    }
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    *(slash && slash > folder ? slash : folder + 1) = 0;
    bool good = access(slash ? folder : ".", W_OK | X_OK) == 0;
    pl_doctor_say(d, "listen", good ? PL_FINDING_OK : PL_FINDING_ERROR,
                  good ? NULL
                       : "create the folder for the daemon's user: RuntimeDirectory= of the unit",
                  good ? "unix:%s" : "unix:%s: its folder is missing or cannot be written", path);
}

static void look_at_daemon(pl_doctor *d, int fd)
{
    char *text = NULL;
    size_t size;
    d->running = pl_session_locked(fd);
    if (!d->running) {
        pl_doctor_say(d, "daemon", PL_FINDING_OK, NULL, "not running");
    } else if (pl_file_read(fd, "url", PL_URL_MAX, &text, &size) != PL_OK) {
        pl_doctor_say(d, "daemon", PL_FINDING_WARNING, "check its log",
                      "running, but not listening yet");
    } else {
        pl_doctor_say(d, "daemon", PL_FINDING_OK, NULL, "running at %.*s", (int)strcspn(text, "\n"),
                      text);
    }
    free(text);
}

static void look_at_uids(pl_doctor *d)
{
    if (d->options->worker_uid && geteuid() != 0) {
        pl_doctor_say(d, "uids", PL_FINDING_ERROR, "start the daemon as root, or omit the option",
                      "--worker-uids needs root");
    }
}

void pl_doctor_state(pl_doctor *d)
{
    int fd = open_state(d);
    if (fd >= 0) {
        look_at_folders(d, fd);
        look_at_daemon(d, fd);
        look_at_disk(d, fd);
        look_at_future(d, fd);
        look_at_database(d, fd);
        look_at_token(d, fd);
        close(fd);
    }
    look_at_certificate(d);
    if (!d->options->no_address) {
        look_at_address(d);
    }
    look_at_socket(d);
    look_at_uids(d);
}
