#include "protocol/scene/notes.h"

#include "protocol/text/json.h"
#include "protocol/text/json_load.h"
#include "protocol/scene/notes_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pl_notes_clear(pl_notes *notes)
{
    free(notes->name);
    free(notes->labels);
    free(notes->metadata);
    free(notes->webhook);
    free(notes->group);
    *notes = (pl_notes){0};
}

/* ---- judging ---- */

void pl_decode_metadata(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    if (!json_is_object(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
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

/* http or https, a host, and neither a name with a password before it nor what ends a request's line. */
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

/* Written by one writer, so that a filter's terms are found in it as bytes. */
char *pl_labels_write(const pl_json *labels)
{
    pl_json_writer w = {0};
    const pl_json *label;
    pl_json_begin_object(&w);
    for (size_t i = 0; i < pl_json_count(labels); i++) {
        const char *key = pl_json_member(labels, i, &label);
        pl_json_set_string(&w, key, pl_json_string(label, "", ""));
    }
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

char *pl_notes_scene_shown(const char *text, size_t length, size_t *shown)
{
    json_t *scene = pl_json_load(text, length, 0, NULL);
    char *out = NULL;
    if (json_object_del(scene, "webhook") == 0)
        out = json_dumps(scene, JSON_INDENT(2));
    else if (json_is_object(scene))
        out = strndup(text, length);
    json_decref(scene);
    *shown = out ? strlen(out) : 0;
    return out;
}

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

/* ---- changing ---- */

static json_t *load_object(const char *text)
{
    return text ? pl_json_load(text, strlen(text), 0, NULL) : json_object();
}

/* What there is now as a document of the form that a patch has. NULL without memory. */
static json_t *describe(const pl_notes *now)
{
    json_t *labels = load_object(now->labels), *metadata = load_object(now->metadata);
    json_t *all = json_pack("{s:s, s:o, s:o, s:I, s:{s:I, s:I, s:f}}", "name", now->name, "labels",
                            labels, "metadata", metadata, "priority", (json_int_t)now->priority,
                            "retention", "last", (json_int_t)now->keep_last, "every",
                            (json_int_t)now->keep_every, "days", now->keep_days);
    bool good = all;
    if (good && now->webhook)
        good = !json_object_set_new(all, "webhook", json_pack("{s:s}", "url", now->webhook));
    if (good && now->group)
        good = !json_object_set_new(all, "group", json_string(now->group));
    if (good)
        return all;
    json_decref(all);
    return NULL;
}

static const pl_decode_custom customs[PL_CUSTOM_COUNT] = {
    [PL_CUSTOM_METADATA] = pl_decode_metadata,
    [PL_CUSTOM_LABELS] = pl_decode_labels,
    [PL_CUSTOM_PRIORITY] = pl_decode_priority,
    [PL_CUSTOM_WEBHOOK] = pl_decode_webhook,
};

static pl_decode_outcome judge(json_t *merged, pl_notes *out, pl_faults *faults)
{
    static const pl_decode_rule rules[] = {{0}};
    pl_notes_judged judged = {0};
    pl_decoder d = {.faults = faults,
                    .root_table = pl_table_named("notes"),
                    .customs = customs,
                    .rules = rules};
    size_t before = faults->total;
    pl_decode_root(&d, merged, &judged);
    pl_notes_clear(&judged.notes);
    if (faults->total > before)
        return PL_DECODE_INVALID;
    return !d.no_memory && pl_notes_take(merged, false, out) ? PL_DECODE_OK : PL_DECODE_NO_MEMORY;
}

pl_decode_outcome pl_notes_patch(const char *text, size_t length, const pl_notes *now,
                                 pl_notes *out, pl_faults *faults)
{
    json_error_t error;
    *out = (pl_notes){0};
    json_t *patch = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!patch)
        return pl_decode_refuse_syntax(&error, faults);
    if (!json_is_object(patch)) {
        pl_faults_add(faults, "", "wrong_type", "no object", "an object with what is to change",
                      "{\"name\": \"...\", \"labels\": {\"key\": \"value\", \"old\": null}}");
        json_decref(patch);
        return PL_DECODE_INVALID;
    }
    json_t *old = describe(now), *merged = old ? pl_json_merge(old, patch) : NULL;
    pl_decode_outcome outcome = merged ? judge(merged, out, faults) : PL_DECODE_NO_MEMORY;
    json_decref(merged);
    json_decref(old);
    json_decref(patch);
    return outcome;
}

/* ---- finding ---- */

/* "key":"value" or "key": as pl_labels_write has it. */
static char *write_term(const char *term, size_t length)
{
    const char *equals = memchr(term, '=', length);
    size_t key_length = equals ? (size_t)(equals - term) : length;
    char key[PL_SCENE_NAME_MAX + 1], value[256];
    if (key_length == 0 || key_length >= sizeof key || length - key_length > sizeof value)
        return NULL;
    pl_json_writer w = {0};
    snprintf(key, sizeof key, "%.*s", (int)key_length, term);
    pl_json_key(&w, key);
    if (equals) {
        snprintf(value, sizeof value, "%.*s", (int)(length - key_length - 1), equals + 1);
        pl_json_put_string(&w, value);
    }
    return pl_json_finish(&w, NULL);
}

bool pl_label_filter_parse(const char *text, pl_label_filter *out)
{
    *out = (pl_label_filter){0};
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        char *term = out->count < PL_LABEL_TERMS_MAX ? write_term(at, length) : NULL;
        if (!term) {
            pl_label_filter_clear(out);
            return false;
        }
        out->terms[out->count++] = term;
        at += length;
        if (!*at)
            return true;
    }
}

void pl_label_filter_clear(pl_label_filter *filter)
{
    for (int i = 0; i < filter->count; i++)
        free(filter->terms[i]);
    *filter = (pl_label_filter){0};
}

/* A key begins after '{' or ','; a quote within a string has a backslash before it, and one that
 * begins a value a colon. After a value comes ',' or '}'. */
static bool has_term(const char *labels, const char *term)
{
    size_t length = strlen(term);
    bool with_value = term[length - 1] != ':';
    for (const char *at = labels; (at = strstr(at, term)); at++) {
        bool begins = at > labels && (at[-1] == '{' || at[-1] == ',');
        bool ends = !with_value || at[length] == ',' || at[length] == '}';
        if (begins && ends)
            return true;
    }
    return false;
}

bool pl_label_filter_fits(const pl_label_filter *filter, const char *labels)
{
    for (int i = 0; i < filter->count; i++)
        if (!labels || !has_term(labels, filter->terms[i]))
            return false;
    return true;
}
