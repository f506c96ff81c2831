#include "server/base/options.h"

#include "server/base/addresses.h"
#include "server/base/config.h"
#include "server/base/options_values.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pl_options_loopback(const pl_options *o)
{
    return strncmp(o->listen_host, "127.", 4) == 0 || strcmp(o->listen_host, "::1") == 0;
}

static pl_options_outcome take(int option, const char *text, pl_options *o)
{
    int64_t v = 0;
    pl_options_outcome r = PL_OPTIONS_RUN;
    switch (option) {
    case OPT_LISTEN:
        return pl_option_take_listen(text, o);
    case OPT_UIDS:
        return pl_option_take_uids(text, o);
    case OPT_TLS_CERT:
        o->tls_cert = text;
        return r;
    case OPT_TLS_KEY:
        o->tls_key = text;
        return r;
    case OPT_STATE:
        o->state = text;
        return r;
    case OPT_CORES:
        r = pl_option_take_count("--cores", text, 1, 4096, &v);
        o->cores = (int)v;
        o->cores_by = "option";
        return r;
    case OPT_MEMORY:
        o->memory_by = "option";
        return pl_option_take_count("--memory", text, 1 << 20, (int64_t)1 << 50, &o->memory);
    case OPT_GPUS:
        return pl_option_take_gpus(text, o);
    case OPT_GPU_PLUGIN:
        o->gpu_plugin = text;
        return r;
    case OPT_PREPARED:
        r = pl_option_take_count("--prepared", text, 0, 256, &v);
        o->prepared = (int)v;
        return r;
    case OPT_EXECUTOR:
        o->batch_default = strcmp(text, "batch") == 0;
        return o->batch_default || strcmp(text, "local") == 0
                   ? r
                   : pl_option_wrong("--executor", text, "local or batch");
    case OPT_BATCH:
        o->batch = text;
        return r;
    case OPT_BATCH_CORES:
        return pl_option_take_count("--batch-cores", text, 1, 100000, &o->batch_cores);
    case OPT_GPU_SHARE:
        return pl_option_take_count("--gpu-share", text, 1, PL_GPU_SHARE_MAX, &o->gpu_share);
    case OPT_NO_PIN:
        o->no_pin = true;
        return PL_OPTIONS_RUN;
    case OPT_MEMORY_GROUPS:
        return pl_option_take_memory_groups(text, o);
    case OPT_NO_AUTH:
        o->no_auth = true;
        return r;
    case OPT_PROXY:
        o->behind_proxy = true;
        return r;
    case OPT_SHARED_CACHE:
        return pl_option_take_count("--shared-cache", text, 0, 86400, &o->shared_cache);
    case OPT_SECURE_COOKIES:
        o->secure_cookies = true;
        return r;
    case OPT_HOST:
        if (o->allow_host_count == PL_ALLOW_HOSTS_MAX) {
            return pl_option_wrong("--allow-host", text, "at most 32 names");
        }
        o->allow_hosts[o->allow_host_count++] = text;
        return r;
    case OPT_INTERACTIVE:
        return pl_option_take_count("--interactive-cores", text, 0, 4096, &o->interactive_cores);
    case OPT_QUEUED:
        r = pl_option_take_count("--max-sessions-queued", text, 1, 1000000, &v);
        o->max_queued = v;
        return r;
    case OPT_CHECKS:
        r = pl_option_take_count("--max-checks", text, 1, 1000000, &v);
        o->max_checks = v;
        return r;
    case OPT_LIMIT:
        return pl_option_take_limits(text, &o->limits)
                   ? r
                   : pl_option_wrong("--limit", text, "such as sessions=10,bytes=1000000000");
    case OPT_RATE:
        return pl_option_take_rates(text, o);
    case OPT_BODY:
        r = pl_option_take_count("--max-body", text, 1024, (int64_t)1 << 30, &v);
        o->max_body = v;
        return r;
    case OPT_MESH:
        r = pl_option_take_count("--max-mesh", text, 1024, (int64_t)1 << 40, &v);
        o->max_mesh = v;
        return r;
    case OPT_CONNECTIONS:
        r = pl_option_take_count("--max-connections", text, 4, 100000, &v);
        o->max_connections = (int)v;
        return r;
    case OPT_DISK_RESERVE:
        return pl_option_take_count("--disk-reserve", text, 0, (int64_t)1 << 40, &o->disk_reserve);
    case OPT_EXPORTS:
        r = pl_option_take_count("--exports", text, 1, PL_EXPORTS_MAX, &v);
        o->exports = (int)v;
        return r;
    case OPT_IDLE:
        r = pl_option_take_count("--idle-timeout", text, 1, 3600, &v);
        o->idle_timeout = (int)v;
        return r;
    case OPT_PATIENCE:
        r = pl_option_take_count("--patience", text, 1, 3600, &v);
        o->patience = (int)v;
        return r;
    case OPT_CHECKPOINT:
        r = pl_option_take_count("--checkpoint-every", text, 0, 86400, &v);
        o->checkpoint_every = (int)v;
        return r;
    case OPT_STALLED:
        return pl_option_take_stalled(text, o);
    case OPT_DELAYS:
        return pl_option_take_delays(text, o);
    case OPT_ON_EXIT:
        return pl_option_take_on_exit(text, o);
    case OPT_WEBHOOK_ALLOW:
        if (o->webhook_allow_count == PL_WEBHOOK_RANGES_MAX ||
            !pl_address_range_well_formed(text)) {
            return pl_option_wrong("--webhook-allow", text,
                                   "at most 16 ranges such as 10.1.0.0/16");
        }
        o->webhook_allow[o->webhook_allow_count++] = text;
        return r;
    case OPT_WEBHOOK_DELAYS:
        return pl_option_take_webhook_delays(text, o);
    case OPT_TOKEN_FILE:
        o->token_file = text;
        return r;
    case OPT_CONFIG:
        return r; /* read before */
    case OPT_CHECK_CONFIG:
        o->check_config = true;
        return r;
    case OPT_OPENAPI:
        return PL_OPTIONS_OPENAPI;
    case OPT_REINDEX:
        o->reindex = true;
        return r;
    case OPT_LEVEL:
        return pl_level_parse(text, &o->level) == 0
                   ? r
                   : pl_option_wrong("--log-level", text, "error, warn, info or debug");
    case OPT_LOG_FORMAT:
        return pl_logf_format_parse(text, &o->log_format) == 0
                   ? r
                   : pl_option_wrong("--log-format", text, "text or json");
    case OPT_HELP:
        pl_options_help();
        return PL_OPTIONS_DONE;
    case OPT_MANUAL:
        pl_options_manual();
        return PL_OPTIONS_DONE;
    case OPT_VERSION:
        puts("pliantd " PLIANT_VERSION);
        return PL_OPTIONS_DONE;
    default:
        fputs("pliantd: see --help\n", stderr);
        return PL_OPTIONS_WRONG;
    }
}

