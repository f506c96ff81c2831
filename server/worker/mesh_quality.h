/* mesh_quality.h - the shapes of a mesh's elements as JSON:
 *
 *   {"of": "tetrahedra" | "triangles", "elements": n, "flat": n, "inverted": n,
 *    "MEASURE": {"least", "mean", "greatest", "edges": [...], "counts": [...]}, ...
 *    "worst": [{"element": i, "flat", "inverted", "centre": [x, y, z], "MEASURE": v, ...}]}
 *
 * with the measures least_angle and greatest_angle (degrees; dihedral of tetrahedra), radius_ratio,
 * aspect, and volume (m^3) or area (m^2); null where there is neither tetrahedron nor triangle. The
 * last bin of the aspect has no upper edge: null.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_QUALITY_H
#define PLIANT_SERVER_WORKER_MESH_QUALITY_H

#include "engine/mesh/shapes.h"
#include "protocol/text/json.h"

/* Write it as the value of a key that was put. */
void pl_mesh_quality_put(pl_json_writer *w, const pl_shapes *shapes);

#endif
