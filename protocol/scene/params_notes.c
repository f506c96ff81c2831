#include "protocol/scene/notes_decode.h"
#include "protocol/scene/params_rows.h"

static const pl_param notes_rows[] = {
    TITLE(pl_notes),
    LABELS,
    METADATA,
    PRIORITY,
    WEBHOOK,
    STRING("group", FROM(1, 64), "none", pl_notes, group,
           "Whose members share it, one of your own groups; null takes it back. For its owner."),
    OBJECT("retention", pl_retention_table, pl_notes_judged, retention,
           "As output.retention of the scene, which it replaces; null: everything is kept."),
};
const pl_param_table pl_notes_table = {
    .name = "notes", .doc = "What PATCH may change of a session.", ROWS(notes_rows)};
