/* pointer.h - JSON pointers (RFC 6901) into jansson's trees; private to protocol/sweep. */
#ifndef PLIANT_PROTOCOL_SWEEP_POINTER_H
#define PLIANT_PROTOCOL_SWEEP_POINTER_H

#include <jansson.h>
#include <stdbool.h>

/* The value at a pointer, borrowed from the document; NULL: missing. */
json_t *pl_pointer_get(json_t *document, const char *pointer);
/* Replaces an existing value by `value`, whose reference is taken; false if the pointer names no value, or if out
 * of memory. */
bool pl_pointer_put(json_t *document, const char *pointer, json_t *value);
/* The length of the longest prefix of the pointer that names a value. */
size_t pl_pointer_reach(json_t *document, const char *pointer);
/* True if one pointer names the same value as the other, or a part of it. */
bool pl_pointer_overlap(const char *a, const char *b);

#endif
