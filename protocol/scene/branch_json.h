/* branch_json.h - the request for a branch: {"frame": k or "snapshot": name, or neither, "scene": a merge patch
 * (RFC 7396)}. */
#ifndef PLIANT_PROTOCOL_SCENE_BRANCH_JSON_H
#define PLIANT_PROTOCOL_SCENE_BRANCH_JSON_H

#include "protocol/scene/scene_json.h"

typedef struct pl_branch_request {
    int64_t frame;  /* -1 where it is left out */
    char *snapshot; /* its name, malloc'ed; NULL where it is left out */
    char *scene;    /* the text with the patch in it, malloc'ed */
} pl_branch_request;

/* What a branch cannot change (bodies, the time step, the frames' distance, ...) is a fault. *out may have
 * texts to be freed whatever is returned. */
pl_decode_outcome pl_branch_decode(const char *text, size_t length, const char *scene_text,
                                   size_t scene_length, pl_branch_request *out, pl_faults *faults);

#endif
