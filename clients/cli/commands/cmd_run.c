/* run: simulates a scene locally, with the same preflight and worker that a daemon starts. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/run_profile.h"
#include "clients/cli/session/check_session.h"
#include "clients/cli/session/merge_patch.h"
#include "clients/cli/base/progress.h"
#include "clients/cli/session/run_device.h"
#include "clients/cli/session/run_session.h"

#include "protocol/log/log.h"
#include "protocol/scene/scene_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKER_STOPPED = 6 }; /* its exit status */

typedef struct runner {
    pl_cli *cli;
    const char *path; /* of the directory */
    int dir_fd;
    pl_progress progress;
    pl_log_reader *reader; /* while the worker is watched */
    int64_t printed;       /* frames whose metrics were printed, with --json */
    int64_t frames;        /* the last one's number; 0 if the scene cannot be read */
    bool gpu;              /* the scene asks for a GPU */
    bool stopping;         /* the message that Ctrl-C asked it to stop was printed */
} runner;

static void report_accepted(const runner *r, const pl_preflight *p)
{
    if (r->cli->json)
        return;
    char memory[24];
    pl_bytes_text(p->memory_bytes, memory);
    fprintf(stderr, "%" PRId64 " vertices, %" PRId64 " tetrahedra, about %s\n", p->vertices,
            p->tets, memory);
    for (int32_t i = 0; i < p->remark_count; i++)
        pl_cli_note(r->cli, p->remarks[i]);
    pl_cli_warn(r->cli, &p->warnings);
}

static void report_resume(const runner *r)
{
    if (!r->cli->json)
        fprintf(stderr, "pliant run --resume --out %s continues from there\n", r->path);
}

static int preflight(runner *r)
{
    pl_preflight p;
    int status = pl_run_session_preflight(r->cli, r->path, r->dir_fd, &p);
    if (status == PL_EXIT_OK)
        report_accepted(r, &p);
    else if (status == PL_EXIT_INTERRUPTED)
        report_resume(r);
    else if (p.faults.total > 0)
        status = pl_cli_refuse(r->cli, NULL, &p.faults);
    pl_preflight_clear(&p);
    return status;
}

/* Read all new metrics, because the summary counts frames. With --json, print them. */
static void look(void *context, bool stopping)
{
    runner *r = context;
    int64_t count = r->reader ? pl_log_reader_refresh(r->reader) : 0;
    for (int64_t k = r->printed; k < count; k++) {
        char *text;
        uint64_t length;
        pl_metrics_digest digest;
        r->printed = k + 1;
        if (pl_log_read(r->reader, k, PL_LOG_METRICS, &text, &length) != PL_LOG_OK)
            continue;
        if (r->cli->json)
            printf("%.*s\n", (int)length, text);
        else if (pl_metrics_digest_decode(text, (size_t)length, &digest) == 0)
            pl_progress_note(&r->progress, &digest);
        free(text);
    }
    if (r->cli->json)
        fflush(stdout);
    else if (r->progress.latest.frame >= 0)
        pl_progress_show(&r->progress, &r->cli->err);
    if (stopping && !r->stopping) {
        r->stopping = true;
        pl_terminal_finish(&r->cli->err);
        if (!r->cli->json)
            fprintf(stderr, "stopping at the end of the step; a second Ctrl-C stops at once\n");
    }
}

/* Watch the worker until it ends; returns its wait status. */
static int watch(runner *r, pid_t pid)
{
    bool interrupted;
    if (pl_log_reader_open(r->dir_fd, &r->reader) != PL_OK)
        r->reader = NULL;
    int state = pl_run_session_wait(pid, look, r, &interrupted);
    pl_log_reader_close(r->reader);
    r->reader = NULL;
    return state;
}

