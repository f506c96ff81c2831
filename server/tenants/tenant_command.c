#include "server/tenants/tenant_command.h"

#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "server/store/row.h"
#include "server/tenants/audit.h"
#include "server/tenants/auth.h"
#include "server/base/clock.h"
#include "server/tenants/tenant_changes.h"
#include "server/tenants/tenants.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEARD_MS = 10000, STEP_MS = 2 };

static const char help[] =
    "usage: pliantd user  create NAME [--uid N] [--share N] [--limit NAME=N,...]\n"
    "       pliantd user  list | remove NAME | disable NAME | enable NAME\n"
    "       pliantd user  limit NAME [--share N] [--limit NAME=N,...]\n"
    "       pliantd group create NAME [--share N] [--limit NAME=N,...] | list | remove NAME\n"
    "       pliantd group limit NAME [--share N] [--limit NAME=N,...]\n"
    "       pliantd group add GROUP USER [--role view|manage] | drop GROUP USER\n"
    "       pliantd token create [--user NAME] [--name TEXT] [--scopes read,submit] [--expires "
    "90d]\n"
    "       pliantd token list [--user NAME] | revoke ID\n"
    "\n"
    "  --state DIR       state directory; a running daemon has applied the change when the\n"
    "                    command returns\n"
    "  --uid N           uid of the user on this machine, for a unix socket\n"
    "  --limit NAME=N    sessions (not ended), queued, running, cores and gpus (of running\n"
    "                    sessions), bytes (of sessions), share; of a user also mesh_bytes,\n"
    "                    requests (per second). Other limits stay; NAME=none removes one\n"
    "  --share N         same as --limit share=N: a share of 2 gets twice the core-time of a\n"
    "                    share of 1 (default) when both want the machine. The machine is shared\n"
    "                    among groups first, then among the users of each; a user without a group\n"
    "                    counts as a group of share 1\n"
    "  --role ROLE       permission for the group's sessions: view (default), manage\n"
    "  --scopes LIST     any of read, submit (default: both), admin, metrics\n"
    "  --expires TIME    lifetime, such as 30m, 12h, 90d (default), never\n"
    "  --json            print JSON\n"
    "\n"
    "A token is printed once, when it is created; the database stores only its SHA-256. Without\n"
    "--user it belongs to the daemon's owner.\n";

typedef struct command {
    const char *noun, *verb, *first, *second;
    const char *state, *user, *name, *scopes, *expires, *role;
    pl_limits limits;
    int64_t uid;
    bool json;
    pl_store *store;
    pl_counters counters;
} command;

static int wrong(const char *what, const char *got)
{
    fprintf(stderr, "pliantd: %s '%s'; see --help\n", what, got ? got : "");
    return 2;
}

/* ---- the command line ---- */

enum {
    OPT_STATE = 256,
    OPT_USER,
    OPT_NAME,
    OPT_SCOPES,
    OPT_EXPIRES,
    OPT_ROLE,
    OPT_LIMIT,
    OPT_SHARE,
    OPT_UID
};

static const struct option long_options[] = {
    {"state", required_argument, NULL, OPT_STATE},
    {"user", required_argument, NULL, OPT_USER},
    {"name", required_argument, NULL, OPT_NAME},
    {"scopes", required_argument, NULL, OPT_SCOPES},
    {"expires", required_argument, NULL, OPT_EXPIRES},
    {"role", required_argument, NULL, OPT_ROLE},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"share", required_argument, NULL, OPT_SHARE},
    {"uid", required_argument, NULL, OPT_UID},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool take_share(command *c, const char *text)
{
    char limit[40];
    return (size_t)snprintf(limit, sizeof limit, "share=%s", text) < sizeof limit &&
           !strchr(text, ',') && pl_limits_parse(limit, &c->limits);
}

