#include "protocol/scene/notes_decode.h"
#include "protocol/scene/params_rows.h"

static const pl_param notes_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_notes, name),
     FROM(0, 255),
     .standard_text = "empty",
     .doc = "For people."},
    LABELS_ROW,
    METADATA_ROW,
    PRIORITY_ROW,
    WEBHOOK_ROW,
    {.key = "group",
     .kind = PL_PARAM_STRING,
     AT(pl_notes, group),
     FROM(1, 64),
     .standard_text = "none",
     .doc = "Whose members share it, one of your own groups; null takes it back. For its owner."},
    {.key = "retention",
     .kind = PL_PARAM_OBJECT,
     AT(pl_notes_judged, retention),
     .table = &pl_retention_table,
     .doc = "As output.retention of the scene, which it replaces; null: everything is kept."},
};
const pl_param_table pl_notes_table = {
    .name = "notes", .doc = "What PATCH may change of a session.", ROWS(notes_rows)};
