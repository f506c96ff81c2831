/* json.h - reads and writes small JSON documents without jansson.h (which only this folder includes). Reading uses
 * jansson. Writing is a streaming writer that cannot fail halfway: NaN and infinities become null, strings are
 * checked for UTF-8 and escaped, and out of memory is reported once, at the end.
 */
#ifndef PLIANT_PROTOCOL_TEXT_JSON_H
#define PLIANT_PROTOCOL_TEXT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- reading ---- */
typedef struct pl_json pl_json; /* a document, or a borrowed part of one */
/* Parses a document; duplicate keys are rejected. NULL with a located message in error (may be NULL) and errno
 * EINVAL, or ENOMEM if out of memory. */
pl_json *pl_json_parse(const char *text, size_t length, char error[160]);
void pl_json_free(pl_json *document); /* only for documents from pl_json_parse */

/* The value at a path of keys and array indices separated by '/', e.g. "progress/frame", "items/3/id"; NULL if
 * missing. Borrowed from the document. */
const pl_json *pl_json_at(const pl_json *value, const char *path);
const pl_json *pl_json_item(const pl_json *array, size_t index);
size_t pl_json_count(const pl_json *array_or_object); /* 0 for anything else */
/* Key of the i-th member of an object in document order, and its value. */
const char *pl_json_member(const pl_json *object, size_t index, const pl_json **value);
bool pl_json_is_null(const pl_json *value); /* true for NULL too */
bool pl_json_is_object(const pl_json *value);
/* By path; the fallback if the value is missing or of another type. */
double pl_json_number(const pl_json *value, const char *path, double fallback);
int64_t pl_json_integer(const pl_json *value, const char *path, int64_t fallback);
bool pl_json_boolean(const pl_json *value, const char *path, bool fallback);
const char *pl_json_string(const pl_json *value, const char *path, const char *fallback);
/* Text of a value, compact or indented by 2; malloc'ed, NULL if out of memory. */
char *pl_json_dump(const pl_json *value, bool pretty);

/* ---- writing ---- */
typedef struct pl_json_writer {
    char *text;
    size_t length, capacity;
    bool failed, need_comma;
} pl_json_writer; /* zero-initialise */
void pl_json_begin_object(pl_json_writer *w);
void pl_json_end_object(pl_json_writer *w);
void pl_json_begin_array(pl_json_writer *w);
void pl_json_end_array(pl_json_writer *w);
void pl_json_key(pl_json_writer *w, const char *key);
void pl_json_put_string(pl_json_writer *w, const char *text); /* NULL becomes null */
void pl_json_put_integer(pl_json_writer *w, int64_t value);
void pl_json_put_number(pl_json_writer *w, double value, int digits); /* 17 for full precision */
void pl_json_put_boolean(pl_json_writer *w, bool value);
void pl_json_put_null(pl_json_writer *w);
void pl_json_put_raw(pl_json_writer *w, const char *json); /* a JSON text, inserted unchanged */
/* Key and value in one call. */
void pl_json_set_string(pl_json_writer *w, const char *key, const char *text);
void pl_json_set_integer(pl_json_writer *w, const char *key, int64_t value);
void pl_json_set_number(pl_json_writer *w, const char *key, double value);
void pl_json_set_boolean(pl_json_writer *w, const char *key, bool value);
void pl_json_set_null(pl_json_writer *w, const char *key);
/* A count or an index; -1 stands for none and becomes null. */
void pl_json_set_known(pl_json_writer *w, const char *key, int64_t value);
void pl_json_set_raw(pl_json_writer *w, const char *key, const char *json);
/* The text, malloc'ed and NUL-terminated, or NULL if out of memory; the writer is zeroed. */
char *pl_json_finish(pl_json_writer *w, size_t *length);

#endif
