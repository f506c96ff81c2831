#include "server/base/options.h"

#include "server/base/addresses.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pl_options_outcome wrong(const char *option, const char *got, const char *expected)
{
    fprintf(stderr, "pliantd: %s: got '%s', expected %s\n", option, got ? got : "", expected);
    return PL_OPTIONS_WRONG;
}

static bool parse_count(const char *text, int64_t minimum, int64_t maximum, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < minimum || v > maximum) {
        return false;
    }
    *out = v;
    return true;
}

/* "127.0.0.1:8080" or "[::1]:8080"; "localhost" is taken as 127.0.0.1. */
static bool parse_listen(const char *text, pl_options *o)
{
    const char *colon = strrchr(text, ':');
    int64_t port;
    if (!colon || !parse_count(colon + 1, 0, 65535, &port)) {
        return false;
    }
    size_t length = (size_t)(colon - text);
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof o->listen_host) {
        return false;
    }
    memcpy(o->listen_host, text, length);
    o->listen_host[length] = 0;
    if (strcmp(o->listen_host, "localhost") == 0) {
        strcpy(o->listen_host, "127.0.0.1");
    }
    unsigned char address[16];
    o->listen_port = (int)port;
    return inet_pton(AF_INET, o->listen_host, address) == 1 ||
           inet_pton(AF_INET6, o->listen_host, address) == 1;
}

static pl_options_outcome take_uids(const char *text, pl_options *o)
{
    char first[16];
    int64_t a, b;
    size_t length = strcspn(text, "-");
    snprintf(first, sizeof first, "%.*s", (int)(length < 15 ? length : 15), text);
    if (!text[length] || !parse_count(first, 1, UINT32_MAX - 1, &a) ||
        !parse_count(text + length + 1, a, UINT32_MAX - 1, &b)) {
        return wrong("--worker-uids", text, "two uids above 0, such as 700000-700999");
    }
    if (geteuid() != 0) {
        return wrong("--worker-uids", text, "a daemon that runs as root");
    }
    o->worker_uid = (uint32_t)a;
    o->worker_uid_last = (uint32_t)b;
    return PL_OPTIONS_RUN;
}

static pl_options_outcome take_listen(const char *text, pl_options *o)
{
    if (strncmp(text, "unix:", 5) == 0) {
        o->listen_unix = text + 5;
        return text[5] == '/' && strlen(text + 5) < 108
                   ? PL_OPTIONS_RUN
                   : wrong("--listen", text,
                           "unix: and an absolute path of at most 107 characters");
    }
    o->address_given = true;
    return parse_listen(text, o) ? PL_OPTIONS_RUN
                                 : wrong("--listen", text, "ADDRESS:PORT, numeric, or unix:PATH");
}

bool pl_options_loopback(const pl_options *o)
{
    return strncmp(o->listen_host, "127.", 4) == 0 || strcmp(o->listen_host, "::1") == 0;
}

