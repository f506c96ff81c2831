/* plot: metrics over frames as curves in the terminal. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/draw/plot.h"
#include "clients/cli/session/session_source.h"

#include "protocol/export/outlet.h"
#include "protocol/text/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_LENGTH = 64, MARGIN = 9, NAMES_MAX = 160 };

/* Words for groups of metrics. */
static const struct {
    const char *word, *metrics;
} groups[] = {{"residuals", "primal_residual,dual_residual,gradient_norm"},
              {"energies", "energy/kinetic,energy/elastic"},
              {"contact", "contact/pairs,contacts"},
              {"time", "ms/step,ms/local,ms/global,ms/collision"}};
enum { GROUPS = sizeof groups / sizeof *groups };
const char pl_plot_words[] = "residuals|energies|contact|time";

typedef struct collector {
    char paths[PL_PLOT_SERIES_MAX][PATH_MAX_LENGTH];
    int32_t count;
    bool named;                         /* the user named each metric, and no group */
    double *values[PL_PLOT_SERIES_MAX]; /* [capacity] */
    double first_frame, last_frame;
    int64_t rows, capacity;
    pl_json *last; /* the newest record */
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
    pl_json_free(c->last);
    c->last = metrics;
    return true;
}

/* Read the names after --what. A group is replaced by its metrics. */
static bool choose(const char *what, collector *c)
{
    const char *list = what;
    for (int g = 0; g < GROUPS; g++)
        if (strcmp(what, groups[g].word) == 0)
            list = groups[g].metrics;
    c->named = list == what;
    while (*list) {
        size_t length = strcspn(list, ",");
        if (c->count == PL_PLOT_SERIES_MAX || length == 0 || length >= PATH_MAX_LENGTH)
            return false;
        memcpy(c->paths[c->count++], list, length);
        list += length + (list[length] == ',');
    }
    return c->count > 0;
}

/* ---- unknown names ---- */

typedef struct names {
    char text[NAMES_MAX][PATH_MAX_LENGTH];
    size_t count;
} names;

/* List each number of a record by its path, such as energy/kinetic. */
static void list_numbers(const pl_json *value, const char *path, names *out)
{
    for (size_t i = 0; pl_json_is_object(value) && i < pl_json_count(value); i++) {
        const pl_json *member;
        char inner[PATH_MAX_LENGTH];
        const char *key = pl_json_member(value, i, &member);
        int length = snprintf(inner, sizeof inner, "%s%s%s", path, *path ? "/" : "", key);
        if (length >= (int)sizeof inner)
            continue;
        if (!isnan(pl_json_number(member, "", NAN)) && out->count < NAMES_MAX)
            memcpy(out->text[out->count++], inner, (size_t)length + 1);
        list_numbers(member, inner, out);
    }
}

static int fail_unknown(const pl_cli *cli, const collector *c, const char *missing)
{
    names *there = calloc(1, sizeof *there);
    const char *known[NAMES_MAX + GROUPS];
    pl_text list = {0};
    size_t count = 0;
    if (!there)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    list_numbers(c->last, "", there);
    for (size_t g = 0; g < GROUPS; g++)
        known[count++] = groups[g].word;
    for (size_t i = 0; i < there->count; i++)
        known[count++] = there->text[i];
    for (size_t i = 0; i < count; i++)
        pl_text_printf(&list, "%s%s", i ? ", " : "", known[i]);
    const char *nearest = pl_nearest(missing, known, count);
    int status = pl_cli_fail(cli, PL_EXIT_USAGE,
                             "--what: no frame has a number '%s'%s%s%s\navailable: %s", missing,
                             nearest ? "; did you mean " : "", nearest ? nearest : "",
                             nearest ? "?" : "", list.failed ? "" : list.text);
    free(list.text);
    free(there);
    return status;
}

/* Take the series that have a number in some frame. Metrics that a method does not compute are null: in a group they
 * are left out, but a metric that was named must be present. */
static int fill(const pl_cli *cli, const collector *c, const char *what, pl_plot *plot)
{
    for (int32_t i = 0; i < c->count; i++) {
        bool any = false;
        for (int64_t k = 0; k < c->rows && !any; k++)
            any = !isnan(c->values[i][k]);
        if (any)
            plot->series[plot->series_count++] = (pl_plot_series){c->paths[i], c->values[i]};
        else if (c->named)
            return fail_unknown(cli, c, c->paths[i]);
    }
    return plot->series_count > 0 ? PL_EXIT_OK : fail_unknown(cli, c, what);
}

int pl_command_plot(pl_cli *cli)
{
    const char *given = pl_cli_option(cli, "--what"), *what = given ? given : "residuals";
    collector c = {0};
    int64_t width, height;
    pl_terminal terminal = cli->out;
    int most = terminal.columns - MARGIN < 160 ? terminal.columns - MARGIN : 160;
    if (!pl_cli_integer(cli, "--width", 10, 1000, most < 10 ? 10 : most, &width) ||
        !pl_cli_integer(cli, "--height", 3, 100, 10, &height))
        return PL_EXIT_USAGE;
    if (!choose(what, &c))
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
        status = fill(cli, &c, what, &plot);
        if (status == PL_EXIT_OK)
            pl_plot_print(&plot, &terminal, stdout);
    }
    for (int32_t i = 0; i < c.count; i++)
        free(c.values[i]);
    pl_json_free(c.last);
    pl_session_source_close(&source);
    return status;
}
