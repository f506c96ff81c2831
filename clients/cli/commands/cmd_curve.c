/* curve: force over stretch of materials, measured on a cube by the solver. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/draw/chart.h"
#include "clients/cli/session/curve_scene.h"
#include "clients/cli/base/report_files.h"
#include "clients/cli/draw/plot.h"
#include "clients/cli/session/run_session.h"
#include "clients/cli/base/temp_dir.h"
#include "clients/cli/session/session_source.h"

#include "protocol/log/session_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { POINTS_MAX = 1000 };

typedef struct curve {
    const char *label;
    int64_t count;
    double stretch[2 * POINTS_MAX + 1], stress[2 * POINTS_MAX + 1]; /* 1; Pa */
    int64_t unconverged;
    char end[2][400]; /* why it ends early, in compression and in tension, or "" */
} curve;

/* One branch's points, as they arrive. */
typedef struct branch {
    curve *curve;
    double stretch; /* target stretch */
    int64_t steps, count;
    double x[POINTS_MAX], y[POINTS_MAX];
} branch;

/* ---- measuring ---- */

static bool take(void *context, const char *line, size_t length)
{
    branch *b = context;
    pl_json *m = pl_json_parse(line, length, NULL);
    int64_t frame = pl_json_integer(m, "frame", 0);
    if (frame > 0 && b->count < POINTS_MAX) {
        b->x[b->count] = 1 + (b->stretch - 1) * (double)frame / (double)b->steps;
        b->y[b->count++] = pl_json_number(m, "reactions/pins/pull/0", NAN);
        b->curve->unconverged += pl_json_integer(m, "unconverged", 0);
    }
    pl_json_free(m);
    return true;
}

static int check_material(pl_cli *cli, const pl_curve_material *material,
                          const pl_temp_dir *scratch)
{
    pl_preflight p;
    int status = pl_run_session_preflight(cli, scratch->path, scratch->dir_fd, &p);
    if (p.faults.total > 0) {
        pl_cli_fail(cli, 0, "%s cannot be measured:", material->label);
        pl_cli_print_faults(cli, &p.faults);
    }
    pl_preflight_clear(&p);
    return status;
}

static int simulate(pl_cli *cli, const pl_temp_dir *scratch)
{
    const char *const arguments[] = {"--session", scratch->path, "--attempt", "1", NULL};
    pid_t pid;
    bool interrupted;
    if (pl_run_session_start(cli, "pliant-worker", arguments, &pid) != PL_EXIT_OK)
        return PL_EXIT_FAILED;
    int state = pl_run_session_wait(pid, NULL, NULL, &interrupted);
    if (interrupted)
        return PL_EXIT_INTERRUPTED;
    if (!WIFEXITED(state))
        return pl_cli_fail(cli, PL_EXIT_FAILED, "pliant-worker killed by signal %d",
                           WTERMSIG(state));
    return PL_EXIT_OK;
}

static int read_branch(pl_cli *cli, const pl_temp_dir *scratch, branch *b, char *end, size_t size)
{
    pl_session_source source;
    pl_exit e;
    int status = pl_session_source_open(cli, scratch->path, &source);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_session_source_metrics(&source, 0, take, b);
    if (pl_exit_read(scratch->dir_fd, &e) != PL_OK)
        snprintf(end, size, "the worker ended without a report");
    else if (strcmp(e.state, "succeeded") != 0)
        snprintf(end, size, "%.20s: %s", pl_failure_name(e.failure.code), e.failure.message);
    pl_session_source_close(&source);
    return status;
}

