/* pliant control, step, branch and probes: steers a daemon's session, and shows its probes. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"
#include "protocol/scene/control_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Read a whole file, malloc'ed with a NUL at the end; NULL with errno. */
static char *read_all(FILE *file, size_t limit)
{
    char *text = malloc(limit + 2);
    if (!text)
        return NULL;
    size_t size = fread(text, 1, limit + 1, file);
    if (ferror(file) || size > limit) {
        errno = ferror(file) ? errno : EFBIG;
        free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* The control in the argument: JSON text, or the name of a file. */
static char *read_control(const char *argument)
{
    const char *begin = argument + strspn(argument, " \t\r\n");
    if (*begin == '{' || *begin == '[')
        return strdup(argument);
    bool standard = strcmp(argument, "-") == 0;
    FILE *file = standard ? stdin : fopen(argument, "re");
    char *text = file ? read_all(file, PL_CONTROL_BYTES_MAX) : NULL;
    int error = errno;
    if (file && !standard)
        fclose(file);
    errno = error;
    return text;
}

/* POST to a session and print its reply: with --json unchanged, otherwise a line with `done` and the reply's `key`.
 * Takes `body`. */
static int tell(pl_cli *cli, const char *id, const char *path, char *body, const char *done,
                const char *key)
{
    pl_json *value;
    int status = pl_api_order(cli, "POST", path, body, &value);
    if (status != PL_EXIT_OK)
        return status;
    if (cli->json)
        pl_api_print(cli, value);
    else
        fprintf(stderr, "%.12s %s %" PRId64 "\n", id, done, pl_json_integer(value, key, 0));
    pl_json_free(value);
    return status;
}

static void print_control(const pl_cli *cli, const pl_json *item)
{
    char *text = pl_json_dump(pl_json_at(item, "control"), false), frame[32] = "none yet";
    if (!pl_json_is_null(pl_json_at(item, "frame")))
        snprintf(frame, sizeof frame, "frame %" PRId64, pl_json_integer(item, "frame", 0));
    printf("%4" PRId64 "  %-12s %s\n", pl_json_integer(item, "control_id", 0), frame,
           text ? text : "");
    free(text);
}

int pl_command_controls(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    char *path = status == PL_EXIT_OK ? pl_api_path("/v1/sessions/%s/controls", id) : NULL;
    if (path)
        status = pl_listing_print(cli, path, PL_LISTING_ALL, print_control);
    free(path);
    return status;
}

int pl_command_control(pl_cli *cli)
{
    char id[PL_ID_TEXT];
    char *control = read_control(cli->arguments[1]);
    if (!control)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "%s: %s", cli->arguments[1], strerror(errno));
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    char *path = status == PL_EXIT_OK ? pl_api_path("/v1/sessions/%s/controls", id) : NULL;
    if (path)
        status = tell(cli, id, path, control, "takes control", "control_id");
    else
        free(control);
    free(path);
    return status;
}

int pl_command_branch(pl_cli *cli)
{
    int64_t frame;
    char id[PL_ID_TEXT], at[112] = "", *body = NULL;
    const char *snapshot = pl_cli_option(cli, "--snapshot");
    if (!pl_cli_integer(cli, "--frame", 0, INT64_MAX / 4, 0, &frame))
        return PL_EXIT_USAGE;
    if (snapshot && strcspn(snapshot, "\"\\") != strlen(snapshot))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "'%.64s' is not a valid snapshot name", snapshot);
    char *patch = cli->argument_count > 1 ? read_control(cli->arguments[1]) : strdup("{}");
    if (!patch)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "%s: %s", cli->arguments[1], strerror(errno));
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    char *path = status == PL_EXIT_OK ? pl_api_path("/v1/sessions/%s/branch", id) : NULL;
    if (pl_cli_option(cli, "--frame"))
        snprintf(at, sizeof at, "\"frame\": %" PRId64 ", ", frame);
    if (snapshot)
        snprintf(at + strlen(at), sizeof at - strlen(at), "\"snapshot\": \"%.64s\", ", snapshot);
    if (path && asprintf(&body, "{%s\"scene\": %s}", at, patch) < 0)
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    pl_json *made = NULL;
    if (path && status == PL_EXIT_OK) {
        status = pl_api_order(cli, "POST", path, body, &made);
        body = NULL;
    }
    if (path && status == PL_EXIT_OK) {
        if (cli->json)
            pl_api_print(cli, made);
        else
            puts(pl_json_string(made, "id", ""));
    }
    pl_json_free(made);
    free(body);
    free(path);
    free(patch);
    return status;
}

int pl_command_step(pl_cli *cli)
{
    int64_t frames;
    int worst = PL_EXIT_OK;
    if (!pl_cli_integer(cli, "--frames", 1, 1000000, 1, &frames))
        return PL_EXIT_USAGE;
    for (int i = 0; i < cli->argument_count; i++) {
        char id[PL_ID_TEXT], *path = NULL;
        int status = pl_api_resolve(cli, cli->arguments[i], id);
        if (status == PL_EXIT_OK &&
            asprintf(&path, "/v1/sessions/%s/step?frames=%" PRId64, id, frames) < 0)
            status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        else if (status == PL_EXIT_OK)
            status = tell(cli, id, path, strdup(""), "continues to frame", "until");
        free(path);
        worst = status != PL_EXIT_OK ? status : worst;
    }
    return worst;
}

/* Page by page: a table has as many rows as the daemon returns at once. */
int pl_command_probes(pl_cli *cli)
{
    enum { PAGE = 10000 };
    int64_t from;
    char id[PL_ID_TEXT];
    if (!pl_cli_integer(cli, "--from", 0, INT64_MAX / 4, 0, &from))
        return PL_EXIT_USAGE;
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    for (bool first = true; status == PL_EXIT_OK; first = false, from += PAGE) {
        char *path = NULL, *text = NULL;
        size_t size = 0;
        if (asprintf(&path, "/v1/sessions/%s/probes?from=%" PRId64 "&limit=%d", id, from, PAGE) < 0)
            return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        status = pl_api_get_text(cli, path, cli->json ? "application/x-ndjson" : "text/csv", &text,
                                 &size);
        free(path);
        const char *rows = text;
        if (status == PL_EXIT_OK && !first && !cli->json) { /* the head of a page was seen */
            const char *head = memchr(text, '\n', size);
            rows = head ? head + 1 : text + size;
        }
        if (status == PL_EXIT_OK)
            fwrite(rows, 1, size - (size_t)(rows - text), stdout);
        bool more = status == PL_EXIT_OK && size > 0;
        free(text);
        if (!more)
            break;
    }
    return status;
}
