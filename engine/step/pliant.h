/* pliant.h - the engine's one public header: open a model of a scene, step its state, read what
 * came out. Deterministic: the same scene gives the same bits with any number of threads.
 *
 *     pl_mesh meshes[bodies];  pl_body_load(...) each
 *     pl_model_create(&scene, meshes, &model, &faults);
 *     pl_state_create(model, threads, &state);                 // frame 0
 *     while (...) pl_frame_step(model, state, &metrics, &failure);
 *
 * The model is immutable but for pl_model_change; the state is all else that changes. Neither does
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

/* ---- before a model: what preflight needs (links no BLAS) ---- */

/* The mesh of a body from its source; `blobs` are the uploaded files' bytes in the order of
 * body->mesh.upload (none for generators and inline meshes). Faults are located below
 * /bodies/K/mesh. The mesh is as the source has it: the body's transform is not applied. */
pl_status pl_body_load(const pl_scene *scene, int32_t body, const pl_blob *blobs,
                       const pl_mesh_limits *limits, pl_mesh *out, pl_faults *faults);

/* The surface of an obstacle that comes from a file: its triangles, or the boundary of its tetrahedra,
 * become the vertices and triangles of the obstacle's source, whose kind stays. Faults are located
 * below /obstacles/K/mesh; whether the surface is closed is pl_scene_check's question. */
pl_status pl_obstacle_load(pl_scene *scene, int32_t obstacle, const pl_blob *blobs,
                           const pl_mesh_limits *limits, pl_faults *faults);

typedef struct pl_estimate {
    int64_t vertices, tets, free_vertices;
    double memory_bytes;      /* of the worker, at its peak */
    double device_bytes;      /* that it allocates on a GPU; 0 on the CPU */
    double seconds_per_frame; /* one core, all iterations */
    double setup_seconds;
    double frame_bytes; /* a frame's records in the log */
    int32_t cores;      /* more than so many would hardly make it faster */
} pl_estimate;

/* Everything that can be wrong with a scene once its meshes are known, short of factoring:
 * empty selections, overlapping pins, indices out of range, tags that the mesh does not have,
 * bodies that start inside an obstacle are allowed. meshes: one a body, as from pl_body_load.
 * pin_counts [pin_count], or NULL, receives how many vertices each pin holds. */
pl_status pl_scene_check(const pl_scene *scene, const pl_mesh *meshes, pl_estimate *out,
                         int64_t *pin_counts, pl_faults *faults);

/* Two bodies that begin nearer to each other than contact keeps them. */
typedef struct pl_close_start {
    int32_t body[2]; /* the lower first */
    int32_t
        vertex[2];    /* a corner of the two features that are nearest, in each body's mesh order */
    double gap, kept; /* m: of those features, and what contact keeps */
    int32_t moved;    /* the body that `move` moves; -1: no short move clears it */
    double move[3];   /* m: then nothing is too near to it */
} pl_close_start;

/* Those of a scene that pl_scene_check accepts, ordered by bodies: *out is malloc'ed. None without contact
 * between bodies, and none of bodies that are in one another, which contact lets pass. PL_OK or PL_NO_MEMORY. */
pl_status pl_scene_close_starts(const pl_scene *scene, const pl_mesh *meshes, pl_close_start **out,
                                int64_t *count);

/* The vertices of a body, placed at rest, that a selection names, in the body's mesh order: *out is
 * malloc'ed. A selection that matches nothing is a fault at `pointer`. */
pl_status pl_body_select(const pl_body *body, const pl_mesh *mesh, const pl_selection *select,
                         const char *pointer, int32_t **out, int64_t *count, pl_faults *faults);
/* Poisson's ratio of a material at small strain, however the scene says it; 0 where the energy has
 * none. Linear tetrahedra lock from about 0.49. */
double pl_material_poisson(const pl_material *material);
/* Young's modulus of a material at small strain, Pa, however the scene says it. */
double pl_material_young(const pl_material *material);

/* ---- model and state ---- */

