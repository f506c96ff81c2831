#include "server/api/replies.h"

#include <stdio.h>
#include <string.h>

static void set_words(pl_json_writer *w, const char *words, size_t length, bool null)
{
    pl_json_key(w, "enum");
    pl_json_begin_array(w);
    for (size_t at = 0; at < length;) {
        char word[64];
        size_t n = strcspn(words + at, ",?");
        snprintf(word, sizeof word, "%.*s", (int)n, words + at);
        pl_json_put_string(w, word);
        at += n + 1;
    }
    if (null) {
        pl_json_put_null(w);
    }
    pl_json_end_array(w);
}

/* A type that may also be null: either its own word for null, or a choice of two. */
static void set_simple(pl_json_writer *w, const char *name, bool null)
{
    if (!null) {
        pl_json_set_string(w, "type", name);
        return;
    }
    pl_json_key(w, "type");
    pl_json_begin_array(w);
    pl_json_put_string(w, name);
    pl_json_put_string(w, "null");
    pl_json_end_array(w);
}

static void set_reference(pl_json_writer *w, const char *name, bool null)
{
    char text[192];
    snprintf(text, sizeof text, "#/components/schemas/%s", name);
    if (null) {
        pl_json_key(w, "anyOf");
        pl_json_begin_array(w);
        pl_json_begin_object(w);
    }
    pl_json_set_string(w, "$ref", text);
    if (null) {
        pl_json_end_object(w);
        pl_json_put_raw(w, "{\"type\": \"null\"}");
        pl_json_end_array(w);
    }
}

void pl_reply_type_put(pl_json_writer *w, const char *type, const char *doc)
{
    size_t length = strlen(type);
    bool null = length > 0 && type[length - 1] == '?';
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(length - null), type);
    pl_json_begin_object(w);
    if (doc) {
        pl_json_set_string(w, "description", doc);
    }
    if (strncmp(name, "[]", 2) == 0 || strncmp(name, "{}", 2) == 0) {
        set_simple(w, name[0] == '[' ? "array" : "object", null);
        pl_json_key(w, name[0] == '[' ? "items" : "additionalProperties");
        pl_reply_type_put(w, name + 2, NULL);
    } else if (name[0] == '=') {
        set_words(w, name + 1, strlen(name) - 1, null);
    } else if (name[0] == '#') {
        set_reference(w, name + 1, null);
    } else if (strcmp(name, "any") != 0) {
        set_simple(w, name, null);
    }
    pl_json_end_object(w);
}

static bool is_optional(const pl_reply_field *f)
{
    return f->key[strlen(f->key) - 1] == '?';
}

void pl_reply_schema_put(pl_json_writer *w, const pl_reply_table *table)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", table->doc);
    pl_json_set_string(w, "type", "object");
    if (table->fields) {
        pl_json_set_boolean(w, "additionalProperties", false);
        pl_json_key(w, "required");
        pl_json_begin_array(w);
        for (const pl_reply_field *f = table->fields; f->key; f++) {
            if (!is_optional(f)) {
                pl_json_put_string(w, f->key);
            }
        }
        pl_json_end_array(w);
        pl_json_key(w, "properties");
        pl_json_begin_object(w);
        for (const pl_reply_field *f = table->fields; f->key; f++) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)(strlen(f->key) - is_optional(f)), f->key);
            pl_json_key(w, key);
            pl_reply_type_put(w, f->type, f->doc);
        }
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
}
