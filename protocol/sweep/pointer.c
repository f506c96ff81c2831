#include "protocol/sweep/pointer.h"

#include "protocol/sweep/sweep.h"

#include <string.h>

/* Unescapes the next part of a pointer that is at '/' into key; returns the rest, or NULL if it is not a pointer. */
static const char *part(const char *at, char key[PL_SWEEP_PATH_MAX])
{
    size_t n = 0;
    if (*at++ != '/')
        return NULL;
    for (; *at && *at != '/'; at++) {
        char c = *at;
        if (c == '~' && (at[1] == '0' || at[1] == '1'))
            c = *++at == '0' ? '~' : '/';
        else if (c == '~')
            return NULL;
        if (n + 1 >= PL_SWEEP_PATH_MAX)
            return NULL;
        key[n++] = c;
    }
    key[n] = 0;
    return at;
}

/* An array's index: digits without a leading zero. */
static bool index_of(const char *key, size_t *out)
{
    size_t length = strlen(key);
    if (length == 0 || length > 9 || strspn(key, "0123456789") != length ||
        (key[0] == '0' && length > 1))
        return false;
    *out = 0;
    for (size_t i = 0; i < length; i++)
        *out = *out * 10 + (size_t)(key[i] - '0');
    return true;
}

static json_t *child(json_t *value, const char *key)
{
    size_t index;
    if (json_is_object(value))
        return json_object_get(value, key);
    return json_is_array(value) && index_of(key, &index) ? json_array_get(value, index) : NULL;
}

json_t *pl_pointer_get(json_t *document, const char *pointer)
{
    char key[PL_SWEEP_PATH_MAX];
    json_t *at = document;
    while (at && *pointer) {
        pointer = part(pointer, key);
        if (!pointer)
            return NULL;
        at = child(at, key);
    }
    return at;
}

bool pl_pointer_put(json_t *document, const char *pointer, json_t *value)
{
    char key[PL_SWEEP_PATH_MAX];
    json_t *parent = document, *at = document;
    if (!*pointer)
        at = NULL; /* the whole document is not a member */
    while (at && *pointer) {
        parent = at;
        pointer = part(pointer, key);
        at = pointer ? child(at, key) : NULL;
    }
    size_t index;
    if (!at) {
        json_decref(value);
        return false;
    }
    if (json_is_object(parent))
        return json_object_set_new(parent, key, value) == 0;
    return index_of(key, &index) && json_array_set_new(parent, index, value) == 0;
}

size_t pl_pointer_reach(json_t *document, const char *pointer)
{
    char key[PL_SWEEP_PATH_MAX];
    const char *at = pointer;
    json_t *value = document;
    while (*at) {
        const char *after = part(at, key);
        value = after ? child(value, key) : NULL;
        if (!value)
            break;
        at = after;
    }
    return (size_t)(at - pointer);
}

bool pl_pointer_overlap(const char *a, const char *b)
{
    size_t n = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
    return strncmp(a, b, n) == 0 && (a[n] == '/' || b[n] == '/' || a[n] == b[n]);
}
