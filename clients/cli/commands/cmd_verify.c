/* verify: checks every file of a session directory against its checksums. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"
#include "clients/cli/base/progress.h"
#include "clients/cli/session/run_session.h"
#include "clients/cli/net/target.h"

#include "protocol/log/verify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BAR = 30 };

/* ---- the directory ---- */

/* Open the only session of a daemon's state directory whose id begins like this, without asking a daemon. */
static int open_by_id(const pl_cli *cli, const char *id, int *out)
{
    char name[NAME_MAX + 1] = "", under[16];
    int matches = 0;
    size_t length = strlen(id);
    /* STATE/sessions/xx has the sessions whose ids begin with xx. */
    snprintf(under, sizeof under, "sessions/%.2s", id);
    char *path = pl_target_state_path(cli, under);
    bool plausible = length >= 4 && strspn(id, "0123456789abcdef") == length;
    DIR *folder = path && plausible ? opendir(path) : NULL;
    for (struct dirent *e; folder && (e = readdir(folder));)
        if (strncmp(e->d_name, id, length) == 0) {
            matches++;
            snprintf(name, sizeof name, "%s", e->d_name);
        }
    *out = matches == 1 ? openat(dirfd(folder), name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    int status = PL_EXIT_OK;
    if (matches > 1)
        status = pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "%d sessions in %s begin with '%s'", matches,
                             path, id);
    else if (*out < 0)
        status = pl_cli_fail(cli, PL_EXIT_NOT_FOUND,
                             "'%s' is not a directory, and not a session in %s; --state names a "
                             "daemon's state directory on this machine",
                             id, path ? path : "the state directory");
    if (folder)
        closedir(folder);
    free(path);
    return status;
}

static int open_session(const pl_cli *cli, const char *where, int *dir_fd, bool *from_daemon)
{
    struct stat st;
    *from_daemon = stat(where, &st) != 0 || !S_ISDIR(st.st_mode);
    if (*from_daemon)
        return open_by_id(cli, where, dir_fd);
    *dir_fd = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *dir_fd < 0 ? pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", where, strerror(errno))
                       : PL_EXIT_OK;
}

/* ---- progress ---- */

typedef struct verify_progress {
    pl_terminal *terminal;
    double shown, started;
} verify_progress;

/* A line that is updated in place; not shown for a log that is read within a moment. */
static bool show_progress(void *context, uint64_t done, uint64_t total)
{
    verify_progress *p = context;
    double now = pl_monotonic_seconds();
    if (pl_interrupted())
        return false;
    if (!p->terminal->tty || now - p->shown < 0.1)
        return true;
    p->shown = now;
    double part = total > 0 ? (double)done / (double)total : 1;
    char bar[BAR + 1], line[160], read[24], all[24];
    for (int i = 0; i < BAR; i++)
        bar[i] = (double)i < part * BAR ? '#' : '.';
    bar[BAR] = 0;
    pl_bytes_text((double)done, read);
    pl_bytes_text((double)total, all);
    snprintf(line, sizeof line, "[%s] %3.0f%%  %s of %s  %.0f MB/s", bar, 100 * part, read, all,
             (double)done / 1e6 / (now - p->started));
    pl_terminal_update(p->terminal, line);
    return true;
}

/* ---- results ---- */

static void print_damage(const pl_cli *cli, const pl_damage *d)
{
    printf("%s%s%s", pl_style_on(&cli->out, PL_STYLE_RED), d->file, pl_style_off(&cli->out));
    if (d->offset >= 0)
        printf(", byte %" PRId64, d->offset);
    if (d->frame >= 0)
        printf(", frame %" PRId64, d->frame);
    printf(": %s\n  readable: %s\n  to do: %s\n", d->what, d->readable, d->advice);
}

static void print_summary(const pl_verify_report *r, double seconds)
{
    char bytes[24];
    pl_bytes_text((double)r->bytes, bytes);
    printf("%s: %" PRId64 " files, %" PRId64 " records, %" PRId64 " frames, %s in %.2f s",
           r->total ? "damaged" : "clean", r->files, r->records, r->frames, bytes, seconds);
    if (r->total)
        printf("; %zu damages, %" PRId64 " of %" PRId64 " frames lost", r->total, r->frames_lost,
               r->frames);
    printf("\n");
    if (r->total > r->count)
        printf("only the first %zu damages are shown\n", r->count);
    if (r->unchecked > 0)
        printf(
            "%" PRId64
            " files have no checksum: their preflight.json is damaged, or older than checksums\n",
            r->unchecked);
    if (r->live)
        printf("a worker is running: bytes it is still writing were not checked\n");
}

static void set_place(pl_json_writer *w, const char *key, int64_t value)
{
    if (value < 0)
        pl_json_set_null(w, key);
    else
        pl_json_set_integer(w, key, value);
}

