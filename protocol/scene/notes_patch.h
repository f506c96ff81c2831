/* notes_patch.h - a change of a session's notes: what PATCH asks for. */
#ifndef PLIANT_PROTOCOL_SCENE_NOTES_PATCH_H
#define PLIANT_PROTOCOL_SCENE_NOTES_PATCH_H

#include "engine/scene/fault.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/scene_json.h"

/* What `now` becomes by a JSON merge patch (RFC 7396): null takes away, labels and metadata change
 * member by member. On PL_DECODE_OK *out owns its texts; pointers of faults are those of the patch. */
pl_decode_outcome pl_notes_patch(const char *text, size_t length, const pl_notes *now,
                                 pl_notes *out, pl_faults *faults);

#endif