enum {
    OPT_LISTEN = 256,
    OPT_TLS_CERT,
    OPT_UIDS,
    OPT_TLS_KEY,
    OPT_STATE,
    OPT_CORES,
    OPT_GPUS,
    OPT_GPU_PLUGIN,
    OPT_GPU_SHARE,
    OPT_PREPARED,
    OPT_NO_AUTH,
    OPT_NO_PIN,
    OPT_PROXY,
    OPT_HOST,
    OPT_QUEUED,
    OPT_CHECKS,
    OPT_INTERACTIVE,
    OPT_LIMIT,
    OPT_RATE,
    OPT_BODY,
    OPT_MESH,
    OPT_CONNECTIONS,
    OPT_EXPORTS,
    OPT_IDLE,
    OPT_PATIENCE,
    OPT_CHECKPOINT,
    OPT_STALLED,
    OPT_DELAYS,
    OPT_ON_EXIT,
    OPT_WEBHOOK_ALLOW,
    OPT_WEBHOOK_DELAYS,
    OPT_OPENAPI,
    OPT_REINDEX,
    OPT_LEVEL,
    OPT_HELP,
    OPT_MANUAL,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"listen", required_argument, NULL, OPT_LISTEN},
    {"worker-uids", required_argument, NULL, OPT_UIDS},
    {"tls-cert", required_argument, NULL, OPT_TLS_CERT},
    {"tls-key", required_argument, NULL, OPT_TLS_KEY},
    {"state", required_argument, NULL, OPT_STATE},
    {"cores", required_argument, NULL, OPT_CORES},
    {"gpus", required_argument, NULL, OPT_GPUS},
    {"gpu-plugin", required_argument, NULL, OPT_GPU_PLUGIN},
    {"gpu-share", required_argument, NULL, OPT_GPU_SHARE},
    {"prepared", required_argument, NULL, OPT_PREPARED},
    {"no-auth", no_argument, NULL, OPT_NO_AUTH},
    {"no-pin", no_argument, NULL, OPT_NO_PIN},
    {"behind-proxy", no_argument, NULL, OPT_PROXY},
    {"allow-host", required_argument, NULL, OPT_HOST},
    {"interactive-cores", required_argument, NULL, OPT_INTERACTIVE},
    {"max-sessions-queued", required_argument, NULL, OPT_QUEUED},
    {"max-checks", required_argument, NULL, OPT_CHECKS},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"rate-limit", required_argument, NULL, OPT_RATE},
    {"max-body", required_argument, NULL, OPT_BODY},
    {"max-mesh", required_argument, NULL, OPT_MESH},
    {"max-connections", required_argument, NULL, OPT_CONNECTIONS},
    {"exports", required_argument, NULL, OPT_EXPORTS},
    {"idle-timeout", required_argument, NULL, OPT_IDLE},
    {"patience", required_argument, NULL, OPT_PATIENCE},
    {"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT},
    {"stalled-after", required_argument, NULL, OPT_STALLED},
    {"restart-delays", required_argument, NULL, OPT_DELAYS},
    {"on-exit", required_argument, NULL, OPT_ON_EXIT},
    {"webhook-allow", required_argument, NULL, OPT_WEBHOOK_ALLOW},
    {"webhook-delays", required_argument, NULL, OPT_WEBHOOK_DELAYS},
    {"openapi", no_argument, NULL, OPT_OPENAPI},
    {"reindex", no_argument, NULL, OPT_REINDEX},
    {"log-level", required_argument, NULL, OPT_LEVEL},
    {"help", no_argument, NULL, OPT_HELP},
    {"man", no_argument, NULL, OPT_MANUAL},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static pl_options_outcome take_count(const char *option, const char *text, int64_t minimum,
                                     int64_t maximum, int64_t *out)
{
    if (parse_count(text, minimum, maximum, out)) {
        return PL_OPTIONS_RUN;
    }
    char expected[96];
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)minimum,
             (long long)maximum);
    return wrong(option, text, expected);
}

/* auto, none, or places and UUIDs with commas between. */
static pl_options_outcome take_gpus(const char *text, pl_options *o)
{
    size_t in_name = 0;
    for (const char *at = text;; at++) {
        if (isalnum((unsigned char)*at) || *at == '-') {
            in_name++;
        } else if ((*at && *at != ',') || in_name == 0) {
            return wrong("--gpus", text, "auto, none, or places or UUIDs such as 0,2");
        } else if (!*at) {
            break;
        } else {
            in_name = 0;
        }
    }
    o->gpus = text;
    return PL_OPTIONS_RUN;
}

static pl_options_outcome take_delays(const char *text, pl_options *o)
{
    const char *at = text;
    for (int i = 0; i < PL_RESTARTS; i++) {
        char *end;
        double seconds = strtod(at, &end);
        char after = i + 1 < PL_RESTARTS ? ',' : 0;
        if (end == at || *end != after || !(seconds >= 0.001 && seconds <= 86400)) {
            return wrong("--restart-delays", text, "three times in seconds, such as 1,10,60");
        }
        o->restart_delays_ms[i] = (int64_t)(1000 * seconds);
        at = end + 1;
    }
    return PL_OPTIONS_RUN;
}