static void print_json(const pl_verify_report *r, double seconds)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_boolean(&w, "clean", r->total == 0);
    pl_json_set_boolean(&w, "live", r->live);
    pl_json_set_integer(&w, "files", r->files);
    pl_json_set_integer(&w, "records", r->records);
    pl_json_set_integer(&w, "bytes", (int64_t)r->bytes);
    pl_json_set_integer(&w, "frames", r->frames);
    pl_json_set_integer(&w, "frames_lost", r->frames_lost);
    pl_json_set_integer(&w, "unchecked", r->unchecked);
    pl_json_set_number(&w, "seconds", seconds);
    pl_json_set_integer(&w, "damages_total", (int64_t)r->total);
    pl_json_key(&w, "damages");
    pl_json_begin_array(&w);
    for (size_t i = 0; i < r->count; i++) {
        const pl_damage *d = &r->damages[i];
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "file", d->file);
        set_place(&w, "offset", d->offset);
        set_place(&w, "frame", d->frame);
        pl_json_set_string(&w, "what", d->what);
        pl_json_set_string(&w, "readable", d->readable);
        pl_json_set_string(&w, "advice", d->advice);
        pl_json_end_object(&w);
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    printf("%s\n", text ? text : "null");
    free(text);
}

/* ---- recomputing ---- */

/* The worker's report of a replay is one line. Returns 1 if a frame differs. */
static int replay(const pl_cli *cli, int dir_fd)
{
    char link[64], path[PATH_MAX + 1], text[1024];
    snprintf(link, sizeof link, "/proc/self/fd/%d", dir_fd);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "the session's path: %s", strerror(errno));
    path[length] = 0;
    const char *const arguments[] = {"--session", path, "--replay", NULL};
    pl_status asked = pl_run_session_ask("pliant-worker", arguments, text, sizeof text);
    pl_json *report = pl_json_parse(text, strlen(text), NULL);
    if (!report) {
        return pl_cli_fail(cli, PL_EXIT_FAILED, "pliant-worker gave no result: %s",
                           asked == PL_OK ? "no report" : strerror(errno));
    }
    bool same = pl_json_boolean(report, "same", false);
    int64_t frame = pl_json_integer(report, "frame", -1);
    if (cli->json)
        printf("%s", text);
    else if (same)
        printf("computed again: %" PRId64 " frames with %" PRId64 " controls, the same bits\n",
               pl_json_integer(report, "compared", 0), pl_json_integer(report, "controls", 0));
    else
        printf("computed again: frame %" PRId64 ": %s\n", frame,
               pl_json_string(report, "reason", ""));
    pl_json_free(report);
    return same ? PL_EXIT_OK : PL_EXIT_FAILED;
}

/* ---- the command ---- */

static int repair(const pl_cli *cli, const char *where, int dir_fd)
{
    pl_status status = pl_verify_repair(dir_fd);
    if (status == PL_INVALID)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "%s: a worker is running there", where);
    if (status != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: cannot be repaired: %s", where,
                           status == PL_IO ? strerror(errno) : "out of memory");
    return PL_EXIT_OK;
}

int pl_command_verify(pl_cli *cli)
{
    const char *where = cli->arguments[0];
    pl_verify_options options = {.progress = show_progress};
    int dir_fd;
    int status = open_session(cli, where, &dir_fd, &options.from_daemon);
    if (status == PL_EXIT_OK && pl_cli_flag(cli, "--repair"))
        status = repair(cli, where, dir_fd);
    if (status != PL_EXIT_OK)
        return status;
    pl_interrupt_catch();
    double started = pl_monotonic_seconds();
    verify_progress progress = {.terminal = &cli->err, .shown = started + 0.3, .started = started};
    pl_verify_report report = {0};
    options.context = &progress;
    pl_status verified = pl_verify(dir_fd, &options, &report);
    double seconds = pl_monotonic_seconds() - started;
    pl_terminal_finish(&cli->err);
    if (verified != PL_OK) {
        close(dir_fd);
        pl_verify_report_clear(&report);
        return verified == PL_FAILED ? PL_EXIT_INTERRUPTED
                                     : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    }
    for (size_t i = 0; !cli->json && i < report.count; i++)
        print_damage(cli, &report.damages[i]);
    if (cli->json)
        print_json(&report, seconds);
    else
        print_summary(&report, seconds);
    status = report.total ? PL_EXIT_FAILED : PL_EXIT_OK;
    pl_verify_report_clear(&report);
    if (pl_cli_flag(cli, "--replay")) {
        int replayed = replay(cli, dir_fd);
        status = replayed != PL_EXIT_OK ? replayed : status;
    }
    close(dir_fd);
    return status;
}
