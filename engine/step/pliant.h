/* pliant.h - the engine's one public header: create a model of a scene, step its state, read the results.
 * Deterministic: the same scene gives the same bits with any number of threads.
 *
 *     pl_mesh meshes[bodies];  pl_body_load(...) each
 *     pl_model_create(&scene, meshes, &model, &faults);
 *     pl_state_create(model, threads, &state);                 // frame 0
 *     while (...) pl_frame_step(model, state, &metrics, &failure);
 *
 * The model is immutable except through pl_model_change; the state holds everything else that changes. Neither does
 * I/O.
 */
#ifndef PLIANT_ENGINE_STEP_PLIANT_H
#define PLIANT_ENGINE_STEP_PLIANT_H

#include "engine/scene/change.h"
#include "engine/scene/fault.h"
#include "engine/mesh/mesh.h"
#include "engine/scene/metrics.h"
#include "engine/scene/scene.h"

typedef struct pl_model pl_model;
typedef struct pl_state pl_state;

/* ---- before a model: for preflight (does not link BLAS) ---- */

/* Loads the mesh of a body from its source. `blobs` holds the uploaded files' bytes in the order of
 * body->mesh.upload (none for generators and inline meshes). Faults are located below /bodies/K/mesh. The mesh is
 * as in the source: the body's transform is not applied. */
pl_status pl_body_load(const pl_scene *scene, int32_t body, const pl_blob *blobs,
                       const pl_mesh_limits *limits, pl_mesh *out, pl_faults *faults);

/* Loads the surface of an obstacle from a file: its triangles, or the boundary of its tetrahedra, become the
 * vertices and triangles of the obstacle's source, whose kind stays. Faults are located below /obstacles/K/mesh.
 * pl_scene_check tests whether the surface is closed. */
pl_status pl_obstacle_load(pl_scene *scene, int32_t obstacle, const pl_blob *blobs,
                           const pl_mesh_limits *limits, pl_faults *faults);

typedef struct pl_estimate {
    int64_t vertices, tets, free_vertices;
    double memory_bytes;      /* peak memory of the worker */
    double device_bytes;      /* memory allocated on a GPU; 0 on the CPU */
    double seconds_per_frame; /* time on one core with all iterations */
    double setup_seconds;
    double frame_bytes; /* size of a frame's records in the log */
    int32_t cores;      /* more threads would hardly make it faster */
} pl_estimate;

/* Checks a scene whose meshes are known for all errors that can be found without factoring: empty selections,
 * overlapping pins, indices out of range, missing mesh tags, and so on. Bodies may start inside an obstacle.
 * meshes: one per body, from pl_body_load. pin_counts [pin_count] receives the number of vertices that each pin
 * holds; may be NULL. */
pl_status pl_scene_check(const pl_scene *scene, const pl_mesh *meshes, pl_estimate *out,
                         int64_t *pin_counts, pl_faults *faults);

/* Two bodies that start closer to each other than contact keeps them. */
typedef struct pl_close_start {
    int32_t body[2]; /* the lower index comes first */
    int32_t
        vertex[2];    /* a corner of the two features that are nearest, in each body's mesh order */
    double gap, kept; /* m: distance of those features, and distance that contact keeps */
    int32_t moved;    /* body that `move` moves; -1: no short move separates them */
    double move[3];   /* m: move after which nothing is too near to it */
} pl_close_start;

/* Finds the too-near pairs of a scene that pl_scene_check accepts, ordered by bodies: *out is malloc'ed. The list
 * is empty without contact between bodies. It excludes bodies that overlap, which contact allows. PL_OK or
 * PL_NO_MEMORY. */
pl_status pl_scene_close_starts(const pl_scene *scene, const pl_mesh *meshes, pl_close_start **out,
                                int64_t *count);

/* Finds the vertices that a selection names, of a body placed at rest, in the body's mesh order: *out is malloc'ed.
 * A selection that matches nothing is a fault at `pointer`. */
pl_status pl_body_select(const pl_body *body, const pl_mesh *mesh, const pl_selection *select,
                         const char *pointer, int32_t **out, int64_t *count, pl_faults *faults);
