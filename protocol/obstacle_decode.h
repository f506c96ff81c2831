/* obstacle_decode.h - what binds several keys of an obstacle; rules of scene_decode.c. */
#ifndef PLIANT_PROTOCOL_OBSTACLE_DECODE_H
#define PLIANT_PROTOCOL_OBSTACLE_DECODE_H

#include "protocol/decode.h"

/* A box's rounding fits its edges; a cylinder's its radius and height; a torus has a hole. */
void pl_check_block(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_cylinder(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_torus(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
