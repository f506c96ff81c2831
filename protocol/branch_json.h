/* branch_json.h - the request for a branch: {"frame": k or left out, "scene": a merge patch (RFC 7396)}. */
#ifndef PLIANT_PROTOCOL_BRANCH_JSON_H
#define PLIANT_PROTOCOL_BRANCH_JSON_H

#include "protocol/scene_json.h"

/* *frame is -1 where it is left out; *scene the text with the patch in it, malloc'ed. What a branch can
 * not change (bodies, the time step, the frames' distance, ...) is a fault. */
pl_decode_verdict pl_branch_decode(const char *text, size_t length, const char *scene_text,
                                   size_t scene_length, int64_t *frame, char **scene,
                                   pl_faults *faults);

#endif
