#include "clients/cli/net/servers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20, TOKEN_MAX = 4096, NAME_MAX_LENGTH = 64 };

bool pl_server_name_good(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX_LENGTH && !strchr("._-", name[0]) &&
           strspn(name, letters) == length;
}

bool pl_server_url_good(const char *url)
{
    static const char *const schemes[] = {"http://", "https://", "unix:"};
    bool good = false;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        good = good || (strncmp(url, schemes[i], n) == 0 && url[n] && url[n] != '/') ||
               (i == 2 && strncmp(url, "unix:/", 6) == 0);
    }
    return good && !strpbrk(url, " \t\r\n");
}

static bool fail(char error[PL_SERVER_ERROR], const char *what, const char *why)
{
    snprintf(error, PL_SERVER_ERROR, "%.380s: %.120s", what, why);
    return false;
}

/* ---- files ---- */

/* Read a whole file, malloc'ed with a NUL at the end; NULL with errno. `st` is the file's. */
static char *read_file(const char *path, size_t limit, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd >= 0 && fstat(fd, st) == 0 ? malloc(limit + 1) : NULL;
    size_t size = 0;
    ssize_t n = 1;
    while (text && n > 0 && size < limit) {
        n = read(fd, text + size, limit - size);
        size += n > 0 ? (size_t)n : 0;
    }
    int error = n < 0 || !text ? errno : size == limit ? EFBIG : 0;
    if (fd >= 0)
        close(fd);
    if (error) {
        free(text);
        errno = error;
        return NULL;
    }
    text[size] = 0;
    return text;
}

/* Create the folders above a path. */
static void make_folders(const char *path)
{
    char *copy = strdup(path);
    for (char *at = copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    free(copy);
}

/* Replace a file, readable by its user alone; it appears whole. */
static bool write_file(const char *path, const char *text, char error[PL_SERVER_ERROR])
{
    char *beside = NULL;
    size_t size = strlen(text);
    make_folders(path);
    int fd = asprintf(&beside, "%s.XXXXXX", path) < 0 ? -1 : mkostemp(beside, O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, size) == (ssize_t)size && fsync(fd) == 0 &&
                rename(beside, path) == 0;
    if (!good) {
        fail(error, path, strerror(errno));
        if (fd >= 0)
            unlink(beside);
    }
    if (fd >= 0)
        close(fd);
    free(beside);
    return good;
}

/* ---- tokens ---- */

char *pl_server_token_path(const pl_servers *servers, const char *name)
{
    char *path = NULL;
    const char *slash = strrchr(servers->path, '/');
    int folder = slash ? (int)(slash - servers->path) + 1 : 0;
    return asprintf(&path, "%.*s%s.token", folder, servers->path, name) < 0 ? NULL : path;
}

bool pl_server_token_write(const char *path, const char *token, char error[PL_SERVER_ERROR])
{
    char line[TOKEN_MAX];
    if (snprintf(line, sizeof line, "%s\n", token) >= TOKEN_MAX)
        return fail(error, path, "the token is too long");
    return write_file(path, line, error);
}

char *pl_server_token_read(const char *path, char error[PL_SERVER_ERROR])
{
    struct stat st;
    char *text = read_file(path, TOKEN_MAX, &st), *word = NULL;
    if (!text) {
        fail(error, path, strerror(errno));
        return NULL;
    }
    size_t start = strspn(text, " \t\r\n"), length = strcspn(text + start, " \t\r\n");
    if (st.st_mode & 077)
        fail(error, path, "other users can read this token: chmod 600");
    else if (length == 0)
        fail(error, path, "no token in it");
    else if (!(word = strndup(text + start, length)))
        fail(error, path, "out of memory");
    free(text);
    return word;
}

/* ---- reading ---- */

static char *find_path(void)
{
    const char *given = getenv("PLIANT_CONFIG"), *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    if (given && *given)
        return strdup(given);
    int n = base && *base ? asprintf(&path, "%s/pliant/config", base)
            : home        ? asprintf(&path, "%s/.config/pliant/config", home)
                          : -1;
    return n < 0 ? NULL : path;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]))
        text[--length] = 0;
    return text;
}

/* Parse one line in place; false if it is invalid. */
static bool take_line(pl_servers *s, char *line)
{
    pl_server *now = s->count ? &s->items[s->count - 1] : NULL;
    line = trim(line);
    size_t length = strlen(line);
    if (!*line || *line == '#')
        return true;
    if (*line == '[' && line[length - 1] == ']') {
        line[length - 1] = 0;
        const char *name = trim(line + 1);
        if (!pl_server_name_good(name) || pl_servers_find(s, name) || s->count == PL_SERVERS_MAX)
            return false;
        return (s->items[s->count++].name = strdup(name));
    }
    char *equals = strchr(line, '=');
    if (!equals)
        return false;
    *equals = 0;
    const char *key = trim(line), *value = trim(equals + 1);
    char **slot = !now && strcmp(key, "default") == 0     ? &s->chosen
                  : now && strcmp(key, "url") == 0        ? &now->url
                  : now && strcmp(key, "token-file") == 0 ? &now->token_file
                                                          : NULL;
    return slot && !*slot && *value && (*slot = strdup(value));
}

