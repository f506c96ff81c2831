/* pliant server: manages named daemons. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/net/servers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*change)(pl_cli *cli, pl_servers *servers, char error[PL_SERVER_ERROR]);

/* Read the configuration and call `then` on it. `error` is empty, or says what went wrong. */
static int with_servers(pl_cli *cli, change then)
{
    char error[PL_SERVER_ERROR] = "";
    pl_servers servers;
    int status = pl_servers_read(&servers, error) ? then(cli, &servers, error) : PL_EXIT_FILE;
    if (status != PL_EXIT_OK && *error)
        pl_cli_fail(cli, 0, "%s", error);
    pl_servers_clear(&servers);
    return status;
}

/* ---- list ---- */

static void put_server(pl_json_writer *w, const pl_servers *servers, const pl_server *one)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", one->name);
    pl_json_set_string(w, "url", one->url);
    pl_json_set_string(w, "token_file", one->token_file);
    pl_json_set_boolean(w, "default", servers->chosen && strcmp(servers->chosen, one->name) == 0);
    pl_json_end_object(w);
}

static int list(pl_cli *cli, pl_servers *servers, char error[PL_SERVER_ERROR])
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    for (int i = 0; i < servers->count; i++) {
        const pl_server *one = &servers->items[i];
        put_server(&w, servers, one);
        if (!cli->json)
            printf("%-16s %s%s%s%s\n", one->name, one->url, one->token_file ? "  token in " : "",
                   one->token_file ? one->token_file : "",
                   servers->chosen && strcmp(servers->chosen, one->name) == 0 ? "  (default)" : "");
    }
    pl_json_end_array(&w);
    pl_json_set_null(&w, "next");
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (cli->json && text)
        puts(text);
    free(text);
    return PL_EXIT_OK;
}

int pl_server_list(pl_cli *cli)
{
    return with_servers(cli, list);
}

/* ---- add ---- */

/* The first word of standard input, static; NULL if empty. */
static const char *read_standard(void)
{
    static char line[4096];
    if (!fgets(line, sizeof line, stdin))
        return NULL;
    line[strcspn(line, " \t\r\n")] = 0;
    return *line ? line : NULL;
}

/* The file of a server's token, malloc'ed in *out; written if the token itself was given. *out stays NULL without a
 * token. */
static int place_token(pl_cli *cli, const pl_servers *servers, char **out,
                       char error[PL_SERVER_ERROR])
{
    const char *file = pl_cli_option(cli, "--token-file"), *token = cli->token;
    if (file && strcmp(file, "-") == 0 && !(token = read_standard()))
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--token-file -: no token on standard input");
    if (token) {
        char *path = pl_server_token_path(servers, cli->arguments[0]);
        if (path && pl_server_token_write(path, token, error))
            *out = realpath(path, NULL);
        free(path);
        return *out ? PL_EXIT_OK : PL_EXIT_FILE;
    }
    if (!file)
        return PL_EXIT_OK;
    char *good = pl_server_token_read(file, error);
    *out = good ? realpath(file, NULL) : NULL;
    free(good);
    return *out ? PL_EXIT_OK : PL_EXIT_FILE;
}

static int add(pl_cli *cli, pl_servers *servers, char error[PL_SERVER_ERROR])
{
    const char *name = cli->arguments[0], *url = cli->arguments[1];
    char *file = NULL;
    if (!pl_server_name_good(name))
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "'%s' is not a name: use letters, digits, '.', '_' and '-', at most 64",
                           name);
    if (!pl_server_url_good(url))
        return pl_cli_fail(
            cli, PL_EXIT_USAGE,
            "'%s' is not an address: use http://HOST:PORT, https://HOST:PORT or unix:PATH", url);
    int status = place_token(cli, servers, &file, error);
    if (status == PL_EXIT_OK && !pl_servers_add(servers, name, url, file, error))
        status = PL_EXIT_FILE;
    free(file);
    return status;
}

int pl_server_add(pl_cli *cli)
{
    return with_servers(cli, add);
}

/* ---- remove and default ---- */

static int forget(pl_cli *cli, pl_servers *servers, char error[PL_SERVER_ERROR])
{
    const char *name = cli->arguments[0];
    const pl_server *one = pl_servers_find(servers, name);
    if (!one)
        return pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "no server '%s'", name);
    char *path = pl_server_token_path(servers, name);
    char *ours = path ? realpath(path, NULL) : NULL;
    free(path);
    bool written = ours && one->token_file && strcmp(ours, one->token_file) == 0;
    bool good = pl_servers_remove(servers, name, error);
    if (good && written)
        unlink(ours);
    free(ours);
    return good ? PL_EXIT_OK : PL_EXIT_FILE;
}

int pl_server_remove(pl_cli *cli)
{
    return with_servers(cli, forget);
}

static int choose(pl_cli *cli, pl_servers *servers, char error[PL_SERVER_ERROR])
{
    const char *name = cli->arguments[0];
    bool none = strcmp(name, "none") == 0;
    if (!none && !pl_servers_find(servers, name))
        return pl_cli_fail(cli, PL_EXIT_NOT_FOUND, "no server '%s'", name);
    return pl_servers_choose(servers, none ? NULL : name, error) ? PL_EXIT_OK : PL_EXIT_FILE;
}

int pl_server_default(pl_cli *cli)
{
    return with_servers(cli, choose);
}
