/* compare: runs several methods on one frame, from the same state. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/draw/compare_report.h"
#include "clients/cli/session/compare_result.h"
#include "clients/cli/session/compare_scene.h"
#include "clients/cli/session/run_session.h"
#include "clients/cli/base/temp_dir.h"

#include "protocol/log/session_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX ((size_t)1 << 30)

typedef struct comparer {
    pl_cli *cli;
    pl_compare_scene scene;
    pl_compare_result result;
    pl_temp_dir scratch;
    size_t taken; /* bytes of compare.ndjson that were read */
} comparer;

static bool fill_scratch(comparer *c)
{
    pl_scene_files approach = c->scene.base;
    approach.text = c->scene.approach;
    approach.length = strlen(approach.text);
    if (pl_run_session_make(c->cli, c->scratch.path, &approach, false, &c->scratch.dir_fd) !=
        PL_EXIT_OK)
        return false;
    for (int32_t k = 0; k < c->scene.entries; k++) {
        char name[32];
        snprintf(name, sizeof name, "entry-%d.json", k);
        if (pl_file_replace(c->scratch.dir_fd, name, c->scene.text[k], strlen(c->scene.text[k]),
                            false) != PL_OK) {
            pl_cli_fail(c->cli, 0, "%s/%s: %s", c->scratch.path, name, strerror(errno));
            return false;
        }
    }
    return true;
}

/* Read new complete lines. */
static void take_lines(comparer *c)
{
    char *text;
    size_t size;
    if (pl_file_read(c->scratch.dir_fd, "compare.ndjson", LINES_MAX, &text, &size) != PL_OK)
        return;
    for (char *end; c->taken < size; c->taken = (size_t)(end - text) + 1) {
        end = memchr(text + c->taken, '\n', size - c->taken);
        if (!end)
            break;
        pl_compare_result_take(&c->result, text + c->taken, (size_t)(end - text) - c->taken);
    }
    free(text);
}

static void show(comparer *c)
{
    char line[160];
    const pl_compare_result *r = &c->result;
    if (c->cli->json || !c->cli->err.tty)
        return;
    if (r->current >= 0)
        snprintf(line, sizeof line, "%d/%d  %.100s%s", r->current + 1, c->scene.methods,
                 c->scene.label[r->current], r->current >= c->scene.methods ? " (reference)" : "");
    else
        snprintf(line, sizeof line, "on the way: step %" PRId64 " of %" PRId64,
                 r->approach < 0 ? 0 : r->approach, c->scene.step - 1);
    pl_terminal_update(&c->cli->err, line);
}

static void look(void *context, bool stopping)
{
    comparer *c = context;
    take_lines(c);
    show(c);
}

static int simulate(comparer *c, int64_t threads)
{
    char step[24], entries[16], references[16], count[24];
    pid_t pid;
    snprintf(step, sizeof step, "%" PRId64, c->scene.step);
    snprintf(entries, sizeof entries, "%" PRId32, c->scene.entries);
    snprintf(references, sizeof references, "%" PRId32, c->scene.methods);
    snprintf(count, sizeof count, "%" PRId64, threads);
    const char *arguments[PL_RUN_ARGUMENTS_MAX + 1] = {
        "--session", c->scratch.path, "--attempt",    "1",       "--compare", step,
        "--entries", entries,         "--references", references};
    const char *const more[][2] = {{"--threads", threads > 0 ? count : NULL},
                                   {"--gpu", pl_cli_option(c->cli, "--gpu")},
                                   {"--gpu-plugin", pl_cli_option(c->cli, "--gpu-plugin")}};
    for (size_t i = 0, used = 10; i < sizeof more / sizeof *more; i++)
        if (more[i][1]) {
            arguments[used++] = more[i][0];
            arguments[used++] = more[i][1];
        }
    if (!fill_scratch(c))
        return PL_EXIT_FILE;
    if (pl_run_session_start(c->cli, "pliant-worker", arguments, &pid) != PL_EXIT_OK)
        return PL_EXIT_FAILED;
    bool interrupted;
    pl_run_session_wait(pid, look, c, &interrupted);
    pl_terminal_finish(&c->cli->err);
    if (interrupted)
        return PL_EXIT_INTERRUPTED;
    if (*c->result.trouble)
        return pl_cli_fail(c->cli, PL_EXIT_FAILED, "the frame was not reached: %s",
                           c->result.trouble);
    if (!c->result.ended)
        return pl_cli_fail(c->cli, PL_EXIT_FAILED, "the worker ended without a report");
    return PL_EXIT_OK;
}

static int report(comparer *c, int64_t frame)
{
    pl_compare_report about = {.scene = c->scene.name, .frame = frame, .hard = c->scene.hard};
    int32_t done = 0;
    for (int32_t k = 0; k < c->scene.methods; k++)
        done += c->result.entries[k].state == PL_COMPARED_DONE;
    bool settled = pl_compare_result_settle(&c->result, c->scene.hard);
    int status = pl_compare_report_print(c->cli, &about, &c->result);
    const char *out = pl_cli_option(c->cli, "--out");
    if (status == PL_EXIT_OK && settled && out)
        status = pl_compare_report_write(c->cli, &about, &c->result, out);
    if (status == PL_EXIT_OK && !settled)
        status = pl_cli_fail(c->cli, PL_EXIT_FAILED,
                             done ? "no reference reached a minimum to compare with"
                                  : "none of the methods completed the frame");
    else if (status == PL_EXIT_OK && done == 0)
        status = PL_EXIT_FAILED;
    return status;
}

int pl_command_compare(pl_cli *cli)
{
    comparer c = {.cli = cli, .scratch = {.dir_fd = -1}};
    int64_t frame, iterations, threads;
    if (!pl_cli_integer(cli, "--frame", 1, INT64_MAX / 4, 1, &frame) ||
        !pl_cli_integer(cli, "--iterations", 1, 10000, 100, &iterations) ||
        !pl_cli_integer(cli, "--threads", 1, 1024, 0, &threads))
        return PL_EXIT_USAGE;
    int status = pl_compare_scene_open(cli, cli->arguments[0], pl_cli_option(cli, "--methods"),
                                       frame, iterations, &c.scene);
    if (status != PL_EXIT_OK)
        return status;
    const char *labels[PL_COMPARE_METHODS + PL_COMPARE_REFERENCES];
    for (int32_t k = 0; k < c.scene.entries; k++)
        labels[k] = c.scene.label[k];
    if (!pl_compare_result_init(&c.result, c.scene.entries, c.scene.methods, labels))
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    else if (!pl_temp_dir_create(&c.scratch))
        status = pl_cli_fail(cli, PL_EXIT_FILE, "no temporary directory: %s", strerror(errno));
    if (status == PL_EXIT_OK)
        status = simulate(&c, threads);
    if (status == PL_EXIT_OK)
        status = report(&c, frame);
    pl_temp_dir_remove(&c.scratch);
    pl_compare_result_clear(&c.result);
    pl_compare_scene_close(&c.scene);
    return status;
}
