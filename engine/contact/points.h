/* points.h - where surfaces push each other, and how: rows that carry force, for people to see. */
#ifndef PLIANT_ENGINE_CONTACT_POINTS_H
#define PLIANT_ENGINE_CONTACT_POINTS_H

#include "engine/contact/bodies.h"
#include "engine/contact/rows.h"
#include "engine/scene/metrics.h"

/* The most of a list. Of more rows those that press most are listed. */
enum { PL_CONTACT_POINTS = 65536 };

/* Zero-initialise. */
typedef struct pl_contact_points {
    int64_t count, room;
    pl_contact_point *point; /* in the order of the rows */
} pl_contact_points;

/* The rows that carry force, at x [scene vertices][3], m, in place of what the list had. Where all are listed, their
 * forces add up to those of pl_contact_set_measure. PL_OK, or PL_NO_MEMORY and the list is empty. */
pl_status pl_contact_points_find(const pl_contact_rows *rows, const pl_contact_bodies *bodies,
                                 const double *x, pl_contact_points *out);
void pl_contact_points_clear(pl_contact_points *points);

#endif