/* -1 to continue, or the exit status. */
static int take(command *c, int option, const char *text)
{
    char *end = NULL;
    switch (option) {
    case OPT_STATE:
        c->state = text;
        return -1;
    case OPT_USER:
        c->user = text;
        return -1;
    case OPT_NAME:
        c->name = text;
        return -1;
    case OPT_SCOPES:
        c->scopes = text;
        return -1;
    case OPT_EXPIRES:
        c->expires = text;
        return -1;
    case OPT_ROLE:
        c->role = text;
        return -1;
    case OPT_LIMIT:
        return pl_limits_parse(text, &c->limits) ? -1 : wrong("--limit cannot be", text);
    case OPT_SHARE:
        return take_share(c, text) ? -1 : wrong("--share cannot be", text);
    case OPT_UID:
        c->uid = strtoll(text, &end, 10);
        return *text && !*end && c->uid >= 0 && c->uid <= UINT32_MAX
                   ? -1
                   : wrong("--uid cannot be", text);
    case 'j':
        c->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return 0;
    default:
        return 2;
    }
}

static int parse(command *c, int argc, char **argv)
{
    *c = (command){
        .uid = PL_NO_UID, .role = "view", .expires = "90d", .scopes = "read,submit", .name = ""};
    c->limits = pl_limits_all(PL_LIMIT_KEPT);
    for (int o; (o = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        int status = take(c, o, optarg);
        if (status >= 0) {
            return status;
        }
    }
    const char **words[] = {&c->verb, &c->first, &c->second};
    c->noun = argv[0];
    for (int i = 0; i < 3 && optind < argc; i++) {
        *words[i] = argv[optind++];
    }
    if (optind < argc || !c->verb) {
        return wrong("unknown argument", optind < argc ? argv[optind] : argv[0]);
    }
    return c->state ? -1 : wrong("needed: --state DIR, not", c->state);
}

/* Seconds of "30m", "12h", "90d"; 0 for "never", -1 if invalid. */
static int64_t lifetime(const char *text)
{
    char *end;
    if (strcmp(text, "never") == 0) {
        return 0;
    }
    errno = 0;
    long long n = strtoll(text, &end, 10);
    int64_t unit = strcmp(end, "m") == 0   ? 60
                   : strcmp(end, "h") == 0 ? 3600
                   : strcmp(end, "d") == 0 ? 86400
                                           : 0;
    return errno || end == text || n <= 0 || n > 100000 || !unit ? -1 : n * unit;
}

/* ---- what it does ---- */

static int report(const command *c, pl_change_outcome outcome)
{
    if (outcome != PL_CHANGE_DONE) {
        fprintf(stderr, "pliantd %s %s: %s\n", c->noun, c->verb, pl_change_text(outcome));
        return 1;
    }
    return 0;
}

static int print_token(const command *c, const pl_token_made *made)
{
    if (c->json) {
        printf("{\"id\": \"%s\", \"token\": \"%s\"}\n", made->id, made->secret);
    } else {
        printf("%s\n", made->secret);
        fprintf(stderr, "id %s; the token is shown only once\n", made->id);
    }
    return 0;
}

static int run_token_create(command *c)
{
    int64_t seconds = lifetime(c->expires);
    pl_token_request t = {.kind = "token",
                          .user = c->user ? c->user : PL_DEFAULT_OWNER,
                          .name = c->name,
                          .parent = ""};
    if (seconds < 0) {
        return wrong("--expires cannot be", c->expires);
    }
    if (!pl_scopes_parse(c->scopes, &t.scopes)) {
        return wrong("--scopes cannot be", c->scopes);
    }
    t.expires = seconds ? time(NULL) + seconds : 0;
    pl_token_made made;
    pl_change_outcome outcome = pl_token_create(c->store, &t, &made);
    return outcome == PL_CHANGE_DONE ? print_token(c, &made) : report(c, outcome);
}

static int run_user_edit(command *c, const bool *disabled)
{
    pl_user_edit edit = {.disabled = disabled, .limits = disabled ? NULL : &c->limits};
    return report(c, pl_user_change(c->store, c->first, &edit));
}

static int run_user_create(command *c)
{
    return report(c, pl_user_create(c->store, c->first, c->uid, &c->limits));
}

static int run_user_remove(command *c)
{
    return report(c, pl_user_remove(c->store, c->first));
}

static int run_user_disable(command *c)
{
    return run_user_edit(c, &(bool){true});
}

static int run_user_enable(command *c)
{
    return run_user_edit(c, &(bool){false});
}

static int run_user_limit(command *c)
{
    return run_user_edit(c, NULL);
}

/* Prints so. */
static bool names_no_group_limit(const command *c)
{
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        if (c->limits.value[i] != PL_LIMIT_KEPT && !pl_limit_of_group((pl_limit)i)) {
            wrong("a group has no limit", pl_limit_name((pl_limit)i));
            return true;
        }
    }
    return false;
}

