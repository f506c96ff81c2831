/* mesh_write.h - a mesh as text, in formats that others read (and ours): Gmsh msh 2.2, Medit, VTK 3.0,
 * and of its surface .obj and .stl.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_WRITE_H
#define PLIANT_SERVER_WORKER_MESH_WRITE_H

#include "engine/mesh/mesh.h"

#include <stdio.h>

/* The format of a name: gmsh, medit, vtk, obj or stl. */
bool pl_mesh_can_write(const char *format);
/* Numbers with 17 digits, tags as the format has them; obj and stl are the surface alone. The stream's
 * error says whether all was written; PL_NO_MEMORY. */
pl_status pl_mesh_write(FILE *out, const char *format, const pl_mesh *mesh);

#endif
