#include "tests/support/http_client.h"

#include "tests/support/api_description.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ASKED_MAX = 8 };
struct http_connection {
    int fd;
    size_t begin, end; /* unread bytes in `in` */
    bool closed;       /* the daemon's end was seen */
    /* What http_ask asked for and is not answered yet, for the replies to be judged. */
    const daemon_fixture *asked_of;
    char asked[ASKED_MAX][256], answered[256];
    int asked_count;
    char in[1 << 16];
};

/* ---- connections ---- */

http_connection *http_open(const daemon_fixture *d)
{
    http_connection *c = calloc(1, sizeof *c);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)d->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    ck_assert_ptr_nonnull(c);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(c->fd, 0);
    ck_assert_msg(connect(c->fd, (struct sockaddr *)&address, sizeof address) == 0, "connect: %s",
                  strerror(errno));
    return c;
}

int http_socket(const http_connection *c)
{
    return c->fd;
}

void http_close(http_connection *c)
{
    if (c)
        close(c->fd);
    free(c);
}

/* Readable or over; or writable. */
static bool await(int fd, short events, double seconds)
{
    struct pollfd watched = {.fd = fd, .events = events};
    return poll(&watched, 1, (int)(1000 * seconds)) == 1;
}

bool http_write(http_connection *c, const void *data, size_t size)
{
    const char *bytes = data;
    while (size > 0) {
        ck_assert_msg(await(c->fd, POLLOUT, HTTP_PATIENCE_S), "the daemon takes no more bytes");
        ssize_t n = send(c->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (n < 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* Have at least one unread byte; false at the connection's end. */
static bool fill(http_connection *c)
{
    if (c->begin < c->end)
        return true;
    while (!c->closed) {
        ck_assert_msg(await(c->fd, POLLIN, HTTP_PATIENCE_S), "the daemon sends nothing");
        ssize_t n = recv(c->fd, c->in, sizeof c->in, 0);
        if (n < 0 && errno == EINTR)
            continue;
        c->begin = 0;
        c->end = n > 0 ? (size_t)n : 0;
        c->closed = n <= 0;
        if (n > 0)
            return true;
    }
    return false;
}

bool http_await_close(http_connection *c, double seconds)
{
    double end = daemon_fixture_clock() + seconds;
    while (!c->closed) {
        double left = end - daemon_fixture_clock();
        if (left <= 0 || !await(c->fd, POLLIN, left))
            return false;
        c->begin = c->end = 0;
        (void)fill(c);
    }
    return true;
}

/* A line without CR LF; NULL at the connection's end. Static: valid until the next. */
static char *read_line(http_connection *c)
{
    static char line[1 << 14];
    size_t n = 0;
    while (fill(c)) {
        char byte = c->in[c->begin++];
        if (byte == '\n') {
            line[n > 0 && line[n - 1] == '\r' ? n - 1 : n] = 0;
            return line;
        }
        ck_assert_uint_lt(n + 1, sizeof line);
        line[n++] = byte;
    }
    return NULL;
}

/* ---- replies ---- */

const char *http_header(const http_reply *r, const char *name)
{
    for (int i = 0; i < r->header_count; i++)
        if (strcasecmp(r->headers[i].name, name) == 0)
            return r->headers[i].value;
    return NULL;
}

void http_reply_free(http_reply *r)
{
    if (r) {
        json_decref(r->json);
        free(r->head);
        free(r->body);
    }
    free(r);
}

static void add_header(http_reply *r, char *line)
{
    char *colon = strchr(line, ':');
    ck_assert_msg(colon && r->header_count < HTTP_HEADERS, "header: %s", line);
    *colon = 0;
    r->headers[r->header_count].name = line;
    r->headers[r->header_count++].value = colon + 1 + strspn(colon + 1, " \t");
}

static void check_framing(http_reply *r)
{
    const char *coding = http_header(r, "Transfer-Encoding");
    const char *length = http_header(r, "Content-Length");
    r->chunked = coding && strcasecmp(coding, "chunked") == 0;
    r->first_chunk = true;
    r->left = r->chunked ? 0 : length ? strtoll(length, NULL, 10) : -1;
    r->ended = r->status == 204 || r->status == 304 || r->left == 0;
    if (r->chunked)
        r->ended = false;
}

http_reply *http_read_head(http_connection *c)
{
    char *line = read_line(c), *heads[HTTP_HEADERS];
    http_reply *r = calloc(1, sizeof *r);
    int count = 0;
    ck_assert_ptr_nonnull(r);
    if (!line) {
        free(r);
        return NULL;
    }
    ck_assert_msg(sscanf(line, "HTTP/1.1 %d", &r->status) == 1, "status line: %s", line);
    size_t size = 0;
    while ((line = read_line(c)) && *line) {
        ck_assert_int_lt(count, HTTP_HEADERS);
        heads[count] = strdup(line);
        size += strlen(heads[count++]) + 1;
    }
    ck_assert_msg(line != NULL, "the connection closed within a head");
    r->head = malloc(size + 1);
    char *at = r->head;
    for (int i = 0; i < count; i++) {
        char *copy = strcpy(at, heads[i]);
        at += strlen(heads[i]) + 1;
        free(heads[i]);
        add_header(r, copy);
    }
    check_framing(r);
    c->answered[0] = 0;
    if (c->asked_count > 0 && r->status != 100) {
        memcpy(c->answered, c->asked[0], sizeof c->answered);
        memmove(c->asked[0], c->asked[1], sizeof c->asked - sizeof c->asked[0]);
        c->asked_count--;
    }
    return r;
}

/* The size line of the next chunk; a last one ends the body with its trailer. */
static bool next_chunk(http_connection *c, http_reply *r)
{
    char *line = r->first_chunk ? NULL : read_line(c);
    if (!r->first_chunk && (!line || *line))
        return false;
    r->first_chunk = false;
    line = read_line(c);
    char *end = line;
    r->left = line ? (int64_t)strtoull(line, &end, 16) : 0;
    if (!line || end == line)
        return false;
    if (r->left == 0) {
        r->ended = true;
        while ((line = read_line(c)) && *line)
            ;
        return line != NULL;
    }
    return true;
}

ssize_t http_read_some(http_connection *c, http_reply *r, void *out, size_t room)
{
    if (!r->ended && r->chunked && r->left == 0 && !next_chunk(c, r))
        return -1;
    if (r->ended)
        return 0;
    if (!fill(c)) {
        r->ended = r->left < 0;
        return r->ended ? 0 : -1;
    }
    size_t n = c->end - c->begin;
    n = n < room ? n : room;
    n = r->left >= 0 && (int64_t)n > r->left ? (size_t)r->left : n;
    memcpy(out, c->in + c->begin, n);
    c->begin += n;
    if (r->left > 0)
        r->left -= (int64_t)n;
    if (!r->chunked && r->left == 0)
        r->ended = true;
    return (ssize_t)n;
}

bool http_read_body(http_connection *c, http_reply *r)
{
    size_t capacity = r->length + 4096;
    r->body = realloc(r->body, capacity);
    for (;;) {
        ck_assert_ptr_nonnull(r->body);
        ssize_t n = http_read_some(c, r, r->body + r->length, capacity - r->length - 1);
        if (n <= 0) {
            r->body[r->length] = 0;
            if (n == 0 && c->answered[0])
                api_check_reply(c->asked_of, "GET", c->answered, r, true);
            return n == 0;
        }
        r->length += (size_t)n;
        if (capacity - r->length < 2048)
            r->body = realloc(r->body, capacity *= 2);
    }
}

/* ---- whole requests ---- */

static void parse_json(http_reply *r)
{
    const char *type = http_header(r, "Content-Type");
    if (!type || !strstr(type, "json") || strstr(type, "ndjson") || r->length == 0)
        return;
    json_error_t error;
    r->json = json_loadb(r->body, r->length, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(r->json != NULL, "%s: %s", error.text, r->body);
}

/* The reply on a connection that the request asks to close. */
static http_reply *take_reply(http_connection *c, bool head_only)
{
    http_reply *r = http_read_head(c);
    while (r && r->status == 100) {
        http_reply_free(r);
        r = http_read_head(c);
    }
    if (r) {
        if (head_only)
            r->ended = true;
        ck_assert_msg(http_read_body(c, r), "a reply's body was cut");
        parse_json(r);
    }
    http_close(c);
    return r;
}

http_reply *http_call(const daemon_fixture *d, const char *method, const char *target,
                      const char *headers, const void *body, size_t length)
{
    char *head = NULL, framing[64] = "", token[128] = "";
    headers = headers ? headers : "";
    if (body)
        snprintf(framing, sizeof framing, "Content-Length: %zu\r\n", length);
    if (!strstr(headers, "Authorization:"))
        snprintf(token, sizeof token, "Authorization: Bearer %.79s\r\n", d->token);
    int n = asprintf(&head,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s%s%s\r\n",
                     method, target, d->port, token, framing, headers);
    ck_assert_int_gt(n, 0);
    http_connection *c = http_open(d);
    /* A rejected body may not be read to its end: the reply still arrives. */
    if (http_write(c, head, (size_t)n) && body)
        (void)http_write(c, body, length);
    free(head);
    http_reply *r = take_reply(c, strcmp(method, "HEAD") == 0);
    ck_assert_msg(r != NULL, "%s %s: no reply", method, target);
    api_check_reply(d, method, target, r, true);
    return r;
}

http_reply *http_get(const daemon_fixture *d, const char *target)
{
    return http_call(d, "GET", target, NULL, NULL, 0);
}

http_reply *http_get_as(const daemon_fixture *d, const char *target, const char *accept)
{
    char header[200];
    snprintf(header, sizeof header, "Accept: %s\r\n", accept);
    return http_call(d, "GET", target, header, NULL, 0);
}

http_reply *http_getf(const daemon_fixture *d, const char *format, ...)
{
    char target[512];
    va_list args;
    va_start(args, format);
    vsnprintf(target, sizeof target, format, args);
    va_end(args);
    return http_get(d, target);
}

http_reply *http_post(const daemon_fixture *d, const char *target, const char *json)
{
    const char *headers = json ? "Content-Type: application/json\r\nPrefer: wait=60\r\n" : NULL;
    return http_call(d, "POST", target, headers, json, json ? strlen(json) : 0);
}

http_reply *http_raw(const daemon_fixture *d, const void *bytes, size_t size)
{
    http_connection *c = http_open(d);
    (void)http_write(c, bytes, size);
    http_reply *r = take_reply(c, false);
    char method[16], target[1024], line[1100];
    snprintf(line, sizeof line, "%.*s", size < 1099 ? (int)size : 1099, (const char *)bytes);
    bool request = sscanf(line, "%15[A-Z] %1023[!-~] HTTP/1.1", method, target) == 2;
    if (r)
        api_check_reply(d, request ? method : NULL, request ? target : NULL, r, true);
    return r;
}

void http_ask(http_connection *c, const daemon_fixture *d, const char *target, const char *headers)
{
    char *head = NULL;
    bool said = headers && strstr(headers, "Authorization:");
    int n = asprintf(&head, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s%s%s%s\r\n", target,
                     d->port, said ? "" : "Authorization: Bearer ", said ? "" : d->token,
                     said ? "" : "\r\n", headers ? headers : "");
    ck_assert_int_gt(n, 0);
    ck_assert(http_write(c, head, (size_t)n));
    c->asked_of = d;
    ck_assert_int_lt(c->asked_count, ASKED_MAX);
    snprintf(c->asked[c->asked_count++], sizeof c->asked[0], "%s", target);
    free(head);
}

/* ---- streams ---- */

http_stream http_stream_open(const daemon_fixture *d, const char *target, const char *headers)
{
    http_stream s = {.connection = http_open(d)};
    http_ask(s.connection, d, target, headers);
    s.reply = http_read_head(s.connection);
    ck_assert_ptr_nonnull(s.reply);
    if (s.reply->status != 200) {
        (void)http_read_body(s.connection, s.reply);
        ck_abort_msg("%s: %d %s", target, s.reply->status, s.reply->body);
    }
    api_check_reply(d, "GET", target, s.reply, false);
    return s;
}

void http_stream_close(http_stream *s)
{
    http_close(s->connection);
    http_reply_free(s->reply);
}

/* False if the body ends properly before the first of the bytes, or is cut where that is allowed. */
static bool read_exactly(http_stream *s, void *out, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = http_read_some(s->connection, s->reply, (char *)out + at, size - at);
        s->cut = n < 0;
        if (s->cut && s->may_be_cut)
            return false;
        ck_assert_msg(n >= 0, "the stream was cut");
        if (n == 0) {
            ck_assert_msg(at == 0, "the stream ends within a record");
            return false;
        }
        at += (size_t)n;
    }
    return true;
}

bool http_stream_record(http_stream *s, pl_record *record, char **payload)
{
    unsigned char header[PL_RECORD_HEADER];
    do {
        if (!read_exactly(s, header, sizeof header))
            return false;
        ck_assert_int_eq(pl_record_decode(header, sizeof header, record), PL_RECORD_GOOD);
    } while (record->type == PL_RECORD_HEARTBEAT && record->length == 0);
    size_t padded = (size_t)(pl_record_size(record->length) - PL_RECORD_HEADER);
    *payload = calloc(1, padded + 1);
    ck_assert_ptr_nonnull(*payload);
    if (padded > 0 && !read_exactly(s, *payload, padded)) {
        ck_assert_msg(s->cut, "the stream ends within a record");
        free(*payload);
        return false;
    }
    ck_assert_uint_eq(pl_crc32c(0, *payload, (size_t)record->length), record->payload_crc);
    for (size_t i = (size_t)record->length; i < padded; i++)
        ck_assert_int_eq((*payload)[i], 0);
    return true;
}

char *http_stream_line(http_stream *s)
{
    char *line = malloc(1 << 16);
    for (size_t n = 0; read_exactly(s, line + n, 1); n++) {
        if (line[n] == '\n') {
            line[n] = 0;
            return line;
        }
        ck_assert_uint_lt(n, (1 << 16) - 2);
    }
    free(line);
    return NULL;
}

/* ---- JSON ---- */

const json_t *json_at(const json_t *value, const char *path)
{
    while (value && *path) {
        char key[128];
        size_t n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
                                     : json_object_get(value, key);
        path += n + (path[n] == '/');
    }
    return value;
}

const char *json_text(const json_t *value, const char *path)
{
    const char *text = json_string_value(json_at(value, path));
    return text ? text : "";
}

int64_t json_count(const json_t *value, const char *path)
{
    const json_t *number = json_at(value, path);
    return json_is_integer(number) ? json_integer_value(number) : -1;
}

void http_expect(const http_reply *r, int status)
{
    ck_assert_msg(r->status == status, "status %d, not %d: %.2000s", r->status, status,
                  r->body ? r->body : "");
}

const json_t *http_problem(const http_reply *r, int status, const char *code)
{
    static const char *const texts[] = {"pointer", "code", "got", "expected", "hint"};
    char type[128];
    http_expect(r, status);
    ck_assert_str_eq(http_header(r, "Content-Type"), "application/problem+json");
    ck_assert_ptr_nonnull(http_header(r, "Pliant-Version"));
    snprintf(type, sizeof type, "/problems/%s", code);
    ck_assert_str_eq(json_text(r->json, "type"), type);
    ck_assert_int_eq(json_count(r->json, "status"), status);
    ck_assert_str_ne(json_text(r->json, "title"), "");
    ck_assert_str_ne(json_text(r->json, "detail"), "");
    const json_t *faults = json_at(r->json, "faults");
    ck_assert(json_is_array(faults));
    for (size_t i = 0; i < json_array_size(faults); i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            ck_assert(json_is_string(json_object_get(json_array_get(faults, i), texts[k])));
    return faults;
}

const json_t *http_fault(const json_t *faults, const char *pointer)
{
    for (size_t i = 0; i < json_array_size(faults); i++)
        if (strcmp(json_text(json_array_get(faults, i), "pointer"), pointer) == 0)
            return json_array_get(faults, i);
    return NULL;
}