static bool understand(pl_servers *s, char error[PL_SERVER_ERROR])
{
    char *copy = strdup(s->text), *rest = copy;
    int number = 0, wrong = copy ? 0 : 1;
    for (char *line; !wrong && (line = strsep(&rest, "\n"));) {
        number++;
        wrong = take_line(s, line) ? 0 : number;
    }
    free(copy);
    if (wrong) {
        char why[160];
        snprintf(why, sizeof why, "line %d is not [NAME], url = ... or token-file = ...", wrong);
        return fail(error, s->path, why);
    }
    for (int i = 0; i < s->count; i++)
        if (!s->items[i].url || !pl_server_url_good(s->items[i].url))
            return fail(error, s->path, "a server without a url = http://, https:// or unix:PATH");
    if (s->chosen && !pl_servers_find(s, s->chosen))
        return fail(error, s->path, "its default is not one of its servers");
    return true;
}

static void forget(pl_servers *s)
{
    for (int i = 0; i < s->count; i++) {
        free(s->items[i].name);
        free(s->items[i].url);
        free(s->items[i].token_file);
        s->items[i] = (pl_server){0};
    }
    free(s->chosen);
    s->chosen = NULL;
    s->count = 0;
}

bool pl_servers_read(pl_servers *out, char error[PL_SERVER_ERROR])
{
    struct stat st;
    *out = (pl_servers){.path = find_path()};
    out->text = out->path ? read_file(out->path, FILE_MAX, &st) : strdup("");
    if (!out->text && errno == ENOENT)
        out->text = strdup("");
    if (!out->text)
        return fail(error, out->path ? out->path : "configuration", strerror(errno));
    return understand(out, error);
}

void pl_servers_clear(pl_servers *servers)
{
    forget(servers);
    free(servers->path);
    free(servers->text);
    *servers = (pl_servers){0};
}

const pl_server *pl_servers_find(const pl_servers *servers, const char *name)
{
    for (int i = 0; i < servers->count; i++)
        if (strcmp(servers->items[i].name, name) == 0)
            return &servers->items[i];
    return NULL;
}

/* ---- changing ---- */

/* The name of the section that a line begins, in place, or NULL. */
static const char *section_of(const char *line, char name[NAME_MAX_LENGTH + 1])
{
    return sscanf(line, " [ %64[^] \t] ]", name) == 1 ? name : NULL;
}

/* The file's text without a section (NULL: none) and, with `choice`, without its default; malloc'ed. */
static char *without(const char *text, const char *section, bool choice)
{
    char *out = malloc(strlen(text) + 2), *end = out, name[NAME_MAX_LENGTH + 1];
    bool inside = false, top = true;
    for (const char *line = text; out && *line;) {
        size_t length = strcspn(line, "\n");
        if (section_of(line, name)) {
            inside = section && strcmp(name, section) == 0;
            top = false;
        }
        const char *word = line + strspn(line, " \t");
        bool chooses = top && choice && strncmp(word, "default", 7) == 0;
        bool first = end == out && length == 0;
        if (!inside && !chooses && !first) {
            memcpy(end, line, length);
            end += length;
            *end++ = '\n';
        }
        line += length + (line[length] == '\n');
    }
    if (out)
        *end = 0;
    return out;
}

/* Take the text (freed), write it and read it again. */
static bool replace(pl_servers *s, char *text, char error[PL_SERVER_ERROR])
{
    bool good = s->path && text;
    good = good
               ? write_file(s->path, text, error)
               : fail(error, "configuration", text ? "the home directory is unknown" : "no memory");
    if (good) {
        free(s->text);
        s->text = text;
        forget(s);
        return understand(s, error);
    }
    free(text);
    return false;
}

bool pl_servers_add(pl_servers *servers, const char *name, const char *url, const char *token_file,
                    char error[PL_SERVER_ERROR])
{
    if (!pl_servers_find(servers, name) && servers->count == PL_SERVERS_MAX)
        return fail(error, servers->path, "it has the maximum number of servers");
    char *others = without(servers->text, name, false), *text = NULL;
    size_t length = others ? strlen(others) : 0;
    bool apart = length == 0 || (length > 1 && strcmp(others + length - 2, "\n\n") == 0);
    int n = others ? asprintf(&text, "%s%s[%s]\nurl = %s\n%s%s%s", others, apart ? "" : "\n", name,
                              url, token_file ? "token-file = " : "", token_file ? token_file : "",
                              token_file ? "\n" : "")
                   : -1;
    free(others);
    return replace(servers, n < 0 ? NULL : text, error);
}

bool pl_servers_remove(pl_servers *servers, const char *name, char error[PL_SERVER_ERROR])
{
    bool chosen = servers->chosen && strcmp(servers->chosen, name) == 0;
    return replace(servers, without(servers->text, name, chosen), error);
}

bool pl_servers_choose(pl_servers *servers, const char *name, char error[PL_SERVER_ERROR])
{
    char *others = without(servers->text, NULL, true), *text = NULL;
    if (!name)
        return replace(servers, others, error);
    int n = others ? asprintf(&text, "default = %s\n%s%s", name,
                              *others && *others != '\n' ? "\n" : "", others)
                   : -1;
    free(others);
    return replace(servers, n < 0 ? NULL : text, error);
}