static void report_failure(const runner *r, const pl_failure *f)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"step", f->step},
                   {"last good frame", f->frame},
                   {"body", f->body},
                   {"element", f->element},
                   {"vertex", f->vertex}};
    fprintf(stderr, "  %s%s%s", pl_style_on(&r->cli->err, PL_STYLE_RED), pl_failure_name(f->code),
            pl_style_off(&r->cli->err));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].value >= 0)
            fprintf(stderr, "  %s %" PRId64, numbers[i].name, numbers[i].value);
    fputc('\n', stderr);
    if (*f->message)
        fprintf(stderr, "  %s\n", f->message);
    if (*f->advice)
        fprintf(stderr, "  %s\n", f->advice);
}

static int outcome(const runner *r, const pl_exit *e)
{
    pl_preflight p = {0};
    pl_run_totals totals;
    pl_warnings run = {0};
    bool good = strcmp(e->state, "succeeded") == 0;
    if (pl_preflight_read(r->dir_fd, &p) != PL_OK ||
        (pl_run_warnings_read(r->dir_fd, &totals, &run) != PL_OK && errno != ENOENT))
        pl_cli_fail(r->cli, 0, "cannot read the warnings in %s; pliant verify lists the damage",
                    r->path);
    bool warned = p.warnings.count + run.count > 0;
    pl_style style = !good ? PL_STYLE_RED : warned ? PL_STYLE_YELLOW : PL_STYLE_GREEN;
    if (r->cli->json) {
        printf("{\"event\": \"end\", \"state\": \"%s\", \"frame\": %" PRId64
               ", \"seconds\": %.3f, ",
               e->state, e->frames, e->seconds);
        char *warnings = pl_warnings_encode(&p.warnings, &run);
        printf("\"warnings\": %s, \"failure\": ", warnings ? warnings : "[]");
        free(warnings);
        printf(e->failure.code == PL_FAILURE_NONE ? "null}\n" : "\"%s\"}\n",
               pl_failure_name(e->failure.code));
    } else {
        fprintf(stderr, "%s%s%s  %" PRId64 " frames in %.2f s, in %s\n",
                pl_style_on(&r->cli->err, style), e->state, pl_style_off(&r->cli->err), e->frames,
                e->seconds, r->path);
        char hardship[PL_PROGRESS_TEXT];
        pl_progress_hardship(&r->progress, hardship);
        if (*hardship)
            pl_cli_note(r->cli, hardship);
        pl_cli_warn(r->cli, &run);
        if (e->failure.code != PL_FAILURE_NONE)
            report_failure(r, &e->failure);
    }
    pl_warnings_clear(&run);
    pl_preflight_clear(&p);
    if (good && warned && pl_cli_flag(r->cli, "--strict"))
        return PL_EXIT_FAILED;
    return good                                 ? PL_EXIT_OK
           : strcmp(e->state, "cancelled") == 0 ? PL_EXIT_CANCELLED
                                                : PL_EXIT_FAILED;
}

/* Report the worker's results after its end. */
static int conclude(const runner *r, int state)
{
    pl_exit e;
    bool stopped = WIFEXITED(state) && WEXITSTATUS(state) == WORKER_STOPPED;
    if (pl_exit_read(r->dir_fd, &e) == PL_OK) {
        int status = outcome(r, &e);
        bool fault = strcmp(e.state, "device_fault") == 0;
        if (strcmp(e.state, "stopped") != 0 && strcmp(e.state, "paused") != 0 && !fault)
            return status;
        stopped = !fault;
    } else if (!stopped)
        pl_cli_fail(r->cli, 0, "the worker ended by %s %d without a report; see %s/worker.log",
                    WIFSIGNALED(state) ? "signal" : "status",
                    WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state), r->path);
    report_resume(r);
    return stopped ? PL_EXIT_INTERRUPTED : PL_EXIT_FAILED;
}

static const char *gpu_of(const runner *r)
{
    const char *uuid = pl_cli_option(r->cli, "--gpu");
    return uuid ? uuid : "auto";
}

static const char *plugin_of(const runner *r)
{
    return pl_cli_option(r->cli, "--gpu-plugin");
}

