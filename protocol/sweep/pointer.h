/* pointer.h - JSON pointers (RFC 6901) into jansson's trees; private to this room. */
#ifndef PLIANT_PROTOCOL_SWEEP_POINTER_H
#define PLIANT_PROTOCOL_SWEEP_POINTER_H

#include <jansson.h>
#include <stdbool.h>

/* The value at a pointer, borrowed from the document; NULL: missing. */
json_t *pl_pointer_get(json_t *document, const char *pointer);
/* Put a value, whose reference is taken, in the place of one that is there; false where there is none, or
 * without memory. */
bool pl_pointer_put(json_t *document, const char *pointer, json_t *value);
/* The longest beginning of the pointer that names a value; its length. */
size_t pl_pointer_reach(json_t *document, const char *pointer);
/* Whether one pointer names a part of what the other names, or the same. */
bool pl_pointer_overlap(const char *a, const char *b);

#endif
