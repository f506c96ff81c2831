#include "clients/cli/draw/watch_view.h"

#include "clients/cli/base/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LEAST = 8, NAME_MOST = 40, FIXED = 59, LEVELS = 8 };

static int place_of(const char *state)
{
    static const char *const order[] = {"running", "paused", "checking", "queued"};
    for (int i = 0; i < 4; i++)
        if (strcmp(state, order[i]) == 0)
            return i < 2 ? i : 2;
    return 3;
}

bool pl_watch_over(const pl_watch_row *row)
{
    return place_of(row->state) == 3;
}

/* ---- the daemon's documents ---- */

static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text);
}

void pl_watch_take(const pl_json *s, pl_watch_row *row)
{
    copy(row->id, sizeof row->id, pl_json_string(s, "id", ""));
    copy(row->name, sizeof row->name, pl_json_string(s, "name", ""));
    copy(row->state, sizeof row->state, pl_json_string(s, "state", ""));
    row->frame = pl_json_integer(s, "progress/frame", -1);
    row->frames = pl_json_integer(s, "progress/frames", -1);
    /* Simulated seconds per second, converted by the frames in a simulated second. */
    row->rate = pl_json_number(s, "progress/rate", NAN) * (double)row->frame /
                pl_json_number(s, "progress/time", NAN);
    const char *waits = pl_json_string(s, "queue/reason", "");
    const char *failed = pl_json_string(s, "failure/message", "");
    bool stalled = *pl_json_string(s, "stalled/why", "");
    copy(row->note, sizeof row->note,
         pl_watch_over(row) ? failed
         : stalled          ? "stalled: its worker makes no progress"
                            : waits);
}

/* The largest of the residuals in a bucket, or NaN. */
static double largest(const pl_json *bucket)
{
    const pl_metrics_digest d = {
        .primal_residual = pl_json_number(bucket, "max/primal_residual", NAN),
        .dual_residual = pl_json_number(bucket, "max/dual_residual", NAN),
        .gradient_norm = pl_json_number(bucket, "max/gradient_norm", NAN)};
    return pl_progress_residual(&d);
}

void pl_watch_take_buckets(const char *lines, size_t size, pl_watch_row *row)
{
    row->bar_count = 0;
    for (const char *line = lines; line < lines + size;) {
        const char *end = memchr(line, '\n', (size_t)(lines + size - line));
        size_t length = end ? (size_t)(end - line) : (size_t)(lines + size - line);
        pl_json *bucket = pl_json_parse(line, length, NULL);
        if (bucket && !pl_json_string(bucket, "event", NULL) && row->bar_count < PL_WATCH_BARS)
            row->bars[row->bar_count++] = largest(bucket);
        pl_json_free(bucket);
        line += length + 1;
    }
}

/* The residual at which the solver stopped in the newest frames; NaN: unknown. */
static double last_residual(const pl_watch_row *row)
{
    return row->bar_count > 0 ? row->bars[row->bar_count - 1] : NAN;
}

void pl_watch_sort(pl_watch_row *rows, int count)
{
    for (int i = 1; i < count;
         i++) { /* few, and nearly in order: by insertion, which keeps the order of equals */
        pl_watch_row moved = rows[i];
        int at = i;
        for (; at > 0 && place_of(rows[at - 1].state) > place_of(moved.state); at--)
            rows[at] = rows[at - 1];
        rows[at] = moved;
    }
}

/* ---- the table ---- */

static pl_style style_of(const char *state)
{
    return strcmp(state, "succeeded") == 0                                  ? PL_STYLE_GREEN
           : strcmp(state, "failed") == 0 || strcmp(state, "rejected") == 0 ? PL_STYLE_RED
           : strcmp(state, "running") == 0                                  ? PL_STYLE_CYAN
           : strcmp(state, "paused") == 0                                   ? PL_STYLE_YELLOW
                                                                            : PL_STYLE_PLAIN;
}