/* Poisson's ratio of a material at small strain, however the scene specifies it; 0 if the energy has none. Linear
 * tetrahedra lock from about 0.49. */
double pl_material_poisson(const pl_material *material);
/* Young's modulus of a material at small strain, Pa, however the scene specifies it. */
double pl_material_young(const pl_material *material);

/* ---- model and state ---- */

/* Builds the immutable model: rest state, masses, term groups, matrix and factor. The scene and the meshes are
 * read, not kept. PL_INVALID with faults, or PL_NO_MEMORY. */
pl_status pl_model_create(const pl_scene *scene, const pl_mesh *meshes, pl_model **out,
                          pl_faults *faults);
void pl_model_destroy(pl_model *model);

/* A hash of everything that determines the bits of the model's runs: rest and initial state, masses, materials,
 * weights and matrix, motions, gravity, step, settings. The same scene has the same hash on every machine on which
 * its matrix has the same bits. */
uint64_t pl_model_hash(const pl_model *model);

int64_t pl_model_vertex_count(const pl_model *model);
int64_t pl_model_tet_count(const pl_model *model);
/* Number of tetrahedra and triangles of cloth. */
int64_t pl_model_element_count(const pl_model *model);
/* First vertex of a body in the model's order: bodies in scene order, then mesh order. */
int64_t pl_model_first_vertex(const pl_model *model, int32_t body);

/* The initial state (frame 0), to be stepped with `threads` OpenMP threads. */
pl_status pl_state_create(const pl_model *model, int32_t threads, pl_state **out);
/* Steps the state with a new number of threads from now on; no bit changes. Not allowed during a step, but allowed
 * between the steps of pl_frame_step. PL_OK, or PL_NO_MEMORY with the number unchanged. */
pl_status pl_state_set_threads(pl_state *state, int32_t threads);
void pl_state_destroy(pl_state *state);

/* Positions and velocities, [vertex_count][3], m and m/s; the state's memory. */
const double *pl_state_positions(const pl_state *state);
const double *pl_state_velocities(const pl_state *state);
/* Cauchy stress, Pa: von Mises, greatest principal, and mean (a third of the trace; below 0 in compression).
 * vertices[vertex_count][3]: the mean over the vertex's tetrahedra, weighted by volume. elements[element_count][3]:
 * of each tetrahedron, then of each triangle, over its thickness at rest. Either may be NULL. 0 where there is no
 * stress and where it exceeds a float's range. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_stress(const pl_state *state, double *vertices, double *elements);
/* Contact points of bodies in the state, [*count], for a scene with PL_OUTPUT_CONTACTS: the pairs of features that
 * carry force, or the PL_CONTACT_POINTS (contact/points.h) with the largest forces if there are more. The state's
 * memory, valid until the next step. */
const pl_contact_point *pl_state_contacts(const pl_state *state, int64_t *count);
double pl_state_time(const pl_state *state);
int64_t pl_state_step(const pl_state *state);

/* Sets a state that was never stepped to `step` with these positions and velocities [vertex_count][3], as if the
 * run had reached it: one method can continue where another arrived. Solver memory of earlier steps stays empty. */
void pl_state_enter(pl_state *state, int64_t step, const double *x, const double *v);

/* Metrics of the current state (frame 0: no solver quantities). Pointers in them stay valid until the next call on
 * the state. */
void pl_state_measure(const pl_model *model, pl_state *state, pl_metrics *out);

/* Advances to the next frame: `every` steps, or the rest of the run. A step that fails is repeated once as two half
 * steps; pl_metrics.halved counts them. PL_OK; or PL_FAILED with *failure filled and the state at the last good
 * step. `stop` may be NULL; otherwise it is asked between steps, and a true answer ends the frame early with PL_OK
 * and *out unchanged. */
typedef bool (*pl_stop)(void *context);
pl_status pl_frame_step(const pl_model *model, pl_state *state, pl_metrics *out,
                        pl_failure *failure, pl_stop stop, void *context);

