/* notes_patch.h - a change of a session's notes, requested by PATCH. */
#ifndef PLIANT_PROTOCOL_SCENE_NOTES_PATCH_H
#define PLIANT_PROTOCOL_SCENE_NOTES_PATCH_H

#include "engine/scene/fault.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/scene_json.h"

/* Applies a JSON merge patch (RFC 7396) to `now`: null removes, and labels and metadata change member by member. On
 * PL_DECODE_OK *out owns its texts; faults point into the patch. */
pl_decode_outcome pl_notes_patch(const char *text, size_t length, const pl_notes *now,
                                 pl_notes *out, pl_faults *faults);

#endif
