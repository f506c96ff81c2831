/* plot.h - curves over frames as text: braille dots if the terminal has them, otherwise letters. The vertical axis is
 * logarithmic, for residuals and energies, or linear.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_PLOT_H
#define PLIANT_CLIENTS_CLI_DRAW_PLOT_H

#include "clients/cli/base/terminal.h"

#include <stdint.h>

enum { PL_PLOT_SERIES_MAX = 12 };

typedef struct pl_plot_series {
    const char *name;
    /* [count]; values that are not finite, or not above 0 on a logarithmic axis, are omitted */
    double *values;
} pl_plot_series;

typedef struct pl_plot {
    const char *title, *x_name; /* x_name: label of the horizontal axis; NULL: "frame" */
    int64_t count;              /* values in each series */
    double x_last;              /* frame number of the last value; the first is x_first */
    double x_first;
    int32_t series_count;
    pl_plot_series series[PL_PLOT_SERIES_MAX];
    bool linear;       /* linear vertical axis, which allows values of any sign */
    int width, height; /* characters of the plotting area */
} pl_plot;

/* Print the plot, or one line saying that no series has a value above 0. */
void pl_plot_print(const pl_plot *plot, const pl_terminal *t, FILE *out);

#endif
