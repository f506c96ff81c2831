/* chart.h - curves as an SVG file: one or two panels side by side that share a legend.
 *
 * Axes are linear or logarithmic; a logarithmic axis covers at most 14 decades below its largest value. Points that are
 * not finite, or not above 0 on a logarithmic axis, break the curve. Text uses the viewer's sans-serif font; the file
 * refers to no other file.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_CHART_H
#define PLIANT_CLIENTS_CLI_DRAW_CHART_H

#include "clients/cli/base/outfile.h"

#include <stdbool.h>
#include <stdint.h>

enum { PL_CHART_PANELS = 2, PL_CHART_SERIES = 16 };

typedef struct pl_chart_series {
    const char *name;
    int64_t count;
    const double *x[PL_CHART_PANELS], *y[PL_CHART_PANELS]; /* [count] */
} pl_chart_series;

typedef struct pl_chart {
    const char *title, *subtitle, *note; /* note: small, below; any may be NULL */
    int32_t panels, series_count;
    const char *x_label[PL_CHART_PANELS], *y_label[PL_CHART_PANELS];
    bool log_x[PL_CHART_PANELS], log_y[PL_CHART_PANELS];
    pl_chart_series series[PL_CHART_SERIES];
} pl_chart;

/* PL_IO with errno, or PL_NO_MEMORY. */
pl_status pl_chart_write(const pl_chart *chart, const char *path);

#endif
