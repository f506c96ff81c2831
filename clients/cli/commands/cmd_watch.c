/* pliant watch: sessions as a table that is redrawn continually, or as text without a terminal. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"
#include "clients/cli/base/screen.h"
#include "clients/cli/draw/watch_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SPAN = 240 }; /* frames covered by the bars */

#define LIVE_EVERY  1.0 /* s */
#define PLAIN_EVERY 10.0

typedef struct watcher {
    pl_cli *cli;
    pl_watch_row rows[PL_WATCH_ROWS];
    int count;
    char ids[PL_WATCH_ROWS][PL_ID_TEXT]; /* of the arguments */
    int id_count;
    bool live;
    char trouble[256]; /* why the last request failed, or "" */
} watcher;

/* ---- looking ---- */

/* GET as text, without printing errors: the view shows them. */
static char *fetch(watcher *w, const char *path, const char *accept, size_t *size)
{
    pl_http_answer answer;
    if (!w->cli->client && pl_api_connect(w->cli) != PL_EXIT_OK)
        return NULL;
    pl_http_outcome outcome = pl_http_client_call(
        w->cli->client, &(pl_http_call){.method = "GET", .path = path, .accept = accept}, &answer);
    if (outcome == PL_HTTP_ANSWERED && answer.status < 300 && answer.body) {
        *size = answer.size;
        return answer.body;
    }
    if (outcome == PL_HTTP_ANSWERED)
        snprintf(w->trouble, sizeof w->trouble, "%.200s replied with status %ld",
                 w->cli->server_url, answer.status);
    else
        snprintf(w->trouble, sizeof w->trouble, "cannot reach %.200s: trying again",
                 w->cli->server_url);
    pl_http_answer_clear(&answer);
    if (outcome == PL_HTTP_UNREACHABLE)
        pl_api_find_again(w->cli);
    return NULL;
}

static pl_json *fetch_json(watcher *w, const char *path)
{
    size_t size;
    char *text = fetch(w, path, NULL, &size);
    pl_json *value = text ? pl_json_parse(text, size, NULL) : NULL;
    free(text);
    return value;
}

/* The row of a session, keeping its bars. */
static pl_watch_row row_of(const watcher *w, const pl_json *session)
{
    pl_watch_row row = {.bars_of = -1};
    const char *id = pl_json_string(session, "id", "");
    for (int i = 0; i < w->count; i++)
        if (strcmp(w->rows[i].id, id) == 0)
            row = w->rows[i];
    pl_watch_take(session, &row);
    return row;
}

static void look_at_bars(watcher *w, pl_watch_row *row)
{
    char path[160];
    size_t size;
    if (row->frame < 1 || row->frame == row->bars_of)
        return;
    int64_t from = row->frame > SPAN ? row->frame - SPAN + 1 : 1;
    snprintf(path, sizeof path, "/v1/sessions/%s/metrics?buckets=%d&from=%" PRId64 "&to=%" PRId64,
             row->id, PL_WATCH_BARS, from, row->frame);
    char *lines = fetch(w, path, "application/x-ndjson", &size);
    if (lines) {
        pl_watch_take_buckets(lines, size, row);
        row->bars_of = row->frame;
    }
    free(lines);
}

/* Refresh all rows, and the bars of the first `shown` rows; false if the daemon did not reply. */
static bool look(watcher *w, int shown)
{
    static pl_watch_row found[PL_WATCH_ROWS];
    char path[64];
    int count = 0;
    bool good = true;
    w->trouble[0] = 0;
    if (w->id_count == 0) {
        snprintf(path, sizeof path, "/v1/sessions?limit=%d", PL_WATCH_ROWS);
        pl_json *list = fetch_json(w, path);
        const pl_json *items = pl_json_at(list, "items");
        for (size_t i = 0; i < pl_json_count(items) && count < PL_WATCH_ROWS; i++)
            found[count++] = row_of(w, pl_json_item(items, i));
        good = list;
        pl_json_free(list);
    }
    for (int i = 0; i < w->id_count && good; i++) {
        snprintf(path, sizeof path, "/v1/sessions/%s", w->ids[i]);
        pl_json *session = fetch_json(w, path);
        if (session)
            found[count++] = row_of(w, session);
        good = session;
        pl_json_free(session);
    }
    if (!good)
        return false;
    pl_watch_sort(found, count);
    memcpy(w->rows, found, (size_t)count * sizeof *found);
    w->count = count;
    for (int i = 0; i < count && i < shown; i++)
        look_at_bars(w, &w->rows[i]);
    return true;
}

