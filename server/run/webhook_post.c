#include "server/run/webhook_post.h"

#include "server/base/addresses.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRY_S = 10, CONNECT_S = 5, ANSWER_MAX = 64 << 10 };

/* Lifetime: one POST. */
typedef struct sending {
    const pl_post *post;
    bool refused; /* an address was rejected */
    size_t received;
} sending;

bool pl_post_begin(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

void pl_post_end(void)
{
    curl_global_cleanup();
}

static bool allowed(const pl_options *o, const struct sockaddr *address)
{
    bool good = pl_address_public(address);
    for (int i = 0; i < o->webhook_allow_count; i++) {
        good |= pl_address_in(address, o->webhook_allow[i]);
    }
    return good;
}

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *a)
{
    sending *s = context;
    if (!allowed(s->post->options, &a->addr)) {
        s->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* The reply's body is ignored, and limited in size. */
static size_t take_answer(char *data, size_t size, size_t count, void *context)
{
    sending *s = context;
    s->received += size * count;
    return s->received > ANSWER_MAX ? 0 : size * count;
}

static int look_around(void *context, curl_off_t down, curl_off_t downloaded, curl_off_t up,
                       curl_off_t uploaded)
{
    const sending *s = context;
    return atomic_load(s->post->stopping);
}

static void set_up(CURL *curl, sending *s, struct curl_slist *headers)
{
    const pl_post *p = s->post;
    curl_easy_setopt(curl, CURLOPT_URL, p->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TRY_S);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "pliantd/" PLIANT_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, p->body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(p->body));
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, s);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, s);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_around);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, s);
}

int pl_post_send(const pl_post *post, char why[160])
{
    sending s = {.post = post};
    struct curl_slist *headers = NULL;
    CURL *curl = curl_easy_init();
    long status = 0;
    for (int i = 0; i < 4 && post->headers[i]; i++) {
        struct curl_slist *longer = curl_slist_append(headers, post->headers[i]);
        headers = longer ? longer : headers;
    }
    snprintf(why, 160, "out of memory");
    if (curl) {
        set_up(curl, &s, headers);
        CURLcode code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        if (s.refused && status == 0) {
            snprintf(why, 160, "its address is private and not allowed by --webhook-allow");
        } else if (status > 0) {
            snprintf(why, 160, "it answered with status %ld", status);
        } else {
            snprintf(why, 160, "%.150s", curl_easy_strerror(code));
        }
        curl_easy_cleanup(curl);
    }
    curl_slist_free_all(headers);
    return (int)status;
}
