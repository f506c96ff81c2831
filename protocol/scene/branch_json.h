/* branch_json.h - the request for a branch: {"frame": k or "snapshot": name, or neither, "scene": a merge patch
 * (RFC 7396)}. */
#ifndef PLIANT_PROTOCOL_SCENE_BRANCH_JSON_H
#define PLIANT_PROTOCOL_SCENE_BRANCH_JSON_H

#include "protocol/scene/scene_json.h"

typedef struct pl_branch_request {
    int64_t frame;  /* -1 if left out */
    char *snapshot; /* its name, malloc'ed; NULL if left out */
    char *scene;    /* the text that contains the patch, malloc'ed */
} pl_branch_request;

/* A change that a branch does not allow (bodies, the time step, the frames' distance, ...) is a fault. Free the
 * texts of *out whatever is returned. */
pl_decode_outcome pl_branch_decode(const char *text, size_t length, const char *scene_text,
                                   size_t scene_length, pl_branch_request *out, pl_faults *faults);

#endif
