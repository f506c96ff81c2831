/* expect.h - tests a run against its scene's "expect", from the stored frames and metrics alone.
 *
 *     pl_expect_open(scene, ..., topology, ..., frames, &e, &faults);
 *     pl_expect_metrics(e, ...) of each metrics record, pl_expect_frame(e, ...) of each frame in order;
 *     pl_expect_evaluate(e, k, &outcome) for k < pl_expect_count(e);
 *
 * A missing number, because its frame is missing or it is null, satisfies no bound. Quantities of a step
 * (reactions, contacts, solver results) are tested from frame 1 on.
 */
#ifndef PLIANT_PROTOCOL_SCENE_EXPECT_H
#define PLIANT_PROTOCOL_SCENE_EXPECT_H

#include "engine/scene/fault.h"
#include "engine/scene/scene.h"

#include <stddef.h>
#include <stdint.h>

/* True for quantities of positions, false for metrics. */
bool pl_quantity_of_vertices(pl_quantity quantity);
bool pl_quantity_is_vector(pl_quantity quantity);

/* The number that an expectation or a probe takes from a vector: a component, or the norm. */
double pl_quantity_component(const pl_expectation *e, const double v[3]);
/* The number taken from many, which are added one by one in the vertices' order: a statistic, or the mean. */
typedef struct pl_sample {
    double sum, least, most;
    int64_t count;
} pl_sample;
pl_sample pl_sample_begin(void);
void pl_sample_add(pl_sample *s, double value);
double pl_sample_statistic(const pl_sample *s,
                           const pl_expectation *e); /* NaN or infinite of none */

typedef struct pl_expect pl_expect;
/* Texts of the session's scene and topology.json (whose "expect" lists the selected vertices); `frames` is the
 * number of stored frames, including frame 0. PL_INVALID with faults, or PL_NO_MEMORY. */
pl_status pl_expect_open(const char *scene, size_t scene_length, const char *topology,
                         size_t topology_length, int64_t frames, pl_expect **out,
                         pl_faults *faults);
void pl_expect_close(pl_expect *e);

int32_t pl_expect_count(const pl_expect *e);
bool pl_expect_wants_frames(const pl_expect *e); /* true if any is of vertices */

/* One metrics record's text. */
void pl_expect_metrics(pl_expect *e, const char *text, size_t length);
/* One frame's positions x [vertices][3]. Frames come in order; one may be missing. */
void pl_expect_frame(pl_expect *e, int64_t frame, int64_t vertices, const double *x);

typedef struct pl_expect_outcome {
    const char *name;
    bool passed;
    double got;        /* of the frame nearest to failing, or the mean; NaN: missing */
    int64_t frame;     /* frame of the value; -1: a mean */
    double time;       /* s, of that frame */
    char what[256];    /* "position y, mean of 'ball', at the end" */
    char expected[96]; /* "0.5 to 0.7" */
    char missing[96];  /* reason for a missing number, or "" */
} pl_expect_outcome;
void pl_expect_evaluate(const pl_expect *e, int32_t k, pl_expect_outcome *out);

#endif
