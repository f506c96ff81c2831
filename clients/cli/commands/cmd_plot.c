/* plot: metrics over frames as curves in the terminal. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/draw/plot.h"
#include "clients/cli/session/session_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_LENGTH = 64, MARGIN = 9 };

typedef struct collector {
    char paths[PL_PLOT_SERIES_MAX][PATH_MAX_LENGTH];
    int32_t count;
    double *values[PL_PLOT_SERIES_MAX]; /* [capacity] */
    double first_frame, last_frame;
    int64_t rows, capacity;
    bool no_memory;
} collector;

static bool collect(void *context, const char *line, size_t length)
{
    collector *c = context;
    if (c->rows == c->capacity) {
        int64_t capacity = c->capacity ? 2 * c->capacity : 1024;
        for (int32_t i = 0; i < c->count; i++) {
            double *grown = realloc(c->values[i], (size_t)capacity * sizeof *grown);
            if (!grown)
                return !(c->no_memory = true);
            c->values[i] = grown;
        }
        c->capacity = capacity;
    }
    pl_json *metrics = pl_json_parse(line, length, NULL);
    for (int32_t i = 0; i < c->count; i++)
        c->values[i][c->rows] = pl_json_number(metrics, c->paths[i], NAN);
    c->last_frame = pl_json_number(metrics, "frame", (double)c->rows);
    if (c->rows == 0)
        c->first_frame = c->last_frame;
    c->rows++;
    pl_json_free(metrics);
    return true;
}

/* The names after --what, or the list that a word stands for. */
static bool choose(const char *what, collector *c)
{
    const char *list = strcmp(what, "residuals") == 0
                           ? "primal_residual,dual_residual,gradient_norm"
                       : strcmp(what, "energies") == 0 ? "energy/kinetic,energy/elastic"
                       : strcmp(what, "contact") == 0  ? "contact/pairs,contacts"
                       : strcmp(what, "time") == 0     ? "ms/step,ms/local,ms/global,ms/collision"
                                                       : what;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (c->count == PL_PLOT_SERIES_MAX || length == 0 || length >= PATH_MAX_LENGTH)
            return false;
        memcpy(c->paths[c->count++], list, length);
        list += length + (list[length] == ',');
    }
    return c->count > 0;
}

/* Series that a method does not compute are null in every frame: leave them out. */
static void fill(const collector *c, pl_plot *plot)
{
    for (int32_t i = 0; i < c->count; i++) {
        bool any = false;
        for (int64_t k = 0; k < c->rows && !any; k++)
            any = !isnan(c->values[i][k]);
        if (any)
            plot->series[plot->series_count++] = (pl_plot_series){c->paths[i], c->values[i]};
    }
}

int pl_command_plot(pl_cli *cli)
{
    const char *what = pl_cli_option(cli, "--what");
    collector c = {0};
    int64_t width, height;
    pl_terminal terminal = cli->out;
    int most = terminal.columns - MARGIN < 160 ? terminal.columns - MARGIN : 160;
    if (!pl_cli_integer(cli, "--width", 10, 1000, most < 10 ? 10 : most, &width) ||
        !pl_cli_integer(cli, "--height", 3, 100, 10, &height))
        return PL_EXIT_USAGE;
    if (!choose(what ? what : "residuals", &c))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--what: got '%s', expected up to %d names", what,
                           PL_PLOT_SERIES_MAX);
    pl_session_source source;
    int status = pl_session_source_open(cli, cli->arguments[0], &source);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_session_source_metrics(&source, 0, collect, &c);
    if (status == PL_EXIT_OK && c.no_memory)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (status == PL_EXIT_OK && c.rows == 0)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "no frame yet");
    if (status == PL_EXIT_OK) {
        pl_plot plot = {.title = source.name,
                        .count = c.rows,
                        .x_first = c.first_frame,
                        .x_last = c.last_frame,
                        .width = (int)width,
                        .height = (int)height};
        terminal.utf8 = terminal.utf8 && !pl_cli_flag(cli, "--ascii");
        fill(&c, &plot);
        pl_plot_print(&plot, &terminal, stdout);
    }
    for (int32_t i = 0; i < c.count; i++)
        free(c.values[i]);
    pl_session_source_close(&source);
    return status;
}
