/* kind.h - the four kinds of contact between two features. */
#ifndef PLIANT_ENGINE_CONTACT_KIND_H
#define PLIANT_ENGINE_CONTACT_KIND_H

/* Sorted lists follow this order. */
typedef enum pl_contact_kind {
    PL_CONTACT_VERTEX_TRIANGLE, /* corners v; t0 t1 t2 */
    PL_CONTACT_EDGE_EDGE,       /* a0 a1; b0 b1 */
    PL_CONTACT_VERTEX_EDGE,     /* v; e0 e1 */
    PL_CONTACT_VERTEX_VERTEX,   /* v; w */
} pl_contact_kind;

/* Number of corners of the first and of the second feature. */
static const int pl_contact_corners[4][2] = {{1, 3}, {2, 2}, {1, 2}, {1, 1}};

#endif
