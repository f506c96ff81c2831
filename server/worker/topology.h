/* topology.h - what a viewer needs to draw a session: topology.json, and the same surface and the
 * tetrahedra as arrays. Written once, by preflight.
 *
 * topology.json: {"format": 1, "vertices": n,
 *   "bodies": [{"name", "first_vertex", "vertices", "tets", "triangles": [a, b, c, ...],
 *               "sheet_triangles": k, "edges": [a, b, ...]}],
 *   "obstacles": [{"name", "sphere": {"center", "radius", ...}, ...}], as in the effective scene,
 *   "obstacle_surfaces": [{"inside", "center": [x, y, z], "vertices": [x, y, z, ...],
 *                          "triangles": [a, b, c, ...]} | null], in the order of the obstacles,
 *   "pins": [{"name", "body", "vertices": count}],
 *   "expect": [[v, ...] | null]: the vertices that each expectation selects,
 *   "arrays": {"triangles": "triangles.npy", "tets": "tets.npy"}}
 * An obstacle's triangles are where it is at time 0, counter-clockwise from outside; motions turn about `center`
 * where they name no point; `inside`: bodies are kept in it. A plane has none (null). Documents written before this
 * key existed lack it.
 * The last `sheet_triangles` of the triangles are the body's own (cloth), those before them the
 * surface of its tetrahedra. Indices are into a frame's vertices, outward triangles, counter-clockwise from outside.
 */
#ifndef PLIANT_SERVER_WORKER_TOPOLOGY_H
#define PLIANT_SERVER_WORKER_TOPOLOGY_H

#include "server/worker/expected.h"
#include "server/worker/session_scene.h"

/* Write topology.json, triangles.npy and tets.npy of a checked scene, and their entries of `sums`.
 * pin_counts: vertices of each pin, [scene.pin_count]; expected: [scene.expectation_count]. */
pl_status pl_topology_write(int directory, const pl_session_scene *s, const int64_t *pin_counts,
                            const pl_expected *expected, pl_file_sum sums[PL_FILE_COUNT]);

#endif
