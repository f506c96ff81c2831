/* cpu_parts.h - sums of terms' contributions at vertices in two steps, while they are in a cache.
 *
 * If they were written out and gathered later, contributions would be most of the traffic of an evaluation: 96
 * bytes per tetrahedron out, and 96 back, beside 112 of constants and corners. So the blocks are divided into parts
 * of a few blocks, whose contributions fit in a window of the thread's own. They are summed there at once, at the
 * part's vertices. A vertex then adds up the sums of its parts, 24 bytes each.
 *
 * The parts depend only on the model, and all sums have a fixed order: terms in order, corners in order, then parts
 * in order. So the bits are the same for any number of threads.
 */
#ifndef PLIANT_ENGINE_BACKENDS_CPU_CPU_PARTS_H
#define PLIANT_ENGINE_BACKENDS_CPU_CPU_PARTS_H

#include "engine/model/model.h"

typedef struct pl_part {
    int32_t group;
    int64_t b0, b1; /* of the group's blocks */
    int64_t first;  /* its first vertex in the list over all parts */
    int64_t slot;   /* its first slot */
} pl_part;

typedef struct pl_parts {
    int64_t count;
    pl_part *part;    /* [count + 1]; the last ends the one before it */
    uint16_t *terms;  /* [parts' vertices]: number of slots that follow for it */
    uint16_t *slot;   /* where the x contribution lies in the window, as in gather.h */
    double *sum;      /* [parts' vertices][3] */
    int64_t *start;   /* [vertices + 1] */
    int64_t *summand; /* [parts' vertices]: indices into `sum`, by vertex from start[vertex] on */
    int64_t window_values;
    double *window; /* [threads][window_values] */
} pl_parts;

pl_status pl_parts_create(const pl_model *model, int32_t threads, pl_parts *out);
/* Allocates windows for a number of threads. PL_OK, or PL_NO_MEMORY with the number unchanged. */
pl_status pl_parts_set_threads(pl_parts *parts, int32_t threads);
void pl_parts_destroy(pl_parts *parts);

/* The group of a part, with its contributions in the window of a thread: those of the part's blocks, from the
 * window's beginning on. */
pl_group pl_parts_group(const pl_model *model, const pl_part *part);
static inline double *pl_parts_window(const pl_parts *parts, int32_t thread)
{
    return parts->window + thread * parts->window_values;
}
/* Computes `sum` of a part from its contributions in a window. */
void pl_parts_add_up(const pl_parts *parts, int64_t part, const double *window);
/* Sets `sum` of a part to 0. */
void pl_parts_clear(const pl_parts *parts, int64_t part);
/* The parts [*first, *end) of a group. */
void pl_parts_of_group(const pl_parts *parts, int32_t group, int64_t *first, int64_t *end);

/* Computes energy [blocks of all groups] and `sum` of a part at x, on one thread. False if one of these energies is
 * infinite. */
bool pl_parts_energy_gradient(const pl_parts *parts, const pl_model *model, const double *x,
                              double *energy, int64_t part, int32_t thread);

static inline void pl_parts_gather(const pl_parts *parts, int64_t vertex, double f[3])
{
    double x = 0, y = 0, z = 0;
    for (int64_t k = parts->start[vertex]; k < parts->start[vertex + 1]; k++) {
        const double *sum = parts->sum + 3 * parts->summand[k];
        x += sum[0];
        y += sum[1];
        z += sum[2];
    }
    f[0] = x;
    f[1] = y;
    f[2] = z;
}

#endif
