/* pliant edit, queue and meshes: edits a session's notes, and lists waiting sessions and uploaded meshes. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- edit ---- */

/* "run=8,old=": each sets a label, or without a value removes it. False if the text is not such a list. */
static bool put_labels(pl_json_writer *w, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    bool good = copy && *copy;
    pl_json_key(w, "labels");
    pl_json_begin_object(w);
    for (char *one; good && (one = strtok_r(rest, ",", &rest));) {
        char *equals = strchr(one, '=');
        good = equals && equals > one;
        if (!good)
            break;
        *equals = 0;
        pl_json_set_string(w, one, equals[1] ? equals + 1 : NULL); /* NULL is null: remove it */
    }
    pl_json_end_object(w);
    free(copy);
    return good;
}

/* "last=40,every=10,days=3", or "all" alone. False if the text is not such a list. */
static bool put_retention(pl_json_writer *w, const char *text)
{
    static const char *const names[] = {"last", "every", "days"};
    if (strcmp(text, "all") == 0) {
        pl_json_set_null(w, "retention");
        return true;
    }
    char *copy = strdup(text), *rest = copy;
    bool good = copy && *copy;
    pl_json_key(w, "retention");
    pl_json_begin_object(w);
    for (char *one; good && (one = strtok_r(rest, ",", &rest));) {
        char *equals = strchr(one, '='), *end = "x";
        bool known = false;
        for (size_t i = 0; equals && i < sizeof names / sizeof *names; i++)
            known = known || (strlen(names[i]) == (size_t)(equals - one) &&
                              strncmp(one, names[i], (size_t)(equals - one)) == 0);
        double value = known ? strtod(equals + 1, &end) : 0;
        good = known && equals[1] && !*end && value >= 0;
        if (!good)
            break;
        *equals = 0;
        if (value == floor(value) && value < 1e15)
            pl_json_set_integer(w, one, (int64_t)value);
        else
            pl_json_set_number(w, one, value);
    }
    pl_json_end_object(w);
    free(copy);
    return good;
}

/* The options as a merge patch, malloc'ed; NULL after printing what is wrong. */
static char *build_patch(const pl_cli *cli, int *status)
{
    pl_json_writer w = {0};
    int64_t priority;
    const char *name = pl_cli_option(cli, "--name"), *labels = pl_cli_option(cli, "--label");
    const char *webhook = pl_cli_option(cli, "--webhook"), *keep = pl_cli_option(cli, "--keep");
    bool any = name || labels || webhook || keep || pl_cli_option(cli, "--priority");
    bool good = any && pl_cli_integer(cli, "--priority", -100, 100, 0, &priority);
    pl_json_begin_object(&w);
    if (name)
        pl_json_set_string(&w, "name", name);
    if (good && pl_cli_option(cli, "--priority"))
        pl_json_set_integer(&w, "priority", priority);
    if (webhook && strcmp(webhook, "none") == 0) {
        pl_json_set_null(&w, "webhook");
    } else if (webhook) {
        pl_json_key(&w, "webhook");
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "url", webhook);
        pl_json_end_object(&w);
    }
    *status = PL_EXIT_USAGE;
    if (!any)
        pl_cli_fail(cli, PL_EXIT_USAGE, "nothing to change: give --name, --label, ...");
    if (good && labels && !put_labels(&w, labels)) {
        pl_cli_fail(cli, PL_EXIT_USAGE, "--label: '%s' is not a list such as run=8,old=", labels);
        good = false;
    }
    if (good && keep && !put_retention(&w, keep)) {
        pl_cli_fail(cli, PL_EXIT_USAGE,
                    "--keep: '%s' is neither a list such as last=40,every=10 nor all", keep);
        good = false;
    }
    pl_json_end_object(&w);
    char *text = pl_api_body(&w, good);
    if (!good)
        return NULL;
    *status = text ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    return text;
}

static int send_patch(pl_cli *cli, const char *id, const char *patch)
{
    pl_http_answer answer;
    char *path = pl_api_path(
        pl_cli_option(cli, "--prune") ? "/v1/sessions/%s?prune=true" : "/v1/sessions/%s", id);
    pl_http_call call = {.method = "PATCH",
                         .path = path,
                         .content_type = "application/merge-patch+json",
                         .body = patch,
                         .body_size = strlen(patch)};
    int status = path ? pl_api_call(cli, &call, &answer)
                      : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    free(path);
    if (status != PL_EXIT_OK)
        return status;
    if (cli->json && answer.body)
        puts(answer.body);
    else
        fprintf(stderr, "%.12s changed\n", id);
    pl_http_answer_clear(&answer);
    return status;
}