/* Bars on a logarithm between the least and the greatest. */
static void put_bars(FILE *out, const pl_watch_row *row, const pl_terminal *t)
{
    static const char *const fine[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[LEVELS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < row->bar_count; i++) {
        if (row->bars[i] > 0 && isfinite(row->bars[i])) {
            least = fmin(least, log(row->bars[i]));
            most = fmax(most, log(row->bars[i]));
        }
    }
    for (int i = 0; i < row->bar_count; i++) {
        bool shown = row->bars[i] > 0 && isfinite(row->bars[i]);
        double part = shown && most > least ? (log(row->bars[i]) - least) / (most - least) : 0;
        int level = (int)fmin(LEVELS - 1, floor(part * LEVELS));
        fputs(!shown ? " " : t->utf8 ? fine[level] : plain[level], out);
    }
}

static void put_numbers(FILE *out, const pl_watch_row *row)
{
    char frames[40], rate[24] = "", left[24] = "", residual[24] = "";
    if (row->frames >= 0)
        snprintf(frames, sizeof frames, "%" PRId64 "/%" PRId64, row->frame > 0 ? row->frame : 0,
                 row->frames);
    else
        snprintf(frames, sizeof frames, "%" PRId64, row->frame > 0 ? row->frame : 0);
    if (isfinite(row->rate))
        snprintf(rate, sizeof rate, row->rate < 10 ? "%.1f" : "%.0f", row->rate);
    if (row->rate > 0 && row->frames >= row->frame)
        pl_duration_text((double)(row->frames - row->frame) / row->rate, left);
    if (isfinite(last_residual(row)))
        snprintf(residual, sizeof residual, "%.1e", last_residual(row));
    fprintf(out, " %13s %7s %8s %8s", frames, rate, left, residual);
}

static void put_row(FILE *out, const pl_watch_row *row, int name, int rest, const pl_terminal *t)
{
    char cell[4 * sizeof row->name];
    pl_terminal_cell(row->name, name, cell, sizeof cell);
    fprintf(out, "%.8s  %s%-9s%s %s", row->id, pl_style_on(t, style_of(row->state)), row->state,
            pl_style_off(t), cell);
    put_numbers(out, row);
    if (*row->note && rest > 2) {
        pl_terminal_cell(row->note, rest - 2, cell, sizeof cell);
        for (size_t n = strlen(cell); n > 0 && cell[n - 1] == ' ';)
            cell[--n] = 0;
        fprintf(out, "  %s%s%s", pl_style_on(t, PL_STYLE_DIM), cell, pl_style_off(t));
    } else if (rest >= PL_WATCH_BARS + 2 && row->bar_count > 0) {
        fputs("  ", out);
        put_bars(out, row, t);
    }
    fputc('\n', out);
}

char *pl_watch_table(const pl_watch_row *rows, int count, int most, int columns,
                     const pl_terminal *t)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool bars = columns >= FIXED + NAME_LEAST + PL_WATCH_BARS + 2;
    int name = columns - FIXED - (bars ? PL_WATCH_BARS + 2 : 0);
    name = name < NAME_LEAST ? NAME_LEAST : name > NAME_MOST ? NAME_MOST : name;
    int rest = columns - FIXED - name;
    fprintf(out, "%s%-8s  %-9s %-*s %13s %7s %8s %8s%s%s\n", pl_style_on(t, PL_STYLE_BOLD), "id",
            "state", name, "name", "frame", "frame/s", "left", "residual",
            bars ? "  last 240 frames" : "", pl_style_off(t));
    for (int i = 0; i < count && i < most; i++)
        put_row(out, &rows[i], name, rest, t);
    if (count == 0)
        fputs("no session\n", out);
    if (count > most)
        fprintf(out, "%d more\n", count - most);
    fclose(out);
    return text;
}

char *pl_watch_json(const pl_watch_row *rows, int count)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "sessions");
    pl_json_begin_array(&w);
    for (int i = 0; i < count; i++) {
        const pl_watch_row *row = &rows[i];
        double residual = last_residual(row);
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "id", row->id);
        pl_json_set_string(&w, "name", row->name);
        pl_json_set_string(&w, "state", row->state);
        pl_json_set_integer(&w, "frame", row->frame);
        pl_json_set_integer(&w, "frames", row->frames);
        pl_json_key(&w, "rate");
        if (isfinite(row->rate))
            pl_json_put_number(&w, row->rate, 6);
        else
            pl_json_put_null(&w);
        pl_json_key(&w, "residual");
        if (isfinite(residual))
            pl_json_put_number(&w, residual, 9);
        else
            pl_json_put_null(&w);
        pl_json_set_string(&w, "note", row->note);
        pl_json_end_object(&w);
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}
