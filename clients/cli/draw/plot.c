#include "clients/cli/draw/plot.h"

#include "clients/cli/draw/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOTS_X = 2, DOTS_Y = 4, LABELS_MAX = 1000 /* columns that have labels */ };

typedef struct canvas {
    int columns, rows; /* dots */
    bool linear;
    double lo, hi;        /* of the axis: log10, or with linear the value */
    double step;          /* from one label to the next */
    unsigned char *owner; /* [rows][columns] 1 + the series that set the dot, or 0 */
} canvas;

static const pl_style styles[PL_PLOT_SERIES_MAX] = {
    PL_STYLE_CYAN, PL_STYLE_YELLOW, PL_STYLE_GREEN, PL_STYLE_MAGENTA, PL_STYLE_RED, PL_STYLE_BLUE,
    PL_STYLE_CYAN, PL_STYLE_YELLOW, PL_STYLE_GREEN, PL_STYLE_MAGENTA, PL_STYLE_RED, PL_STYLE_BLUE};
static const char letters[PL_PLOT_SERIES_MAX + 1] = "*o+x#%@s=v&w";

static bool usable(bool linear, double value)
{
    return isfinite(value) && (linear || value > 0);
}

/* The axis covers the values. A logarithmic axis spans at most 10 decades below the largest value: rounding noise
 * further down would flatten the interesting part. */
static bool range(const pl_plot *plot, canvas *c)
{
    c->linear = plot->linear;
    c->lo = INFINITY;
    c->hi = -INFINITY;
    for (int32_t s = 0; s < plot->series_count; s++)
        for (int64_t i = 0; i < plot->count; i++)
            if (usable(c->linear, plot->series[s].values[i])) {
                double value = plot->series[s].values[i], l = c->linear ? value : log10(value);
                c->lo = fmin(c->lo, l);
                c->hi = fmax(c->hi, l);
            }
    if (!(c->lo <= c->hi))
        return false;
    double span = c->hi - c->lo;
    c->step = !c->linear ? 1 : pl_axis_step(span > 0 ? span : fmax(1, fabs(c->hi)), 5);
    c->hi = c->step * ceil(c->hi / c->step - 1e-9);
    c->lo = c->step * floor(c->lo / c->step + 1e-9);
    if (!c->linear)
        c->lo = fmax(c->lo, c->hi - 10);
    if (c->lo >= c->hi)
        c->lo = c->hi - c->step;
    return true;
}

static int row_of(const canvas *c, double value)
{
    double y = ((c->linear ? value : log10(value)) - c->lo) / (c->hi - c->lo);
    int row = (int)lround((1 - fmax(0, fmin(1, y))) * (c->rows - 1));
    return row;
}

/* At most 6 characters: 1e-03, or -1.5k. */
static void write_label(const canvas *c, double at, char label[16])
{
    static const char prefixes[] = {'p', 'n', 'u', 'm', '\0', 'k', 'M', 'G', 'T'};
    if (!c->linear) {
        snprintf(label, 16, "1e%+03d", (int)lround(at));
        return;
    }
    at = fabs(at) < 1e-9 * c->step ? 0 : at;
    int thousands = at == 0 ? 0 : (int)floor(log10(fabs(at)) / 3 + 1e-9);
    thousands = thousands < -4 ? -4 : thousands > 4 ? 4 : thousands;
    snprintf(label, 16, "%.3g%.1s", at / pow(1000, thousands), &prefixes[thousands + 4]);
}

static void set_dot(canvas *c, int x, int y, int32_t series)
{
    unsigned char *dot = &c->owner[(size_t)y * (size_t)c->columns + (size_t)x];
    if (*dot == 0)
        *dot = (unsigned char)(series + 1);
}

/* A column of dots covers several frames or a fraction of one. It shows the range of their values, joined to the
 * previous column, so that a spike is never lost. */
static void draw_series(canvas *c, const pl_plot *plot, int32_t series)
{
    const double *values = plot->series[series].values;
    int previous = -1;
    for (int x = 0; x < c->columns; x++) {
        int64_t first = (int64_t)((double)x / c->columns * (double)plot->count);
        int64_t end = (int64_t)((double)(x + 1) / c->columns * (double)plot->count);
        int top = c->rows, bottom = -1;
        for (int64_t i = first; i < (end > first ? end : first + 1); i++)
            if (usable(c->linear, values[i])) {
                int row = row_of(c, values[i]);
                top = row < top ? row : top;
                bottom = row > bottom ? row : bottom;
            }
        if (bottom < 0) {
            previous = -1;
            continue;
        }
        int from = top, to = bottom;
        if (previous >= 0 && previous < top)
            from = previous + 1;
        if (previous >= 0 && previous > bottom)
            to = previous - 1;
        for (int y = from; y <= to; y++)
            set_dot(c, x, y, series);
        previous = previous >= 0 && abs(previous - top) < abs(previous - bottom) ? bottom : top;
    }
}

/* A character of the plot: the braille pattern of its 2 x 4 dots, in the colour of the series with the most dots. */
static int32_t cell(const canvas *c, int column, int row, unsigned *pattern)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {{1, 8}, {2, 16}, {4, 32}, {64, 128}};
    int votes[PL_PLOT_SERIES_MAX] = {0};
    *pattern = 0;
    for (int y = 0; y < DOTS_Y; y++)
        for (int x = 0; x < DOTS_X; x++) {
            size_t at = (size_t)(row * DOTS_Y + y) * (size_t)c->columns +
                        (size_t)(column * DOTS_X + x);
            if (c->owner[at] == 0)
                continue;
            *pattern |= bits[y][x];
            votes[c->owner[at] - 1]++;
        }
    int32_t best = -1;
    for (int32_t s = 0; s < PL_PLOT_SERIES_MAX; s++)
        if (votes[s] > 0 && (best < 0 || votes[s] > votes[best]))
            best = s;
    return best;
}

