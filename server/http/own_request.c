#include "server/http/own_request.h"

#include "server/base/clock.h"
#include "server/http/request.h"

#include <stdlib.h>

pl_request *pl_own_request_create(const pl_own_host *host, pl_principal *principal, char *body,
                                  size_t length)
{
    pl_request *r = calloc(1, sizeof *r);
    if (!r) {
        free(body);
        return NULL;
    }
    r->daemon = host->daemon;
    r->principal = pl_principal_acquire(principal);
    r->body = body;
    r->length = r->capacity = length;
    r->arrived_ms = pl_monotonic_ms();
    return r;
}

void pl_own_request_destroy(pl_request *r)
{
    if (r) {
        pl_reply_clear(&r->reply);
        pl_principal_release(r->principal);
        free(r->body);
        free(r);
    }
}

int pl_own_request_status(const pl_request *r)
{
    return r->reply.status;
}

const char *pl_own_request_reply(const pl_request *r)
{
    return r->reply.text ? r->reply.text : "";
}
