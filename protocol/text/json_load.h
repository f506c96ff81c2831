/* json_load.h - JSON texts into jansson's trees, with clean failure when memory runs out; private to protocol/.
 *
 * Jansson's lexer ignores a failure to grow the buffer of the current token (2.14 to 2.15, load.c, lex_save): it
 * drops the byte, and then reads past the buffer's end or ends the program by an assertion. Every other allocation
 * of its parser may fail safely. So the memory that this buffer may need is reserved before a text is read. Only
 * the buffer's growth, and only after an allocation has failed, is served from it.
 */
#ifndef PLIANT_PROTOCOL_TEXT_JSON_LOAD_H
#define PLIANT_PROTOCOL_TEXT_JSON_LOAD_H

#include <jansson.h>

/* The tree of a text, owned by the caller; flags are jansson's. For invalid JSON, NULL with errno EINVAL and,
 * unless it is NULL, *error; NULL with errno ENOMEM if out of memory. Callable from any number of threads at once. */
json_t *pl_json_load(const char *text, size_t length, size_t flags, json_error_t *error);

/* Applies a merge patch (RFC 7396) to a value: members are merged, null removes a member, anything else replaces
 * the value. Returns a new reference that shares unchanged parts; the target, which may be NULL, stays as it is.
 * NULL if out of memory. */
json_t *pl_json_merge(const json_t *target, json_t *patch);

#endif
