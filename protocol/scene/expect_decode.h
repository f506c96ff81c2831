/* expect_decode.h - the parts of an expectation that its table cannot express; private to protocol/. */
#ifndef PLIANT_PROTOCOL_SCENE_EXPECT_DECODE_H
#define PLIANT_PROTOCOL_SCENE_EXPECT_DECODE_H

#include "protocol/scene/decode.h"

/* "at": a time or a word. */
void pl_decode_at(pl_decoder *d, json_t *value, const pl_param *p, void *out);
/* Rules over an expectation's keys. */
void pl_check_probe(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_expectation(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
