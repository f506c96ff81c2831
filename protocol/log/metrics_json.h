/* metrics_json.h - a frame's metrics as the JSON of a metrics record. */
#ifndef PLIANT_PROTOCOL_LOG_METRICS_JSON_H
#define PLIANT_PROTOCOL_LOG_METRICS_JSON_H

#include "engine/scene/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of JSON without newline, as malloc'ed text. NaN becomes null. The scene's pins, obstacles, forces and
 * bodies give the names of the metrics' entries, in order. NULL if out of memory. */
typedef struct pl_scene pl_scene; /* engine/scene/scene.h */
char *pl_metrics_encode(const pl_metrics *m, const pl_scene *scene, size_t *length);

/* True if two such texts are equal except for wall times: "realtime" and "ms" of the record and "ms" of each of its
 * iterations. False if one is not a JSON object, and if out of memory: errno is then ENOMEM, and never otherwise. */
bool pl_metrics_same(const char *a, size_t a_length, const char *b, size_t b_length);

/* The numbers for a progress display, read back from such a text. Missing or null is NaN. */
typedef struct pl_metrics_digest {
    int64_t frame, iterations, unconverged, halved, inverted, contacts;
    int64_t pairs; /* of contact between bodies; -1: it is off */
    double gap;    /* m, the least */
    double time, objective, primal_residual, dual_residual, gradient_norm, kinetic, elastic,
        ms_step;
} pl_metrics_digest;
int pl_metrics_digest_decode(const char *text, size_t length,
                             pl_metrics_digest *out); /* 0 on success */

#endif
