/* topology.h - data for drawing a session: topology.json, and the same surface and the tetrahedra as arrays. Written
 * once, by preflight.
 *
 * topology.json: {"format": 1, "vertices": n,
 *   "bodies": [{"name", "first_vertex", "vertices", "tets", "triangles": [a, b, c, ...],
 *               "sheet_triangles": k, "edges": [a, b, ...]}],
 *   "obstacles": [{"name", "sphere": {"center", "radius", ...}, ...}], as in the effective scene,
 *   "obstacle_surfaces": [{"inside", "center": [x, y, z], "vertices": [x, y, z, ...],
 *                          "triangles": [a, b, c, ...]} or null], in the order of the obstacles,
 *   "pins": [{"name", "body", "vertices": count}],
 *   "expect": [[v, ...] or null]: the vertices that each expectation selects,
 *   "arrays": {"triangles": "triangles.npy", "tets": "tets.npy"}}
 *
 * An obstacle's triangles are at their positions at time 0, counter-clockwise from outside. Motions turn about `center`
 * unless they name a point; `inside`: bodies are kept inside it. A plane has no triangles (null). Documents written
 * before this key existed lack it. The last `sheet_triangles` of the triangles are the body's own (cloth); those before
 * are the surface of its tetrahedra. Indices refer to a frame's vertices; triangles face outward, counter-clockwise
 * from outside.
 */
#ifndef PLIANT_SERVER_WORKER_TOPOLOGY_H
#define PLIANT_SERVER_WORKER_TOPOLOGY_H

#include "server/worker/expected.h"
#include "server/worker/session_scene.h"

/* Write topology.json, triangles.npy and tets.npy of a checked scene, and their entries of `sums`. pin_counts: number
 * of vertices of each pin, [scene.pin_count]; expected: [scene.expectation_count]. */
pl_status pl_topology_write(int directory, const pl_session_scene *s, const int64_t *pin_counts,
                            const pl_expected *expected, pl_file_sum sums[PL_FILE_COUNT]);

#endif