/* ---- a frame's data, fetched while the next step runs ---- */
/* Starts copying positions and, if wanted, velocities of the current state to the host, as floats if `single`, else
 * as doubles. The state may be stepped immediately. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_fetch(pl_state *state, bool single, bool velocities);
/* Returns [1 or 2][vertex_count][3] of the last pl_state_fetch, the state's memory until the next one; NULL while
 * the copy is in flight. `wait` waits for it. On the CPU the data are there at once. */
const void *pl_state_fetched(pl_state *state, bool wait);
/* While a step waits for its device, calls `work` with `context`, often, on the caller's thread. `work` may call
 * pl_state_fetched without waiting, and nothing else on the state. NULL ends the calls. On the CPU nothing waits,
 * and `work` is never called. */
void pl_state_meanwhile(pl_state *state, void (*work)(void *context), void *context);
/* The fault of the device that holds the state, or NULL. After a fault, no number of any state on it is valid,
 * whatever error the failed calls returned, and the process must end. *launching: the state's work was in flight at
 * the time, so it may be the cause. */
const char *pl_state_fault(const pl_state *state, bool *launching);

/* ---- controls: changes between two steps ---- */

/* Changes gravity, motions and forces to those of the control, for steps that begin at `time` (that of the model's
 * states) or later. Materials are ignored: they need another model, see below. The model must not be stepped
 * meanwhile. Its hash changes. PL_NO_MEMORY: nothing has changed. */
pl_status pl_model_change(pl_model *model, const pl_change *change, double time);

/* Saves the changes that controls made to the model and to the scene's materials, as their current numbers. *bytes
 * is malloc'ed. PL_OK or PL_NO_MEMORY. */
pl_status pl_changes_save(const pl_model *model, const pl_scene *scene, void **bytes, size_t *size);
/* Restores the two parts of these changes: materials into a scene, before its model is created; all others into a
 * model of the same scene. Scene and model then have the hash and the bits of those that were saved. PL_INVALID if
 * the bytes are invalid or belong to another scene: nothing has changed. */
pl_status pl_changes_restore_scene(pl_scene *scene, const void *bytes, size_t size);
pl_status pl_changes_restore(pl_model *model, const void *bytes, size_t size);

/* Makes a state that was never stepped continue from another state. The other state's model must have the same
 * vertices; it may differ in materials, pins, forces, obstacles or solver. Takes over positions, velocities, step,
 * and the usable part of the solver's memory. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_follow(pl_state *state, const pl_state *from);

/* Carries the changes that controls made over to another model, by name: a value is carried if `scene` gives it as
 * the other model's scene did. `from_scene` is that scene, except for its materials. PL_OK or PL_NO_MEMORY. */
pl_status pl_changes_carry(pl_model *to, const pl_scene *scene, const pl_model *from,
                           const pl_scene *from_scene);
/* Carries the changes of materials over, before a model is created: from `before`, as the other scene had them, to
 * `now`. True if something changed. */
bool pl_scene_carry(pl_scene *to, const pl_material *before, const pl_material *now, int32_t count);

/* ---- saving and resuming ---- */

/* Saves everything that the next step depends on and the metrics of the current state: step, positions, velocities,
 * the solver's memory, results of the last step. *bytes is malloc'ed, the caller's. PL_OK or PL_NO_MEMORY. The same
 * state gives the same bytes. */
pl_status pl_state_save(const pl_state *state, void **bytes, size_t *size);

/* Restores a saved state of a model with the same hash; any number of threads. The run then continues with the bits
 * of an uninterrupted one, if pl_engine_class() is the same. PL_INVALID if the bytes are damaged, of another format
 * or of another model; the state is then unchanged. PL_NO_MEMORY: discard the state and create another. The rows of
 * pl_metrics.detail are not saved: they are missing until the next step. */
pl_status pl_state_restore(pl_state *state, const void *bytes, size_t size);

/* The numerics class, within which the same scene gives the same bits: build, instruction set, precision,
 * OpenBLAS's core type ("none" in a program without OpenBLAS), as in "0.1.0 x86-64-v4 double SkylakeX". Valid until
 * the thread's next call. */
const char *pl_engine_class(void);

/* The instruction set of the kernels: "x86-64-v4", .... PLIANT_ISA=x86-64-v2|v3|v4 in the environment forces one
 * (see engine/README.md). */
const char *pl_engine_isa(void);

#endif
