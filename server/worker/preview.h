/* preview.h - data for drawing a scene that has not run: preview.json, {"topology": as in topology.json, "surface": [v,
 * ...] as in surface.npy, "positions": [x, y, z, ...]}, the rest positions of those vertices, m. A body's initial shape
 * is not applied.
 */
#ifndef PLIANT_SERVER_WORKER_PREVIEW_H
#define PLIANT_SERVER_WORKER_PREVIEW_H

#include "server/worker/session_scene.h"

/* Write preview.json of a checked scene whose topology.json and surface.npy are in the directory. If they are larger
 * than PL_PREVIEW_MOST, nothing is written (PL_OK). */
pl_status pl_preview_write(int directory, const pl_session_scene *s);

#endif
