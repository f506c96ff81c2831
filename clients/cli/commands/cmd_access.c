/* Commands for credentials: tokens, share links, a browser's login, and the user's own identity. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of "30m", "12h", "90d"; 0 for "never"; -1 after printing that the text is invalid. */
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
    pl_cli_fail(cli, PL_EXIT_USAGE, "--expires: '%s' is not a time such as 30m, 12h, 90d or never",
                text);
    return -1;
}

static void print_scopes(const pl_json *value)
{
    const pl_json *scopes = pl_json_at(value, "scopes");
    for (size_t i = 0; i < pl_json_count(scopes); i++)
        printf("%s%s", i ? "," : "", pl_json_string(pl_json_item(scopes, i), "", ""));
}

/* ---- tokens ---- */

/* POST --name, --expires and the `more` options, whose keys have the options' names; print one value of the reply. */
static int make(pl_cli *cli, const char *path, const char *lasts, const char *const *more,
                const char *shown)
{
    const char *name = pl_cli_option(cli, "--name"), *expires = pl_cli_option(cli, "--expires");
    int64_t seconds = lifetime(cli, expires ? expires : lasts);
    if (seconds < 0)
        return PL_EXIT_USAGE;
    pl_json_writer w = {0};
    pl_json *made;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "name", name ? name : "");
    for (size_t i = 0; more[i]; i++)
        if (pl_cli_option(cli, more[i]))
            pl_json_set_string(&w, more[i] + 2, pl_cli_option(cli, more[i]));
    pl_json_set_integer(&w, "expires_in", seconds);
    pl_json_end_object(&w);
    int status = pl_api_order(cli, "POST", path, pl_json_finish(&w, NULL), &made);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, made);
    else if (status == PL_EXIT_OK)
        printf("%s\n", pl_json_string(made, shown, ""));
    pl_json_free(made);
    return status;
}

/* DELETE the object at a path that ends in an id. */
static int revoke(pl_cli *cli, const char *format, const char *id)
{
    if (strlen(id) != 32 || strspn(id, "0123456789abcdef") != 32)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "'%s' is not an ID of 32 hex digits", id);
    char *path = pl_api_path(format, id);
    int status = pl_api_order(cli, "DELETE", path, NULL, NULL);
    free(path);
    return status;
}

int pl_token_create(pl_cli *cli)
{
    static const char *const more[] = {"--user", "--scopes", NULL};
    return make(cli, "/v1/tokens", "90d", more, "token");
}

static void print_token(const pl_cli *cli, const pl_json *t)
{
    printf("%s  %-5s  %-12s  until %s  ", pl_json_string(t, "id", ""),
           pl_json_string(t, "kind", ""), pl_json_string(t, "user", ""),
           pl_json_string(t, "expires", "revoked"));
    print_scopes(t);
    printf("  %s\n", pl_json_string(t, "name", ""));
}

int pl_token_list(pl_cli *cli)
{
    return pl_listing_print(cli, "/v1/tokens", PL_LISTING_ALL, print_token);
}

int pl_token_revoke(pl_cli *cli)
{
    return revoke(cli, "/v1/tokens/%s", cli->arguments[0]);
}

/* ---- share links ---- */

static void print_link(const pl_cli *cli, const pl_json *l)
{
    printf("%s  until %s  by %s  %s\n", pl_json_string(l, "id", ""),
           pl_json_string(l, "expires", ""), pl_json_string(l, "by", ""),
           pl_json_string(l, "name", ""));
}

int pl_command_share(pl_cli *cli)
{
    static const char *const nothing_more[] = {NULL};
    char id[PL_ID_TEXT], *one = NULL;
    const char *link = pl_cli_option(cli, "--revoke");
    int status = pl_api_resolve(cli, cli->arguments[0], id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path("/v1/sessions/%s/links", id);
    if (link && asprintf(&one, "%s/%%s", path) > 0)
        status = revoke(cli, one, link);
    else if (pl_cli_flag(cli, "--list"))
        status = pl_listing_print(cli, path, PL_LISTING_ALL, print_link);
    else
        status = make(cli, path, "7d", nothing_more, "url");
    free(one);
    free(path);
    return status;
}

/* ---- the user ---- */

int pl_command_login(pl_cli *cli)
{
    pl_json *code;
    int status = pl_api_order(cli, "POST", "/v1/login/codes", NULL, &code);
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, code);
    else if (status == PL_EXIT_OK)
        printf("%s\n", pl_json_string(code, "url", ""));
    pl_json_free(code);
    return status;
}

static void print_usage(const pl_json *usage)
{
    static const char *const names[] = {"sessions", "queued", "running",    "cores",
                                        "gpus",     "bytes",  "mesh_bytes", "requests"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char used[32], most[32];
        snprintf(used, sizeof used, "used/%s", names[i]);
        snprintf(most, sizeof most, "limits/%s", names[i]);
        int64_t limit = pl_json_integer(usage, most, -1);
        if (pl_json_is_null(pl_json_at(usage, used)))
            continue; /* not counted */
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
