/* mesh_write.h - writes a mesh as text in formats that other programs (and Pliant) read: Gmsh msh 2.2, Medit, VTK 3.0,
 * and its surface as .obj and .stl.
 */
#ifndef PLIANT_SERVER_WORKER_MESH_WRITE_H
#define PLIANT_SERVER_WORKER_MESH_WRITE_H

#include "engine/mesh/mesh.h"

#include <stdio.h>

/* True for a supported format: gmsh, medit, vtk, obj or stl. */
bool pl_mesh_can_write(const char *format);
/* Numbers have 17 digits, tags follow the format; obj and stl contain only the surface. Check the stream's error for
 * failed writes; PL_NO_MEMORY. */
pl_status pl_mesh_write(FILE *out, const char *format, const pl_mesh *mesh);

#endif
