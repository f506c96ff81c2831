/* contacts.h - groups of vertex-against-obstacle terms: D_i selects a vertex, U_i is the characteristic function of
 * the obstacle's outside, and the matrix is constant whether or not anything touches (Narain 2016, eq. 38-39 and
 * "Collisions"). There is one group per obstacle, so two obstacles that meet in a corner are two convex
 * constraints, not one that is not convex. Only surface vertices that are not pinned take part.
 *
 * Coulomb friction is part of the same projection. With v = D x + u inside the obstacle at depth d and with outward
 * normal n, the projection leaves the multiplier w^2 d n; a tangential multiplier up to mu w^2 d may be added
 * against the slip since the step's start. Let s be the tangential part of v - (x_start carried along by the
 * obstacle, or the place at which the vertex would have the obstacle's velocity, if the stage says so; stage.h). If
 * |s| <= mu d, the vertex sticks and z loses s; otherwise z loses mu d s / |s|. A fixed point of ADMM then
 * satisfies Coulomb's law exactly: the multiplier lies in the friction cone and opposes the slip.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACTS_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACTS_H

#include "engine/scene/fault.h"
#include "engine/model/groups/contact_projection.h"
#include "engine/model/group.h"
#include "engine/scene/motion.h"
#include "engine/obstacles/shape.h"

/* `data` of such a group. */
typedef struct pl_contacts {
    pl_shape *shape;
    pl_motion motion;
    double friction, restitution;
    double *share;            /* [terms], on the coefficient; NULL: 1 everywhere */
    pl_contact_begin *begins; /* [terms], of the frozen stage */
} pl_contacts;

/* Creates a group of `count` model vertices against an obstacle. weight[k] is w_k^2 of vertex[k], N/m. Of the
 * obstacle, only its motion's keyframes are kept, which must outlive the group. */
pl_status pl_contacts_create(const pl_obstacle *obstacle, const int32_t *vertex,
                             const double *weight, int64_t count, pl_group *out);

/* A copy of `factor` for a group's terms, padded like them; NULL if out of memory. */
double *pl_contacts_copy_shares(const pl_group *g, const double *factor, int64_t count);
/* Sets a factor on the obstacle's coefficient for each of the `count` vertices with which the group was created.
 * PL_NO_MEMORY: nothing has changed. */
pl_status pl_contacts_scale_friction(pl_group *g, const double *factor, int64_t count);

/* The slot `depth` of a group with one vertex per term, for an obstacle at `pose`. */
double pl_contacts_depth(const pl_group *g, const pl_shape *shape, const pl_pose *pose,
                         const double *x, int64_t b0, int64_t b1);

#endif
