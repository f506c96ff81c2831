/* scene_json.h - scene and settings <-> JSON, judged by the tables of params.h. */
#ifndef PLIANT_PROTOCOL_SCENE_SCENE_JSON_H
#define PLIANT_PROTOCOL_SCENE_SCENE_JSON_H

#include "engine/scene/output.h"
#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pl_scene pl_scene; /* engine/scene/scene.h */

/* Whether the text was JSON at all decides 400 or 422. */
typedef enum pl_decode_outcome {
    PL_DECODE_OK,
    PL_DECODE_SYNTAX,  /* not JSON, or a duplicate key: one fault, with line and column */
    PL_DECODE_INVALID, /* JSON, but no scene: every fault */
    PL_DECODE_NO_MEMORY,
} pl_decode_outcome;

/* Decode a scene. On PL_DECODE_OK *out owns its memory (pl_scene_clear); otherwise it is zeroed. */
pl_decode_outcome pl_scene_decode(const char *text, size_t length, pl_scene *out,
                                  pl_faults *faults);
/* The same, and what the scene says of the session beside the physics; notes may be NULL. */
typedef struct pl_notes pl_notes; /* protocol/scene/notes.h */
pl_decode_outcome pl_scene_decode_with(const char *text, size_t length, pl_scene *out,
                                       pl_notes *notes, pl_faults *faults);

/* What the daemon and the command line need to know of a scene without engine headers. */
enum { PL_OUTLINE_UPLOADS_MAX = 256 };
typedef struct pl_upload_ref {
    char hash[65];    /* 64 hex digits */
    char pointer[96]; /* where the scene names it */
    char format[16];  /* "tetgen_node", "tetgen_ele", or as the scene says */
} pl_upload_ref;
typedef struct pl_outline {
    pl_notes *notes;                     /* name, labels, ...: protocol/scene/notes.h; malloc'ed */
    int64_t frames;                      /* after frame 0; -1: there is no end */
    double duration;                     /* s simulated */
    int32_t cores, cores_most;           /* at least, at most (0: as many) */
    bool cores_given;                    /* else it may have as many as pay */
    bool preemptible, hold, interactive; /* interactive: paced by the clock, or without an end */
    pl_executor_choice executor;
    int32_t after_count;
    char after[16][33];            /* ids of sessions that it waits for */
    double memory, time_limit;     /* bytes, s; 0: unset */
    int64_t keep_last, keep_every; /* log_prune.h */
    double keep_days;              /* after its end; 0: for good */
    char method[32];
    bool gpu;     /* that it asks for */
    bool contact; /* between bodies, and of bodies with themselves */
    int32_t upload_count;
    pl_upload_ref *uploads; /* malloc'ed */
} pl_outline;
/* Decode and judge a scene, giving only its outline. */
pl_decode_outcome pl_scene_outline(const char *text, size_t length, pl_outline *out,
                                   pl_faults *faults);
void pl_outline_clear(pl_outline *outline);

/* The effective scene: every parameter with its value, as posted keys. malloc'ed text, or NULL. */
char *pl_scene_encode(const pl_scene *scene);

/* One obstacle of it, as a value where the writer stands. */
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