static int measure_branch(pl_cli *cli, const pl_curve_material *material, branch *b, char *end,
                          size_t size)
{
    pl_temp_dir scratch;
    char *text = pl_curve_scene(material, b->stretch, b->steps);
    if (!text)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (!pl_temp_dir_create(&scratch)) {
        free(text);
        return pl_cli_fail(cli, PL_EXIT_FILE, "no temporary directory: %s", strerror(errno));
    }
    pl_scene_files files = {.text = text, .length = strlen(text)};
    int status = pl_run_session_make(cli, scratch.path, &files, false, &scratch.dir_fd);
    if (status == PL_EXIT_OK)
        status = check_material(cli, material, &scratch);
    if (status == PL_EXIT_OK)
        status = simulate(cli, &scratch);
    if (status == PL_EXIT_OK)
        status = read_branch(cli, &scratch, b, end, size);
    pl_temp_dir_remove(&scratch);
    free(text);
    return status;
}

/* Compression and tension each start at the rest shape. */
static int measure(pl_cli *cli, const pl_curve_material *material, double from, double to,
                   int64_t points, curve *c)
{
    const double ends[2] = {from, to};
    branch *b = calloc(2, sizeof *b);
    int status = b ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    *c = (curve){.label = material->label};
    for (int k = 0; k < 2 && status == PL_EXIT_OK; k++) {
        double share = fabs(ends[k] - 1) / (to - from) * (double)points;
        b[k] = (branch){.curve = c, .stretch = ends[k], .steps = (int64_t)ceil(share - 1e-9)};
        if (b[k].steps > 0)
            status = measure_branch(cli, material, &b[k], c->end[k], sizeof c->end[k]);
    }
    for (int64_t i = status == PL_EXIT_OK ? b[0].count : 0; i > 0; i--) {
        c->stretch[c->count] = b[0].x[i - 1];
        c->stress[c->count++] = b[0].y[i - 1];
    }
    if (status == PL_EXIT_OK) {
        c->stretch[c->count++] = 1; /* at rest there is no force */
        memcpy(c->stretch + c->count, b[1].x, (size_t)b[1].count * sizeof(double));
        memcpy(c->stress + c->count, b[1].y, (size_t)b[1].count * sizeof(double));
        c->count += b[1].count;
    }
    free(b);
    return status;
}

/* ---- showing ---- */

/* Interpolate between the two points around x; NaN outside. */
static double at(const curve *c, double x)
{
    for (int64_t i = 0; i + 1 < c->count; i++)
        if (x >= c->stretch[i] && x <= c->stretch[i + 1]) {
            double t = (x - c->stretch[i]) / (c->stretch[i + 1] - c->stretch[i]);
            return (1 - t) * c->stress[i] + t * c->stress[i + 1];
        }
    return NAN;
}

static void print_plot(const pl_cli *cli, const curve *curves, int32_t count, double from,
                       double to)
{
    int most = cli->out.columns - 9 < 120 ? cli->out.columns - 9 : 120;
    pl_plot plot = {.title = "nominal stress, Pa",
                    .x_name = "stretch",
                    .linear = true,
                    .x_first = from,
                    .x_last = to,
                    .width = most < 20 ? 20 : most,
                    .height = 18};
    plot.count = 2 * plot.width;
    for (int32_t k = 0; k < count && k < PL_PLOT_SERIES_MAX; k++) {
        double *values = malloc((size_t)plot.count * sizeof *values);
        for (int64_t i = 0; values && i < plot.count; i++)
            values[i] = at(&curves[k], from + (to - from) * (double)i / (double)(plot.count - 1));
        if (values)
            plot.series[plot.series_count++] = (pl_plot_series){curves[k].label, values};
    }
    pl_plot_print(&plot, &cli->out, stdout);
    for (int32_t s = 0; s < plot.series_count; s++)
        free(plot.series[s].values);
}

static void print_notes(const curve *c)
{
    for (int k = 0; k < 2; k++)
        if (*c->end[k])
            printf("%s: %s ends at stretch %.4g: %s\n", c->label, k ? "tension" : "compression",
                   k ? c->stretch[c->count - 1] : c->stretch[0], c->end[k]);
    if (c->unconverged > 0)
        printf("%s: %" PRId64 " points did not converge\n", c->label, c->unconverged);
}

