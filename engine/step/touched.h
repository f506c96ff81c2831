/* touched.h - effect of contact between bodies in a step: a part of a state that is saved with it. */
#ifndef PLIANT_ENGINE_STEP_TOUCHED_H
#define PLIANT_ENGINE_STEP_TOUCHED_H

#include "engine/contact/points.h"
#include "engine/contact/set.h"
#include "engine/solvers/bytes.h"

typedef struct pl_touched {
    int64_t active; /* number of pairs that carry force */
    double gap;     /* m, INFINITY if none are near */
    double taken;   /* J, dissipated by friction since the start */
    int32_t count, room;
    pl_body_force *forces;    /* [count] */
    pl_contact_points points; /* for a model with lists_contacts */
} pl_touched;

void pl_touched_clear(pl_touched *touched);
/* A stage has ended with these sums. False: out of memory, and nothing has changed. */
bool pl_touched_set(pl_touched *touched, const pl_contact_sums *sums);
/* Becomes a copy of the other, with the points if they are to be listed. False: out of memory. */
bool pl_touched_copy(pl_touched *touched, const pl_touched *from, bool points);
/* Begins a step: nothing touches yet, and the dissipated energy carries over. */
void pl_touched_begin(pl_touched *step, const pl_touched *before);

void pl_touched_save(const pl_touched *touched, pl_bytes_out *out);
/* Reads one of a scene with this number of bodies; older states have no points. PL_OK, PL_INVALID or PL_NO_MEMORY. */
pl_status pl_touched_read(pl_touched *touched, int32_t bodies, bool has_points, pl_bytes_in *in);

/* Writes a frame's metrics; forces are the state's memory. */
void pl_touched_measure(const pl_touched *touched, pl_contact_metrics *out);

#endif
