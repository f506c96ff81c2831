#include "clients/cli/session/merge_patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole values are copied as text. */
static void put_copy(pl_json_writer *w, const pl_json *value)
{
    char *text = pl_json_dump(value, false);
    if (text)
        pl_json_put_raw(w, text);
    else
        w->failed = true;
    free(text);
}

static bool starts(const pl_json *value, char first)
{
    char *text = pl_json_dump(value, false);
    bool found = text && *text == first;
    free(text);
    return found;
}

/* Member names may contain '/', so that paths cannot be used. */
static const pl_json *find(const pl_json *object, const char *key)
{
    const pl_json *value;
    for (size_t i = 0; i < pl_json_count(object); i++) {
        const char *name = pl_json_member(object, i, &value);
        if (name && strcmp(name, key) == 0)
            return value;
    }
    return NULL;
}

static bool is_object(const pl_json *value)
{
    return value && starts(value, '{');
}

static void put_array(pl_json_writer *w, const pl_json *base, const pl_json *patch)
{
    pl_json_begin_array(w);
    for (size_t i = 0; i < pl_json_count(base); i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        const pl_json *with = find(patch, index);
        if (!with)
            put_copy(w, pl_json_item(base, i));
        else if (!pl_json_is_null(with))
            pl_merge_patch_put(w, pl_json_item(base, i), with);
    }
    pl_json_end_array(w);
}

void pl_merge_patch_put(pl_json_writer *w, const pl_json *base, const pl_json *patch)
{
    const pl_json *value;
    if (!is_object(patch)) {
        put_copy(w, patch);
        return;
    }
    if (base && starts(base, '[')) {
        put_array(w, base, patch);
        return;
    }
    pl_json_begin_object(w);
    for (size_t i = 0; is_object(base) && i < pl_json_count(base); i++) {
        const char *key = pl_json_member(base, i, &value);
        const pl_json *with = find(patch, key);
        if (with && pl_json_is_null(with))
            continue;
        pl_json_key(w, key);
        if (with)
            pl_merge_patch_put(w, value, with);
        else
            put_copy(w, value);
    }
    for (size_t i = 0; i < pl_json_count(patch); i++) {
        const char *key = pl_json_member(patch, i, &value);
        if (pl_json_is_null(value) || (is_object(base) && find(base, key)))
            continue;
        pl_json_key(w, key);
        pl_merge_patch_put(w, NULL, value);
    }
    pl_json_end_object(w);
}

char *pl_merge_patch_texts(const char *base, size_t base_length, const char *patch, size_t *length)
{
    pl_json *b = pl_json_parse(base, base_length, NULL);
    pl_json *p = pl_json_parse(patch, strlen(patch), NULL);
    pl_json_writer w = {0};
    if (b && p)
        pl_merge_patch_put(&w, b, p);
    char *text = b && p ? pl_json_finish(&w, length) : NULL;
    pl_json_free(b);
    pl_json_free(p);
    return text;
}