/* ---- showing ---- */

static void show_live(watcher *w, int rows, int columns)
{
    char *table = pl_watch_table(w->rows, w->count, rows - 3, columns, &w->cli->out), *whole = NULL;
    if (table && asprintf(&whole, "%s%s%s%s\n", table, pl_style_on(&w->cli->out, PL_STYLE_DIM),
                          *w->trouble ? w->trouble : "q quits; sessions continue",
                          pl_style_off(&w->cli->out)) > 0)
        pl_screen_draw(whole);
    free(whole);
    free(table);
}

static void show_as_lines(watcher *w)
{
    char *text = w->cli->json ? pl_watch_json(w->rows, w->count)
                              : pl_watch_table(w->rows, w->count, PL_WATCH_ROWS,
                                               w->cli->out.columns, &w->cli->out);
    if (text)
        printf("%s%s", text, w->cli->json ? "\n" : "");
    free(text);
    if (*w->trouble)
        pl_cli_note(w->cli, w->trouble);
    fflush(stdout);
}

static bool all_over(const watcher *w)
{
    for (int i = 0; i < w->count; i++)
        if (!pl_watch_over(&w->rows[i]))
            return false;
    return w->id_count > 0;
}

/* Runs until the user quits, all named sessions have ended, or Ctrl-C. */
static int watch(watcher *w, double every)
{
    int rows, columns;
    for (;;) {
        pl_screen_size(&rows, &columns);
        bool seen = look(w, w->live ? rows : PL_WATCH_ROWS);
        if (pl_interrupted())
            return PL_EXIT_INTERRUPTED;
        if (w->live)
            show_live(w, rows, columns);
        else
            show_as_lines(w);
        if (seen && all_over(w))
            return PL_EXIT_OK;
        if (w->live) {
            double end = pl_monotonic_seconds() + every;
            for (int key; !pl_interrupted() && pl_monotonic_seconds() < end;) {
                key = pl_screen_key(end - pl_monotonic_seconds());
                if (key == 'q' || key == 'Q')
                    return PL_EXIT_OK;
                pl_screen_size(&rows, &columns);
                show_live(w, rows, columns);
            }
        } else {
            fputs(w->cli->json ? "" : "\n", stdout);
            pl_interruptible_sleep(every);
        }
        if (pl_interrupted())
            return PL_EXIT_INTERRUPTED;
    }
}

int pl_command_watch(pl_cli *cli)
{
    double every;
    if (!pl_cli_number(cli, "--interval", 0.1, 3600, 0, &every))
        return PL_EXIT_USAGE;
    if (cli->argument_count > PL_WATCH_ROWS)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "at most %d sessions", PL_WATCH_ROWS);
    watcher *w = calloc(1, sizeof *w);
    if (!w)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    w->cli = cli;
    pl_json *first = NULL; /* an error of the first request is printed and ends the command */
    int status = pl_api_get(cli, "/v1/sessions?limit=1", &first);
    pl_json_free(first);
    for (int i = 0; i < cli->argument_count && status == PL_EXIT_OK; i++)
        status = pl_api_resolve(cli, cli->arguments[i], w->ids[w->id_count++]);
    bool once = pl_cli_flag(cli, "--once");
    if (status == PL_EXIT_OK && once) {
        if (!look(w, PL_WATCH_ROWS))
            status = pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "%s", w->trouble);
        else
            show_as_lines(w);
    } else if (status == PL_EXIT_OK) {
        w->live = !cli->json && cli->out.tty && pl_screen_open();
        status = watch(w, every > 0 ? every : w->live ? LIVE_EVERY : PLAIN_EVERY);
        pl_screen_close();
        if (w->live) /* print the final state, because the picture is gone */
            show_as_lines(w);
    }
    free(w);
    return status;
}