/* ---- the file and the command line ---- */

enum { OPTIONS = OPT_END - OPT_LISTEN };
static_assert((int)OPTIONS <= (int)PL_OPTIONS_MAX, "a text for each option");

/* "credential:NAME" is the file NAME of the service manager's credentials. False after printing the error. */
static bool resolve_credential(const char *option, const char **text)
{
    static const char prefix[] = "credential:";
    const char *folder = getenv("CREDENTIALS_DIRECTORY");
    if (strncmp(*text, prefix, sizeof prefix - 1) != 0) {
        return true;
    }
    const char *name = *text + sizeof prefix - 1;
    if (!folder || !*name || strchr(name, '/')) {
        pl_option_wrong(option, *text,
                        folder ? "the name of a credential"
                               : "a file: $CREDENTIALS_DIRECTORY is not set");
        return false;
    }
    char *path = NULL;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        return false;
    }
    *text = path; /* never freed */
    return true;
}

/* Stores the text given for each option, for a later comparison. */
static void note_said(pl_options *o, int id, const char *text)
{
    char **said = &o->said[id - OPT_LISTEN], *fresh = NULL;
    if (asprintf(&fresh, "%s%s%s", *said ? *said : "", *said ? ", " : "", text ? text : "true") >=
        0) {
        free(*said);
        *said = fresh;
    }
}

static pl_options_outcome take_one(const pl_option_row *option, const char *text, pl_options *o)
{
    if (option->flags & PL_OPTION_FILE && !resolve_credential(option->shown.name, &text)) {
        return PL_OPTIONS_WRONG;
    }
    if (!(option->flags & PL_OPTION_COMMAND)) {
        note_said(o, option->id, text);
    }
    return take(option->id, text, o);
}

typedef struct file_reading {
    pl_options *options;
    const bool *given; /* on the command line, which takes precedence */
} file_reading;

static bool take_from_file(void *context, const pl_option_row *option, const char *text,
                           const char *where)
{
    const file_reading *f = context;
    if (f->given[option->id - OPT_LISTEN]) {
        return true;
    }
    pl_option_set_place(where);
    bool good = take_one(option, text, f->options) == PL_OPTIONS_RUN;
    pl_option_set_place(NULL);
    return good;
}

static void list_options(struct option out[OPTIONS + 2])
{
    size_t n = 0;
    int last = -1;
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        if (o->id != last) { /* rows of one option are adjacent */
            out[n++] = (struct option){
                o->shown.name + 2, o->shown.value ? required_argument : no_argument, NULL, o->id};
        }
        last = o->id;
    }
    out[n] = (struct option){0};
}