static int run_group_create(command *c)
{
    return names_no_group_limit(c) ? 2 : report(c, pl_group_create(c->store, c->first, &c->limits));
}

static int run_group_limit(command *c)
{
    return names_no_group_limit(c) ? 2 : report(c, pl_group_change(c->store, c->first, &c->limits));
}

static int run_group_remove(command *c)
{
    return report(c, pl_group_remove(c->store, c->first));
}

static int run_group_add(command *c)
{
    bool manage = strcmp(c->role, "manage") == 0;
    if (!manage && strcmp(c->role, "view") != 0) {
        return wrong("--role cannot be", c->role);
    }
    return report(c, pl_group_member(c->store, c->first, c->second,
                                     manage ? PL_ACCESS_MANAGE : PL_ACCESS_VIEW));
}

static int run_group_drop(command *c)
{
    return report(c, pl_group_member(c->store, c->first, c->second, PL_ACCESS_NONE));
}

static int run_token_revoke(command *c)
{
    return report(c, pl_token_revoke(c->store, c->first, NULL));
}

/* ---- lists ---- */

typedef struct table {
    const char *const
        *names; /* column names, ending with NULL; columns named as times are shown as such */
    pl_json_writer w;
    bool json;
} table;

static bool is_time(const char *name)
{
    return strcmp(name, "created") == 0 || strcmp(name, "expires") == 0;
}

static void see_line(void *context, const char *const *columns)
{
    table *t = context;
    pl_json_begin_object(&t->w);
    for (int i = 0; t->names[i]; i++) {
        char at[32];
        const char *text = columns[i];
        if (text && is_time(t->names[i])) {
            pl_time_view(strtoll(text, NULL, 10), at);
            text = strcmp(text, "0") == 0 ? NULL : at;
        }
        pl_json_set_string(&t->w, t->names[i], text);
        if (!t->json) {
            printf("%s%s", i ? "\t" : "", text && *text ? text : "-");
        }
    }
    pl_json_end_object(&t->w);
    if (!t->json) {
        putchar('\n');
    }
}

static int list(command *c, const char *sql, const char *const *names)
{
    table t = {.names = names, .json = c->json};
    pl_statement s = {sql, {c->user}, strchr(sql, '?') ? 1 : 0};
    pl_json_begin_array(&t.w);
    for (int i = 0; names[i] && !c->json; i++) {
        printf("%s%s", i ? "\t" : "", names[i]);
    }
    printf("%s", c->json ? "" : "\n");
    bool good = pl_store_read(c->store, &s, see_line, &t);
    pl_json_end_array(&t.w);
    char *text = pl_json_finish(&t.w, NULL);
    if (c->json && text) {
        puts(text);
    }
    free(text);
    return good ? 0 : report(c, PL_CHANGE_BROKEN);
}

static int run_user_list(command *c)
{
    static const char *const names[] = {"name",    "created", "disabled", "uid",        "sessions",
                                        "queued",  "cores",   "bytes",    "mesh_bytes", "requests",
                                        "running", "gpus",    "share",    NULL};
    return list(
        c, "SELECT name, created, disabled, uid, " PL_LIMIT_COLUMNS " FROM users ORDER BY name",
        names);
}

static int run_group_list(command *c)
{
    static const char *const names[] = {"name",   "created", "members", "sessions",
                                        "queued", "running", "cores",   "gpus",
                                        "bytes",  "share",   NULL};
    return list(c,
                "SELECT name, created, (SELECT group_concat(user || ':' || role, ' ') FROM members"
                " WHERE grp=name), sessions, queued, running, cores, gpus, bytes, share FROM"
                " user_groups ORDER BY name",
                names);
}

static int run_token_list(command *c)
{
    static const char *const names[] = {"id",      "kind",    "user",    "name", "scopes",
                                        "session", "created", "expires", NULL};
    return list(c,
                "SELECT id, kind, user, name, scopes, session, created, expires FROM tokens"
                " WHERE ?1 IS NULL OR user=?1 ORDER BY user, created",
                names);
}

