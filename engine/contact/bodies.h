/* bodies.h - which bodies of a scene touch, and their contact parameters. Immutable after creation. */
#ifndef PLIANT_ENGINE_CONTACT_BODIES_H
#define PLIANT_ENGINE_CONTACT_BODIES_H

#include "engine/contact/filter.h"
#include "engine/contact/measure.h"
#include "engine/contact/surface.h"

#include <stdint.h>

/* Tables over pairs of bodies are [count][count] and symmetric; the diagonal is a body's contact with itself. */
typedef struct pl_contact_bodies {
    pl_contact_surface *surface; /* owned */
    int32_t count;
    uint8_t *ignore;     /* 1: the two bodies ignore each other */
    double *distance;    /* m, > 0: distance that contact keeps between their surfaces */
    double *friction;    /* Coulomb's coefficient */
    double *restitution; /* 0 .. 1 */
    double least, most;  /* extremes of `distance` over bodies that touch */
    double edge;         /* m, mean edge length of the surface at rest */
    bool rubs;           /* some pair of touching bodies has friction other than 0 */
    bool check;          /* reject moves that pass through a surface */
} pl_contact_bodies;

/* Index of a pair of bodies in the tables. */
static inline int64_t pl_contact_bodies_at(const pl_contact_bodies *b, int32_t one, int32_t other)
{
    return (int64_t)one * b->count + other;
}

/* The bodies of the first and of the second feature of a pair. */
void pl_contact_bodies_of(const pl_contact_bodies *bodies, const pl_contact_pair *pair,
                          int32_t body[2]);

void pl_contact_bodies_destroy(pl_contact_bodies *bodies);

#endif
