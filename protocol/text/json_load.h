/* json_load.h - JSON texts into jansson's trees, with an end in good order where memory runs out; private to
 * protocol/.
 *
 * Jansson's lexer takes no notice where the buffer of the token that it reads cannot grow (2.14 to 2.15, load.c,
 * lex_save): it drops the byte, and then reads past the buffer's end or ends the program by an assertion.
 * Every other allocation of its parser may fail. So the room that this buffer can come to need is set
 * aside before a text is read, and only its growth, and only after an allocation has failed, is served from there.
 */
#ifndef PLIANT_PROTOCOL_TEXT_JSON_LOAD_H
#define PLIANT_PROTOCOL_TEXT_JSON_LOAD_H

#include <jansson.h>

/* The tree of a text, which the caller owns; flags are jansson's. NULL with errno EINVAL and, where it is not NULL,
 * *error for what is no JSON; NULL with errno ENOMEM without memory. Any number of threads at once. */
json_t *pl_json_load(const char *text, size_t length, size_t flags, json_error_t *error);

/* A merge patch (RFC 7396) on a value: members are merged, null removes one, anything else takes the value's
 * place. A new reference, which shares what has not changed; the target, which may be NULL, stays as it is. NULL
 * without memory. */
json_t *pl_json_merge(const json_t *target, json_t *patch);

#endif