int pl_command_edit(pl_cli *cli)
{
    int status, worst = PL_EXIT_OK;
    char *patch = build_patch(cli, &status);
    if (!patch)
        return status;
    for (int i = 0; i < cli->argument_count; i++) {
        char id[PL_ID_TEXT];
        status = pl_api_resolve(cli, cli->arguments[i], id);
        if (status == PL_EXIT_OK)
            status = send_patch(cli, id, patch);
        worst = status == PL_EXIT_OK ? worst : status;
    }
    free(patch);
    return worst;
}

/* ---- queue ---- */

static void print_device(const pl_json *device)
{
    printf("%s  %" PRId64 " of %" PRId64 " cores, %.1f of %.1f GB, %" PRId64 " sessions%s\n",
           pl_json_string(device, "device", ""), pl_json_integer(device, "cores_used", 0),
           pl_json_integer(device, "cores", 0), pl_json_number(device, "memory_used", 0) / 1e9,
           pl_json_number(device, "memory", 0) / 1e9, pl_json_integer(device, "sessions", 0),
           pl_json_boolean(device, "draining", false) ? ", draining" : "");
}

static void print_running(const pl_cli *cli, const pl_json *session)
{
    (void)cli;
    const char *gpu = pl_json_string(session, "resources/gpu", "");
    printf("     %.12s  %-20s  %-12s  %" PRId64 " core%s%s%s, frame %" PRId64 " of %" PRId64 "\n",
           pl_json_string(session, "id", ""), pl_json_string(session, "name", ""),
           pl_json_string(session, "owner", ""), pl_json_integer(session, "resources/cores", 0),
           pl_json_integer(session, "resources/cores", 0) == 1 ? "" : "s", *gpu ? ", " : "", gpu,
           pl_json_integer(session, "progress/frame", 0),
           pl_json_integer(session, "progress/frames", 0));
}

static void print_waiting(const pl_cli *cli, const pl_json *session)
{
    (void)cli;
    const char *start = pl_json_string(session, "queue/estimated_start", "");
    printf("%3" PRId64 "  %.12s  %-20s  %-12s  %s%s%s\n",
           pl_json_integer(session, "queue/position", 0), pl_json_string(session, "id", ""),
           pl_json_string(session, "name", ""), pl_json_string(session, "owner", ""),
           pl_json_string(session, "queue/reason", ""), *start ? "; starts about " : "", start);
}

int pl_command_queue(pl_cli *cli)
{
    pl_json *queue = NULL, *devices = NULL;
    int status = pl_api_get(cli, cli->json ? "/v1/queue?limit=500" : "/v1/queue?limit=1", &queue);
    if (status == PL_EXIT_OK && cli->json) {
        pl_api_print(cli, queue);
    } else if (status == PL_EXIT_OK && (status = pl_api_get(cli, "/v1/devices", &devices)) == 0) {
        const pl_json *rows = pl_json_at(devices, "items");
        for (size_t i = 0; i < pl_json_count(rows); i++)
            print_device(pl_json_item(rows, i));
        printf("%" PRId64 " run, %" PRId64 " wait\n", pl_json_integer(queue, "running", 0),
               pl_json_integer(queue, "queued", 0));
        status = pl_listing_print(cli, "/v1/sessions?state=running", PL_LISTING_ALL, print_running);
        status = status ? status
                        : pl_listing_print(cli, "/v1/queue", PL_LISTING_ALL, print_waiting);
    }
    pl_json_free(queue);
    pl_json_free(devices);
    return status;
}

/* ---- meshes ---- */

static void print_mesh(const pl_cli *cli, const pl_json *m)
{
    printf("%s  %10" PRId64 " bytes  %-6s %8" PRId64 " vertices  %s%s\n",
           pl_json_string(m, "hash", ""), pl_json_integer(m, "bytes", 0),
           pl_json_string(m, "format", ""), pl_json_integer(m, "vertices", 0),
           pl_json_string(m, "uploaded", ""),
           pl_json_boolean(m, "yours", true) ? "" : "  (a group's)");
}

int pl_command_meshes(pl_cli *cli)
{
    const char *hash = pl_cli_option(cli, "--delete");
    if (!hash)
        return pl_listing_print(cli, "/v1/meshes", PL_LISTING_ALL, print_mesh);
    if (strlen(hash) != 64 || strspn(hash, "0123456789abcdef") != 64)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--delete: '%s' is not the hash of a mesh", hash);
    char *path = pl_api_path("/v1/meshes/%s", hash);
    int status = path ? pl_api_order(cli, "DELETE", path, NULL, NULL)
                      : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    free(path);
    if (status == PL_EXIT_OK)
        fprintf(stderr, "%.12s released\n", hash);
    return status;
}