/* Read from the scene what a run needs, and check that this machine has the device that it asks for. Preflight reports
 * all other errors of the scene. */
static int know_scene(runner *r, const char *text, size_t length)
{
    pl_outline outline;
    pl_faults faults = {0}, missing = {0};
    if (pl_scene_outline(text, length, &outline, &faults) == PL_DECODE_OK) {
        r->frames = outline.frames;
        r->gpu = outline.gpu;
        pl_outline_clear(&outline);
    }
    pl_faults_clear(&faults);
    int status = PL_EXIT_OK;
    if (r->gpu && pl_cli_flag(r->cli, "--profile"))
        status = pl_cli_fail(r->cli, PL_EXIT_USAGE,
                             "--profile times the phases of the CPU, and the scene asks for a GPU; "
                             "leave out \"solver\": {\"device\"}");
    else if (r->gpu && pl_run_device_find(gpu_of(r), plugin_of(r), &missing) != PL_OK)
        status = pl_cli_refuse(r->cli, NULL, &missing);
    pl_faults_clear(&missing);
    return status;
}

static int simulate(runner *r, int64_t threads, int32_t attempt)
{
    char count[24], number[24];
    pid_t pid;
    snprintf(count, sizeof count, "%" PRId64, threads);
    snprintf(number, sizeof number, "%" PRId32, attempt);
    const char *arguments[PL_RUN_ARGUMENTS_MAX] = {"--session", r->path, "--attempt", number};
    int used = 4;
    if (threads > 0) {
        arguments[used++] = "--threads";
        arguments[used++] = count;
    }
    if (r->gpu) {
        arguments[used++] = "--gpu";
        arguments[used++] = gpu_of(r);
    }
    if (r->gpu && plugin_of(r)) {
        arguments[used++] = "--gpu-plugin";
        arguments[used++] = plugin_of(r);
    }
    if (pl_cli_flag(r->cli, "--profile")) {
        unlinkat(r->dir_fd, "profile.json", 0); /* of an earlier attempt */
        arguments[used++] = "--profile";
    }
    pl_progress_init(&r->progress, r->frames);
    if (pl_run_session_start(r->cli, "pliant-worker", arguments, &pid) != PL_EXIT_OK)
        return PL_EXIT_FAILED;
    int state = watch(r, pid);
    if (!r->cli->json)
        pl_progress_end(&r->progress, &r->cli->err);
    int status = conclude(r, state);
    if (pl_cli_flag(r->cli, "--profile")) {
        int printed = pl_run_profile_print(r->cli, r->path, r->dir_fd);
        status = status == PL_EXIT_OK ? printed : status;
    }
    return status;
}

/* The scene's own quick form: "metadata.quick", a merge patch for the scene as written, including mesh files. */
static int make_quick(pl_cli *cli, char **text, size_t *length)
{
    pl_json *document = pl_json_parse(*text, *length, NULL);
    const pl_json *quick = pl_json_at(document, "metadata/quick");
    char *patch = quick ? pl_json_dump(quick, false) : NULL;
    char *merged = patch ? pl_merge_patch_texts(*text, *length, patch, length) : NULL;
    int status = quick && !merged ? pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory") : PL_EXIT_OK;
    if (merged) {
        free(*text);
        *text = merged;
    }
    if (document && !quick)
        pl_cli_note(cli, "the scene has no \"metadata\": {\"quick\"}: it runs as it is");
    free(patch);
    pl_json_free(document);
    return status;
}

