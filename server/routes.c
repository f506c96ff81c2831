#include "server/routes.h"

#include "server/admission.h"
#include "server/api.h"
#include "server/frame.h"
#include "server/meshes.h"
#include "server/openapi.h"
#include "server/ops.h"
#include "server/patch.h"
#include "server/streams.h"

#define JSON    "application/json"
#define FRAMES  "application/vnd.pliant.frames"
#define SESSION "/v1/sessions/{id}"

const pl_route pl_routes[] = {
    {"POST", "/v1/sessions", pl_handle_create, PL_RUN_CHECKS_DETACHED, PL_SCOPE_SUBMIT,
     PL_TAKES_JSON, .produces = JSON, .query = {"group"},
     .summary = "Submit a scene; Idempotency-Key and Prefer: wait=SECONDS are honoured"},
    {"GET", "/v1/sessions", pl_handle_list, PL_RUN_HERE, PL_SCOPE_READ, .produces = JSON,
     .query = {"state", "owner", "name", "label", "limit", "cursor"},
     .summary = "Sessions, newest first"},
    {"GET", SESSION, pl_handle_show, PL_RUN_HERE, PL_SCOPE_READ, .produces = JSON,
     .query = {"wait"}, .summary = "One session"},
    {"PATCH", SESSION, pl_handle_patch, PL_RUN_FILES, PL_SCOPE_SUBMIT, PL_TAKES_JSON,
     .produces = JSON,
     .summary =
         "Change name, labels, metadata or priority by a merge patch (RFC 7396); If-Match is "
         "honoured"},
    {"DELETE", SESSION, pl_handle_delete, PL_RUN_FILES, PL_SCOPE_SUBMIT, .produces = JSON,
     .summary = "Remove a session with its data; a live one is cancelled first (202)"},
    {"POST", SESSION "/cancel", pl_handle_cancel, PL_RUN_FILES, PL_SCOPE_SUBMIT, .produces = JSON,
     .summary = "Stop a session; its frames are kept"},
    {"POST", SESSION "/pause", pl_handle_pause, PL_RUN_FILES, PL_SCOPE_SUBMIT, .produces = JSON,
     .summary = "Stop a session at a checkpoint; its cores are free until it is resumed"},
    {"POST", SESSION "/resume", pl_handle_resume, PL_RUN_FILES, PL_SCOPE_SUBMIT, .produces = JSON,
     .summary = "Queue a paused session again; it goes on from its checkpoint"},
    {"GET", SESSION "/topology", pl_handle_topology, PL_RUN_FILES, PL_SCOPE_READ,
     .produces = JSON ", application/x-npy", .query = {"array"}, .summary = "What to draw"},
    {"GET", SESSION "/frames", pl_handle_frames, PL_RUN_FILES, PL_SCOPE_READ,
     .produces = FRAMES ", application/x-ndjson",
     .query = {"from", "to", "limit", "follow", "mode", "every", "max_fps", "dtype", "vertices",
               "fields"},
     .summary = "A stream of frames: records as they lie on disk, or in another form"},
    {"GET", SESSION "/frames/{k}", pl_handle_frame, PL_RUN_FILES, PL_SCOPE_READ,
     .produces = FRAMES ", application/x-npy, application/x-ndjson",
     .query = {"dtype", "vertices", "fields"}, .summary = "One frame"},
    {"GET", SESSION "/metrics", pl_handle_metrics, PL_RUN_FILES, PL_SCOPE_READ,
     .produces = "application/x-ndjson, text/event-stream",
     .query = {"from", "to", "limit", "follow", "mode", "every", "max_fps"},
     .summary = "The metrics records as lines or server-sent events"},
    {"GET", SESSION "/scene", pl_handle_scene, PL_RUN_FILES, PL_SCOPE_READ, .produces = JSON,
     .query = {"form"}, .summary = "The scene, as posted or with every default"},
    {"GET", SESSION "/log", pl_handle_log, PL_RUN_FILES, PL_SCOPE_READ, .produces = "text/plain",
     .summary = "What the worker said"},
    {"POST", "/v1/validate", pl_handle_validate, PL_RUN_CHECKS, PL_SCOPE_SUBMIT, PL_TAKES_JSON,
     .produces = JSON, .summary = "Check a scene and estimate its cost; nothing is kept"},
    {"PUT", "/v1/meshes/{sha256}", pl_handle_mesh_put, PL_RUN_CHECKS, PL_SCOPE_SUBMIT,
     PL_TAKES_BYTES, .produces = JSON, .summary = "Upload a mesh file", .sink = &pl_mesh_sink},
    {"GET", "/v1/meshes/{sha256}", pl_handle_mesh_get, PL_RUN_FILES, PL_SCOPE_READ,
     .produces = "application/octet-stream", .summary = "Read a mesh file; HEAD asks for it"},
    {"GET", "/v1/capabilities", pl_handle_capabilities, PL_RUN_HERE, PL_SCOPE_ANY, .produces = JSON,
     .summary = "Materials, methods, limits and every parameter"},
    {"GET", "/v1/version", pl_handle_version, PL_RUN_HERE, PL_SCOPE_PUBLIC, .produces = JSON,
     .summary = "Versions of the daemon and its formats"},
    {"GET", "/healthz", pl_handle_health, PL_RUN_HERE, PL_SCOPE_PUBLIC, .produces = JSON,
     .summary = "Whether the daemon answers"},
    {"GET", "/readyz", pl_handle_ready, PL_RUN_HERE, PL_SCOPE_PUBLIC, .produces = JSON,
     .summary = "Whether it takes sessions"},
    {"GET", "/metrics", pl_handle_metrics_page, PL_RUN_HERE, PL_SCOPE_PUBLIC,
     .produces = "text/plain", .summary = "Counters for Prometheus"},
    {"GET", "/openapi.json", pl_handle_openapi, PL_RUN_HERE, PL_SCOPE_PUBLIC, .produces = JSON,
     .summary = "This description"},
    {"GET", "/", pl_handle_root, PL_RUN_HERE, PL_SCOPE_PUBLIC, .produces = "text/html",
     .summary = "What this is"},
    {.method = NULL},
};
