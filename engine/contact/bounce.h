/* bounce.h - restitution between bodies, as for obstacles (model/groups/contact_velocity.h): features that approach
 * at some speed separate at e times that speed along the normal.
 *
 * For the rows that carry force at the end of a step and whose features approached each other at its start:
 *
 *     v <- argmin 1/2 |w - v|^2_M   where n . C w >= -e n . C v_start for each of these rows
 *
 * with M the masses. This is the joint prox (joint_prox.h). It conserves momentum and changes nothing if e is 0. */
#ifndef PLIANT_ENGINE_CONTACT_BOUNCE_H
#define PLIANT_ENGINE_CONTACT_BOUNCE_H

#include "engine/contact/bodies.h"
#include "engine/contact/rows.h"

/* True if any two bodies have restitution. */
bool pl_contact_has_bounce(const pl_contact_bodies *bodies);

/* give [scene vertices]: inverse masses, 1/kg; 0 where held. v_start, v [scene vertices][3]: velocities at the
 * start and at the end of the step, m/s. Returns PL_OK, or PL_NO_MEMORY with v unchanged. The bits do not depend on
 * the number of threads. */
pl_status pl_contact_bounce(const pl_contact_bodies *bodies, const pl_contact_rows *rows,
                            const double *give, const double *v_start, double *v, int threads);

#endif
