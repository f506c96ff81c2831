/* body.h - parses a small JSON body as an object of known keys. Every mistake becomes a fault with its pointer, and all
 * are reported at once. Scenes have their own decoder (protocol/).
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

/* Parse the request's body, which may have only these keys (NULL-terminated); an empty body counts as an empty object.
 * False after replying 400 if it is not JSON. */
bool pl_body_open(pl_request *r, const char *const *keys, pl_body *out);
/* The value of a key, lent; NULL if it is null, missing (a fault if `required`), or not a string of at most `longest`
 * bytes (a fault). */
const char *pl_body_string(pl_body *body, const char *key, size_t longest, bool required);
/* True, with *out, if the key has a whole number in the range (any other value is a fault); null gives `null_value`, or
 * is a fault if that is below the minimum and not -1. */
bool pl_body_integer(pl_body *body, const char *key, int64_t minimum, int64_t maximum,
                     int64_t null_value, int64_t *out);
bool pl_body_boolean(pl_body *body, const char *key, bool *out);
void pl_body_fault(pl_body *body, const char *key, const char *code, const char *got,
                   const char *expected, const char *hint);
/* True if there was no fault; otherwise 422 has been replied. */
bool pl_body_good(pl_body *body);
void pl_body_close(pl_body *body);

#endif
