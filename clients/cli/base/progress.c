#include "clients/cli/base/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

enum { BAR_LEAST = 10, BAR_MOST = 40 }; /* characters */

#define PLAIN_EVERY    2.0  /* s */
#define SMOOTHING      0.1  /* weight of the newest frame's time */
#define TERMINAL_EVERY 0.05 /* s: a terminal cannot show more */

void pl_progress_init(pl_progress *p, int64_t frames)
{
    *p = (pl_progress){.frames = frames, .ms_frame = NAN, .last_plain_frame = -1};
    p->latest = (pl_metrics_digest){.frame = -1,
                                    .iterations = -1,
                                    .time = NAN,
                                    .primal_residual = NAN,
                                    .dual_residual = NAN,
                                    .gradient_norm = NAN,
                                    .ms_step = NAN};
    p->started = pl_monotonic_seconds();
    p->last_plain = -INFINITY;
}

void pl_progress_note(pl_progress *p, const pl_metrics_digest *digest)
{
    p->latest = *digest;
    if (digest->frame >= 1) {
        p->noted++;
        p->halved += digest->halved > 0;
    }
    if (!isfinite(digest->ms_step) || digest->frame < 1)
        return;
    p->ms_frame = isnan(p->ms_frame) ? digest->ms_step
                                     : p->ms_frame + SMOOTHING * (digest->ms_step - p->ms_frame);
}

void pl_progress_hardship(const pl_progress *p, char out[PL_PROGRESS_TEXT])
{
    out[0] = 0;
    if (p->halved > 0)
        snprintf(out, PL_PROGRESS_TEXT,
                 "%" PRId64 " of %" PRId64
                 " frames have steps that were retried as two half steps: use a smaller time.step",
                 p->halved, p->noted);
}

double pl_progress_residual(const pl_metrics_digest *d)
{
    if (isfinite(d->primal_residual) || isfinite(d->dual_residual))
        return fmax(d->primal_residual, d->dual_residual); /* fmax ignores a NaN */
    return d->gradient_norm;
}

void pl_duration_text(double seconds, char out[24])
{
    int64_t s = isfinite(seconds) && seconds > 0 ? (int64_t)fmin(ceil(seconds), 3.5e9) : 0;
    if (s >= 3600)
        snprintf(out, 24, "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 24, "%" PRId64 ":%02" PRId64, s / 60, s % 60);
}

void pl_bytes_text(double bytes, char out[24])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(out, 24, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

__attribute__((format(printf, 3, 4))) static int append(char *out, int at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out + at, (size_t)(PL_PROGRESS_TEXT - at), format, arguments);
    va_end(arguments);
    at += length > 0 ? length : 0;
    return at < PL_PROGRESS_TEXT ? at : PL_PROGRESS_TEXT - 1;
}

static double fraction(const pl_progress *p)
{
    double done = p->frames > 0 ? (double)p->latest.frame / (double)p->frames : 0;
    return fmax(0, fmin(1, done));
}

/* `brief` uses fewer words, so that a bar fits beside it in 80 columns. */
static int write_numbers(const pl_progress *p, bool brief, char out[PL_PROGRESS_TEXT])
{
    const pl_metrics_digest *d = &p->latest;
    int at = append(out, 0, "%" PRId64 "/%" PRId64 "  %3.0f%%", d->frame > 0 ? d->frame : 0,
                    p->frames, floor(100 * fraction(p)));
    double residual = pl_progress_residual(d);
    if (isfinite(residual))
        at = append(out, at, brief ? "  res %.1e" : "  residual %.1e", residual);
    if (d->frame > 0 && d->iterations >= 0)
        at = append(out, at, "  %" PRId64 " it", d->iterations);
    if (!isfinite(p->ms_frame))
        return at;
    at = append(out, at, p->ms_frame < 10 ? "  %.1f ms%s" : "  %.0f ms%s", p->ms_frame,
                brief ? "" : "/frame");
    double frame_s = d->frame > 0 ? d->time / (double)d->frame : NAN;
    double factor = frame_s / (1e-3 * p->ms_frame);
    if (isfinite(factor))
        at = append(out, at, factor < 10 ? "  %.2fx%s" : "  %.0fx%s", factor,
                    brief ? "" : " real time");
    if (d->frame < p->frames) {
        char left[24];
        pl_duration_text(1e-3 * p->ms_frame * (double)(p->frames - d->frame), left);
        at = append(out, at, "  %s left", left);
    }
    return at;
}

void pl_progress_plain(const pl_progress *p, char out[PL_PROGRESS_TEXT])
{
    write_numbers(p, false, out);
}

void pl_progress_line(const pl_progress *p, const pl_terminal *t, char out[PL_PROGRESS_TEXT])
{
    char text[PL_PROGRESS_TEXT];
    int bar = t->columns - write_numbers(p, false, text) - 3;
    if (bar < BAR_LEAST)
        bar = t->columns - write_numbers(p, true, text) - 3;
    bar = bar > BAR_MOST ? BAR_MOST : bar;
    if (bar < BAR_LEAST) { /* too narrow for both: the numbers matter more */
        snprintf(out, PL_PROGRESS_TEXT, "%.*s", t->columns - 1, text);
        return;
    }
    int full = (int)floor(bar * fraction(p) + 1e-9);
    int at = append(out, 0, "%s", pl_style_on(t, PL_STYLE_GREEN));
    for (int i = 0; i < bar; i++) {
        if (i == full)
            at = append(out, at, "%s%s", pl_style_off(t), pl_style_on(t, PL_STYLE_DIM));
        at = append(out, at, "%s", t->utf8 ? (i < full ? "━" : "─") : (i < full ? "#" : "."));
    }
    append(out, at, "%s  %s", pl_style_off(t), text);
}

void pl_progress_show(pl_progress *p, pl_terminal *t)
{
    char text[PL_PROGRESS_TEXT];
    double now = pl_monotonic_seconds();
    if (t->tty) {
        if (now - p->last_plain < TERMINAL_EVERY && p->latest.frame < p->frames)
            return;
        p->last_plain = now;
        pl_progress_line(p, t, text);
        pl_terminal_update(t, text);
    } else if (now - p->last_plain >= PLAIN_EVERY) {
        p->last_plain = now;
        p->last_plain_frame = p->latest.frame;
        pl_progress_plain(p, text);
        fprintf(stderr, "%s\n", text);
    }
}

void pl_progress_end(pl_progress *p, pl_terminal *t)
{
    char text[PL_PROGRESS_TEXT];
    if (t->tty) {
        if (p->latest.frame >= 0) {
            pl_progress_line(p, t, text);
            pl_terminal_update(t, text);
        }
        pl_terminal_finish(t);
    } else if (p->latest.frame > p->last_plain_frame) {
        pl_progress_plain(p, text);
        fprintf(stderr, "%s\n", text);
    }
}
