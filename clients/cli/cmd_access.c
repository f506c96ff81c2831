/* Commands about who may do what: tokens, share links, a browser's login, and oneself. */
#include "clients/cli/api.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of "30m", "12h", "90d"; 0 for "never"; -1 after saying that it is none. */
static int64_t lifetime(const pl_cli *cli, const char *text)
{
    static const struct {
        const char *unit;
        int64_t seconds;
    } units[] = {{"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end;
    if (strcmp(text, "never") == 0)
        return 0;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!errno && end > text && n > 0 && n <= 100000 && strcmp(end, units[i].unit) == 0)
            return n * units[i].seconds;
    pl_cli_fail(cli, PL_EXIT_USAGE, "--expires: '%s' is no time such as 30m, 12h, 90d or never",
                text);
    return -1;
}

/* A request with a JSON body (taken; NULL: none); *out gets the reply, NULL where it has no body. */
static int order(pl_cli *cli, const char *method, const char *path, char *body, pl_json **out)
{
    pl_http_answer answer;
    pl_http_call call = {.method = method,
                         .path = path,
                         .content_type = body ? "application/json" : NULL,
                         .body = body,
                         .body_size = body ? strlen(body) : 0};
    int status = pl_api_call(cli, &call, &answer);
    *out = NULL;
    if (status == PL_EXIT_OK) {
        *out = answer.size ? pl_json_parse(answer.body, answer.size, NULL) : NULL;
        pl_http_answer_clear(&answer);
    }
    free(body);
    return status;
}

static void print_scopes(const pl_json *value)
{
    const pl_json *scopes = pl_json_at(value, "scopes");
    for (size_t i = 0; i < pl_json_count(scopes); i++)
        printf("%s%s", i ? "," : "", pl_json_string(pl_json_item(scopes, i), "", ""));
}

/* ---- tokens ------------------------------------------------------------------------------------
 */

static int token_create(pl_cli *cli)
{
    const char *name = pl_cli_option(cli, "--name"), *user = pl_cli_option(cli, "--user");
    const char *scopes = pl_cli_option(cli, "--scopes"), *expires = pl_cli_option(cli, "--expires");
    int64_t seconds = lifetime(cli, expires ? expires : "90d");
    if (seconds < 0)
        return PL_EXIT_USAGE;
    pl_json_writer w = {0};
    pl_json *made;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "name", name ? name : "");
    if (user)
        pl_json_set_string(&w, "user", user);
    if (scopes)
        pl_json_set_string(&w, "scopes", scopes);
    pl_json_set_integer(&w, "expires_in", seconds);
    pl_json_end_object(&w);
    int status = order(cli, "POST", "/v1/tokens", pl_json_finish(&w, NULL), &made);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, made);
    else if (status == PL_EXIT_OK)
        printf("%s\n", pl_json_string(made, "token", ""));
    pl_json_free(made);
    return status;
}

static int token_list(pl_cli *cli)
{
    pl_json *list = NULL;
    int status = pl_api_get(cli, "/v1/tokens?limit=500", &list);
    const pl_json *items = pl_json_at(list, "items");
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, list);
    for (size_t i = 0; status == PL_EXIT_OK && !cli->json && i < pl_json_count(items); i++) {
        const pl_json *t = pl_json_item(items, i);
        printf("%s  %-5s  %-12s  until %s  ", pl_json_string(t, "id", ""),
               pl_json_string(t, "kind", ""), pl_json_string(t, "user", ""),
               pl_json_string(t, "expires", "revoked"));
        print_scopes(t);
        printf("  %s\n", pl_json_string(t, "name", ""));
    }
    pl_json_free(list);
    return status;
}

/* DELETE what lies at a path that ends in an id. */
static int revoke(pl_cli *cli, const char *format, const char *id)
{
    pl_json *nothing;
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "'%s' is no id of 32 hex digits", id);
    char *path = pl_api_path(format, id);
    int status = order(cli, "DELETE", path, NULL, &nothing);
    pl_json_free(nothing);
    free(path);
    return status;
}

