#include "clients/cli/draw/compare_report.h"

#include "clients/cli/draw/chart.h"
#include "clients/cli/base/report_files.h"
#include "clients/cli/draw/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double thresholds[] = {1e-2, 1e-3, 1e-6};
enum { THRESHOLDS = sizeof thresholds / sizeof *thresholds };

static bool is_drawn(const pl_compared *c)
{
    return c->state == PL_COMPARED_DONE;
}

static const char *state_name(const pl_compared *c)
{
    static const char *const names[] = {"not run", "done", "refused", "failed"};
    return names[c->state];
}

/* ---- documents ---- */

static void put_reached(pl_json_writer *w, const pl_compared *c, bool time)
{
    pl_json_begin_object(w);
    for (int t = 0; t < THRESHOLDS; t++) {
        char key[16];
        int64_t k = pl_compared_reach(c, thresholds[t]);
        snprintf(key, sizeof key, "%.0e", thresholds[t]);
        pl_json_key(w, key);
        if (k < 0)
            pl_json_put_null(w);
        else if (time)
            pl_json_put_number(w, c->time[k], 6);
        else
            pl_json_put_integer(w, k);
    }
    pl_json_end_object(w);
}

static void put_entry(pl_json_writer *w, const pl_compared *c)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "method", c->label);
    pl_json_set_string(w, "state", state_name(c));
    pl_json_set_string(w, "reason", *c->reason ? c->reason : NULL);
    if (is_drawn(c)) {
        const struct {
            const char *key;
            const double *values;
        } columns[] = {{"error", c->error},
                       {"objective", c->objective},
                       {"gradient_norm", c->gradient_norm},
                       {"decrement", c->decrement},
                       {"ms", c->time}};
        pl_json_set_number(w, "step_ms", c->ms);
        pl_json_set_number(w, "setup_ms", c->setup_ms);
        pl_json_key(w, "iterations_to");
        put_reached(w, c, false);
        pl_json_key(w, "ms_to");
        put_reached(w, c, true);
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
            pl_json_key(w, columns[k].key);
            pl_json_begin_array(w);
            for (int64_t i = 0; i < c->count; i++)
                pl_json_put_number(w, columns[k].values[i], 17);
            pl_json_end_array(w);
        }
    }
    pl_json_end_object(w);
}

static char *encode(const pl_compare_report *about, const pl_compare_result *r, size_t *length)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "scene", about->scene);
    pl_json_set_integer(&w, "frame", about->frame);
    pl_json_set_string(&w, "reference", r->reference < 0 ? NULL : r->entries[r->reference].label);
    pl_json_set_number(&w, "objective_start", r->start);
    pl_json_set_number(&w, "objective_best", r->best);
    pl_json_key(&w, "methods");
    pl_json_begin_array(&w);
    for (int32_t k = 0; k < r->references; k++)
        put_entry(&w, &r->entries[k]);
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, length);
}

/* ---- the terminal ---- */

static void print_table(const pl_cli *cli, const pl_compare_result *r)
{
    int width = 8;
    for (int32_t k = 0; k < r->references; k++) {
        int length = (int)strlen(r->entries[k].label);
        width = length > width ? length : width;
    }
    printf("%s%-*s   iterations to        ms to\n%-*s   1e-2   1e-3   1e-6   1e-2     1e-3     "
           "1e-6     last error  ms an iteration  set-up ms%s\n",
           pl_style_on(&cli->out, PL_STYLE_DIM), width, "", width, "method",
           pl_style_off(&cli->out));
    for (int32_t k = 0; k < r->references; k++) {
        const pl_compared *c = &r->entries[k];
        printf("%-*s", width, c->label);
        if (!is_drawn(c)) {
            printf("   %s: %s\n", state_name(c), c->reason);
            continue;
        }
        for (int t = 0; t < THRESHOLDS; t++) {
            int64_t reached = pl_compared_reach(c, thresholds[t]);
            reached < 0 ? printf("%7s", "-") : printf("%7" PRId64, reached);
        }
        for (int t = 0; t < THRESHOLDS; t++) {
            int64_t reached = pl_compared_reach(c, thresholds[t]);
            reached < 0 ? printf("%9s", "-") : printf("%9.3g", c->time[reached]);
        }
        printf("     %10.2e  %15.3g  %9.3g\n", c->error[c->count - 1],
               c->ms / (double)(c->count > 1 ? c->count - 1 : 1), c->setup_ms);
    }
}

/* The rows up to the point where only rounding is left. */
static int64_t rows_drawn(const pl_compared *c)
{
    int64_t reached = pl_compared_reach(c, 1e-13);
    return reached < 0 ? c->count : reached > 0 ? reached : 1;
}

