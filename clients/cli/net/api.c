#include "clients/cli/net/api.h"

#include "clients/cli/net/target.h"

#include "protocol/text/problem.h"

#include <stdlib.h>
#include <string.h>

int pl_api_connect(pl_cli *cli)
{
    if (cli->client)
        return PL_EXIT_OK;
    pl_target target;
    int status = pl_target_find(cli, &target);
    if (status != PL_EXIT_OK)
        return status;
    cli->client = pl_http_client_create(target.url, target.token);
    cli->server_url = target.url;
    cli->server_moves = target.from_state;
    target.url = NULL;
    pl_target_clear(&target);
    return cli->client ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
}

void pl_api_find_again(pl_cli *cli)
{
    pl_target target;
    if (!cli->server_moves || pl_target_find(cli, &target) != PL_EXIT_OK)
        return;
    if (cli->server_url && strcmp(target.url, cli->server_url) != 0) {
        pl_http_client_destroy(cli->client);
        free(cli->server_url);
        cli->client = NULL;
        cli->server_url = NULL;
        pl_api_connect(cli);
    }
    pl_target_clear(&target);
}

/* The problem report that the daemon sent, or its bare status. */
static int refused(pl_cli *cli, const pl_http_answer *answer)
{
    int status = 0;
    char *title = NULL, *detail = NULL;
    pl_faults faults = {0};
    if (cli->json && answer->body) {
        puts(answer->body);
    } else if (answer->body &&
               pl_problem_decode(answer->body, answer->size, &status, &title, &detail, &faults)) {
        bool report_detail = detail && *detail;
        pl_cli_fail(cli, 0, "%s (%ld)%s%s", title ? title : "refused", answer->status,
                    report_detail ? ": " : "", report_detail ? detail : "");
        pl_cli_print_faults(cli, &faults);
    } else {
        pl_cli_fail(cli, 0, "%s answered with status %ld", cli->server_url, answer->status);
    }
    if (answer->status == 401 && !cli->json)
        fprintf(stderr, "  give the daemon's token: --token T, PLIANT_TOKEN, or --state DIR\n");
    free(title);
    free(detail);
    pl_faults_clear(&faults);
    return answer->status == 401 || answer->status == 403   ? PL_EXIT_UNAUTHORISED
           : answer->status == 404 || answer->status == 410 ? PL_EXIT_NOT_FOUND
                                                            : PL_EXIT_FAILED;
}

int pl_api_failed(pl_cli *cli, pl_http_outcome outcome, const pl_http_answer *answer)
{
    switch (outcome) {
    case PL_HTTP_ANSWERED:
        return refused(cli, answer);
    case PL_HTTP_UNREACHABLE:
        pl_cli_fail(cli, 0, "cannot reach %s: %s", cli->server_url, answer->error);
        fprintf(stderr, "  is pliantd running there? `pliant run` needs no daemon\n");
        return PL_EXIT_UNREACHABLE;
    case PL_HTTP_INTERRUPTED:
        return PL_EXIT_INTERRUPTED;
    case PL_HTTP_NO_MEMORY:
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    case PL_HTTP_BROKEN:
    case PL_HTTP_STOPPED:
        break;
    }
    return pl_cli_fail(cli, PL_EXIT_UNREACHABLE,
                       "the connection to %s was lost during the reply: %s", cli->server_url,
                       answer->error);
}

int pl_api_call(pl_cli *cli, const pl_http_call *call, pl_http_answer *answer)
{
    int status = pl_api_connect(cli);
    if (status != PL_EXIT_OK)
        return status;
    pl_http_outcome outcome = pl_http_client_call(cli->client, call, answer);
    if (outcome == PL_HTTP_ANSWERED && answer->status < 300)
        return PL_EXIT_OK;
    status = pl_api_failed(cli, outcome, answer);
    pl_http_answer_clear(answer);
    return status;
}

int pl_api_get_text(pl_cli *cli, const char *path, const char *accept, char **out, size_t *size)
{
    pl_http_answer answer;
    if (!path)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    int status = pl_api_call(cli, &(pl_http_call){.method = "GET", .path = path, .accept = accept},
                             &answer);
    if (status != PL_EXIT_OK)
        return status;
    *size = answer.size;
    *out = answer.body ? answer.body : strdup("");
    return *out ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
}

