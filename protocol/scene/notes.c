#include "protocol/scene/notes.h"

#include "protocol/text/json.h"
#include "protocol/text/json_load.h"
#include "protocol/scene/params.h"

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

/* Always written by the same writer, so a filter's terms can be searched for as bytes. */
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

/* ---- search ---- */

/* "key":"value" or "key": in the form of pl_labels_write. */
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

/* A key begins after '{' or ','. A quote within a string follows a backslash, and one that begins a value follows a
 * colon. After a value comes ',' or '}'. */
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