static void print_plot(const pl_cli *cli, const pl_compare_report *about,
                       const pl_compare_result *r)
{
    int most = cli->out.columns - 9 < 160 ? cli->out.columns - 9 : 160;
    pl_plot plot = {
        .title = "error", .x_name = "iteration", .width = most < 20 ? 20 : most, .height = 16};
    for (int32_t k = 0; k < r->references; k++)
        if (is_drawn(&r->entries[k]) && r->entries[k].count > plot.count)
            plot.count = r->entries[k].count;
    plot.x_last = (double)(plot.count - 1);
    for (int32_t k = 0; k < r->references && plot.series_count < PL_PLOT_SERIES_MAX; k++) {
        const pl_compared *c = &r->entries[k];
        int64_t rows = rows_drawn(c);
        double *values = is_drawn(c) ? malloc((size_t)plot.count * sizeof *values) : NULL;
        for (int64_t i = 0; values && i < plot.count; i++)
            values[i] = i < rows ? c->error[i] : NAN;
        if (values)
            plot.series[plot.series_count++] = (pl_plot_series){c->label, values};
    }
    if (plot.series_count > 0)
        pl_plot_print(&plot, &cli->out, stdout);
    for (int32_t s = 0; s < plot.series_count; s++)
        free(plot.series[s].values);
}

/* The constraints that e does not contain. */
static const char *outside(const pl_compare_report *about, const pl_compare_result *r)
{
    if (r->touches)
        return about->hard ? "; e contains neither obstacles nor contact between bodies"
                           : "; e does not contain contact between bodies";
    return about->hard ? "; e does not contain obstacles" : "";
}

int pl_compare_report_print(pl_cli *cli, const pl_compare_report *about, const pl_compare_result *r)
{
    if (cli->json) {
        char *text = encode(about, r, NULL);
        if (!text)
            return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        puts(text);
        free(text);
        return PL_EXIT_OK;
    }
    printf("%s%s, frame %" PRId64 "%s", pl_style_on(&cli->out, PL_STYLE_BOLD), about->scene,
           about->frame, pl_style_off(&cli->out));
    if (r->reference >= 0)
        printf("   e(x0) %.9g J, e* %.9g J by %s%s", r->start, r->best,
               r->entries[r->reference].label, outside(about, r));
    putchar('\n');
    print_plot(cli, about, r);
    print_table(cli, r);
    return PL_EXIT_OK;
}

/* ---- files ---- */

/* Contents of the files. */
typedef struct document {
    const pl_compare_report *about;
    const pl_compare_result *result;
} document;

static pl_status write_csv(const char *path, const void *context)
{
    const pl_compare_result *r = ((const document *)context)->result;
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    pl_outfile_printf(&f, "method,iteration,ms,error,objective,gradient_norm,decrement\n");
    for (int32_t k = 0; k < r->references; k++) {
        const pl_compared *c = &r->entries[k];
        for (int64_t i = 0; i < c->count; i++) {
            pl_outfile_csv_text(&f, c->label);
            pl_outfile_printf(&f, ",%" PRId64 ",%.6g,%.9g,%.17g,%.9g,%.9g\n", i, c->time[i],
                              c->error[i], c->objective[i], c->gradient_norm[i], c->decrement[i]);
        }
    }
    return pl_outfile_commit(&f);
}

static pl_status write_json(const char *path, const void *context)
{
    const document *d = context;
    pl_outfile f;
    size_t length;
    char *text = encode(d->about, d->result, &length);
    pl_status status = text ? pl_outfile_open(&f, path) : PL_NO_MEMORY;
    if (status == PL_OK) {
        pl_outfile_write(&f, text, length);
        pl_outfile_write(&f, "\n", 1);
        status = pl_outfile_commit(&f);
    }
    free(text);
    return status;
}

static pl_status write_svg(const char *path, const void *context)
{
    const pl_compare_report *about = ((const document *)context)->about;
    const pl_compare_result *r = ((const document *)context)->result;
    char title[320], note[256];
    pl_chart chart = {.title = title,
                      .subtitle = "all methods from the same state",
                      .note = note,
                      .panels = 2,
                      .x_label = {"iterations", "ms"},
                      .y_label = {"(e(x) - e*) / (e(x0) - e*)", "(e(x) - e*) / (e(x0) - e*)"},
                      .log_x = {false, true},
                      .log_y = {true, true}};
    snprintf(title, sizeof title, "%.200s, frame %" PRId64, about->scene, about->frame);
    snprintf(note, sizeof note, "e* by %.120s%s", r->entries[r->reference].label,
             outside(about, r));
    for (int32_t k = 0; k < r->references && chart.series_count < PL_CHART_SERIES; k++) {
        const pl_compared *c = &r->entries[k];
        if (is_drawn(c))
            chart.series[chart.series_count++] = (pl_chart_series){.name = c->label,
                                                                   .count = c->count,
                                                                   .x = {c->index, c->time},
                                                                   .y = {c->error, c->error}};
    }
    return pl_chart_write(&chart, path);
}

int pl_compare_report_write(pl_cli *cli, const pl_compare_report *about, const pl_compare_result *r,
                            const char *directory)
{
    static const pl_report_file parts[] = {
        {"compare.svg", write_svg}, {"compare.csv", write_csv}, {"compare.json", write_json}};
    return pl_report_files_write(cli, directory, parts, 3, &(document){about, r});
}
