/* contact_springs.h - obstacles as energies that descent methods have gradients of: the matrix stays
 * as it is whatever touches (Liu 2017, section 4.3).
 *
 * A surface vertex at signed distance phi of the obstacle, as it stands at the stage's end, has
 *
 *     U = k/2 min(phi, 0)^2 + g f(s),    f(s) = s^2 / 2e up to s = e, s - e/2 beyond,    e = g / k
 *
 * Liu's spring to the tangent plane at the nearest point has the same value and gradient, and the
 * same Hessian k n n^T where the surface is flat: here the distance is followed, so that U is one
 * function over all iterations, and its curvature is in the Hessian. A vertex outside feels nothing:
 * there is no glue to let go of.
 *
 * Stiffness: k = `contact_stiffness` x diag(A) of the vertex, of masses and elements as ADMM weighs
 * its constraints. A vertex that carries a force F stands F / k below the surface. k is not in the
 * constant matrix: the line search and the history make up for that, and convergence is slower the
 * larger `contact_stiffness` is.
 *
 * Where a stage solves for a place before its end (stage.h), y is what the obstacle meets and U / beyond^2
 * the energy: the same stiffness for x, and the same friction.
 *
 * Friction (a law that has an energy): n, and the normal force |phi| k that bounds it, are those at
 * the step's start, g = mu k |phi|, so g f is a potential of the slip s since then along the plane
 * across n. It pulls back with k s until that is g, then with g. A vertex that sticks under a
 * tangential force T creeps by T / k a step, and a vertex slides freely in the step in which it first
 * touches. Both vanish as k grows; ADMM's constraint has neither.
 */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_CONTACT_SPRINGS_H
#define PLIANT_ENGINE_MODEL_GROUPS_CONTACT_SPRINGS_H

#include "engine/scene/fault.h"
#include "engine/model/groups/contact_law.h"
#include "engine/model/group.h"
#include "engine/scene/scene.h"

/* `data` of such a group. */
typedef struct pl_contact_springs {
    pl_contact_law law;
    pl_motion motion;
    double restitution;
} pl_contact_springs;

/* A group of `count` model vertices against an obstacle. stiffness[k] is that of vertex[k], N/m.
 * Of the obstacle only its motion's keyframes are kept, which must outlive the group. Its `freeze` goes
 * before anything else of a stage. */
pl_status pl_contact_springs_create(const pl_obstacle *obstacle, const int32_t *vertex,
                                    const double *stiffness, int64_t count, pl_group *out);

/* pl_contacts_scale_friction for such a group. */
pl_status pl_contact_springs_scale_friction(pl_group *g, const double *factor, int64_t count);

#endif
