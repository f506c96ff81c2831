/* export: a run as files for other programs, or a picture of a frame. A local session is exported locally; a daemon's
 * session is exported by the daemon, with identical bytes. A broken download is resumed after the last byte
 * received. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/export_files.h"
#include "clients/cli/draw/drawing.h"
#include "clients/cli/base/unzip.h"
#include "protocol/export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GIVE_UP_AFTER 120.0 /* s without any bytes */
/* lowest rate, bytes per second, at which a daemon regenerates bytes to skip them */
#define PASSED 20e6

typedef struct exporting {
    pl_cli *cli;
    pl_session_source source;
    pl_export_order order;
    pl_export_files files;
    int64_t bytes, told; /* received from a daemon, and shown */
} exporting;

/* ---- from a directory ---- */

static int fail_export(const exporting *e, const pl_export_fault *fault)
{
    switch (fault->why) {
    case PL_EXPORT_STOPPED:
        return e->files.status; /* it was printed */
    case PL_EXPORT_NO_SHAPE:
    case PL_EXPORT_UNREADABLE:
        return pl_cli_fail(e->cli, PL_EXIT_FILE, "%s", fault->text);
    default:
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "%s", fault->text);
    }
}

static bool take_bytes(void *context, const void *data, size_t size)
{
    return pl_export_files_write(&((exporting *)context)->files, data, size);
}

static bool take_file(void *context, const char *name, const pl_span *spans, int count)
{
    exporting *e = context;
    bool good = pl_export_files_begin(&e->files, name);
    for (int i = 0; good && i < count; i++)
        good = pl_export_files_write(&e->files, spans[i].data, spans[i].size);
    return good && pl_export_files_end(&e->files);
}

static bool show_frames(void *context, int64_t done, int64_t count)
{
    exporting *e = context;
    char text[120];
    if (!e->cli->err.tty || e->cli->json || (done % 16 != 0 && done != count))
        return true;
    snprintf(text, sizeof text, "%s  frame %" PRId64 " of %" PRId64,
             pl_export_describe(e->order.format)->name, done, count);
    pl_terminal_update(&e->cli->err, text);
    return true;
}

static void tell_left_out(void *context, int64_t frame)
{
    const exporting *e = context;
    pl_cli_fail(e->cli, 0, "frame %" PRId64 " is damaged and was skipped", frame);
}

static int export_here(exporting *e)
{
    pl_export *export;
    pl_export_fault fault;
    bool series = e->files.folder;
    pl_export_sink sink = {.context = e,
                           .write = take_bytes,
                           .file = series ? take_file : NULL,
                           .progress = show_frames,
                           .left_out = tell_left_out};
    if (!pl_export_open(e->source.dir_fd, &e->order, &export, &fault))
        return fail_export(e, &fault);
    bool good = (series || pl_export_files_begin(&e->files, NULL)) &&
                pl_export_run(export, &sink, &fault) && (series || pl_export_files_end(&e->files));
    pl_export_close(export);
    if (good || e->files.status != PL_EXIT_OK)
        return e->files.status;
    return fail_export(e, &fault);
}

/* ---- from a daemon ---- */

typedef struct arriving {
    exporting *e;
    pl_unzip unzip; /* of a series */
} arriving;

static void show_bytes(exporting *e, size_t size)
{
    enum { STEP = 4 << 20 };
    char text[120];
    e->bytes += (int64_t)size;
    if (!e->cli->err.tty || e->cli->json || e->bytes - e->told < STEP)
        return;
    e->told = e->bytes;
    snprintf(text, sizeof text, "%s  %.0f MB", pl_export_describe(e->order.format)->name,
             (double)e->bytes / 1e6);
    pl_terminal_update(&e->cli->err, text);
}

static bool begin_member(void *context, const char *name)
{
    return pl_export_files_begin(&((exporting *)context)->files, name);
}

static bool end_member(void *context)
{
    return pl_export_files_end(&((exporting *)context)->files);
}

static bool on_bytes(void *context, const char *data, size_t size)
{
    arriving *a = context;
    show_bytes(a->e, size);
    return a->e->files.folder ? pl_unzip_feed(&a->unzip, data, size)
                              : pl_export_files_write(&a->e->files, data, size);
}