/* Build the immutable model: rest state, masses, term groups, matrix and factor. The scene and the
 * meshes are read, not kept. PL_INVALID with faults, or PL_NO_MEMORY. */
pl_status pl_model_create(const pl_scene *scene, const pl_mesh *meshes, pl_model **out,
                          pl_faults *faults);
void pl_model_destroy(pl_model *model);

/* A hash of everything that decides the bits of the model's runs: rest and initial state, masses,
 * materials, weights and matrix, motions, gravity, step, settings. The same scene has the same one
 * on every machine where its matrix has the same bits. */
uint64_t pl_model_hash(const pl_model *model);

int64_t pl_model_vertex_count(const pl_model *model);
int64_t pl_model_tet_count(const pl_model *model);
/* Tetrahedra and triangles of cloth. */
int64_t pl_model_element_count(const pl_model *model);
/* First vertex of a body in the model's order: bodies in scene order, then mesh order. */
int64_t pl_model_first_vertex(const pl_model *model, int32_t body);

/* The initial state (frame 0), to be stepped with `threads` OpenMP threads. */
pl_status pl_state_create(const pl_model *model, int32_t threads, pl_state **out);
/* Step it with so many from now on, which changes no bit. Not while it is stepped, but between steps within
 * pl_frame_step. PL_OK, or PL_NO_MEMORY and it has as many as before. */
pl_status pl_state_set_threads(pl_state *state, int32_t threads);
void pl_state_destroy(pl_state *state);

/* Positions and velocities, [vertex_count][3], m and m/s, the state's memory. */
const double *pl_state_positions(const pl_state *state);
const double *pl_state_velocities(const pl_state *state);
/* Cauchy's stress, Pa: von Mises', the greatest principal and the mean (a third of the trace; below 0 in
 * compression). vertices[vertex_count][3]: of the mean of its tetrahedra's, weighted by their volumes.
 * elements[element_count][3]: of each tetrahedron, then of each triangle, over its thickness at rest. Either
 * may be NULL. 0 where there is none, and where it is beyond a float's range. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_stress(const pl_state *state, double *vertices, double *elements);
/* Where bodies push each other in the state, [*count], of a scene with PL_OUTPUT_CONTACTS: the pairs of features
 * that carry force, of more than PL_CONTACT_POINTS (contact/points.h) those that press most. The state's memory until
 * it is stepped. */
const pl_contact_point *pl_state_contacts(const pl_state *state, int64_t *count);
double pl_state_time(const pl_state *state);
int64_t pl_state_step(const pl_state *state);

/* A state that was not stepped yet becomes that of `step` with these positions and velocities
 * [vertex_count][3], as if the run had come to it: for one method to go on where another has come
 * to. What a solver remembers of earlier steps stays empty. */
void pl_state_enter(pl_state *state, int64_t step, const double *x, const double *v);

/* Metrics of the state as it stands (frame 0: no solver quantities). Pointers in it stay valid
 * until the next call on the state. */
void pl_state_measure(const pl_model *model, pl_state *state, pl_metrics *out);

/* Advance to the next frame: `every` steps, or what is left of the run. A step that fails is done
 * as two half steps, once; pl_metrics.halved counts them. PL_OK; PL_FAILED with
 * *failure filled, the state left at the last good step. `stop` may be NULL; where it is not, it is
 * asked between steps and a true answer ends the frame early with PL_OK and *out untouched. */
typedef bool (*pl_stop)(void *context);
pl_status pl_frame_step(const pl_model *model, pl_state *state, pl_metrics *out,
                        pl_failure *failure, pl_stop stop, void *context);

/* ---- a frame's numbers, while the next step runs ---- */
/* Begin to bring positions and, after them, velocities where wanted to the host, as floats where `single` and
 * else as doubles, of the state as it stands: it may be stepped right after. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_fetch(pl_state *state, bool single, bool velocities);
/* [1 or 2][vertex_count][3] of the last pl_state_fetch, the state's memory until the next one. NULL: still on
 * their way; `wait` waits for them. On the CPU they are there at once. */
