/* notes.h - what a session's owner says about it beside the physics: its name, labels, metadata,
 * priority, webhook and group. They come with the scene, or change later by PATCH; the engine knows nothing of them.
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
    char *name;     /* "" where there is none */
    char *labels;   /* a JSON object of strings as this room writes it, or NULL: none */
    char *metadata; /* a JSON object, compact, or NULL: none */
    char *webhook;  /* an http or https URL, or NULL: none */
    int64_t priority;
    char *group; /* whose members share it, or NULL; of PATCH alone, a scene says none */
    /* output.retention, of PATCH alone; the first is -1 where it is not known. */
    int64_t keep_last, keep_every;
    double keep_days;
};
void pl_notes_clear(pl_notes *notes);

/* A scene's text as those get it who may only look at its session: without its webhook, which may hold a
 * secret. malloc'ed with its length; NULL without memory or where it is no JSON object. */
char *pl_notes_scene_shown(const char *text, size_t length, size_t *shown);

/* Labels as text, malloc'ed; NULL without memory. */
char *pl_labels_write(const pl_json *labels);

/* Which labels are looked for: "key=value", or "key" with any value, several joined by commas: all of
 * them. */
typedef struct pl_label_filter {
    char *terms[PL_LABEL_TERMS_MAX]; /* as they stand in a labels text */
    int count;
} pl_label_filter;
/* False where the text is no such list (an empty key, or too many), or without memory. */
bool pl_label_filter_parse(const char *text, pl_label_filter *out);
void pl_label_filter_clear(pl_label_filter *filter);
bool pl_label_filter_fits(const pl_label_filter *filter, const char *labels); /* NULL: none */

#endif
