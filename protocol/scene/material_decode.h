/* material_decode.h - what of a material the tables cannot say; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_MATERIAL_DECODE_H
#define PLIANT_PROTOCOL_SCENE_MATERIAL_DECODE_H

#include "engine/scene/scene.h"
#include "protocol/scene/decode.h"

/* Customs of pl_material. */
void pl_decode_splines(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_points(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_curve(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Keys that exclude or need each other. */
void pl_check_material(pl_decoder *d, json_t *object, void *out, bool clean);
/* Whether a damping's model has a key. */
bool pl_damping_uses(const pl_material_damping *damping, const char *key);
void pl_check_damping(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
