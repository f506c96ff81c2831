/* notes.h - the owner's information about a session beside the physics: its name, labels, metadata, priority,
 * webhook and group. It comes with the scene or changes later by PATCH; the engine does not see it.
 */
#ifndef PLIANT_PROTOCOL_SCENE_NOTES_H
#define PLIANT_PROTOCOL_SCENE_NOTES_H

#include "engine/scene/fault.h"
#include "protocol/text/json.h"
#include "protocol/scene/scene_json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_METADATA_DEPTH = 64,
    PL_METADATA_MAX = 16384,
    PL_PRIORITY_MAX = 100,
    PL_LABEL_TERMS_MAX = 8,
    PL_WEBHOOK_MAX = 2000
};

/* Texts are malloc'ed and owned by the struct. */
struct pl_notes {
    char *name;     /* "" if not set */
    char *labels;   /* a JSON object of strings in the form written by this code, or NULL: none */
    char *metadata; /* a JSON object, compact, or NULL: none */
    char *webhook;  /* an http or https URL, or NULL: none */
    int64_t priority;
    char *group; /* group whose members share it, or NULL; only from PATCH, not from a scene */
    /* output.retention, only from PATCH; the first is -1 if unknown. */
    int64_t keep_last, keep_every;
    double keep_days;
};
void pl_notes_clear(pl_notes *notes);

/* A scene's text for users who may only view its session: without its webhook, which may hold a secret. malloc'ed
 * with its length; NULL if out of memory or not a JSON object. */
char *pl_notes_scene_shown(const char *text, size_t length, size_t *shown);

/* Labels as text, malloc'ed; NULL if out of memory. */
char *pl_labels_write(const pl_json *labels);

/* A filter by labels: "key=value", or "key" with any value; several, joined by commas, must all match. */
typedef struct pl_label_filter {
    char *terms[PL_LABEL_TERMS_MAX]; /* in the form of a labels text */
    int count;
} pl_label_filter;
/* False if the text is not such a list (an empty key, or too many), or if out of memory. */
bool pl_label_filter_parse(const char *text, pl_label_filter *out);
void pl_label_filter_clear(pl_label_filter *filter);
bool pl_label_filter_fits(const pl_label_filter *filter, const char *labels); /* NULL: none */

#endif
