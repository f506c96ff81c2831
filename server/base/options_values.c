#include "server/base/options_values.h"

#include "server/base/config.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "FILE:LINE: " of the option being read; "" for the command line. */
static char place[PL_CONFIG_PLACE_MAX + 2];

void pl_option_set_place(const char *where)
{
    snprintf(place, sizeof place, "%s%s", where ? where : "", where ? ": " : "");
}

pl_options_outcome pl_option_wrong(const char *option, const char *got, const char *expected)
{
    fprintf(stderr, "pliantd: %s%s: got '%s', expected %s\n", place, option, got ? got : "",
            expected);
    return PL_OPTIONS_WRONG;
}

bool pl_option_parse_count(const char *text, int64_t minimum, int64_t maximum, int64_t *out)
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

/* "127.0.0.1:8080" or "[::1]:8080"; "localhost" stands for 127.0.0.1. */
static bool parse_listen(const char *text, pl_options *o)
{
    const char *colon = strrchr(text, ':');
    int64_t port;
    if (!colon || !pl_option_parse_count(colon + 1, 0, 65535, &port)) {
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

pl_options_outcome pl_option_take_uids(const char *text, pl_options *o)
{
    char first[16];
    int64_t a, b;
    size_t length = strcspn(text, "-");
    snprintf(first, sizeof first, "%.*s", (int)(length < 15 ? length : 15), text);
    if (!text[length] || !pl_option_parse_count(first, 1, UINT32_MAX - 1, &a) ||
        !pl_option_parse_count(text + length + 1, a, UINT32_MAX - 1, &b)) {
        return pl_option_wrong("--worker-uids", text, "two uids above 0, such as 700000-700999");
    }
    if (geteuid() != 0) {
        return pl_option_wrong("--worker-uids", text, "a daemon that runs as root");
    }
    o->worker_uid = (uint32_t)a;
    o->worker_uid_last = (uint32_t)b;
    return PL_OPTIONS_RUN;
}

pl_options_outcome pl_option_take_listen(const char *text, pl_options *o)
{
    if (strncmp(text, "unix:", 5) == 0) {
        o->listen_unix = text + 5;
        return text[5] == '/' && strlen(text + 5) < 108
                   ? PL_OPTIONS_RUN
                   : pl_option_wrong("--listen", text,
                                     "unix: and an absolute path of at most 107 characters");
    }
    o->address_given = true;
    return parse_listen(text, o)
               ? PL_OPTIONS_RUN
               : pl_option_wrong("--listen", text, "ADDRESS:PORT, numeric, or unix:PATH");
}

pl_options_outcome pl_option_take_count(const char *option, const char *text, int64_t minimum,
                                        int64_t maximum, int64_t *out)
{
    if (pl_option_parse_count(text, minimum, maximum, out)) {
        return PL_OPTIONS_RUN;
    }
    char expected[96];
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)minimum,
             (long long)maximum);
    return pl_option_wrong(option, text, expected);
}

/* "auto", "none", or comma-separated indices and UUIDs. */
pl_options_outcome pl_option_take_gpus(const char *text, pl_options *o)
{
    size_t in_name = 0;
    for (const char *at = text;; at++) {
        if (isalnum((unsigned char)*at) || *at == '-') {
            in_name++;
        } else if ((*at && *at != ',') || in_name == 0) {
            return pl_option_wrong("--gpus", text, "auto, none, or places or UUIDs such as 0,2");
        } else if (!*at) {
            break;
        } else {
            in_name = 0;
        }
    }
    o->gpus = text;
    return PL_OPTIONS_RUN;
}

pl_options_outcome pl_option_take_delays(const char *text, pl_options *o)
{
    const char *at = text;
    for (int i = 0; i < PL_RESTARTS; i++) {
        char *end;
        double seconds = strtod(at, &end);
        char after = i + 1 < PL_RESTARTS ? ',' : 0;
        if (end == at || *end != after || !(seconds >= 0.001 && seconds <= 86400)) {
            return pl_option_wrong("--restart-delays", text,
                                   "three times in seconds, such as 1,10,60");
        }
        o->restart_delays_ms[i] = (int64_t)(1000 * seconds);
        at = end + 1;
    }
    return PL_OPTIONS_RUN;
}

/* "30" or "30,600"; a second number of 0 means never. */
pl_options_outcome pl_option_take_stalled(const char *text, pl_options *o)
{
    char first[32];
    int64_t after, kill = o->stalled_kill_ms / 1000;
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : 0, text);
    bool good = pl_option_parse_count(first, 1, 86400, &after) &&
                (!comma || pl_option_parse_count(comma + 1, 0, 86400, &kill)) &&
                (kill == 0 || kill >= after);
    o->stalled_ms = 1000 * after;
    o->stalled_kill_ms = 1000 * kill;
    return good ? PL_OPTIONS_RUN
                : pl_option_wrong(
                      "--stalled-after", text,
                      "one or two numbers of seconds from 1 to 86400, such as 30,600; the second "
                      "is not below the first, or 0");
}

pl_options_outcome pl_option_take_webhook_delays(const char *text, pl_options *o)
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
    return pl_option_wrong("--webhook-delays", text, "1 to 16 times in seconds, such as 1,5,30");
}

pl_options_outcome pl_option_take_on_exit(const char *text, pl_options *o)
{
    o->stop_workers = strcmp(text, "stop") == 0;
    return o->stop_workers || strcmp(text, "leave") == 0
               ? PL_OPTIONS_RUN
               : pl_option_wrong("--on-exit", text, "leave or stop");
}

pl_options_outcome pl_option_take_memory_groups(const char *text, pl_options *o)
{
    static const char *const modes[] = {"auto", "on", "off"}; /* as pl_memory_groups_mode */
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, modes[i]) == 0) {
            o->memory_groups = (pl_memory_groups_mode)i;
            return PL_OPTIONS_RUN;
        }
    }
    return pl_option_wrong("--memory-groups", text, "auto, on or off");
}

bool pl_option_take_limits(const char *text, pl_limits *limits)
{
    bool good = pl_limits_parse(text, limits);
    for (int i = 0; i < PL_LIMIT_COUNT; i++) {
        limits->value[i] = limits->value[i] == PL_LIMIT_UNSET ? INT64_MAX : limits->value[i];
    }
    return good;
}

pl_options_outcome pl_option_take_rates(const char *text, pl_options *o)
{
    char first[32];
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : strlen(text);
    snprintf(first, sizeof first, "%.*s", length < sizeof first ? (int)length : 0, text);
    int64_t *of_user = &o->limits.value[PL_LIMIT_REQUESTS];
    bool good = pl_option_parse_count(first, 0, 1000000, of_user) &&
                (!comma || pl_option_parse_count(comma + 1, 0, 1000000, &o->address_rate));
    *of_user = *of_user > 0 ? *of_user : INT64_MAX;
    return good ? PL_OPTIONS_RUN
                : pl_option_wrong("--rate-limit", text,
                                  "one or two numbers from 0, such as 1000,100");
}