/* "30" or "30,600"; a second number of 0 is never. */
static pl_options_outcome take_stalled(const char *text, pl_options *o)
{
    char first[32];
    int64_t after, kill = o->stalled_kill_ms / 1000;
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : 0, text);
    bool good = parse_count(first, 1, 86400, &after) &&
                (!comma || parse_count(comma + 1, 0, 86400, &kill)) && (kill == 0 || kill >= after);
    o->stalled_ms = 1000 * after;
    o->stalled_kill_ms = 1000 * kill;
    return good ? PL_OPTIONS_RUN
                : wrong("--stalled-after", text,
                        "one or two numbers of seconds from 1 to 86400, such as 30,600; the second "
                        "is not below the first, or 0");
}

static pl_options_outcome take_webhook_delays(const char *text, pl_options *o)
{
    o->webhook_delay_count = 0;
    for (const char *at = text; o->webhook_delay_count < PL_WEBHOOK_TRIES_MAX;) {
        char *end;
        double seconds = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(seconds >= 0.001 && seconds <= 604800)) {
            break;
        }
        o->webhook_delays_ms[o->webhook_delay_count++] = (int64_t)(1000 * seconds);
        if (!*end) {
            return PL_OPTIONS_RUN;
        }
        at = end + 1;
    }
    return wrong("--webhook-delays", text, "1 to 16 times in seconds, such as 1,5,30");
}

static pl_options_outcome take_on_exit(const char *text, pl_options *o)
{
    o->stop_workers = strcmp(text, "stop") == 0;
    return o->stop_workers || strcmp(text, "leave") == 0
               ? PL_OPTIONS_RUN
               : wrong("--on-exit", text, "leave or stop");
}

static bool take_limits(const char *text, pl_limits *limits)
{
    bool good = pl_limits_parse(text, limits);
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        limits->value[i] = limits->value[i] == PL_LIMIT_UNSET ? INT64_MAX : limits->value[i];
    }
    return good;
}

static pl_options_outcome take_rates(const char *text, pl_options *o)
{
    char first[32];
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : 0, text);
    int64_t *of_user = &o->limits.value[PL_LIMIT_REQUESTS];
    bool good = parse_count(first, 0, 1000000, of_user) &&
                (!comma || parse_count(comma + 1, 0, 1000000, &o->address_rate));
    *of_user = *of_user > 0 ? *of_user : INT64_MAX;
    return good ? PL_OPTIONS_RUN
                : wrong("--rate-limit", text, "one or two numbers from 0, such as 1000,100");
}

