#include "clients/cli/draw/chart.h"

#include "clients/cli/draw/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pixels. */
enum { PANEL_W = 460, PANEL_H = 320, LEFT = 90, GAP = 100, TOP = 62, BOTTOM = 58, LEGEND_W = 250 };
static const double DECADES_MAX = 14;

/* Okabe and Ito's colours, which most people can tell apart, in two dash patterns. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8c564b"};
enum { COLOURS = sizeof colours / sizeof *colours };

typedef struct axis {
    bool log;
    double lo, hi, step; /* of a logarithmic one: powers of ten */
} axis;

typedef struct panel {
    double left, top;
    axis x, y;
} panel;

static void put_text(pl_outfile *f, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '<':
            pl_outfile_printf(f, "&lt;");
            break;
        case '>':
            pl_outfile_printf(f, "&gt;");
            break;
        case '&':
            pl_outfile_printf(f, "&amp;");
            break;
        case '"':
            pl_outfile_printf(f, "&quot;");
            break;
        default:
            pl_outfile_write(f, text, 1);
        }
}

static void put_label(pl_outfile *f, double x, double y, const char *attributes, const char *text)
{
    pl_outfile_printf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    put_text(f, text);
    pl_outfile_printf(f, "</text>\n");
}

/* ---- axes ---- */

static bool usable(const axis *a, double value)
{
    return isfinite(value) && (!a->log || value > 0);
}

static double scaled(const axis *a, double value)
{
    return a->log ? log10(value) : value;
}

static axis make_axis(const pl_chart *chart, int32_t p, bool vertical)
{
    axis a = {.log = vertical ? chart->log_y[p] : chart->log_x[p], .lo = INFINITY, .hi = -INFINITY};
    for (int32_t s = 0; s < chart->series_count; s++) {
        const pl_chart_series *series = &chart->series[s];
        const double *values = vertical ? series->y[p] : series->x[p];
        for (int64_t i = 0; i < series->count; i++)
            if (usable(&a, values[i])) {
                a.lo = fmin(a.lo, scaled(&a, values[i]));
                a.hi = fmax(a.hi, scaled(&a, values[i]));
            }
    }
    if (!(a.lo <= a.hi))
        a.lo = a.log ? -1 : 0, a.hi = a.log ? 0 : 1;
    if (a.log) {
        a.hi = ceil(a.hi - 1e-9);
        a.lo = fmax(floor(a.lo + 1e-9), a.hi - DECADES_MAX);
        a.lo = a.lo < a.hi ? a.lo : a.hi - 1;
        a.step = a.hi - a.lo > 7 ? 2 : 1;
        return a;
    }
    if (a.lo == a.hi) {
        a.lo -= 0.5 * fmax(1, fabs(a.lo));
        a.hi += 0.5 * fmax(1, fabs(a.hi));
    }
    a.step = pl_axis_step(a.hi - a.lo, 6);
    a.lo = a.step * floor(a.lo / a.step + 1e-9);
    a.hi = a.step * ceil(a.hi / a.step - 1e-9);
    return a;
}

static double at_x(const panel *p, double value)
{
    return p->left + PANEL_W * (scaled(&p->x, value) - p->x.lo) / (p->x.hi - p->x.lo);
}

static double at_y(const panel *p, double value)
{
    double t = (scaled(&p->y, value) - p->y.lo) / (p->y.hi - p->y.lo);
    return p->top + PANEL_H * (1 - fmin(1, fmax(0, t)));
}

/* The i-th tick's position on the axis; false beyond its end. Decades count from the top. */
static bool tick(const axis *a, int i, double *place, char text[48])
{
    double at = a->log ? a->hi - i * a->step : a->lo + i * a->step;
    if (at < a->lo - 1e-9 * a->step || at > a->hi + 1e-9 * a->step)
        return false;
    at = fabs(at) < 1e-9 * a->step ? 0 : at;
    *place = (at - a->lo) / (a->hi - a->lo);
    snprintf(text, 48, a->log ? "1e%.0f" : "%.6g", at);
    return true;
}

static void put_ticks(pl_outfile *f, const panel *p)
{
    char text[48];
    double place;
    for (int i = 0; tick(&p->x, i, &place, text); i++) {
        double x = p->left + PANEL_W * place;
        pl_outfile_printf(f, "<path class=\"grid\" d=\"M%.1f %.1fv%d\"/>\n", x, p->top, PANEL_H);
        put_label(f, x, p->top + PANEL_H + 18, "class=\"tick\" text-anchor=\"middle\"", text);
    }
    for (int i = 0; tick(&p->y, i, &place, text); i++) {
        double y = p->top + PANEL_H * (1 - place);
        pl_outfile_printf(f, "<path class=\"grid\" d=\"M%.1f %.1fh%d\"/>\n", p->left, y, PANEL_W);
        put_label(f, p->left - 8, y + 4, "class=\"tick\" text-anchor=\"end\"", text);
    }
}

