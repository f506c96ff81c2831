/* bounce.h - restitution between bodies, as obstacles have it (model/groups/contact_velocity.h): what came together
 * at a speed leaves at e times that speed along the normal.
 *
 * Of the rows that carry force at a step's answer and whose features came together when it began:
 *
 *     v <- argmin 1/2 |w - v|^2_M   where n . C w >= -e n . C v_start for each of these rows
 *
 * with M the masses, which is the joint prox (joint_prox.h). So it changes no momentum, and nothing where e is 0. */
#ifndef PLIANT_ENGINE_CONTACT_BOUNCE_H
#define PLIANT_ENGINE_CONTACT_BOUNCE_H

#include "engine/contact/bodies.h"
#include "engine/contact/rows.h"

/* Whether bodies that touch have any restitution. */
bool pl_contact_has_bounce(const pl_contact_bodies *bodies);

/* give [scene vertices]: 1 / m, 1/kg, 0 where held. v_start, v [scene vertices][3], m/s: when the step began, and at
 * its end. PL_OK, or PL_NO_MEMORY and v is as it was. The bits do not depend on threads. */
pl_status pl_contact_bounce(const pl_contact_bodies *bodies, const pl_contact_rows *rows,
                            const double *give, const double *v_start, double *v, int threads);

#endif
