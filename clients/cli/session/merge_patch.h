/* merge_patch.h - a scene with some values replaced: a merge patch (RFC 7386), extended to arrays.
 *
 * An object in the patch is merged member by member, null removes a member, and any other value replaces. For an array,
 * an object's keys are indices: {"bodies": {"0": {"mesh": {"box": {"cells": [2, 2, 2]}}}}}.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_MERGE_PATCH_H
#define PLIANT_CLIENTS_CLI_SESSION_MERGE_PATCH_H

#include "protocol/text/json.h"

/* Write the merged document as the next value of `w`. */
void pl_merge_patch_put(pl_json_writer *w, const pl_json *base, const pl_json *patch);

/* The same for texts; malloc'ed, NULL if one is not JSON or out of memory. */
char *pl_merge_patch_texts(const char *base, size_t base_length, const char *patch, size_t *length);

#endif
