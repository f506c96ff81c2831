/* plot.h - curves over frames as text: braille dots where the terminal has them, letters else; the
 * vertical axis is logarithmic, as residuals and energies want it, or linear.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_PLOT_H
#define PLIANT_CLIENTS_CLI_DRAW_PLOT_H

#include "clients/cli/base/terminal.h"

#include <stdint.h>

enum { PL_PLOT_SERIES_MAX = 12 };

typedef struct pl_plot_series {
    const char *name;
    double *values; /* [count]; what is not finite, or on a logarithm not above 0, is left out */
} pl_plot_series;

typedef struct pl_plot {
    const char *title, *x_name; /* x_name: of a step along the axis; NULL: "frame" */
    int64_t count;              /* of values a series */
    double x_last;              /* frame number of the last value; the first is x_first */
    double x_first;
    int32_t series_count;
    pl_plot_series series[PL_PLOT_SERIES_MAX];
    bool linear;       /* the vertical axis, which then has values of any sign */
    int width, height; /* characters of the plotting area */
} pl_plot;

/* Print it; says so in one line where no series has a value above 0. */
void pl_plot_print(const pl_plot *plot, const pl_terminal *t, FILE *out);

#endif
