/* body.h - a small JSON body as an object of known keys: every mistake in it becomes a fault with its pointer, and
 * all are answered at once. Scenes have a decoder of their own (protocol/).
 */
#ifndef PLIANT_SERVER_HTTP_BODY_H
#define PLIANT_SERVER_HTTP_BODY_H

#include "protocol/text/json.h"
#include "server/http/http.h"

typedef struct pl_body {
    pl_request *request;
    pl_json *json;
    pl_faults faults;
} pl_body;

/* The request's body, which may have these keys (NULL-terminated) alone; an empty body is an empty object.
 * False after replying 400 where it is no JSON. */
bool pl_body_open(pl_request *r, const char *const *keys, pl_body *out);
/* The value of a key, lent; NULL where it is missing (a fault where `required`), null, or no string of at most
 * `longest` bytes (a fault). */
const char *pl_body_string(pl_body *body, const char *key, size_t longest, bool required);
/* Whether the key is there with a whole number in the range (otherwise a fault), put into *out; null gives
 * `null_value`, or is a fault where that is below the minimum and not -1. */
bool pl_body_integer(pl_body *body, const char *key, int64_t minimum, int64_t maximum,
                     int64_t null_value, int64_t *out);
bool pl_body_boolean(pl_body *body, const char *key, bool *out);
void pl_body_fault(pl_body *body, const char *key, const char *code, const char *got,
                   const char *expected, const char *hint);
/* True where there was no fault; otherwise 422 has been replied. */
bool pl_body_good(pl_body *body);
void pl_body_close(pl_body *body);

#endif