static void print_row(const canvas *c, const pl_plot *plot, int row, const pl_terminal *t,
                      FILE *out)
{
    /* A label goes to the row that its line crosses. */
    char label[16] = "";
    for (int i = 0; c->hi - i * c->step >= c->lo - 0.5 * c->step; i++) {
        double at = c->hi - i * c->step;
        if (row_of(c, c->linear ? at : pow(10, at)) / DOTS_Y == row)
            write_label(c, at, label);
    }
    fprintf(out, "%s%6s %s%s", pl_style_on(t, PL_STYLE_DIM), label, t->utf8 ? "┤" : "|",
            pl_style_off(t));
    for (int column = 0; column < plot->width; column++) {
        unsigned pattern;
        int32_t s = cell(c, column, row, &pattern);
        if (s < 0)
            fputc(' ', out);
        else if (t->utf8) /* U+2800 + pattern */
            fprintf(out, "%s%c%c%c%s", pl_style_on(t, styles[s]), 0xe2, 0xa0 | (pattern >> 6),
                    0x80 | (pattern & 63), pl_style_off(t));
        else
            fprintf(out, "%s%c%s", pl_style_on(t, styles[s]), letters[s], pl_style_off(t));
    }
    fputc('\n', out);
}

/* The column of a value on the horizontal axis. */
static int column_of(const pl_plot *plot, double value)
{
    double span = plot->x_last - plot->x_first;
    return span > 0 ? (int)lround((value - plot->x_first) / span * (plot->width - 1)) : 0;
}

/* Write a number into the row of labels, centred at the column, if it stays clear of the others. */
static bool place_label(char *row, int columns, int column, double value)
{
    char label[32];
    int length = snprintf(label, sizeof label, "%.6g", value);
    int at = column - length / 2 < 0 ? 0 : column - length / 2;
    if (at + length > columns)
        return false;
    for (int i = at > 0 ? at - 1 : 0; i <= at + length && i < columns; i++)
        if (row[i] != ' ')
            return false;
    memcpy(row + at, label, (size_t)length);
    return true;
}

/* The axis with its tick marks, and below it their numbers: the first, the last with its name, and round ones between. */
static void print_axis(const pl_plot *plot, const pl_terminal *t, FILE *out)
{
    char last[48], row[LABELS_MAX + 1];
    bool marked[LABELS_MAX] = {false};
    int columns = plot->width < LABELS_MAX ? plot->width : LABELS_MAX;
    int length = snprintf(last, sizeof last, "%.12s %.6g", plot->x_name ? plot->x_name : "frame",
                          plot->x_last);
    memset(row, ' ', (size_t)columns);
    row[columns] = '\0';
    if (length <= columns)
        memcpy(row + columns - length, last, (size_t)length);
    marked[0] = place_label(row, columns, 0, plot->x_first);
    marked[columns - 1] = true;
    double span = plot->x_last - plot->x_first,
           step = span > 0 ? pl_axis_step(span, columns / 12.0) : 0;
    for (double x = step > 0 ? step * ceil(plot->x_first / step) : INFINITY; x < plot->x_last;
         x += step) {
        int column = column_of(plot, x);
        if (column > 0 && column < columns &&
            place_label(row, columns, column, fabs(x) < 1e-9 * step ? 0 : x))
            marked[column] = true;
    }
    fprintf(out, "%s%6s %s", pl_style_on(t, PL_STYLE_DIM), "", t->utf8 ? "└" : "+");
    for (int i = 0; i < plot->width; i++)
        fputs(t->utf8                    ? i < columns && marked[i] ? "┬" : "─"
              : i < columns && marked[i] ? "+"
                                         : "-",
              out);
    fprintf(out, "\n%8s%s%s\n", "", row, pl_style_off(t));
}

static void print_legend(const pl_plot *plot, const pl_terminal *t, FILE *out)
{
    if (plot->title)
        fprintf(out, "%s%s%s", pl_style_on(t, PL_STYLE_BOLD), plot->title, pl_style_off(t));
    for (int32_t s = 0; s < plot->series_count; s++) {
        const char *mark = t->utf8 && t->colour ? "━━" : (char[]){letters[s], '\0'};
        double last = NAN;
        for (int64_t i = 0; i < plot->count; i++)
            if (!isnan(plot->series[s].values[i]))
                last = plot->series[s].values[i];
        fprintf(out, "   %s%s%s %s", pl_style_on(t, styles[s]), mark, pl_style_off(t),
                plot->series[s].name);
        if (!isnan(last))
            fprintf(out, " %s%.2e%s", pl_style_on(t, PL_STYLE_DIM), last, pl_style_off(t));
    }
    fputc('\n', out);
}

void pl_plot_print(const pl_plot *plot, const pl_terminal *t, FILE *out)
{
    canvas c = {.columns = plot->width * DOTS_X, .rows = plot->height * DOTS_Y};
    print_legend(plot, t, out);
    if (!range(plot, &c)) {
        fprintf(out, "  no value%s to draw\n", plot->linear ? "" : " above 0");
        return;
    }
    c.owner = calloc((size_t)c.columns * (size_t)c.rows, 1);
    if (!c.owner)
        return;
    for (int32_t s = 0; s < plot->series_count; s++)
        draw_series(&c, plot, s);
    for (int row = 0; row < plot->height; row++)
        print_row(&c, plot, row, t, out);
    print_axis(plot, t, out);
    free(c.owner);
}
