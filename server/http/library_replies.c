#include "server/http/library_replies.h"

#include "protocol/text/problem.h"

#include <dlfcn.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static _Thread_local bool ours;

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *connection, unsigned int status,
                                          struct MHD_Response *response);

static queue_function real_queue(void)
{
    static queue_function found; /* the same for every thread */
    queue_function real = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "MHD_queue_response");
        memcpy(&real, &symbol, sizeof real);
        __atomic_store_n(&found, real, __ATOMIC_RELAXED);
    }
    return real;
}

static char *encode_problem(unsigned int status)
{
    const char *code = status == 431   ? "head_too_large"
                       : status == 413 ? "too_large"
                       : status == 414 ? "target_too_long"
                       : status == 505 ? "bad_version"
                       : status < 500  ? "bad_request"
                                       : "internal";
    const char *title = status == 431   ? "Head too large"
                        : status == 413 ? "Body too large"
                        : status == 414 ? "Target too long"
                        : status == 505 ? "Unknown version of HTTP"
                        : status < 500  ? "Bad request"
                                        : "Internal error";
    return pl_problem_encode((int)status, code, title,
                             "the request is not valid HTTP/1.1; the connection is closed", NULL);
}

/* Report a request that the library could not parse as a problem document; then the connection closes. */
static enum MHD_Result queue_problem(struct MHD_Connection *connection, unsigned int status)
{
    char *text = encode_problem(status);
    struct MHD_Response *response =
        text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE) : NULL;
    if (!response) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", "application/problem+json");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result queued = real_queue()(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

/* If such a reply comes after the request's head, the library would send its head twice. So it is sent here, and the
 * connection is closed. */
static void send_problem(struct MHD_Connection *connection, unsigned int status)
{
    const union MHD_ConnectionInfo *tls =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char *text = info && !(tls && tls->tls_session) ? encode_problem(status) : NULL, *whole = NULL;
    int n = text ? asprintf(&whole,
                            "HTTP/1.1 %u %s\r\nContent-Type: application/problem+json\r\n"
                            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            status, MHD_get_reason_phrase_for(status), strlen(text), text)
                 : -1;
    if (n > 0) {
        ssize_t sent = send(info->connect_fd, whole, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
        (void)sent; /* for a client that still reads */
        free(whole);
    }
    free(text);
}

int pl_library_queue(struct MHD_Connection *connection, unsigned int status,
                     struct MHD_Response *response)
{
    ours = true;
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    ours = false;
    return queued;
}

/* Overrides the library's own function. */
enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status,
                                   struct MHD_Response *response)
{
    queue_function real = real_queue();
    if (!real) {
        return MHD_NO;
    }
    if (ours) {
        return real(connection, status, response);
    }
    if (MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)) {
        send_problem(connection, status);
        return MHD_NO;
    }
    return queue_problem(connection, status);
}
