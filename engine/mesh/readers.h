/* readers.h - one reader for each file format, all with the same signature.
 *
 * A reader fills the draft from memory and finishes it into *out; faults go to the draft's list. pl_mesh_read
 * chooses among them.
 */
#ifndef PLIANT_ENGINE_MESH_READERS_H
#define PLIANT_ENGINE_MESH_READERS_H

#include "engine/mesh/draft.h"

/* Gmsh MSH 2.x and 4.1 (Gmsh reference manual, "MSH file format"), text and binary. */
pl_status pl_gmsh_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* TetGen .node and .ele (TetGen 1.5 manual, section 5.2). */
pl_status pl_tetgen_read(const pl_blob *node, const pl_blob *ele, pl_draft *draft, pl_mesh *out);

/* Medit .mesh, text (Frey 2001, "Medit: an interactive mesh visualization software"). */
pl_status pl_medit_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* Wavefront .obj: v, f, l and the names of g and o; drawing data are skipped. Polygons are divided into triangles
 * from their first corner. */
pl_status pl_obj_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* VTK's old format of unstructured grids and polygons, 2.0 to 5.1, text and binary. */
pl_status pl_vtk_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* VTK's XML format of unstructured grids: text, base64 and raw, in place or appended, deflated or not. */
pl_status pl_vtu_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* Vega .veg: tetrahedra, tagged by their sets. */
pl_status pl_vega_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* Abaqus .inp: nodes, linear tetrahedra, triangles and lines; element sets become their tags, node sets those of
 * points. */
pl_status pl_abaqus_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* .stl, text and binary: corners at equal coordinates become one vertex. */
pl_status pl_stl_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

/* .ply, text and binary of either byte order: polygons are divided into triangles from their first corner. */
pl_status pl_ply_read(const pl_blob *file, pl_draft *draft, pl_mesh *out);

#endif