/* A running session is exported as far as it was at the first look, so that a repeated request gives the same bytes. */
static char *address(const exporting *e)
{
    pl_export_order now = e->order, *o = &now;
    char *name = pl_api_escape(o->name), *path = NULL, range[200] = "";
    char *body = pl_api_escape(o->body ? o->body : "");
    size_t room = sizeof range, n = 0;
    if (o->to == INT64_MAX && e->source.frames > 0 && o->from < e->source.frames)
        o->to = e->source.frames - 1;
    if (o->plain && o->from < 0)
        n = (size_t)snprintf(range, room, "&frame=first");
    else if (o->plain)
        n = (size_t)snprintf(range, room, "&frame=%" PRId64, o->from);
    else if (o->from >= 0)
        n = (size_t)snprintf(range, room, "&from=%" PRId64, o->from);
    if (!o->plain && o->to < INT64_MAX)
        n += (size_t)snprintf(range + n, room - n, "&to=%" PRId64, o->to);
    if (!o->plain && o->every > 1)
        n += (size_t)snprintf(range + n, room - n, "&every=%" PRId64, o->every);
    if (e->bytes > 0)
        snprintf(range + n, room - n, "&offset=%" PRId64, e->bytes);
    if (!name || !body ||
        asprintf(&path, "/v1/sessions/%s/export?format=%s%s%s%s%s%s%s", e->source.id,
                 pl_export_describe(o->format)->name, range, o->surface ? "&vertices=surface" : "",
                 *body ? "&body=" : "", body, *name ? "&prefix=" : "", name) < 0)
        path = NULL;
    free(name);
    free(body);
    return path;
}

static int check_arrival(exporting *e, const arriving *a, pl_http_outcome outcome,
                         const pl_http_answer *answer)
{
    if (e->files.status != PL_EXIT_OK)
        return e->files.status;
    if (outcome != PL_HTTP_ANSWERED || answer->status >= 300)
        return pl_api_failed(e->cli, outcome, answer);
    if (!e->files.folder)
        return pl_export_files_end(&e->files) ? PL_EXIT_OK : e->files.status;
    return a->unzip.done ? PL_EXIT_OK
                         : pl_cli_fail(e->cli, PL_EXIT_UNREACHABLE, "the archive is incomplete");
}

/* Request all of it, or the missing rest of the export with this tag. */
static pl_http_outcome ask(arriving *a, char tag[80], pl_http_answer *answer)
{
    char match[100], *path = address(a->e);
    pl_http_call call = {.method = "GET",
                         .path = path,
                         .accept = "*/*",
                         .streamed = true,
                         .silence = (double)a->e->bytes / PASSED,
                         .sink = on_bytes,
                         .context = a};
    if (!path)
        return PL_HTTP_NO_MEMORY;
    snprintf(match, sizeof match, "If-Match: %s", tag);
    if (a->e->bytes > 0)
        call.headers[0] = match;
    pl_http_outcome outcome = pl_http_client_call(a->e->cli->client, &call, answer);
    if (!*tag)
        memcpy(tag, answer->etag, sizeof answer->etag);
    free(path);
    return outcome;
}

/* State of the retries. */
typedef struct retrying {
    int64_t before;     /* bytes before the request */
    double since, wait; /* time since which nothing came; the pause, s */
    int barren;         /* replies without bytes since then */
} retrying;

/* True if the transfer broke and should be requested again, after a pause. If a reachable daemon sends no more bytes,
 * or rejects the request, its reply is final, unless it says that it is busy. */
static bool goes_on(exporting *e, pl_http_outcome outcome, const pl_http_answer *answer,
                    const char *tag, retrying *r)
{
    double now = pl_monotonic_seconds();
    bool came = e->bytes > r->before,
         refused = outcome == PL_HTTP_ANSWERED || answer->status >= 300;
    bool busy = refused && (answer->status == 429 || answer->status == 503);
    bool cut = outcome == PL_HTTP_UNREACHABLE || (outcome == PL_HTTP_BROKEN && !refused);
    if (came || r->since == 0)
        *r = (retrying){.since = now, .wait = 0.25};
    r->barren += answer->status == 200 && !came;
    bool late = now - r->since > GIVE_UP_AFTER + (double)e->bytes / PASSED;
    if (!*tag || !(cut || busy) || r->barren > 1 || late)
        return false;
    pl_terminal_finish(&e->cli->err);
    if (!e->cli->json)
        fprintf(stderr, "cut after %" PRId64 " bytes; continuing from there in %.2g s\n", e->bytes,
                r->wait);
    pl_interruptible_sleep(r->wait);
    r->wait = r->wait < 4 ? 2 * r->wait : 8;
    r->before = e->bytes;
    if (outcome == PL_HTTP_UNREACHABLE)
        pl_api_find_again(e->cli);
    return e->cli->client; /* after Ctrl-C the next call ends at once and reports it */
}

static int export_there(exporting *e)
{
    arriving a = {
        .e = e,
        .unzip = {.begin = begin_member, .write = take_bytes, .end = end_member, .context = e}};
    pl_http_answer answer = {0};
    char tag[sizeof answer.etag] = "";
    e->bytes = e->told = 0;
    int status = pl_api_connect(e->cli);
    if (status == PL_EXIT_OK && !e->files.folder && !pl_export_files_begin(&e->files, NULL))
        status = e->files.status;
    if (status != PL_EXIT_OK)
        return status;
    pl_http_outcome outcome;
    retrying r = {.before = 0};
    do {
        pl_http_answer_clear(&answer);
        outcome = ask(&a, tag, &answer);
    } while (goes_on(e, outcome, &answer, tag, &r));
    status = check_arrival(e, &a, outcome, &answer);
    pl_http_answer_clear(&answer);
    return status;
}

