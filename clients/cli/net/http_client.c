#include "clients/cli/net/http_client.h"

#include "clients/cli/base/terminal.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)1 << 30) /* the largest reply is the topology of a large mesh */

enum { CONNECT_SECONDS = 10, SILENCE_SECONDS = 40 };

struct pl_http_client {
    CURL *curl;
    char *base, *socket, *authorization;
};

typedef struct exchange {
    CURL *curl;
    const pl_http_call *call;
    pl_http_answer *answer;
    bool stopped, no_memory;
} exchange;

pl_http_client *pl_http_client_create(const char *base_url, const char *token)
{
    pl_http_client *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    bool unix_socket = strncmp(base_url, "unix:", 5) == 0;
    c->base = strdup(unix_socket ? "http://localhost" : base_url);
    c->socket = unix_socket ? strdup(base_url + 5) : NULL;
    bool good = c->base && (c->socket || !unix_socket);
    if (good && token && asprintf(&c->authorization, "Authorization: Bearer %s", token) < 0) {
        c->authorization = NULL;
        good = false;
    }
    if (good && curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        c->curl = curl_easy_init();
    if (!c->curl) {
        pl_http_client_destroy(c);
        return NULL;
    }
    size_t length = strlen(c->base);
    while (length > 0 && c->base[length - 1] == '/')
        c->base[--length] = '\0';
    return c;
}

void pl_http_client_destroy(pl_http_client *client)
{
    if (!client)
        return;
    if (client->curl)
        curl_easy_cleanup(client->curl);
    free(client->base);
    free(client->socket);
    free(client->authorization);
    free(client);
}

static size_t on_data(char *data, size_t one, size_t size, void *context)
{
    (void)one;
    exchange *e = context;
    curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &e->answer->status);
    if (e->call->sink && e->answer->status < 300) {
        e->stopped = !e->call->sink(e->call->context, data, size);
        return e->stopped ? CURL_WRITEFUNC_ERROR : size;
    }
    pl_http_answer *a = e->answer;
    char *grown = a->size + size < ANSWER_MAX ? realloc(a->body, a->size + size + 1) : NULL;
    if (!grown) {
        e->no_memory = true;
        return CURL_WRITEFUNC_ERROR;
    }
    memcpy(grown + a->size, data, size);
    a->body = grown;
    a->size += size;
    a->body[a->size] = '\0';
    return size;
}

static size_t on_read(char *out, size_t one, size_t room, void *context)
{
    (void)one;
    exchange *e = context;
    ssize_t n = read(e->call->body_fd, out, room);
    return n < 0 ? CURL_READFUNC_ABORT : (size_t)n;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    exchange *e = context;
    return lseek(e->call->body_fd, offset, origin) < 0 ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

static int on_progress(void *context, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
                       curl_off_t out)
{
    (void)total_in;
    (void)in;
    exchange *e = context;
    if (e->call->sent && total_out > 0)
        e->call->sent(e->call->context, (uint64_t)out, (uint64_t)total_out);
    return pl_interrupted();
}

/* curl_slist_append for a list that may already have failed. */
static void add_header(struct curl_slist **list, bool *failed, const char *text)
{
    struct curl_slist *grown = *failed ? NULL : curl_slist_append(*list, text);
    *failed = !grown;
    *list = grown ? grown : *list;
}

static struct curl_slist *headers_of(const pl_http_client *client, const pl_http_call *call,
                                     bool *failed)
{
    struct curl_slist *list = NULL;
    char text[160];
    *failed = false;
    snprintf(text, sizeof text, "Accept: %s", call->accept ? call->accept : "application/json");
    add_header(&list, failed, text);
    add_header(&list, failed, "Expect:"); /* no 100-continue round trip for each upload */
    if (client->authorization)
        add_header(&list, failed, client->authorization);
    if (call->content_type) {
        snprintf(text, sizeof text, "Content-Type: %s", call->content_type);
        add_header(&list, failed, text);
    }
    for (int i = 0; i < PL_HTTP_HEADERS_MAX && call->headers[i]; i++)
        add_header(&list, failed, call->headers[i]);
    return list;
}

static void set_body(CURL *curl, const pl_http_call *call, exchange *e)
{
    if (strcmp(call->method, "HEAD") == 0)
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    if (call->content_type && !call->body) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(curl, CURLOPT_READDATA, e);
        curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(curl, CURLOPT_SEEKDATA, e);
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->body_size);
    } else if (call->content_type) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_size);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST,
                     strcmp(call->method, "HEAD") == 0 ? NULL : call->method);
}

static pl_http_outcome outcome_of(CURLcode code, const exchange *e)
{
    if (code == CURLE_OK)
        return PL_HTTP_ANSWERED;
    if (e->no_memory)
        return PL_HTTP_NO_MEMORY;
    if (e->stopped)
        return PL_HTTP_STOPPED;
    if (pl_interrupted())
        return PL_HTTP_INTERRUPTED;
    bool no_connection = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
                         code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_URL_MALFORMAT ||
                         code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_SSL_CONNECT_ERROR ||
                         code == CURLE_PEER_FAILED_VERIFICATION;
    return no_connection ? PL_HTTP_UNREACHABLE : PL_HTTP_BROKEN;
}

pl_http_outcome pl_http_client_call(pl_http_client *client, const pl_http_call *call,
                                    pl_http_answer *answer)
{
    CURL *curl = client->curl;
    exchange e = {.curl = curl, .call = call, .answer = answer};
    char *url = NULL, error[CURL_ERROR_SIZE] = "";
    bool failed;
    *answer = (pl_http_answer){0};
    curl_easy_reset(curl); /* keeps the connection */
    struct curl_slist *headers = headers_of(client, call, &failed);
    if (asprintf(&url, "%s%s", client->base, call->path) < 0 || failed) {
        curl_slist_free_all(headers);
        return PL_HTTP_NO_MEMORY;
    }
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "pliant/" PLIANT_VERSION);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 256L << 10);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &e);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &e);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    if (client->socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
    if (call->streamed) { /* a stream has heartbeats, so silence means that it is dead */
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENCE_SECONDS + (long)call->silence);
    }
    set_body(curl, call, &e);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    struct curl_header *tag;
    if (curl_easy_header(curl, "ETag", 0, CURLH_HEADER, -1, &tag) == CURLHE_OK)
        snprintf(answer->etag, sizeof answer->etag, "%s", tag->value);
    snprintf(answer->error, sizeof answer->error, "%s",
             error[0] ? error : curl_easy_strerror(code));
    curl_slist_free_all(headers);
    free(url);
    return outcome_of(code, &e);
}

void pl_http_answer_clear(pl_http_answer *answer)
{
    free(answer->body);
    *answer = (pl_http_answer){0};
}
