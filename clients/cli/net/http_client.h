/* http_client.h - requests to a daemon; only http_client.c uses libcurl.
 *
 * A client keeps one connection alive between requests. The body of a reply below 300 goes to the request's sink if it
 * has one; any other body is collected, up to a bound, so that a problem report can be read. Ctrl-C ends a request
 * within a second.
 */
#ifndef PLIANT_CLIENTS_CLI_NET_HTTP_CLIENT_H
#define PLIANT_CLIENTS_CLI_NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_http_client pl_http_client;

/* base_url: "http://127.0.0.1:8080" or "unix:/path/of/socket". token may be NULL. NULL: out of memory. */
pl_http_client *pl_http_client_create(const char *base_url, const char *token);
void pl_http_client_destroy(pl_http_client *client);

enum { PL_HTTP_HEADERS_MAX = 4 };
typedef struct pl_http_call {
    const char *method, *path;                /* path with query, as it goes on the wire */
    const char *accept;                       /* NULL: application/json */
    const char *headers[PL_HTTP_HEADERS_MAX]; /* "Name: value", NULL-terminated where shorter */
    const char *content_type;                 /* of a body */
    const void *body;
    uint64_t body_size;
    int body_fd;    /* the body is read from here, if content_type is set and body is NULL */
    bool streamed;  /* endless: no time limit as long as something arrives every 40 s */
    double silence; /* s added to the time in which nothing need arrive */
    /* Takes the reply's body as it arrives; false ends the request (outcome PL_HTTP_STOPPED). */
    bool (*sink)(void *context, const char *data, size_t size);
    /* Called now and then while the body is being sent. */
    void (*sent)(void *context, uint64_t done, uint64_t total);
    void *context;
} pl_http_call;

typedef enum pl_http_outcome {
    PL_HTTP_ANSWERED,    /* see the status */
    PL_HTTP_UNREACHABLE, /* no connection: error says why */
    PL_HTTP_BROKEN,      /* the reply was incomplete */
    PL_HTTP_STOPPED,     /* by the sink */
    PL_HTTP_INTERRUPTED, /* by Ctrl-C */
    PL_HTTP_NO_MEMORY,
} pl_http_outcome;

typedef struct pl_http_answer {
    long status;
    char *body; /* malloc'ed, NUL-terminated; the part that no sink took */
    size_t size;
    char etag[80]; /* with its quotes; "" if missing */
    char error[256];
} pl_http_answer;

pl_http_outcome pl_http_client_call(pl_http_client *client, const pl_http_call *call,
                                    pl_http_answer *answer);
void pl_http_answer_clear(pl_http_answer *answer);

#endif