/* Finds the options on the command line, and the file that they name. */
static void look_ahead(int argc, char **argv, const struct option *list, bool given[OPTIONS],
                       pl_options *o)
{
    opterr = 0;
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, "", list, NULL)) != -1;) {
        if (c >= OPT_LISTEN) {
            given[c - OPT_LISTEN] = true;
        }
        o->config = c == OPT_CONFIG ? optarg : o->config;
    }
    opterr = 1;
    optind = 0;
}

static const pl_option_row *row_of(int id)
{
    const pl_option_row *o = pl_option_rows;
    while (o->id != id) {
        o++;
    }
    return o;
}

static pl_options_outcome take_all(int argc, char **argv, pl_options *o)
{
    struct option list[OPTIONS + 2];
    bool given[OPTIONS] = {false};
    list_options(list);
    look_ahead(argc, argv, list, given, o);
    file_reading f = {o, given};
    if (o->config && !pl_config_read(o->config, take_from_file, &f)) {
        return PL_OPTIONS_WRONG;
    }
    for (int c; (c = getopt_long(argc, argv, "", list, NULL)) != -1;) {
        pl_options_outcome r = c < OPT_LISTEN ? take(c, optarg, o) : take_one(row_of(c), optarg, o);
        if (r != PL_OPTIONS_RUN) {
            return r;
        }
    }
    return optind < argc ? pl_option_wrong("command line", argv[optind], "options only")
                         : PL_OPTIONS_RUN;
}

/* Checks the files that options name for reading. */
static pl_options_outcome check_files(const pl_options *o)
{
    const char *const files[][2] = {
        {"--tls-cert", o->tls_cert}, {"--tls-key", o->tls_key}, {"--token-file", o->token_file}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i][1] && access(files[i][1], R_OK) != 0) {
            return pl_option_wrong(files[i][0], files[i][1], "a file that can be read");
        }
    }
    return PL_OPTIONS_RUN;
}

pl_options_outcome pl_options_check(const pl_options *o)
{
    if (!o->state) {
        fputs(
            "pliantd: --state DIR, or state = DIR in the file of --config, is needed; see --help\n",
            stderr);
        return PL_OPTIONS_WRONG;
    }
    if (o->no_auth && !pl_options_loopback(o)) {
        return pl_option_wrong("--no-auth", o->listen_host, "a loopback address in --listen");
    }
    if (o->no_auth && o->listen_unix) {
        return pl_option_wrong("--no-auth", o->listen_unix,
                               "no unix socket, which every user of this machine can reach");
    }
    if (!o->tls_cert != !o->tls_key) {
        return pl_option_wrong(o->tls_cert ? "--tls-cert" : "--tls-key",
                               o->tls_cert ? o->tls_cert : o->tls_key,
                               "--tls-cert and --tls-key together");
    }
    if (!pl_options_loopback(o) && !o->behind_proxy && !o->tls_cert) {
        return pl_option_wrong("--listen", o->listen_host,
                               "a loopback address, --tls-cert and --tls-key, or --behind-proxy "
                               "with TLS in front: tokens must not be sent in clear text");
    }
    return PL_OPTIONS_RUN;
}

static void take_capacity(pl_options *o)
{
    pl_capacity_own(&o->capacity);
    o->cores = o->capacity.cores;
    o->cores_by = o->capacity.cores_by;
    o->memory = o->capacity.memory;
    o->memory_by = o->capacity.memory_by;
}

pl_options_outcome pl_options_parse(int argc, char **argv, pl_options *out)
{
    *out = (pl_options){.listen_host = "127.0.0.1",
                        .listen_port = 8080,
                        .gpus = "auto",
                        .gpu_share = 16,
                        .prepared = 8,
                        .batch = "none",
                        .batch_cores = 4096,
                        .max_queued = 1000,
                        .max_checks = 100,
                        .limits = pl_limits_all(INT64_MAX),
                        .address_rate = 100,
                        .max_body = 8 << 20,
                        .max_mesh = (int64_t)1 << 30,
                        .disk_reserve = 64 << 20,
                        .max_connections = 1000,
                        .exports = 8,
                        .idle_timeout = 30,
                        .patience = 10,
                        .checkpoint_every = 10,
                        .stalled_ms = 30000,
                        .stalled_kill_ms = 600000,
                        .restart_delays_ms = {1000, 10000, 60000},
                        .webhook_delays_ms = {1000, 5000, 30000, 120000, 600000, 3600000, 21600000},
                        .webhook_delay_count = 7,
                        .level = PL_LEVEL_INFO};
    out->limits.value[PL_LIMIT_REQUESTS] = 1000;
    take_capacity(out);
    pl_options_outcome r = take_all(argc, argv, out);
    if (r != PL_OPTIONS_RUN) {
        return r;
    }
    out->no_address = out->listen_unix && !out->address_given;
    r = pl_options_check(out);
    return r == PL_OPTIONS_RUN ? check_files(out) : r;
}

void pl_options_clear(pl_options *o)
{
    for (int i = 0; i < OPTIONS; i++) {
        free(o->said[i]);
        o->said[i] = NULL;
    }
}
