#include "protocol/scene/notes_decode.h"
#include "protocol/scene/params_rows.h"

static const pl_param notes_rows[] = {
    TITLE(pl_notes),
    LABELS,
    METADATA,
    PRIORITY,
    WEBHOOK,
    STRING("group", FROM(1, 64), "none", pl_notes, group,
           "One of your groups whose members share the session; null ends the sharing. "
           "Only the owner may set it."),
    OBJECT("retention", pl_retention_table, pl_notes_decoded, retention,
           "Replaces the scene's output.retention; null keeps everything."),
};
const pl_param_table pl_notes_table = {
    .name = "notes", .doc = "Fields of a session that PATCH may change.", ROWS(notes_rows)};
