/* obstacle_decode.h - decodes an obstacle's heights and checks its rules over several keys, for scene_decode.c. */
#ifndef PLIANT_PROTOCOL_SCENE_OBSTACLE_DECODE_H
#define PLIANT_PROTOCOL_SCENE_OBSTACLE_DECODE_H

#include "protocol/scene/decode.h"

/* Checks that each row has as many numbers as the first. */
void pl_decode_heights(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Checks: a margin leaves room inside a container; a box's rounding fits its edges; a cylinder's fits its radius
 * and height; a torus has a hole. */
void pl_check_obstacle(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_block(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_cylinder(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_torus(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