int pl_api_get(pl_cli *cli, const char *path, pl_json **out)
{
    char *text, error[160];
    size_t size;
    int status = pl_api_get_text(cli, path, NULL, &text, &size);
    if (status != PL_EXIT_OK)
        return status;
    *out = pl_json_parse(text, size, error);
    free(text);
    return *out ? PL_EXIT_OK
                : pl_cli_fail(cli, PL_EXIT_FAILED, "%s%s is not valid JSON: %s", cli->server_url,
                              path, error);
}

int pl_api_post(pl_cli *cli, const char *path, const char *body, size_t size, const char *key,
                pl_http_answer *answer)
{
    char *header = NULL;
    pl_http_call call = {.method = "POST",
                         .path = path,
                         .content_type = "application/json",
                         .body = body,
                         .body_size = size};
    if (key && asprintf(&header, "Idempotency-Key: %s", key) < 0)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    call.headers[0] = header;
    int status = pl_api_call(cli, &call, answer);
    free(header);
    return status;
}

int pl_api_order(pl_cli *cli, const char *method, const char *path, char *body, pl_json **out)
{
    pl_http_answer answer;
    pl_http_call call = {.method = method,
                         .path = path,
                         .content_type = body ? "application/json" : NULL,
                         .body = body,
                         .body_size = body ? strlen(body) : 0};
    int status = pl_api_call(cli, &call, &answer);
    if (out)
        *out = NULL;
    if (status == PL_EXIT_OK) {
        if (out)
            *out = answer.size ? pl_json_parse(answer.body, answer.size, NULL) : NULL;
        pl_http_answer_clear(&answer);
    }
    free(body);
    return status;
}

char *pl_api_body(pl_json_writer *w, bool good)
{
    char *text = pl_json_finish(w, NULL);
    if (good)
        return text;
    free(text);
    return NULL;
}

pl_http_outcome pl_api_stream(pl_cli *cli, const char *path, const char *accept,
                              bool (*sink)(void *context, const char *data, size_t size),
                              void *context, pl_http_answer *answer)
{
    pl_http_call call = {.method = "GET",
                         .path = path,
                         .accept = accept,
                         .streamed = true,
                         .sink = sink,
                         .context = context};
    return pl_http_client_call(cli->client, &call, answer);
}

char *pl_api_escape(const char *text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    char *escaped = malloc(3 * strlen(text) + 1), *out = escaped;
    for (const char *at = text; escaped && *at; at++) {
        if (strchr(plain, *at))
            *out++ = *at;
        else
            out += sprintf(out, "%%%02X", (unsigned char)*at);
    }
    if (escaped)
        *out = 0;
    return escaped;
}

char *pl_api_path(const char *format, const char *id)
{
    char *path = NULL;
    const char *hole = strstr(format, "%s");
    if (asprintf(&path, "%.*s%s%s", (int)(hole - format), format, id, hole + 2) < 0)
        return NULL;
    return path;
}

/* Match one page of the list: count the entries with this beginning, and keep the last. */
static int match_page(pl_cli *cli, const char *list_path, const char *beginning, char **next,
                      int *found, char id[PL_ID_TEXT])
{
    char *path = NULL;
    if (asprintf(&path, "%s?limit=500%s%s", list_path, *next ? "&cursor=" : "",
                 *next ? *next : "") < 0)
        path = NULL;
    pl_json *list = NULL;
    int status = pl_api_get(cli, path, &list);
    free(path);
    free(*next);
    *next = NULL;
    if (status != PL_EXIT_OK)
        return status;
    const pl_json *items = pl_json_at(list, "items");
    for (size_t i = 0; i < pl_json_count(items); i++) {
        const char *candidate = pl_json_string(pl_json_item(items, i), "id", "");
        if (strncmp(candidate, beginning, strlen(beginning)) != 0 ||
            strlen(candidate) >= PL_ID_TEXT)
            continue;
        ++*found;
        strcpy(id, candidate);
    }
    const char *cursor = pl_json_string(list, "next", NULL);
    *next = cursor ? strdup(cursor) : NULL;
    pl_json_free(list);
    return PL_EXIT_OK;
}

int pl_api_resolve_in(pl_cli *cli, const char *list, const char *noun, const char *beginning,
                      char id[PL_ID_TEXT])
{
    size_t length = strlen(beginning);
    if (length == 0 || length >= PL_ID_TEXT || strspn(beginning, "0123456789abcdef") != length)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "'%s' is not a %s ID: expected up to %d digits 0-9 a-f", beginning, noun,
                           PL_ID_TEXT - 1);
    if (length == PL_ID_TEXT - 1) {
        strcpy(id, beginning);
        return PL_EXIT_OK;
    }
    int found = 0;
    char *next = NULL;
    do {
        int status = match_page(cli, list, beginning, &next, &found, id);
        if (status != PL_EXIT_OK)
            return status;
    } while (next && found < 2);
    free(next);
    if (found == 1)
        return PL_EXIT_OK;
    return found == 0
               ? pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "no %s begins with '%s'", noun, beginning)
               : pl_cli_fail(cli, PL_EXIT_USAGE,
                             "more than one %s begins with '%s': give more digits", noun,
                             beginning);
}

