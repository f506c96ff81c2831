/* control_decode.h - rules over several keys of a control; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_CONTROL_DECODE_H
#define PLIANT_PROTOCOL_SCENE_CONTROL_DECODE_H

#include "protocol/scene/decode.h"

void pl_check_control(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_control_motion(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_control_force(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_control_material(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
