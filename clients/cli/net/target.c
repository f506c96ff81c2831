#include "clients/cli/net/target.h"

#include "clients/cli/net/servers.h"

#include "protocol/text/problem.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_SERVER "http://127.0.0.1:8080"

enum { WORD_FILE_MAX = 4096 };

/* Read a file of one word, such as a token; malloc'ed without surrounding white space, or NULL. */
static char *read_word(const char *path)
{
    char text[WORD_FILE_MAX];
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[size] = '\0';
    size_t start = strspn(text, " \t\r\n"), end = start + strcspn(text + start, " \t\r\n");
    return end > start ? strndup(text + start, end - start) : NULL;
}

char *pl_target_state_path(const pl_cli *cli, const char *name)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    int length = -1;
    if (cli->state)
        length = asprintf(&path, "%s/%s", cli->state, name);
    else if (base && *base)
        length = asprintf(&path, "%s/pliant/%s", base, name);
    else if (home)
        length = asprintf(&path, "%s/.local/state/pliant/%s", home, name);
    return length < 0 ? NULL : path;
}

static char *read_state_word(const pl_cli *cli, const char *name)
{
    char *path = pl_target_state_path(cli, name);
    char *word = path ? read_word(path) : NULL;
    free(path);
    return word;
}

/* ---- the server ---- */

static int no_such_server(const pl_cli *cli, const pl_servers *servers, const char *name)
{
    const char *known[PL_SERVERS_MAX];
    for (int i = 0; i < servers->count; i++)
        known[i] = servers->items[i].name;
    const char *nearest = pl_nearest(name, known, (size_t)servers->count);
    return pl_cli_fail(cli, PL_EXIT_USAGE, "--server: no server '%s'%s%s%s", name,
                       nearest ? ": did you mean " : "; pliant server list shows all names",
                       nearest ? nearest : "", nearest ? "?" : "");
}

/* Find a server given by name; *found is NULL if it is given by address or not at all. */
static int find_named(const pl_cli *cli, const pl_servers *servers, const char *given,
                      const pl_server **found)
{
    const char *name = given ? given : cli->state ? NULL : servers->chosen;
    *found = NULL;
    if (!name || strpbrk(name, ":/"))
        return PL_EXIT_OK;
    *found = pl_servers_find(servers, name);
    return *found ? PL_EXIT_OK : no_such_server(cli, servers, name);
}

/* ---- the token ---- */

/* True if a server with this address runs on this machine. */
static bool is_here(const char *url)
{
    static const char *const names[] = {"localhost", "[::1]"};
    const char *host = strstr(url, "://");
    if (strncmp(url, "unix:", 5) == 0)
        return true;
    host = host ? host + 3 : url;
    if (strchr(host, '@'))
        return false;
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/?#");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i]) && strncmp(host, names[i], length) == 0)
            return true;
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= length;
}

/* The token of the environment, or of the state directory. The latter is the owner's token of a local daemon and is
 * never sent to another machine. */
static int find_token(const pl_cli *cli, bool named, pl_target *t)
{
    const char *given = cli->token, *file = getenv("PLIANT_TOKEN_FILE");
    if (!given && !cli->state)
        given = getenv("PLIANT_TOKEN");
    if (given && *given) {
        t->token = strdup(given);
        return PL_EXIT_OK;
    }
    if (!cli->state && file && *file) {
        t->token = read_word(file);
        return t->token ? PL_EXIT_OK
                        : pl_cli_fail(cli, PL_EXIT_UNAUTHORISED, "no token in PLIANT_TOKEN_FILE=%s",
                                      file);
    }
    if (!named && (t->from_state || cli->state || is_here(t->url)))
        t->token = read_state_word(cli, "token");
    return PL_EXIT_OK;
}

static int find_in(const pl_cli *cli, const pl_servers *servers, pl_target *t)
{
    char error[PL_SERVER_ERROR];
    const pl_server *named;
    const char *given = cli->server ? cli->server : cli->state ? NULL : getenv("PLIANT_SERVER");
    given = given && *given ? given : NULL;
    int status = find_named(cli, servers, given, &named);
    if (status != PL_EXIT_OK)
        return status;
    if (named || given) {
        t->url = strdup(named ? named->url : given);
    } else {
        t->from_state = true;
        t->url = read_state_word(cli, "url");
        t->url = t->url ? t->url : strdup(DEFAULT_SERVER);
    }
    if (!t->url)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (!named || !named->token_file || (cli->token && *cli->token))
        return find_token(cli, named, t);
    t->token = pl_server_token_read(named->token_file, error);
    return t->token ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_UNAUTHORISED, "%s", error);
}

int pl_target_find(const pl_cli *cli, pl_target *out)
{
    char error[PL_SERVER_ERROR];
    pl_servers servers;
    *out = (pl_target){0};
    int status = pl_servers_read(&servers, error) ? find_in(cli, &servers, out)
                                                  : pl_cli_fail(cli, PL_EXIT_FILE, "%s", error);
    pl_servers_clear(&servers);
    if (status != PL_EXIT_OK)
        pl_target_clear(out);
    return status;
}

void pl_target_clear(pl_target *target)
{
    free(target->url);
    free(target->token);
    *target = (pl_target){0};
}