/* ---- curves ---- */

static void put_style(pl_outfile *f, int32_t s)
{
    pl_outfile_printf(f, "stroke=\"%s\"%s", colours[s % COLOURS],
                      s >= COLOURS ? " stroke-dasharray=\"6 4\"" : "");
}

static void put_curve(pl_outfile *f, const panel *p, const pl_chart_series *series, int32_t which,
                      int32_t s)
{
    const double *x = series->x[which], *y = series->y[which];
    bool down = false;
    pl_outfile_printf(f, "<path class=\"curve\" ");
    put_style(f, s);
    pl_outfile_printf(f, " d=\"");
    for (int64_t i = 0; i < series->count; i++) {
        if (!usable(&p->x, x[i]) || !usable(&p->y, y[i])) {
            down = false;
            continue;
        }
        pl_outfile_printf(f, "%s%.1f %.1f", down ? "L" : "M", at_x(p, x[i]), at_y(p, y[i]));
        down = true;
    }
    pl_outfile_printf(f, "\"/>\n");
}

static void put_panel(pl_outfile *f, const pl_chart *chart, int32_t which)
{
    char turned[96];
    panel p = {.left = LEFT + which * (PANEL_W + GAP),
               .top = TOP,
               .x = make_axis(chart, which, false),
               .y = make_axis(chart, which, true)};
    put_ticks(f, &p);
    pl_outfile_printf(f,
                      "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
                      p.left, p.top, PANEL_W, PANEL_H);
    for (int32_t s = 0; s < chart->series_count; s++)
        put_curve(f, &p, &chart->series[s], which, s);
    put_label(f, p.left + PANEL_W / 2.0, p.top + PANEL_H + 40, "text-anchor=\"middle\"",
              chart->x_label[which]);
    double x = p.left - 70, y = p.top + PANEL_H / 2.0;
    snprintf(turned, sizeof turned, "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x,
             y);
    put_label(f, x, y, turned, chart->y_label[which]);
}

static void put_legend(pl_outfile *f, const pl_chart *chart)
{
    double x = LEFT + chart->panels * (PANEL_W + GAP) - GAP + 22;
    for (int32_t s = 0; s < chart->series_count; s++) {
        double y = TOP + 14 + 22 * s;
        pl_outfile_printf(f, "<path class=\"curve\" ");
        put_style(f, s);
        pl_outfile_printf(f, " d=\"M%.1f %.1fh24\"/>\n", x, y - 4);
        put_label(f, x + 32, y, "", chart->series[s].name);
    }
}

pl_status pl_chart_write(const pl_chart *chart, const char *path)
{
    pl_outfile f;
    pl_status status = pl_outfile_open(&f, path);
    if (status != PL_OK)
        return status;
    int width = LEFT + chart->panels * (PANEL_W + GAP) - GAP + LEGEND_W;
    int rows = TOP + 22 * (chart->series_count + 1);
    int height = TOP + PANEL_H + BOTTOM + (chart->note ? 22 : 0);
    height = height > rows ? height : rows;
    pl_outfile_printf(&f,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "viewBox=\"0 0 %d %d\">\n"
                      "<style>text{font:13px sans-serif;fill:#222}.title{font-size:16px;"
                      "font-weight:600}.tick,.note{font-size:11px;fill:#555}"
                      ".grid{stroke:#e4e4e4;fill:none}.frame{stroke:#888;fill:none}"
                      ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round}</style>\n"
                      "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                      width, height, width, height, width, height);
    put_label(&f, LEFT, 24, "class=\"title\"", chart->title ? chart->title : "");
    put_label(&f, LEFT, 44, "class=\"note\"", chart->subtitle ? chart->subtitle : "");
    for (int32_t p = 0; p < chart->panels; p++)
        put_panel(&f, chart, p);
    put_legend(&f, chart);
    if (chart->note)
        put_label(&f, LEFT, TOP + PANEL_H + BOTTOM + 8, "class=\"note\"", chart->note);
    pl_outfile_printf(&f, "</svg>\n");
    return pl_outfile_commit(&f);
}
