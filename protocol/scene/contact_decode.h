/* contact_decode.h - the parts of contact that its table cannot express; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_CONTACT_DECODE_H
#define PLIANT_PROTOCOL_SCENE_CONTACT_DECODE_H

#include "engine/scene/scene.h"
#include "protocol/scene/decode.h"

/* "between": the names of two bodies, as indices. */
void pl_decode_between(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Pairs without a restitution get that of contact. */
void pl_check_contact(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