/* ---- the command ---- */

/* `ending`: of a series, else NULL. */
static int export_to(exporting *e, const char *path, const char *ending)
{
    int status = pl_export_files_open(&e->files, e->cli, path, ending);
    e->order.name = e->files.prefix ? e->files.prefix : "";
    if (status == PL_EXIT_OK)
        status = e->source.dir_fd >= 0 ? export_here(e) : export_there(e);
    pl_terminal_finish(&e->cli->err);
    if (status == PL_EXIT_OK)
        pl_export_files_report(&e->files);
    pl_export_files_close(&e->files);
    return status;
}

/* box.pc2 moves the vertices of box.obj. */
static int export_mesh_beside(exporting *e, const char *cache)
{
    const char *dot = strrchr(cache, '.'), *slash = strrchr(cache, '/');
    int stem = (int)(dot && (!slash || dot > slash) ? dot - cache : (long)strlen(cache));
    char *path = NULL;
    if (asprintf(&path, "%.*s.obj", stem, cache) < 0)
        return pl_cli_fail(e->cli, PL_EXIT_FAILED, "out of memory");
    e->order.format = PL_EXPORT_OBJ;
    e->order.plain = true;
    int status = export_to(e, path, NULL);
    free(path);
    return status;
}

static int export_all(exporting *e, const char *path)
{
    const pl_export_about *format = pl_export_describe(e->order.format);
    int status = export_to(e, path, format->index);
    if (status == PL_EXIT_OK && format->moves_mesh)
        status = export_mesh_beside(e, path);
    return status;
}

/* Pictures and films are drawn locally, wherever the session is. */
static int draw(pl_cli *cli, pl_session_source *source, const char *path, const char *what)
{
    struct stat st;
    pl_drawing d = {.cli = cli, .source = source, .path = path, .what = what};
    if (source->frames < 1)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "no frame yet");
    int status = strcmp(what, "png") == 0 ? pl_draw_png(&d) : pl_draw_film(&d);
    pl_terminal_finish(&cli->err);
    pl_session_shape_clear(&d.shape);
    pl_field_clear(&d.field);
    if (status == PL_EXIT_OK && stat(path, &st) == 0)
        pl_export_files_report(
            &(pl_export_files){.cli = cli, .path = path, .count = 1, .bytes = st.st_size});
    return status;
}

/* The format that was given, or that the path's ending implies; drawn formats are separate from the others. */
static bool choose_format(const char *given, const char *path, pl_export_format *out,
                          const char **drawn)
{
    static const char *const drawings[] = {"png", "mp4", "webm", "gif"};
    const char *dot = strrchr(path, '.');
    const char *name = given ? given : dot && strcmp(dot, ".pvd") == 0 ? "vtu" : dot ? dot + 1 : "";
    for (size_t k = 0; k < sizeof drawings / sizeof *drawings; k++)
        if (strcmp(name, drawings[k]) == 0)
            *drawn = drawings[k];
    return *drawn || pl_export_format_parse(name, out);
}

/* Read the order from the options, before reading the session. Returns an exit status. */
static int read_order(pl_cli *cli, const char *path, pl_export_order *order, const char **drawn)
{
    const char *given = pl_cli_option(cli, "--format");
    if (!path || !*path)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out PATH is missing");
    if (!choose_format(given, path, &order->format, drawn))
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "%s: its extension gives no format; expected " PL_EXPORT_COMMAS
                           "pvd, png, mp4, webm or gif, or give --format",
                           path);
    order->body = pl_cli_option(cli, "--body");
    order->surface = pl_cli_flag(cli, "--surface");
    bool part = order->body || order->surface;
    if (part && *drawn)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--body and --surface: pictures show all bodies");
    if (part && !pl_export_describe(order->format)->bodies)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--body and --surface require a format with the mesh: a table of "
                           "metrics covers the whole session");
    return pl_cli_integer(cli, "--from", 0, INT64_MAX, -1, &order->from) &&
                   pl_cli_integer(cli, "--to", 0, INT64_MAX, INT64_MAX, &order->to) &&
                   pl_cli_integer(cli, "--every", 1, 1 << 30, 1, &order->every)
               ? PL_EXIT_OK
               : PL_EXIT_USAGE;
}

int pl_command_export(pl_cli *cli)
{
    exporting e = {.cli = cli};
    const char *path = pl_cli_option(cli, "--out"), *drawn = NULL;
    int status = read_order(cli, path, &e.order, &drawn);
    if (status == PL_EXIT_OK)
        status = pl_session_source_open(cli, cli->arguments[0], &e.source);
    if (status != PL_EXIT_OK)
        return status;
    status = drawn ? draw(cli, &e.source, path, drawn) : export_all(&e, path);
    pl_session_source_close(&e.source);
    return status;
}
