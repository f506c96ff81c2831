/* Commands for operators: users, groups, devices, and the audit log. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/commands/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Send a request about the object that the first argument names; `body` is taken. */
static int tell(pl_cli *cli, const char *method, const char *format, char *body)
{
    char *name = pl_api_escape(cli->arguments[0]);
    char *path = name ? pl_api_path(format, name) : NULL;
    free(name);
    if (!path) {
        free(body);
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    }
    pl_json *reply = NULL;
    int status = pl_api_order(cli, method, path, body, &reply);
    if (status == PL_EXIT_OK && cli->json && reply)
        pl_api_print(cli, reply);
    pl_json_free(reply);
    free(path);
    return status;
}

/* ---- users ---- */

/* Write "sessions=20,bytes=none" as members of an object; false after printing what is wrong. */
static bool put_limits(const pl_cli *cli, pl_json_writer *w, const char *text)
{
    static const char *const names[] = {"sessions", "queued",     "running",  "cores", "gpus",
                                        "bytes",    "mesh_bytes", "requests", "share"};
    char *copy = strdup(text), *rest = copy;
    bool good = copy && *copy;
    for (char *one; good && (one = strtok_r(rest, ",", &rest));) {
        char *equals = strchr(one, '='), *end = "";
        bool known = false;
        if (equals)
            *equals = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            known = known || strcmp(one, names[i]) == 0;
        errno = 0;
        long long n = equals ? strtoll(equals + 1, &end, 10) : -1;
        bool none = equals && strcmp(equals + 1, "none") == 0;
        good = known && (none || (n >= 0 && !errno && equals[1] && !*end));
        if (good && none)
            pl_json_set_null(w, one);
        else if (good)
            pl_json_set_integer(w, one, n);
    }
    free(copy);
    if (!good)
        pl_cli_fail(cli, 0, "--limit: '%s' is not a list such as sessions=20,bytes=none", text);
    return good;
}

/* Write --limit and --share; false after printing what is wrong. */
static bool put_limit_options(pl_cli *cli, pl_json_writer *w)
{
    const char *limits = pl_cli_option(cli, "--limit");
    int64_t share;
    if (!pl_cli_integer(cli, "--share", 1, 1000000, -1, &share))
        return false;
    if (share > 0)
        pl_json_set_integer(w, "share", share);
    return !limits || put_limits(cli, w, limits);
}

/* A user's body from the options; malloc'ed, NULL after printing what is wrong. */
static char *describe_user(pl_cli *cli, const char *name)
{
    pl_json_writer w = {0};
    int64_t uid;
    bool good = pl_cli_integer(cli, "--uid", 0, UINT32_MAX, -1, &uid);
    pl_json_begin_object(&w);
    if (name)
        pl_json_set_string(&w, "name", name);
    if (good && uid >= 0)
        pl_json_set_integer(&w, "uid", uid);
    good = good && put_limit_options(cli, &w);
    pl_json_end_object(&w);
    return pl_api_body(&w, good);
}

/* The same for a group. */
static char *describe_group(pl_cli *cli, const char *name)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    if (name)
        pl_json_set_string(&w, "name", name);
    bool good = put_limit_options(cli, &w);
    pl_json_end_object(&w);
    return pl_api_body(&w, good);
}

static void print_limits(const pl_json *whose)
{
    const pl_json *limits = pl_json_at(whose, "limits"), *value;
    for (size_t i = 0; i < pl_json_count(limits); i++) {
        const char *name = pl_json_member(limits, i, &value);
        if (!pl_json_is_null(value))
            printf(" %s=%" PRId64, name, pl_json_integer(value, "", 0));
    }
}

static void print_user(const pl_cli *cli, const pl_json *user)
{
    printf("%-20s %s", pl_json_string(user, "name", ""),
           pl_json_boolean(user, "disabled", false) ? " disabled" : "");
    if (pl_json_integer(user, "uid", -1) >= 0)
        printf(" uid=%" PRId64, pl_json_integer(user, "uid", -1));
    print_limits(user);
    printf("\n");
}

int pl_user_list(pl_cli *cli)
{
    return pl_listing_print(cli, "/v1/users", PL_LISTING_ALL, print_user);
}

int pl_user_create(pl_cli *cli)
{
    char *body = describe_user(cli, cli->arguments[0]);
    return body ? pl_api_order(cli, "POST", "/v1/users", body, NULL) : PL_EXIT_USAGE;
}

int pl_user_change(pl_cli *cli)
{
    char *body = describe_user(cli, NULL);
    return body ? tell(cli, "PATCH", "/v1/users/%s", body) : PL_EXIT_USAGE;
}

int pl_user_disable(pl_cli *cli)
{
    return tell(cli, "PATCH", "/v1/users/%s", strdup("{\"disabled\": true}"));
}

int pl_user_enable(pl_cli *cli)
{
    return tell(cli, "PATCH", "/v1/users/%s", strdup("{\"disabled\": false}"));
}

int pl_user_remove(pl_cli *cli)
{
    return tell(cli, "DELETE", "/v1/users/%s", NULL);
}

/* ---- groups ---- */