static int read_scene(pl_cli *cli, pl_scene_files *scene)
{
    pl_faults faults = {0};
    const char *path = cli->arguments[0];
    char *text = NULL, *folder = NULL;
    size_t length;
    int status = PL_EXIT_OK;
    pl_status read = pl_scene_files_text(path, &text, &length, &folder);
    if (read == PL_OK && pl_cli_flag(cli, "--quick"))
        status = make_quick(cli, &text, &length);
    if (read == PL_OK && status == PL_EXIT_OK)
        read = pl_scene_files_rewrite(text, length, folder, scene, &faults);
    if (read == PL_IO)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    else if (read == PL_INVALID)
        status = pl_cli_refuse(cli, NULL, &faults);
    else if (read != PL_OK)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    pl_faults_clear(&faults);
    free(text);
    free(folder);
    return status;
}

/* The same for the directory's scene. */
static int know_own_scene(runner *r)
{
    char *text;
    size_t size;
    if (pl_file_read(r->dir_fd, "scene.json", (size_t)64 << 20, &text, &size) != PL_OK)
        return PL_EXIT_OK;
    int status = know_scene(r, text, size);
    free(text);
    return status;
}

/* Existing frames are not shown again. */
static int resume(runner *r, int64_t threads)
{
    int32_t attempt;
    pl_preflight p = {0};
    pl_log_reader *reader;
    int status = pl_run_session_resume(r->cli, r->path, &r->dir_fd, &attempt);
    if (status != PL_EXIT_OK)
        return status;
    if (attempt == 0) {
        if (!r->cli->json)
            fprintf(stderr, "the run in %s has succeeded already\n", r->path);
        return PL_EXIT_OK;
    }
    if (pl_log_reader_open(r->dir_fd, &reader) == PL_OK) {
        r->printed = pl_log_reader_refresh(reader);
        pl_log_reader_close(reader);
    }
    status = know_own_scene(r);
    if (status == PL_EXIT_OK && pl_preflight_read(r->dir_fd, &p) != PL_OK)
        status = preflight(r); /* it was interrupted before */
    pl_preflight_clear(&p);
    return status == PL_EXIT_OK ? simulate(r, threads, attempt) : status;
}

static int run_scene(runner *r, int64_t threads)
{
    pl_scene_files scene;
    int status = read_scene(r->cli, &scene);
    if (status != PL_EXIT_OK)
        return status;
    status = know_scene(r, scene.text, scene.length);
    if (status == PL_EXIT_OK)
        status = pl_run_session_make(r->cli, r->path, &scene, pl_cli_flag(r->cli, "--force"),
                                     &r->dir_fd);
    pl_scene_files_clear(&scene);
    if (status == PL_EXIT_OK)
        status = preflight(r);
    return status == PL_EXIT_OK ? simulate(r, threads, 1) : status;
}

static int check(const runner *r)
{
    pl_session_source source;
    int status = pl_session_source_open(r->cli, r->path, &source);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_check_session(&source);
    pl_session_source_close(&source);
    return status;
}

int pl_command_run(pl_cli *cli)
{
    runner r = {.cli = cli, .path = pl_cli_option(cli, "--out"), .dir_fd = -1};
    int64_t threads;
    bool again = pl_cli_flag(cli, "--resume");
    if (!pl_cli_integer(cli, "--threads", 1, 1024, 0, &threads))
        return PL_EXIT_USAGE;
    if (pl_cli_flag(cli, "--profile") && threads > 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--profile computes frames on 1 and 2 threads in turns: leave out "
                           "--threads");
    if (!r.path || !*r.path)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out DIR is missing: where the run is written");
    if (!again && cli->argument_count == 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "SCENE.json is missing; usage: pliant run SCENE.json --out DIR");
    if (again &&
        (cli->argument_count > 0 || pl_cli_flag(cli, "--force") || pl_cli_flag(cli, "--quick")))
        return pl_cli_fail(
            cli, PL_EXIT_USAGE,
            "--resume continues the scene in %s: give no other scene, and no --force or --quick",
            r.path);
    int status = again ? resume(&r, threads) : run_scene(&r, threads);
    if (status == PL_EXIT_OK && pl_cli_flag(cli, "--check"))
        status = check(&r);
    if (r.dir_fd >= 0)
        close(r.dir_fd);
    return status;
}
