#include "server/api/replies.h"

static const pl_reply_field export_format_fields[] = {
    {"name", "string", "value of `format`"},
    {"media_type", "string", "media type of the file"},
    {"series", "boolean", "true if each frame is a file; a .zip holds all of them"},
    {"bodies", "boolean", "true if it supports `body` and `vertices`"},
    {0},
};
static const pl_reply_field capabilities_fields[] = {
    {"version", "string", "version of the daemon"},
    {"materials", "[]string", "models of materials"},
    {"methods", "[]string", "methods of the solver"},
    {"obstacle_methods", "{}[]string", "methods by their kind of obstacles: hard, energy"},
    {"carries", "{}object",
     "for each method, its materials, and if it supports hard constraints and contact"},
    {"integrators", "[]string", "time integrators"},
    {"devices", "[]object",
     "the CPU, then each GPU; `cores_by` and `memory_by` of the CPU say what limits them: option, "
     "machine, affinity or control_group"},
    {"exports", "[]#ExportFormat", "formats of GET /v1/sessions/{id}/export"},
    {"mesh_sources", "[]string", "sources of a body's mesh"},
    {"mesh_formats", "[]string", "formats of mesh files"},
    {"selections", "[]string", "ways to select vertices"},
    {"shapes", "[]string", "initial shapes of a body"},
    {"obstacles", "[]string", "shapes of obstacles"},
    {"limits", "{}number", "limits of this daemon"},
    {"scene_limits", "{}integer", "limits of every scene"},
    {"parameters", "{}object", "tables of parameters: each key with type, unit, range and default"},
    {0},
};
static const pl_reply_field queue_fields[] = {
    {"running", "integer", "number of running sessions"},
    {"queued", "integer", "number of waiting sessions, including those that wait for a restart"},
    {"checking", "integer", "number of sessions being checked"},
    {"items", "[]#Session", "waiting sessions you can see, next first"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field device_fields[] = {
    {"device", "string", "cpu, or a GPU's UUID"},
    {"name", "string", "name of the device"},
    {"capability?", "string", "compute capability of a GPU"},
    {"cores?", "integer", "cores for sessions (CPU)"},
    {"cores_used?", "integer", "cores in use by running sessions (CPU)"},
    {"memory", "integer", "bytes"},
    {"memory_used", "integer", "bytes reserved for running sessions"},
    {"memory_others?", "integer", "bytes in use by other programs (GPU)"},
    {"sessions", "integer", "number of running sessions"},
    {"draining", "boolean", "true if no more sessions are started"},
    {"lost?", "boolean", "true if the driver no longer finds the GPU"},
    {0},
};
static const pl_reply_field device_list_fields[] = {
    {"items", "[]#Device", "all devices"},
    {"next", "string?", "always null"},
    {0},
};
static const pl_reply_field version_fields[] = {
    {"name", "string", "pliant"},
    {"version", "string", "version of the daemon"},
    {"api", "integer", "version of this API"},
    {"scene", "integer", "version of scenes"},
    {"record", "integer", "version of stream records"},
    {0},
};
static const pl_reply_field health_fields[] = {
    {"status", "string", "ok or ready"},
    {0},
};
static const pl_reply_field usage_fields[] = {
    {"user", "string", "name of the user"},
    {"used", "#Limits", "usage, requests over about ten seconds; null: not counted"},
    {"limits", "#Limits", "limits; null: no limit"},
    {"by?", "string", "with ?by=: grouping of the items"},
    {"from?", "string", "first day counted, UTC"},
    {"to?", "string", "last day counted"},
    {"items?", "[]#UsageItem", "rows, most core-seconds or first day first"},
    {"machine?", "#UsageSum", "all users together"},
    {0},
};
static const pl_reply_field usage_item_fields[] = {
    {"user?", "string", "by=user: name of the user"},
    {"group?", "string?", "by=group: name of the group; null: without a group"},
    {"day?", "string", "by=day: a day, UTC"},
    {"core_seconds", "number", "cores times seconds of sessions that ran or run"},
    {"gpu_seconds", "number", "seconds that sessions had a GPU"},
    {"runs", "integer", "number of times a session started to run"},
    {"bytes", "integer", "bytes of sessions stored, on the last day that was sampled"},
    {0},
};
static const pl_reply_field usage_sum_fields[] = {
    {"core_seconds", "number", "cores times seconds of sessions that ran or run"},
    {"gpu_seconds", "number", "seconds that sessions had a GPU"},
    {"runs", "integer", "number of times a session started to run"},
    {"bytes", "integer", "bytes of sessions stored, on the last day that was sampled"},
    {0},
};
static const pl_reply_field usage_spans_fields[] = {
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339"},
    {"cores", "integer", "cores that sessions may use"},
    {"devices", "[]#UsageDevice", "GPUs"},
    {"items", "[]#UsageSpan",
     "runs of sessions you can see, by start; a run across midnight (UTC) is one item per day"},
    {"others", "[]#UsageOthers", "all other sessions together, if any"},
    {"truncated", "boolean", "true if the oldest runs are omitted: there are more than 5,000"},
    {0},
};
static const pl_reply_field usage_device_fields[] = {
    {"uuid", "string", "UUID of the GPU"},
    {"name", "string", "name of the GPU"},
    {0},
};
static const pl_reply_field usage_span_fields[] = {
    {"session", "string", "ID of the session"},
    {"name", "string?", "name of the session; null: it was deleted"},
    {"user", "string", "its owner"},
    {"group", "string?", "its group; null: none"},
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339; now, if it still runs"},
    {"running", "boolean", "true if it still runs"},
    {"cores", "integer", "cores; 0 where another session's worker runs it"},
    {"gpu", "string?", "UUID of its GPU"},
    {0},
};
static const pl_reply_field usage_others_fields[] = {
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339"},
    {"cores", "integer", "cores in use by others"},
    {"gpus", "integer", "sessions of others on a GPU"},
    {0},
};

/* One per line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_replies_of_machine[] = {
    {"Queue", "Running and waiting sessions.", queue_fields},
    {"Device", "A device that sessions run on.", device_fields},
    {"DeviceList", "Devices that sessions run on.", device_list_fields},
    {"Version", "Versions.", version_fields},
    {"Health", "Liveness of the daemon.", health_fields},
    {"Usage", "Usage and limits of a user, and on request the usage of the machine.", usage_fields},
    {"UsageItem", "Usage of a user, a group or a day.", usage_item_fields},
    {"UsageSum", "Usage of all users.", usage_sum_fields},
    {"UsageSpans", "Use of cores and devices over time.", usage_spans_fields},
    {"UsageDevice", "A GPU.", usage_device_fields},
    {"UsageSpan", "A session that ran without a break.", usage_span_fields},
    {"UsageOthers", "Total use of other users.", usage_others_fields},
    {"ExportFormat", "A format of exports.", export_format_fields},
    {"Capabilities", "Features of this version, and every parameter of a scene.",
     capabilities_fields},
    {"Schema", "A JSON Schema (2020-12).", NULL},
    {"OpenApi", "An OpenAPI 3.1 document.", NULL},
    {0},
};
/* clang-format on */
