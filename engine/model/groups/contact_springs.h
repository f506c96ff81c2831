/* contact_springs.h - obstacles as energies whose gradients descent methods use: the matrix stays constant whatever
 * touches (Liu 2017, section 4.3).
 *
 * A surface vertex at signed distance phi from the obstacle, as it stands at the stage's end, has
 *
 *     U = k/2 min(phi, 0)^2 + g f(s),    f(s) = s^2 / 2e up to s = e, s - e/2 beyond,    e = g / k
 *
 * Liu's spring to the tangent plane at the nearest point has the same value and gradient, and the same Hessian k n
 * n^T where the surface is flat. Here U follows the distance itself, so that it is one function over all iterations
 * and its curvature is in the Hessian. A vertex outside feels no force: contact never pulls.
 *
 * Stiffness: k = `contact_stiffness` x diag(A) of the vertex, from masses and elements, as ADMM weighs its
 * constraints. A vertex that carries a force F stands F / k below the surface. k is not in the constant matrix: the
 * line search and the history compensate, and convergence is slower the larger `contact_stiffness` is.
 *
 * If a stage solves for a time before its end (stage.h), the obstacle meets y, and the energy is U / beyond^2: the
 * same stiffness for x, and the same friction.
 *
 * Friction (a law that has an energy): n, and the normal force |phi| k that bounds friction, are those at the
 * step's start, g = mu k |phi|. So g f is a potential of the slip s since then, in the plane across n. It pulls
 * back with k s up to g, and beyond that with g. A vertex that sticks under a tangential force T creeps by T / k
 * per step, and a vertex slides freely in the step in which it first touches. Both errors vanish as k grows; ADMM's
 * constraint has neither.
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

/* Creates a group of `count` model vertices against an obstacle. stiffness[k] is that of vertex[k], N/m. Of the
 * obstacle, only its motion's keyframes are kept, which must outlive the group. Its `freeze` must precede
 * everything else of a stage. */
pl_status pl_contact_springs_create(const pl_obstacle *obstacle, const int32_t *vertex,
                                    const double *stiffness, int64_t count, pl_group *out);

/* pl_contacts_scale_friction for such a group. */
pl_status pl_contact_springs_scale_friction(pl_group *g, const double *factor, int64_t count);

#endif