/* ---- sessions by ID, name, or as the last one ---- */

/* Find the user's newest session; a guest of a share link has only the session it shows. */
static int find_last(pl_cli *cli, char id[PL_ID_TEXT])
{
    pl_json *me = NULL, *list = NULL;
    char *path = NULL, *user = NULL;
    int status = pl_api_get(cli, "/v1/me", &me);
    if (status == PL_EXIT_OK)
        user = pl_api_escape(pl_json_string(me, "user", ""));
    if (asprintf(&path, "/v1/sessions?limit=1%s%s", user && *user ? "&owner=" : "",
                 user ? user : "") < 0)
        path = NULL;
    if (status == PL_EXIT_OK)
        status = pl_api_get(cli, path, &list);
    const char *newest = pl_json_string(pl_json_item(pl_json_at(list, "items"), 0), "id", "");
    if (status == PL_EXIT_OK && !*newest)
        status = pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "--last: you have no sessions");
    if (status == PL_EXIT_OK)
        snprintf(id, PL_ID_TEXT, "%s", newest);
    pl_json_free(me);
    pl_json_free(list);
    free(user);
    free(path);
    return status;
}

/* Count the sessions named exactly `name`; id is that of the newest. */
static int match_names(pl_cli *cli, const char *name, int *found, char id[PL_ID_TEXT])
{
    char *escaped = pl_api_escape(name), *path = NULL;
    pl_json *list = NULL;
    if (!escaped || asprintf(&path, "/v1/sessions?limit=500&name=%s", escaped) < 0)
        path = NULL;
    int status = pl_api_get(cli, path, &list);
    const pl_json *items = pl_json_at(list, "items");
    for (size_t i = 0; i < pl_json_count(items); i++) {
        const pl_json *item = pl_json_item(items, i);
        if (strcmp(pl_json_string(item, "name", ""), name) == 0 && ++*found == 1)
            snprintf(id, PL_ID_TEXT, "%s", pl_json_string(item, "id", ""));
    }
    pl_json_free(list);
    free(escaped);
    free(path);
    return status;
}

/* Find a session by its whole ID or by a unique beginning; found 0: neither. */
static int match_ids(pl_cli *cli, const char *beginning, int *found, char id[PL_ID_TEXT])
{
    size_t length = strlen(beginning);
    char *next = NULL;
    int status = PL_EXIT_OK;
    if (length >= PL_ID_TEXT || strspn(beginning, "0123456789abcdef") != length)
        return PL_EXIT_OK;
    if (length == PL_ID_TEXT - 1) {
        *found = 1;
        strcpy(id, beginning);
        return PL_EXIT_OK;
    }
    do
        status = match_page(cli, "/v1/sessions", beginning, &next, found, id);
    while (status == PL_EXIT_OK && next && *found < 2);
    free(next);
    return status;
}

int pl_api_resolve(pl_cli *cli, const char *word, char id[PL_ID_TEXT])
{
    int ids = 0, names = 0;
    char named[PL_ID_TEXT] = "";
    if (strcmp(word, PL_LAST) == 0)
        return find_last(cli, id);
    if (!*word)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "an empty session ID or name");
    int status = match_ids(cli, word, &ids, id);
    if (status == PL_EXIT_OK && ids != 1)
        status = match_names(cli, word, &names, named);
    if (status != PL_EXIT_OK || ids == 1)
        return status;
    if (ids > 1 && names == 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "more than one session begins with '%s': give more digits", word);
    if (names > 1)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "%d sessions are named '%s'; the newest is %s: give an ID", names, word,
                           named);
    if (names == 0)
        return pl_cli_fail(cli, PL_EXIT_NOT_FOUND,
                           "no session has the name '%s', or an ID that begins with it", word);
    snprintf(id, PL_ID_TEXT, "%s", named);
    return PL_EXIT_OK;
}

void pl_api_print(const pl_cli *cli, const pl_json *value)
{
    char *text = pl_json_dump(value, !cli->json);
    if (text)
        puts(text);
    free(text);
}
