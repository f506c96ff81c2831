/* control_json.h - a control (engine/scene/change.h) from JSON, judged by the tables of params_control.c and
 * by the scene whose things it names. */
#ifndef PLIANT_PROTOCOL_SCENE_CONTROL_JSON_H
#define PLIANT_PROTOCOL_SCENE_CONTROL_JSON_H

#include "protocol/scene/scene_json.h"

typedef struct pl_change pl_change; /* engine/scene/change.h */

enum {
    PL_CONTROL_BYTES_MAX = 48 << 10
}; /* of a control's JSON text: a record of control.log holds it */

/* Decode a control of a scene. On PL_DECODE_OK *out owns its memory (pl_change_clear); otherwise it is
 * zeroed, and the faults say why. */
pl_decode_outcome pl_control_decode(const char *text, size_t length, const pl_scene *scene,
                                    pl_change *out, pl_faults *faults);

/* The same for whoever has no engine: judge a control of a scene's text (as it was accepted). *compact
 * receives the control as one line of JSON, malloc'ed. */
pl_decode_outcome pl_control_validate(const char *text, size_t length, const char *scene_text,
                                      size_t scene_length, char **compact, pl_faults *faults);

#endif
