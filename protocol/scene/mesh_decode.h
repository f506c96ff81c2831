/* mesh_decode.h - meshes of bodies and obstacles: files, arrays of numbers, and rules over several keys of a
 * source; customs and rules of scene_decode.c. */
#ifndef PLIANT_PROTOCOL_SCENE_MESH_DECODE_H
#define PLIANT_PROTOCOL_SCENE_MESH_DECODE_H

#include "protocol/scene/decode.h"

void pl_decode_upload(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_vertices(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_tets(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_triangles(pl_decoder *d, json_t *value, const pl_param *p, void *out);
void pl_decode_edges(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Rows of `width` numbers, each an array or all in one flat array; coordinates as double, indices as int64_t.
 * malloc'ed; NULL if none could be read. */
void *pl_decode_rows(pl_decoder *d, json_t *value, const pl_param *p, size_t width, int64_t *count);

/* Checks that generated meshes have bounded size, and that no tube intersects itself. */
void pl_check_cells(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_cloth(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_tube_cylinder(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_tube_torus(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_tube_helix(pl_decoder *d, json_t *object, void *out, bool clean);
/* Checks that a tube fits inside its curve's bends and between its turns: thinner than `most`. */
void pl_check_tube(pl_decoder *d, double tube, double most, const char *why);

/* Checks that inline meshes have elements, and that files have the format that matches their number. */
void pl_check_mesh(pl_decoder *d, json_t *object, void *out, bool clean);
void pl_check_obstacle_mesh(pl_decoder *d, json_t *object, void *out, bool clean);

#endif
