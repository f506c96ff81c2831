/* bodies.h - what touches what in a scene, and how. Immutable after creation. */
#ifndef PLIANT_ENGINE_CONTACT_BODIES_H
#define PLIANT_ENGINE_CONTACT_BODIES_H

#include "engine/contact/filter.h"
#include "engine/contact/measure.h"
#include "engine/contact/surface.h"

#include <stdint.h>

/* Tables of two bodies are [count][count] and symmetric; their diagonals are of a body and itself. */
typedef struct pl_contact_bodies {
    pl_contact_surface *surface; /* owned */
    int32_t count;
    uint8_t *ignore;     /* 1: they do not touch */
    double *distance;    /* m, > 0: how far their surfaces stay apart */
    double *friction;    /* Coulomb's coefficient */
    double *restitution; /* 0 .. 1 */
    double least, most;  /* of `distance`, of bodies that touch */
    double edge;         /* m, mean of the surface's edges at rest */
    bool rubs;           /* some coefficient of friction of bodies that touch is not 0 */
    bool check;          /* a move that passes through a surface is not accepted */
} pl_contact_bodies;

/* Of the two bodies of a pair. */
static inline int64_t pl_contact_bodies_at(const pl_contact_bodies *b, int32_t one, int32_t other)
{
    return (int64_t)one * b->count + other;
}

/* The bodies of the first and of the second feature of a pair. */
void pl_contact_bodies_of(const pl_contact_bodies *bodies, const pl_contact_pair *pair,
                          int32_t body[2]);

void pl_contact_bodies_destroy(pl_contact_bodies *bodies);

#endif
