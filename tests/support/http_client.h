/* http_client.h - an HTTP/1.1 client on a raw socket, for tests that must see what the daemon really sends: heads as
 * received, chunked bodies piece by piece, cut connections. Every wait is bounded; a timeout fails the test.
 */
#ifndef PLIANT_TESTS_SUPPORT_HTTP_CLIENT_H
#define PLIANT_TESTS_SUPPORT_HTTP_CLIENT_H

#include "protocol/log/record.h"
#include "tests/support/daemon_fixture.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_HEADERS = 32, HTTP_PATIENCE_S = 120 };

typedef struct http_reply {
    int status;
    char *head; /* cut into the headers below */
    struct {
        const char *name, *value;
    } headers[HTTP_HEADERS];
    int header_count;
    char *body; /* without the transfer coding; NUL-terminated */
    size_t length;
    json_t *json; /* of a JSON body, problem reports too; else NULL */
    /* of the body's framing */
    bool chunked, ended;
    int64_t left; /* in the body or the chunk; -1: until the connection closes */
    bool first_chunk;
} http_reply;

/* NULL: the reply has no such header. */
const char *http_header(const http_reply *r, const char *name);
void http_reply_free(http_reply *r);

/* ---- whole requests, one connection each ---- */

/* `headers` are lines that end in CR LF, or NULL; Host, Connection: close and, unless `headers` has Authorization, the
 * owner's token are added, and Content-Length for a body. A body needs its Content-Type in `headers`. */
http_reply *http_call(const daemon_fixture *d, const char *method, const char *target,
                      const char *headers, const void *body, size_t length);
http_reply *http_get(const daemon_fixture *d, const char *target);
http_reply *http_get_as(const daemon_fixture *d, const char *target, const char *accept);
/* With printf arguments for the target. */
__attribute__((format(printf, 2, 3))) http_reply *http_getf(const daemon_fixture *d,
                                                            const char *format, ...);
/* A scene's reply comes when it has been checked, even on a slow machine. */
http_reply *http_post(const daemon_fixture *d, const char *target, const char *json);
/* Send the bytes unchanged and return the reply; NULL if the connection closes without one. */
http_reply *http_raw(const daemon_fixture *d, const void *bytes, size_t size);

/* ---- connections ---- */

typedef struct http_connection http_connection;
http_connection *http_open(const daemon_fixture *d);
int http_socket(const http_connection *c);
void http_close(http_connection *c);
/* False if the daemon has closed the connection. */
bool http_write(http_connection *c, const void *data, size_t size);
/* Write a GET, with the owner's token unless `headers` has Authorization. */
void http_ask(http_connection *c, const daemon_fixture *d, const char *target, const char *headers);
/* Status line and headers; NULL if the connection closed before. */
http_reply *http_read_head(http_connection *c);
/* The next decoded bytes of a body: how many, 0 at its end, -1 if it was cut. */
ssize_t http_read_some(http_connection *c, http_reply *r, void *out, size_t room);
/* The rest of a body into r->body. False if it was cut. */
bool http_read_body(http_connection *c, http_reply *r);
/* True once the daemon closes the connection, false after `seconds` without. */
bool http_await_close(http_connection *c, double seconds);

/* ---- streams ---- */

typedef struct http_stream {
    http_connection *connection;
    http_reply *reply;
    bool may_be_cut; /* true: a cut is accepted as an end; else it fails the test */
    bool cut;
} http_stream;

/* GET it; the reply must be a 200. */
http_stream http_stream_open(const daemon_fixture *d, const char *target, const char *headers);
void http_stream_close(http_stream *s);
/* One record with its CRCs checked, heartbeats skipped; false at the end of the body. The
 * payload is malloc'ed, with a NUL behind it. */
bool http_stream_record(http_stream *s, pl_record *record, char **payload);
/* One line without its newline, malloc'ed; NULL at the orderly end of the body. */
char *http_stream_line(http_stream *s);

/* ---- JSON ---- */

/* The value at a path of keys and indices, "progress/frame", "items/3/id"; NULL for none. */
const json_t *json_at(const json_t *value, const char *path);
const char *json_text(const json_t *value, const char *path); /* "" for none */
int64_t json_count(const json_t *value, const char *path);    /* an integer; -1 for none */

/* Fails the test unless this is a problem report of this status and code, whose members have the
 * types of the contract; returns its faults. */
const json_t *http_problem(const http_reply *r, int status, const char *code);
/* The fault at this pointer, or NULL. */
const json_t *http_fault(const json_t *faults, const char *pointer);
/* Fails the test with the reply shown unless it has this status. */
void http_expect(const http_reply *r, int status);

#endif
