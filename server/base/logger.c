#include "server/base/logger.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A line that is no longer than PIPE_BUF is not mixed with others in a pipe. */
enum { MESSAGE_MAX = 1000, LINE_MAX_BYTES = 4096, TAIL = 4, MEMBER_MAX = 600 };

static _Atomic int threshold = PL_LEVEL_INFO;
static _Atomic int chosen = PL_LOGF_TEXT;
static _Thread_local const pl_logf_subject *about;
static const char *const level_names[] = {"error", "warn", "info", "debug"};

typedef struct line {
    char text[LINE_MAX_BYTES];
    size_t used;
} line;

void pl_logf_level(pl_level level)
{
    threshold = (int)level;
}

int pl_level_parse(const char *name, pl_level *out)
{
    for (int i = 0; i < 4; i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *out = (pl_level)i;
            return 0;
        }
    }
    return -1;
}

void pl_logf_choose(pl_logf_format format)
{
    chosen = (int)format;
}

int pl_logf_format_parse(const char *name, pl_logf_format *out)
{
    bool json = strcmp(name, "json") == 0;
    *out = json ? PL_LOGF_JSON : PL_LOGF_TEXT;
    return json || strcmp(name, "text") == 0 ? 0 : -1;
}

void pl_logf_about(const pl_logf_subject *subject)
{
    about = subject;
}

static void put(line *l, const char *text, size_t length)
{
    memcpy(l->text + l->used, text, length);
    l->used += length;
}

/* RFC 3339, in UTC. */
static void put_time(line *l)
{
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    l->used += strftime(l->text + l->used, 40, "%Y-%m-%dT%H:%M:%S", &utc);
    l->used += (size_t)snprintf(l->text + l->used, 8, ".%03ldZ", now.tv_nsec / 1000000);
}

/* ---- JSON ---- */

/* Length in bytes of the UTF-8 character that begins here; 0: invalid. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] < 0x80                    ? 1
               : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
               : s[0] >= 0xe0 && s[0] <= 0xef ? 3
               : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                              : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) { /* also stops at the final NUL */
            return 0;
        }
    }
    bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
               (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : n;
}

/* The next character of a text, escaped for JSON. Returns its length in the text. */
static size_t escape(const char *text, char out[8])
{
    unsigned char c = (unsigned char)text[0];
    size_t n = utf8_length((const unsigned char *)text);
    if (n == 0) {
        strcpy(out, "\\ufffd");
        return 1;
    }
    if (c == '"' || c == '\\') {
        snprintf(out, 8, "\\%c", c);
    } else if (c < 0x20 || c == 0x7f) {
        snprintf(out, 8, "\\u%04x", c);
    } else {
        memcpy(out, text, n);
        out[n] = 0;
    }
    return n;
}

/* `name` needs no escaping. The value is cut between characters if it would exceed `room` bytes. */
static void put_member(line *l, const char *name, const char *value, size_t length, size_t room)
{
    char piece[8];
    size_t end = l->used + room;
    end = end < LINE_MAX_BYTES - TAIL ? end : LINE_MAX_BYTES - TAIL;
    put(l, l->used ? "," : "{", 1);
    put(l, name, strlen(name));
    put(l, ":\"", 2);
    for (size_t i = 0; i < length;) {
        i += escape(value + i, piece);
        size_t n = strlen(piece);
        if (l->used + n > end) {
            break;
        }
        put(l, piece, n);
    }
    put(l, "\"", 1);
}

/* The id in a message that begins with "session ID". */
static size_t session_in(const char *format, const char *message, const char **id)
{
    static const char start[] = "session ";
    if (strncmp(format, "session %s", strlen("session %s")) != 0) {
        return 0;
    }
    *id = message + strlen(start);
    return strspn(*id, "0123456789abcdef");
}

static void put_object(line *l, pl_level level, const char *format, const char *message)
{
    line time = {.used = 0};
    const char *id = "";
    put_time(&time);
    put_member(l, "\"time\"", time.text, time.used, MEMBER_MAX);
    put_member(l, "\"level\"", level_names[level], strlen(level_names[level]), MEMBER_MAX);
    size_t session = session_in(format, message, &id);
    if (session > 0) {
        put_member(l, "\"session\"", id, session, MEMBER_MAX);
    }
    if (about && about->request[0]) {
        put_member(l, "\"request\"", about->request, strlen(about->request), MEMBER_MAX);
    }
    if (about && about->user[0]) {
        put_member(l, "\"user\"", about->user, strlen(about->user), MEMBER_MAX);
    }
    put_member(l, "\"message\"", message, strlen(message), LINE_MAX_BYTES);
    put(l, "}\n", 2);
}

/* ---- text ---- */

/* Line breaks in a message are replaced, so that it cannot imitate another line. */
static void put_text(line *l, pl_level level, const char *message)
{
    put_time(l);
    l->used += (size_t)snprintf(l->text + l->used, 16, " %-5s ", level_names[level]);
    for (const char *c = message; *c; c++) {
        put(l, (unsigned char)*c < 0x20 || *c == 0x7f ? "?" : c, 1);
    }
    put(l, "\n", 1);
}

void pl_logf(pl_level level, const char *format, ...)
{
    if ((int)level > threshold) {
        return;
    }
    char message[MESSAGE_MAX] = "";
    line l;
    l.used = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (chosen == PL_LOGF_JSON) {
        put_object(&l, level, format, message);
    } else {
        put_text(&l, level, message);
    }
    ssize_t written = write(STDERR_FILENO, l.text, l.used);
    (void)written; /* there is nowhere left to report it */
}
