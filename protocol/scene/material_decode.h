/* material_decode.h - the parts of a material that the tables cannot express; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_MATERIAL_DECODE_H
#define PLIANT_PROTOCOL_SCENE_MATERIAL_DECODE_H

#include "engine/scene/scene.h"
#include "protocol/scene/decode.h"

/* Customs of pl_material. */
void pl_decode_splines(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_points(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_curve(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Checks keys that exclude or require each other. */
void pl_check_material(pl_decoder *d, json_t *object, void *out, bool clean);
/* True if a damping's model has a key. */
bool pl_damping_uses(const pl_material_damping *damping, const char *key);
void pl_check_damping(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
