/* notes_decode.h - the parts of a scene that belong to notes.h; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_NOTES_DECODE_H
#define PLIANT_PROTOCOL_SCENE_NOTES_DECODE_H

#include "engine/scene/scene.h"
#include "protocol/scene/decode.h"
#include "protocol/scene/notes.h"

/* Target of the table of notes, used for checks; the kept data come from the document. */
typedef struct pl_notes_decoded {
    pl_notes notes;
    pl_retention retention;
} pl_notes_decoded;

void pl_decode_metadata(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_labels(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_webhook(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_priority(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* The notes of a valid document; `resources`: its priority is below that key, as in a scene. False if out of
 * memory. */
bool pl_notes_take(const json_t *document, bool resources, pl_notes *out);

#endif
