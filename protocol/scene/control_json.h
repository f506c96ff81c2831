/* control_json.h - a control (engine/scene/change.h) from JSON, checked against the tables of params_control.c and
 * the scene whose things it names. */
#ifndef PLIANT_PROTOCOL_SCENE_CONTROL_JSON_H
#define PLIANT_PROTOCOL_SCENE_CONTROL_JSON_H

#include "protocol/scene/scene_json.h"

typedef struct pl_change pl_change; /* engine/scene/change.h */

enum {
    PL_CONTROL_BYTES_MAX = 48 << 10
}; /* maximum size of a control's JSON text: it fits a record of control.log */

/* Decodes a control of a scene. On PL_DECODE_OK *out owns its memory (pl_change_clear); otherwise it is zeroed, and
 * the faults give the reasons. */
pl_decode_outcome pl_control_decode(const char *text, size_t length, const pl_scene *scene,
                                    pl_change *out, pl_faults *faults);

/* The same for programs without the engine: checks a control of a scene's text (as it was accepted). *compact
 * receives the control as one line of JSON, malloc'ed. */
pl_decode_outcome pl_control_validate(const char *text, size_t length, const char *scene_text,
                                      size_t scene_length, char **compact, pl_faults *faults);

#endif
