/* scene_json.h - scene and settings <-> JSON, checked against the tables of params.h. */
#ifndef PLIANT_PROTOCOL_SCENE_SCENE_JSON_H
#define PLIANT_PROTOCOL_SCENE_SCENE_JSON_H

#include "engine/scene/output.h"
#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pl_scene pl_scene; /* engine/scene/scene.h */

/* Invalid JSON is answered with 400, an invalid scene with 422. */
typedef enum pl_decode_outcome {
    PL_DECODE_OK,
    PL_DECODE_SYNTAX,  /* not JSON, or a duplicate key: one fault, with line and column */
    PL_DECODE_INVALID, /* JSON, but not a scene: every fault */
    PL_DECODE_NO_MEMORY,
} pl_decode_outcome;

/* Decodes a scene. On PL_DECODE_OK *out owns its memory (pl_scene_clear); otherwise it is zeroed. */
pl_decode_outcome pl_scene_decode(const char *text, size_t length, pl_scene *out,
                                  pl_faults *faults);
/* The same, with the session's notes beside the physics; notes may be NULL. */
typedef struct pl_notes pl_notes; /* protocol/scene/notes.h */
pl_decode_outcome pl_scene_decode_with(const char *text, size_t length, pl_scene *out,
                                       pl_notes *notes, pl_faults *faults);

/* A scene's outline for the daemon and the command line, without engine headers. */
enum { PL_OUTLINE_UPLOADS_MAX = 256 };
typedef struct pl_upload_ref {
    char hash[65];    /* 64 hex digits */
    char pointer[96]; /* its place in the scene */
    char format[16];  /* "tetgen_node", "tetgen_ele", or as given in the scene */
} pl_upload_ref;
typedef struct pl_outline {
    pl_notes *notes;                     /* name, labels, ...: protocol/scene/notes.h; malloc'ed */
    int64_t frames;                      /* after frame 0; -1: without an end */
    double duration;                     /* s simulated */
    int32_t cores, cores_most;           /* minimum; maximum (0: the same) */
    bool cores_given;                    /* otherwise as many as are useful */
    bool preemptible, hold, interactive; /* interactive: paced by the clock, or without an end */
    pl_executor_choice executor;
    int32_t after_count;
    char after[16][33];            /* IDs of the sessions that it waits for */
    double memory, time_limit;     /* bytes, s; 0: unset */
    int64_t keep_last, keep_every; /* log_prune.h */
    double keep_days;              /* after its end; 0: forever */
    char method[32];
    bool gpu;     /* requested device */
    bool contact; /* between bodies, and of bodies with themselves */
    int32_t upload_count;
    pl_upload_ref *uploads; /* malloc'ed */
} pl_outline;
/* Decodes and checks a scene, and returns only its outline. */
pl_decode_outcome pl_scene_outline(const char *text, size_t length, pl_outline *out,
                                   pl_faults *faults);
void pl_outline_clear(pl_outline *outline);

/* The effective scene: every parameter with its value, under the posted keys. malloc'ed text, or NULL. */
char *pl_scene_encode(const pl_scene *scene);

/* Writes one of its obstacles as the next value. */
typedef struct pl_json_writer pl_json_writer; /* protocol/text/json.h */
typedef struct pl_obstacle pl_obstacle;       /* engine/scene/scene.h */
void pl_obstacle_put(pl_json_writer *w, const pl_obstacle *obstacle);

/* The body of /v1/capabilities: {"version", "materials", "methods", "integrators", "devices",
 * "exports", "mesh_sources", "mesh_formats", "selections", "shapes", "obstacles", "limits",
 * "scene_limits", "parameters": {table: {key: {type, unit, default, minimum, ...}}}}.
 * `devices_json`, `exports_json` and `limits_json` are the caller's JSON texts. malloc'ed, or NULL. */
char *pl_capabilities_encode(const char *devices_json, const char *exports_json,
                             const char *limits_json);

#endif
