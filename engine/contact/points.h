/* points.h - contact points for output: the rows that carry force. */
#ifndef PLIANT_ENGINE_CONTACT_POINTS_H
#define PLIANT_ENGINE_CONTACT_POINTS_H

#include "engine/contact/bodies.h"
#include "engine/contact/rows.h"
#include "engine/scene/metrics.h"

/* Maximum length of a list. Beyond it, only the rows with the largest forces are listed. */
enum { PL_CONTACT_POINTS = 65536 };

/* Zero-initialise. */
typedef struct pl_contact_points {
    int64_t count, room;
    pl_contact_point *point; /* in the order of the rows */
} pl_contact_points;

/* Replaces the list by the rows that carry force at x [scene vertices][3], m. Unless the list was cut off, its
 * forces add up to those of pl_contact_set_measure. PL_OK, or PL_NO_MEMORY with an empty list. */
pl_status pl_contact_points_find(const pl_contact_rows *rows, const pl_contact_bodies *bodies,
                                 const double *x, pl_contact_points *out);
void pl_contact_points_clear(pl_contact_points *points);

#endif