static void put_values(pl_json_writer *w, const char *key, const double *values, int64_t count)
{
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int64_t i = 0; i < count; i++)
        pl_json_put_number(w, values[i], 17);
    pl_json_end_array(w);
}

static char *encode(const curve *curves, int32_t count)
{
    pl_json_writer w = {0};
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < count; k++) {
        const curve *c = &curves[k];
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "material", c->label);
        put_values(&w, "stretch", c->stretch, c->count);
        put_values(&w, "stress", c->stress, c->count);
        pl_json_set_integer(&w, "unconverged", c->unconverged);
        pl_json_set_string(&w, "compression_ends", *c->end[0] ? c->end[0] : NULL);
        pl_json_set_string(&w, "tension_ends", *c->end[1] ? c->end[1] : NULL);
        pl_json_end_object(&w);
    }
    pl_json_end_array(&w);
    return pl_json_finish(&w, NULL);
}

/* Contents of the files. */
typedef struct document {
    const curve *curves;
    int32_t count;
} document;

static pl_status write_csv(const char *path, const void *context)
{
    const document *d = context;
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    pl_outfile_printf(&f, "material,stretch,stress\n");
    for (int32_t k = 0; k < d->count; k++)
        for (int64_t i = 0; i < d->curves[k].count; i++) {
            pl_outfile_csv_text(&f, d->curves[k].label);
            pl_outfile_printf(&f, ",%.17g,%.17g\n", d->curves[k].stretch[i],
                              d->curves[k].stress[i]);
        }
    return pl_outfile_commit(&f);
}

static pl_status write_svg(const char *path, const void *context)
{
    const document *d = context;
    pl_chart chart = {.title = "Force against stretch",
                      .subtitle = "a cube between two faces, quasi-static, sides free",
                      .panels = 1,
                      .x_label = {"stretch"},
                      .y_label = {"nominal stress, Pa"}};
    for (int32_t k = 0; k < d->count; k++)
        chart.series[chart.series_count++] = (pl_chart_series){.name = d->curves[k].label,
                                                               .count = d->curves[k].count,
                                                               .x = {d->curves[k].stretch},
                                                               .y = {d->curves[k].stress}};
    return pl_chart_write(&chart, path);
}

static int show(pl_cli *cli, const curve *curves, int32_t count, double from, double to)
{
    const char *out = pl_cli_option(cli, "--out");
    if (cli->json) {
        char *text = encode(curves, count);
        if (!text)
            return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        puts(text);
        free(text);
    } else {
        print_plot(cli, curves, count, from, to);
        for (int32_t k = 0; k < count; k++)
            print_notes(&curves[k]);
    }
    static const pl_report_file parts[] = {{"curve.svg", write_svg}, {"curve.csv", write_csv}};
    return out ? pl_report_files_write(cli, out, parts, 2, &(document){curves, count}) : PL_EXIT_OK;
}

int pl_command_curve(pl_cli *cli)
{
    double from, to;
    int64_t points;
    pl_curve_material list[PL_CURVES_MAX];
    int32_t count = 0;
    int status = PL_EXIT_OK;
    if (!pl_cli_number(cli, "--from", 0.01, 1, 0.6, &from) ||
        !pl_cli_number(cli, "--to", 1, 100, 1.8, &to) ||
        !pl_cli_integer(cli, "--points", 2, POINTS_MAX, 48, &points))
        return PL_EXIT_USAGE;
    if (from == to)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--from and --to are the same stretch");
    for (int i = 0; i < cli->argument_count && status == PL_EXIT_OK; i++)
        status = pl_curve_materials_read(cli, cli->arguments[i], list, &count);
    curve *curves = calloc((size_t)count + 1, sizeof *curves);
    if (!curves && status == PL_EXIT_OK)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    for (int32_t k = 0; k < count && status == PL_EXIT_OK; k++)
        status = measure(cli, &list[k], from, to, points, &curves[k]);
    if (status == PL_EXIT_OK)
        status = show(cli, curves, count, from, to);
    free(curves);
    pl_curve_materials_clear(list, count);
    return status;
}