const void *pl_state_fetched(pl_state *state, bool wait);
/* While a step waits for its device, have `work` called with `context`, often, on the caller's thread: it may
 * ask pl_state_fetched without waiting, and nothing else of the state. NULL: no longer. On the CPU nothing
 * waits, and it is never called. */
void pl_state_meanwhile(pl_state *state, void (*work)(void *context), void *context);
/* What went wrong with the device that the state is on, or NULL. From then on no number of any state there means
 * anything, whatever the calls that failed said of it, and the process is to end. *launching: the state's work
 * was under way then, and so may have caused it. */
const char *pl_state_fault(const pl_state *state, bool *launching);

/* ---- controls: changes between two steps ---- */

/* Let gravity, motions and forces be as the control says, in steps that begin at `time` (that of the
 * model's states) or later. Materials are not looked at: they need another model, see below. The model
 * must not be stepped meanwhile. Its hash changes. PL_NO_MEMORY: nothing has changed. */
pl_status pl_model_change(pl_model *model, const pl_change *change, double time);

/* What controls have made of the model, and of the scene's materials: the numbers as they are now.
 * *bytes is malloc'ed. PL_OK or PL_NO_MEMORY. */
pl_status pl_changes_save(const pl_model *model, const pl_scene *scene, void **bytes, size_t *size);
/* The two parts of it: materials into a scene, before a model is made of it; all else into a model of
 * the same scene. The two then have the hash that was, and the bits of what was saved. PL_INVALID
 * where the bytes are none, or of another scene: nothing has changed. */
pl_status pl_changes_restore_scene(pl_scene *scene, const void *bytes, size_t size);
pl_status pl_changes_restore(pl_model *model, const void *bytes, size_t size);

/* A state that was not stepped yet goes on from another one, of a model with the same vertices, that
 * differs in materials, pins, forces, obstacles or solver: positions, velocities, step, and what the
 * solver remembers as far as it can be used. PL_OK or PL_NO_MEMORY. */
pl_status pl_state_follow(pl_state *state, const pl_state *from);

/* What controls have made of one model, into another one whose things have the same names: what its own
 * scene says as the other's did, which is `from_scene` but for materials. PL_OK or PL_NO_MEMORY. */
pl_status pl_changes_carry(pl_model *to, const pl_scene *scene, const pl_model *from,
                           const pl_scene *from_scene);
/* The materials' part of it, before a model is made: `now` of a scene that had `before`. True where
 * something changed. */
bool pl_scene_carry(pl_scene *to, const pl_material *before, const pl_material *now, int32_t count);

/* ---- saving and going on ---- */

/* All that the next step depends on and the metrics of the state as it stands: step, positions,
 * velocities, the solver's memory, what the last step found. *bytes is malloc'ed, the caller's.
 * PL_OK or PL_NO_MEMORY. The same state gives the same bytes. */
pl_status pl_state_save(const pl_state *state, void **bytes, size_t *size);

/* Become the state that was saved, of a model with the same hash; with any number of threads. The
 * run then goes on with the bits of one that was never interrupted, where pl_engine_class() is the
 * one it was. PL_INVALID where the bytes are damaged, of another format or of another model; the
 * state is then as it was. PL_NO_MEMORY: another state is wanted. The rows of pl_metrics.detail are not saved: there are none until the
 * next step. */
pl_status pl_state_restore(pl_state *state, const void *bytes, size_t size);

/* The numerics class, within which the same scene gives the same bits: build, instruction set,
 * precision, OpenBLAS's core type ("none" in a program without OpenBLAS), as in "0.1.0 x86-64-v4
 * double SkylakeX". Valid until the thread's next call. */
const char *pl_engine_class(void);

/* The instruction set that the kernels run on: "x86-64-v4", .... PLIANT_ISA=x86-64-v2|v3|v4 in the
 * environment forces one (see engine/README.md). */
const char *pl_engine_isa(void);

#endif