static pl_options_outcome take(int option, const char *text, pl_options *o)
{
    int64_t v = 0;
    pl_options_outcome r = PL_OPTIONS_RUN;
    switch (option) {
    case OPT_LISTEN:
        return take_listen(text, o);
    case OPT_UIDS:
        return take_uids(text, o);
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
        r = take_count("--cores", text, 1, 4096, &v);
        o->cores = (int)v;
        return r;
    case OPT_GPUS:
        return take_gpus(text, o);
    case OPT_GPU_PLUGIN:
        o->gpu_plugin = text;
        return r;
    case OPT_GPU_SHARE:
        return take_count("--gpu-share", text, 1, PL_GPU_SHARE_MAX, &o->gpu_share);
    case OPT_PREPARED:
        r = take_count("--prepared", text, 0, 256, &v);
        o->prepared = (int)v;
        return r;
    case OPT_NO_PIN:
        o->no_pin = true;
        return PL_OPTIONS_RUN;
    case OPT_NO_AUTH:
        o->no_auth = true;
        return r;
    case OPT_PROXY:
        o->behind_proxy = true;
        return r;
    case OPT_HOST:
        if (o->allow_host_count == PL_ALLOW_HOSTS_MAX) {
            return wrong("--allow-host", text, "at most 32 names");
        }
        o->allow_hosts[o->allow_host_count++] = text;
        return r;
    case OPT_INTERACTIVE:
        return take_count("--interactive-cores", text, 0, 4096, &o->interactive_cores);
    case OPT_QUEUED:
        return take_count("--max-sessions-queued", text, 1, 1000000, &o->max_queued);
    case OPT_CHECKS:
        return take_count("--max-checks", text, 1, 1000000, &o->max_checks);
    case OPT_LIMIT:
        return take_limits(text, &o->limits)
                   ? r
                   : wrong("--limit", text, "such as sessions=10,bytes=1000000000");
    case OPT_RATE:
        return take_rates(text, o);
    case OPT_BODY:
        return take_count("--max-body", text, 1024, (int64_t)1 << 30, &o->max_body);
    case OPT_MESH:
        return take_count("--max-mesh", text, 1024, (int64_t)1 << 40, &o->max_mesh);
    case OPT_CONNECTIONS:
        r = take_count("--max-connections", text, 4, 100000, &v);
        o->max_connections = (int)v;
        return r;
    case OPT_EXPORTS:
        r = take_count("--exports", text, 1, PL_EXPORTS_MAX, &v);
        o->exports = (int)v;
        return r;
    case OPT_IDLE:
        r = take_count("--idle-timeout", text, 1, 3600, &v);
        o->idle_timeout = (int)v;
        return r;
    case OPT_PATIENCE:
        r = take_count("--patience", text, 1, 3600, &v);
        o->patience = (int)v;
        return r;
    case OPT_CHECKPOINT:
        r = take_count("--checkpoint-every", text, 1, 86400, &v);
        o->checkpoint_every = (int)v;
        return r;
    case OPT_STALLED:
        return take_stalled(text, o);
    case OPT_DELAYS:
        return take_delays(text, o);
    case OPT_ON_EXIT:
        return take_on_exit(text, o);
    case OPT_WEBHOOK_ALLOW:
        if (o->webhook_allow_count == PL_WEBHOOK_RANGES_MAX ||
            !pl_address_range_well_formed(text)) {
            return wrong("--webhook-allow", text, "at most 16 ranges such as 10.1.0.0/16");
        }
        o->webhook_allow[o->webhook_allow_count++] = text;
        return r;
    case OPT_WEBHOOK_DELAYS:
        return take_webhook_delays(text, o);
    case OPT_OPENAPI:
        return PL_OPTIONS_OPENAPI;
    case OPT_REINDEX:
        o->reindex = true;
        return r;
    case OPT_LEVEL:
        return pl_level_parse(text, &o->level) == 0
                   ? r
                   : wrong("--log-level", text, "error, warn, info or debug");
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

static pl_options_outcome check_options(const pl_options *o)
{
    if (!o->state) {
        fputs("pliantd: --state DIR is needed; see --help\n", stderr);
        return PL_OPTIONS_WRONG;
    }
    if (o->no_auth && !pl_options_loopback(o)) {
        return wrong("--no-auth", o->listen_host, "a loopback address in --listen");
    }
    if (o->no_auth && o->listen_unix) {
        return wrong("--no-auth", o->listen_unix,
                     "no unix socket, which all of this machine can reach");
    }
    if (!o->tls_cert != !o->tls_key) {
        return wrong(o->tls_cert ? "--tls-cert" : "--tls-key",
                     o->tls_cert ? o->tls_cert : o->tls_key, "--tls-cert and --tls-key together");
    }
    if (!pl_options_loopback(o) && !o->behind_proxy && !o->tls_cert) {
        return wrong(
            "--listen", o->listen_host,
            "a loopback address, --tls-cert and --tls-key, or --behind-proxy with TLS in front: "
            "tokens must not "
            "travel in the clear");
    }
    return PL_OPTIONS_RUN;
}

pl_options_outcome pl_options_parse(int argc, char **argv, pl_options *out)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (pl_options){.listen_host = "127.0.0.1",
                        .listen_port = 8080,
                        .cores = online > 0 ? (int)online : 1,
                        .gpus = "auto",
                        .gpu_share = 16,
                        .prepared = 8,
                        .max_queued = 1000,
                        .max_checks = 100,
                        .limits = pl_limits_all(INT64_MAX),
                        .address_rate = 100,
                        .max_body = 8 << 20,
                        .max_mesh = (int64_t)1 << 30,
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
    for (int c; (c = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        pl_options_outcome r = take(c, optarg, out);
        if (r != PL_OPTIONS_RUN) {
            return r;
        }
    }
    if (optind < argc) {
        return wrong("command line", argv[optind], "options only");
    }
    out->no_address = out->listen_unix && !out->address_given;
    return check_options(out);
}