int pl_command_token(pl_cli *cli)
{
    const char *verb = cli->arguments[0];
    int words = cli->argument_count;
    if (strcmp(verb, "create") == 0 && words == 1)
        return token_create(cli);
    if (strcmp(verb, "list") == 0 && words == 1)
        return token_list(cli);
    if (strcmp(verb, "revoke") == 0 && words == 2)
        return revoke(cli, "/v1/tokens/%s", cli->arguments[1]);
    return pl_cli_fail(cli, PL_EXIT_USAGE, "create, list or revoke ID, not '%s'", verb);
}

/* ---- share links -------------------------------------------------------------------------------
 */

static int share_list(pl_cli *cli, const char *path)
{
    pl_json *list = NULL;
    int status = pl_api_get(cli, path, &list);
    const pl_json *items = pl_json_at(list, "items");
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, list);
    for (size_t i = 0; status == PL_EXIT_OK && !cli->json && i < pl_json_count(items); i++) {
        const pl_json *l = pl_json_item(items, i);
        printf("%s  until %s  by %s  %s\n", pl_json_string(l, "id", ""),
               pl_json_string(l, "expires", ""), pl_json_string(l, "by", ""),
               pl_json_string(l, "name", ""));
    }
    pl_json_free(list);
    return status;
}

static int share_create(pl_cli *cli, const char *path)
{
    const char *name = pl_cli_option(cli, "--name"), *expires = pl_cli_option(cli, "--expires");
    int64_t seconds = lifetime(cli, expires ? expires : "7d");
    if (seconds < 0)
        return PL_EXIT_USAGE;
    pl_json_writer w = {0};
    pl_json *made;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "name", name ? name : "");
    pl_json_set_integer(&w, "expires_in", seconds);
    pl_json_end_object(&w);
    int status = order(cli, "POST", path, pl_json_finish(&w, NULL), &made);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, made);
    else if (status == PL_EXIT_OK)
        printf("%s\n", pl_json_string(made, "url", ""));
    pl_json_free(made);
    return status;
}

int pl_command_share(pl_cli *cli)
{
    char id[PL_ID_TEXT], *one = NULL;
    const char *link = pl_cli_option(cli, "--revoke");
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path("/v1/sessions/%s/links", id);
    if (link && asprintf(&one, "%s/%%s", path) > 0)
        status = revoke(cli, one, link);
    else
        status = pl_cli_flag(cli, "--list") ? share_list(cli, path) : share_create(cli, path);
    free(one);
    free(path);
    return status;
}

/* ---- oneself -----------------------------------------------------------------------------------
 */

int pl_command_login(pl_cli *cli)
{
    pl_json *code;
    int status = order(cli, "POST", "/v1/login/codes", NULL, &code);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, code);
    else if (status == PL_EXIT_OK)
        printf("%s\n", pl_json_string(code, "url", ""));
    pl_json_free(code);
    return status;
}

static void print_usage(const pl_json *usage)
{
    static const char *const names[] = {"sessions", "queued", "cores", "bytes", "mesh_bytes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char used[32], most[32];
        snprintf(used, sizeof used, "used/%s", names[i]);
        snprintf(most, sizeof most, "limits/%s", names[i]);
        int64_t limit = pl_json_integer(usage, most, -1);
        printf("  %-10s  %" PRId64, names[i], pl_json_integer(usage, used, 0));
        if (limit >= 0)
            printf(" of %" PRId64, limit);
        printf("\n");
    }
}

int pl_command_whoami(pl_cli *cli)
{
    pl_json *me = NULL, *usage = NULL;
    int status = pl_api_get(cli, "/v1/me", &me);
    if (status == PL_EXIT_OK && cli->json) {
        pl_api_print(cli, me);
    } else if (status == PL_EXIT_OK) {
        const pl_json *groups = pl_json_at(me, "groups");
        printf("%s, by %s, may ", pl_json_string(me, "user", ""), pl_json_string(me, "by", ""));
        print_scopes(me);
        printf("\n");
        for (size_t i = 0; i < pl_json_count(groups); i++)
            printf("  group %s: %s\n", pl_json_string(pl_json_item(groups, i), "name", ""),
                   pl_json_string(pl_json_item(groups, i), "role", ""));
        status = pl_api_get(cli, "/v1/usage", &usage);
        if (status == PL_EXIT_OK)
            print_usage(usage);
    }
    pl_json_free(usage);
    pl_json_free(me);
    return status;
}