static void print_group(const pl_cli *cli, const pl_json *group)
{
    const pl_json *members = pl_json_at(group, "members");
    printf("%-20s", pl_json_string(group, "name", ""));
    for (size_t i = 0; i < pl_json_count(members); i++)
        printf(" %s:%s", pl_json_string(pl_json_item(members, i), "user", ""),
               pl_json_string(pl_json_item(members, i), "role", ""));
    print_limits(group);
    printf("\n");
}

int pl_group_list(pl_cli *cli)
{
    return pl_listing_print(cli, "/v1/groups", PL_LISTING_ALL, print_group);
}

int pl_group_create(pl_cli *cli)
{
    char *body = describe_group(cli, cli->arguments[0]);
    return body ? pl_api_order(cli, "POST", "/v1/groups", body, NULL) : PL_EXIT_USAGE;
}

int pl_group_change(pl_cli *cli)
{
    char *body = describe_group(cli, NULL);
    return body ? tell(cli, "PATCH", "/v1/groups/%s", body) : PL_EXIT_USAGE;
}

int pl_group_remove(pl_cli *cli)
{
    return tell(cli, "DELETE", "/v1/groups/%s", NULL);
}

/* Send a request about the membership of the second argument in the first. */
static int tell_member(pl_cli *cli, const char *method, char *body)
{
    char *user = pl_api_escape(cli->arguments[1]), *path = NULL;
    char *group = pl_api_escape(cli->arguments[0]);
    int n = user && group ? asprintf(&path, "/v1/groups/%s/members/%s", group, user) : -1;
    int status = n < 0 ? pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory")
                       : pl_api_order(cli, method, path, body, NULL);
    free(n < 0 ? body : NULL);
    free(n < 0 ? NULL : path);
    free(group);
    free(user);
    return status;
}

int pl_group_add(pl_cli *cli)
{
    const char *role = pl_cli_option(cli, "--role");
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "role", role ? role : "view");
    pl_json_end_object(&w);
    return tell_member(cli, "PUT", pl_json_finish(&w, NULL));
}

int pl_group_drop(pl_cli *cli)
{
    return tell_member(cli, "DELETE", NULL);
}

/* ---- devices ---- */

static void print_device(const pl_json *d)
{
    printf("%-40s %s", pl_json_string(d, "device", ""), pl_json_string(d, "name", ""));
    if (pl_json_integer(d, "cores", 0) > 0)
        printf(", %" PRId64 " of %" PRId64 " cores", pl_json_integer(d, "cores_used", 0),
               pl_json_integer(d, "cores", 0));
    printf(", %.1f of %.1f GB, %" PRId64 " sessions%s%s\n",
           pl_json_number(d, "memory_used", 0) / 1e9, pl_json_number(d, "memory", 0) / 1e9,
           pl_json_integer(d, "sessions", 0),
           pl_json_boolean(d, "draining", false) ? ", draining" : "",
           pl_json_boolean(d, "lost", false) ? ", lost" : "");
}

int pl_devices_list(pl_cli *cli)
{
    pl_json *list = NULL;
    int status = pl_api_get(cli, "/v1/devices", &list);
    const pl_json *items = pl_json_at(list, "items");
    if (status == PL_EXIT_OK && cli->json)
        pl_api_print(cli, list);
    for (size_t i = 0; !cli->json && i < pl_json_count(items); i++)
        print_device(pl_json_item(items, i));
    pl_json_free(list);
    return status;
}

int pl_devices_drain(pl_cli *cli)
{
    return tell(cli, "POST", "/v1/devices/%s/drain", strdup("{}"));
}

int pl_devices_resume(pl_cli *cli)
{
    return tell(cli, "POST", "/v1/devices/%s/resume", strdup("{}"));
}

/* ---- audit ---- */

static void print_change(const pl_cli *cli, const pl_json *row)
{
    printf("%s  %-12s %-6s %-40s %3" PRId64 "  %s  %s\n", pl_json_string(row, "at", ""),
           pl_json_string(row, "user", ""), pl_json_string(row, "by", ""),
           pl_json_string(row, "action", ""), pl_json_integer(row, "status", 0),
           pl_json_string(row, "target", ""), pl_json_string(row, "address", ""));
}

int pl_command_audit(pl_cli *cli)
{
    int64_t limit;
    const char *user = pl_cli_option(cli, "--user"), *target = pl_cli_option(cli, "--target");
    if (!pl_cli_integer(cli, "--limit", 1, 1000000, 50, &limit))
        return PL_EXIT_USAGE;
    char *of = user ? pl_api_escape(user) : strdup(""), *path = NULL;
    char *about = target ? pl_api_escape(target) : strdup("");
    int n = of && about ? asprintf(&path, "/v1/audit%s%s%s%s%s", user || target ? "?" : "",
                                   user ? "user=" : "", of,
                                   !target ? ""
                                   : user  ? "&target="
                                           : "target=",
                                   about)
                        : -1;
    int status = n < 0 ? pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory")
                       : pl_listing_print(cli, path, limit, print_change);
    free(n < 0 ? NULL : path);
    free(about);
    free(of);
    return status;
}
