#include "server/run/request_key.h"

#include "protocol/text/sha256.h"
#include "server/base/logger.h"
#include "server/store/idempotency.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 255 };

static void reply_seen(pl_request *r, int status, char *reply, const char *location)
{
    pl_reply_json(r, status, reply);
    pl_reply_header(r, "Location", "%s", location);
    pl_reply_header(r, "Idempotency-Replayed", "true");
}

static void reply_busy(pl_request *r)
{
    pl_reply_problem(r, 409, "in_progress", "In progress", "a request with this key is in progress",
                     NULL);
    pl_reply_header(r, "Retry-After", "1");
}

static void reply_broken(pl_request *r)
{
    pl_logf(PL_LEVEL_ERROR, "an Idempotency-Key could not be looked up");
    pl_reply_problem(r, 500, "internal", "Internal error",
                     "the Idempotency-Key could not be looked up; the daemon's log says why", NULL);
}

/* True if it is new. */
static bool reserve(pl_request_key *k, pl_request *r)
{
    int status = 0;
    char *reply = NULL, *location = NULL;
    switch (pl_key_begin(k->store, k->owner, k->route, k->text, k->body_hash, &status, &reply,
                         &location)) {
    case PL_KEY_NEW:
        return true;
    case PL_KEY_SEEN:
        reply_seen(r, status, reply, location);
        break;
    case PL_KEY_OTHER_BODY:
        pl_reply_problem(r, 422, "idempotency_key_reused", "Idempotency-Key reused",
                         "this key was used with another body within the last day", NULL);
        break;
    case PL_KEY_IN_PROGRESS:
        reply_busy(r);
        break;
    case PL_KEY_BROKEN:
        reply_broken(r);
        break;
    }
    free(location);
    return false;
}

bool pl_request_key_begin(pl_request_key *k, pl_request *r, pl_store *store, const char *owner,
                          const char *route)
{
    const char *text = pl_request_header(r, "Idempotency-Key");
    *k = (pl_request_key){store, owner, route, text, {0}};
    if (!text) {
        return true;
    }
    size_t length;
    const char *body = pl_request_body(r, &length);
    bool good = false;
    if (!*text || strlen(text) > KEY_MAX) {
        pl_reply_problem(r, 400, "bad_idempotency_key", "Bad Idempotency-Key",
                         "it must have 1 to 255 characters", NULL);
    } else if (pl_sha256_hex(body, length, k->body_hash), k->body_hash[0] == '-') {
        reply_broken(r);
    } else {
        good = reserve(k, r);
    }
    k->text = good ? text : NULL;
    return good;
}

void pl_request_key_end(pl_request_key *k)
{
    if (k->text) {
        pl_key_end(k->store, k->owner, k->route, k->text);
        k->text = NULL;
    }
}

bool pl_request_key_keep(const pl_request_key *k, const char *reply, const char *location,
                         pl_kept_reply *out)
{
    *out = (pl_kept_reply){k->owner, k->route, k->text, {0}, 201, reply, location};
    memcpy(out->body_hash, k->body_hash, sizeof out->body_hash);
    return k->text;
}