static const struct {
    const char *noun, *verb;
    int words; /* words after the verb */
    bool changes;
    int (*run)(command *c);
} verbs[] = {
    {"user", "create", 1, true, run_user_create},   {"user", "list", 0, false, run_user_list},
    {"user", "remove", 1, true, run_user_remove},   {"user", "disable", 1, true, run_user_disable},
    {"user", "enable", 1, true, run_user_enable},   {"user", "limit", 1, true, run_user_limit},
    {"group", "create", 1, true, run_group_create}, {"group", "list", 0, false, run_group_list},
    {"group", "remove", 1, true, run_group_remove}, {"group", "limit", 1, true, run_group_limit},
    {"group", "add", 2, true, run_group_add},       {"group", "drop", 2, true, run_group_drop},
    {"token", "create", 0, true, run_token_create}, {"token", "list", 0, false, run_token_list},
    {"token", "revoke", 1, true, run_token_revoke},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* ---- with a running daemon ---- */

/* Notify a running daemon, and wait until it has read everything again. If it ends meanwhile, or only a child of a
 * killed daemon still held the lock, the next daemon reads everything at its start. */
static int tell(int state_fd, const char *state)
{
    if (!pl_session_locked(state_fd)) {
        return 0;
    }
    if (pl_file_replace(state_fd, PL_TENANTS_CHANGED, "", 0, false) != PL_OK) {
        fprintf(stderr, "pliantd: %s/" PL_TENANTS_CHANGED ": %s\n", state, strerror(errno));
        return 1;
    }
    bool taken = false; /* the file changes from one name to the other */
    for (int waited = 0; waited < HEARD_MS; waited += STEP_MS) {
        taken = taken || faccessat(state_fd, PL_TENANTS_CHANGED, F_OK, 0) != 0;
        if ((taken && faccessat(state_fd, PL_TENANTS_TAKEN, F_OK, 0) != 0) ||
            !pl_session_locked(state_fd)) {
            return 0;
        }
        nanosleep(&(struct timespec){0, STEP_MS * 1000000}, NULL);
    }
    fputs("pliantd: the change is stored, but the daemon has not applied it yet\n", stderr);
    return 1;
}

static int run(command *c, int v)
{
    char path[4200];
    snprintf(path, sizeof path, "%.4000s/pliant.db", c->state);
    int state_fd = open(c->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state_fd < 0 || access(path, F_OK) != 0) {
        fprintf(stderr, "pliantd: %s: no daemon has run on this state yet\n", path);
        if (state_fd >= 0) {
            close(state_fd);
        }
        return 1;
    }
    umask(077);
    c->store = pl_store_open(c->state, false, &c->counters);
    int status = c->store ? verbs[v].run(c) : 1;
    if (status == 0 && verbs[v].changes) {
        char action[64], target[160];
        snprintf(action, sizeof action, "%s %s", c->noun, c->verb);
        snprintf(target, sizeof target, "%s%s%s",
                 c->first  ? c->first
                 : c->user ? c->user
                           : "",
                 c->second ? "/" : "", c->second ? c->second : "");
        pl_audit_command(c->store, action, target);
    }
    pl_store_close(c->store);
    if (status == 0 && verbs[v].changes) {
        fflush(stdout);
        status = tell(state_fd, c->state);
    }
    close(state_fd);
    return status;
}

bool pl_tenant_command_is(const char *word)
{
    return strcmp(word, "user") == 0 || strcmp(word, "group") == 0 || strcmp(word, "token") == 0;
}

int pl_tenant_command(int argc, char **argv)
{
    command c;
    int status = parse(&c, argc, argv);
    if (status >= 0) {
        return status;
    }
    for (int v = 0; v < VERBS; v++) {
        if (strcmp(verbs[v].noun, c.noun) == 0 && strcmp(verbs[v].verb, c.verb) == 0) {
            int words = (c.first != NULL) + (c.second != NULL);
            return words == verbs[v].words ? run(&c, v)
                                           : wrong("wrong number of arguments for", c.verb);
        }
    }
    return wrong("unknown command", c.verb);
}
