/* topology.h - what a viewer needs to draw a session: topology.json, and the same surface and the
 * tetrahedra as arrays. Written once, by preflight.
 *
 * topology.json: {"format": 1, "vertices": n,
 *   "bodies": [{"name", "first_vertex", "vertices", "tets", "triangles": [a, b, c, ...],
 *               "edges": []}],
 *   "obstacles": [{"name", "plane": {"normal", "offset"}} | {"name", "sphere": {"center",
 *                  "radius"}}],
 *   "pins": [{"name", "body", "vertices": count}],
 *   "arrays": {"triangles": "triangles.npy", "tets": "tets.npy"}}
 * Indices are into a frame's vertices, outward triangles, counter-clockwise from outside.
 */
#ifndef PLIANT_SERVER_WORKER_TOPOLOGY_H
#define PLIANT_SERVER_WORKER_TOPOLOGY_H

#include "server/worker/session_scene.h"

/* Write topology.json, triangles.npy and tets.npy of a checked scene, and their entries of `sums`.
 * pin_counts: vertices of each pin, [scene.pin_count]. */
pl_status pl_topology_write(int directory, const pl_session_scene *s, const int64_t *pin_counts,
                            pl_file_sum sums[PL_FILE_COUNT]);

#endif
