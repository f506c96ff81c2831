#include "protocol/scene/notes_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- judging ---- */

/* Clients that traverse it recursively must not run out of stack. */
static bool is_deeper(json_t *value, int levels)
{
    const char *key;
    json_t *inner;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value))
        return false;
    if (levels == 0)
        return true;
    if (json_is_object(value)) {
        json_object_foreach(value, key, inner)
        {
            if (is_deeper(inner, levels - 1))
                return true;
        }
    }
    json_array_foreach(value, i, inner)
    {
        if (is_deeper(inner, levels - 1))
            return true;
    }
    return false;
}

void pl_decode_metadata(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    if (!json_is_object(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    if (is_deeper(value, PL_METADATA_DEPTH)) {
        pl_decode_fault(d, "too_deep", "more than 64 levels", "at most 64 levels of nesting",
                        "flatten it, or store the rest elsewhere and keep a reference");
        return;
    }
    size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
    if (size > PL_METADATA_MAX) {
        char got[64];
        snprintf(got, sizeof got, "%zu bytes", size);
        pl_decode_fault(d, "too_large", got, "at most 16384 bytes", "keep a reference to the rest");
    }
}

void pl_decode_labels(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    const char *key;
    json_t *label;
    if (!json_is_object(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    if (json_object_size(value) > PL_SCENE_LABELS_MAX) {
        pl_decode_refuse(d, value, "too_many", "at most 64 labels", "");
        return;
    }
    json_object_foreach(value, key, label)
    {
        size_t mark = pl_decode_enter(d, key);
        if (!json_is_string(label))
            pl_decode_refuse(d, label, "wrong_type", "string", "");
        else if (!*key || strlen(key) > PL_SCENE_NAME_MAX || json_string_length(label) > 255)
            pl_decode_refuse(d, label, "out_of_range",
                             "key of 1 to 127 bytes, value of at most 255", "");
        pl_decode_leave(d, mark);
    }
}

void pl_decode_priority(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    int64_t unused;
    pl_param number = *p;
    number.kind = PL_PARAM_INTEGER;
    pl_decode_integer(d, value, &number, &unused);
}

/* http or https and a host, without a user name and password before it and without characters that end a request
 * line. */
static bool is_address(const char *url)
{
    bool tls = strncmp(url, "https://", 8) == 0;
    if (!tls && strncmp(url, "http://", 7) != 0)
        return false;
    const char *host = url + (tls ? 8 : 7);
    size_t length = strcspn(host, "/?#");
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7F)
            return false;
    return length > 0 && !memchr(host, '@', length) && strlen(url) <= PL_WEBHOOK_MAX;
}

void pl_decode_webhook(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char expected[] = "an http or https URL of at most 2000 bytes, without user name";
    const char *key;
    json_t *url, *other;
    if (!json_is_object(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    json_object_foreach(value, key, other)
    {
        size_t mark = pl_decode_enter(d, key);
        if (strcmp(key, "url") != 0)
            pl_decode_fault(d, "unknown_key", key, "url", "");
        pl_decode_leave(d, mark);
    }
    if (!(url = json_object_get(value, "url"))) {
        pl_decode_missing(d, "url", expected, "");
        return;
    }
    size_t mark = pl_decode_enter(d, "url");
    if (!json_is_string(url))
        pl_decode_refuse(d, url, "wrong_type", expected, "");
    else if (!is_address(json_string_value(url)))
        pl_decode_refuse(d, url, "bad_url", expected, "");
    pl_decode_leave(d, mark);
}

/* ---- taking ---- */

bool pl_notes_take(const json_t *document, bool resources, pl_notes *out)
{
    const json_t *name = json_object_get(document, "name");
    const json_t *labels = json_object_get(document, "labels");
    const json_t *metadata = json_object_get(document, "metadata");
    const json_t *above = resources ? json_object_get(document, "resources") : document;
    pl_notes notes = {.name = strdup(name ? json_string_value(name) : "")};
    bool good = notes.name;
    if (good && json_object_size(labels) > 0)
        good = (notes.labels = pl_labels_write((const pl_json *)labels));
    if (good && json_object_size(metadata) > 0)
        good = (notes.metadata = json_dumps(metadata, JSON_COMPACT));
    const char *url =
        json_string_value(json_object_get(json_object_get(document, "webhook"), "url"));
    if (good && url)
        good = (notes.webhook = strdup(url));
    const char *group = resources ? NULL : json_string_value(json_object_get(document, "group"));
    if (good && group)
        good = (notes.group = strdup(group));
    notes.priority = (int64_t)json_number_value(json_object_get(above, "priority"));
    const json_t *retention = resources ? NULL : json_object_get(document, "retention");
    notes.keep_last = (int64_t)json_number_value(json_object_get(retention, "last"));
    notes.keep_every = (int64_t)json_number_value(json_object_get(retention, "every"));
    notes.keep_days = json_number_value(json_object_get(retention, "days"));
    if (!good)
        pl_notes_clear(&notes);
    *out = notes;
    return good;
}
