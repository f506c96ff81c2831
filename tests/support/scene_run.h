/* scene_run.h - a scene in a test: JSON text -> model -> state, with the test failing where any
 * part of that does. */
#ifndef PLIANT_TESTS_SUPPORT_SCENE_RUN_H
#define PLIANT_TESTS_SUPPORT_SCENE_RUN_H

#include "engine/backends/array.h"
#include "engine/step/pliant.h"

enum { PL_TEST_BODIES = 12 };

typedef struct pl_run {
    pl_scene scene;
    pl_mesh meshes[PL_TEST_BODIES];
    pl_model *model;
    pl_state *state;
    pl_metrics metrics; /* of the last frame */
    pl_failure failure;
} pl_run;

/* Decode (single quotes stand for double ones), load meshes (generators and inline only), build. PLIANT_TEST_BACKEND in
 * the environment selects another backend: strict (strict_backend.h); emulated, emulated-single
 * (engine/backends/device, on the host). */
pl_run *pl_run_open(int32_t threads, const char *json);
/* The same with printf arguments. */
__attribute__((format(printf, 2, 3))) pl_run *pl_run_openf(int32_t threads, const char *format,
                                                           ...);
void pl_run_close(pl_run *run);
/* Advance `frames` frames; the test fails if the engine does. */
void pl_run_frames(pl_run *run, int64_t frames);
/* Save a state, advance it, and advance another of the same scene from the saved one: they have the same bits. */
void pl_run_go_on(pl_run *run, pl_run *other, int64_t frames);
const double *pl_run_x(const pl_run *run); /* [vertices][3] */
int64_t pl_run_vertices(const pl_run *run);
/* FNV-1a of the positions' and velocities' bytes. */
uint64_t pl_run_hash(const pl_run *run);

/* The runs that this process opens from now on are on the CPU itself: for tests that look into arrays. */
void pl_run_on_host(void);
/* Between the backend's memory and the host's: a copy on the heap; a new array, which the caller releases. */
double *pl_run_download(const pl_run *run, const pl_array *array, int64_t count);
pl_array *pl_run_upload(const pl_run *run, const double *from, int64_t count);

#endif
