#include "protocol/text/json.h"

#include "protocol/text/json_load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pl_json is a json_t as seen outside: the struct is never defined, and pointers are cast. */
static json_t *to_jansson(const pl_json *value)
{
    return (json_t *)value;
}
static const pl_json *from_jansson(const json_t *value)
{
    return (const pl_json *)value;
}

pl_json *pl_json_parse(const char *text, size_t length, char error[160])
{
    json_error_t where;
    json_t *root = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (!root && error && errno == ENOMEM)
        snprintf(error, 160, "out of memory");
    else if (!root && error)
        snprintf(error, 160, "line %d, column %d: %.110s", where.line, where.column, where.text);
    return (pl_json *)root;
}

void pl_json_free(pl_json *document)
{
    json_decref(to_jansson(document));
}

/* One step of a path: the member with that name, or the item with that decimal index. */
static json_t *child(json_t *value, const char *name, size_t length)
{
    if (json_is_object(value))
        return json_object_getn(value, name, length);
    if (!json_is_array(value) || length == 0 || length > 9)
        return NULL;
    size_t index = 0;
    for (size_t i = 0; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(name[i] - '0');
    }
    return json_array_get(value, index);
}

const pl_json *pl_json_at(const pl_json *value, const char *path)
{
    json_t *at = to_jansson(value);
    if (*path == 0)
        return value;
    while (at) {
        size_t length = strcspn(path, "/");
        at = child(at, path, length);
        if (path[length] == 0)
            break;
        path += length + 1;
    }
    return from_jansson(at);
}

const pl_json *pl_json_item(const pl_json *array, size_t index)
{
    return from_jansson(json_array_get(to_jansson(array), index));
}

size_t pl_json_count(const pl_json *array_or_object)
{
    json_t *value = to_jansson(array_or_object);
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const char *pl_json_member(const pl_json *object, size_t index, const pl_json **value)
{
    json_t *o = to_jansson(object);
    void *iter = json_object_iter(o);
    for (size_t i = 0; iter && i < index; i++)
        iter = json_object_iter_next(o, iter);
    if (value)
        *value = iter ? from_jansson(json_object_iter_value(iter)) : NULL;
    return iter ? json_object_iter_key(iter) : NULL;
}

bool pl_json_is_null(const pl_json *value)
{
    return !value || json_is_null(to_jansson(value));
}

bool pl_json_is_object(const pl_json *value)
{
    return json_is_object(to_jansson(value));
}

double pl_json_number(const pl_json *value, const char *path, double fallback)
{
    json_t *at = to_jansson(pl_json_at(value, path));
    return json_is_number(at) ? json_number_value(at) : fallback;
}

int64_t pl_json_integer(const pl_json *value, const char *path, int64_t fallback)
{
    json_t *at = to_jansson(pl_json_at(value, path));
    if (json_is_integer(at))
        return json_integer_value(at);
    if (json_is_real(at)) { /* 12.0 counts as 12, as long as a double is exact */
        double real = json_real_value(at);
        if (fabs(real) <= 9007199254740992.0 && real == floor(real))
            return (int64_t)real;
    }
    return fallback;
}

bool pl_json_boolean(const pl_json *value, const char *path, bool fallback)
{
    json_t *at = to_jansson(pl_json_at(value, path));
    return json_is_boolean(at) ? json_is_true(at) : fallback;
}

const char *pl_json_string(const pl_json *value, const char *path, const char *fallback)
{
    json_t *at = to_jansson(pl_json_at(value, path));
    return json_is_string(at) ? json_string_value(at) : fallback;
}

char *pl_json_dump(const pl_json *value, bool pretty)
{
    size_t flags = JSON_ENCODE_ANY | (pretty ? JSON_INDENT(2) : JSON_COMPACT);
    return value ? json_dumps(to_jansson(value), flags) : NULL;
}
