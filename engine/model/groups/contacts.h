/* contacts.h - groups of vertex-against-obstacle terms: D_i picks a vertex, U_i is the
 * characteristic function of the obstacle's outside, and the matrix stays constant whether or not
 * anything touches (Narain 2016, eq. 38-39 and "Collisions"). One group an obstacle, so that two
 * obstacles meeting in a corner are two convex constraints and not one that is not; only surface
 * vertices that are not pinned take part.
 *
 * Coulomb friction rides on the same projection. With v = D x + u inside the obstacle by depth d
 * and outward normal n, the projection leaves the multiplier w^2 d n; a tangential multiplier up to
 * mu w^2 d may be added against the slip since the step's start. So with s the tangential part of
 * v - (x_start carried along by the obstacle; where the stage says otherwise, stage.h, the place where
 * the vertex would have the obstacle's velocity): if |s| <= mu d the vertex sticks, z losing s;
 * otherwise z loses mu d s / |s|. A fixed point of ADMM then satisfies Coulomb's law exactly: the
 * multiplier lies in the friction cone and opposes the slip.
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
    double *share;            /* [terms], of the coefficient; NULL: 1 everywhere */
    pl_contact_begin *begins; /* [terms], of the stage that was frozen */
} pl_contacts;

/* A group of `count` model vertices against an obstacle. weight[k] is w_k^2 of vertex[k], N/m. Of the
 * obstacle only its motion's keyframes are kept, which must outlive the group. */
pl_status pl_contacts_create(const pl_obstacle *obstacle, const int32_t *vertex,
                             const double *weight, int64_t count, pl_group *out);

/* A copy of `factor` for a group's terms, padded as they are; NULL when out of memory. */
double *pl_contacts_copy_shares(const pl_group *g, const double *factor, int64_t count);
/* A factor on the obstacle's coefficient for each of the `count` vertices that it was created with.
 * PL_NO_MEMORY: it is as before. */
pl_status pl_contacts_scale_friction(pl_group *g, const double *factor, int64_t count);

/* The slot `depth` of a group of one vertex a term, for an obstacle that stands at `pose`. */
double pl_contacts_depth(const pl_group *g, const pl_shape *shape, const pl_pose *pose,
                         const double *x, int64_t b0, int64_t b1);

#endif
