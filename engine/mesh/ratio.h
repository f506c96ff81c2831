/* ratio.h - radius ratios, shared by the measures of a mesh; private to engine/mesh. */
#ifndef PLIANT_ENGINE_MESH_RATIO_H
#define PLIANT_ENGINE_MESH_RATIO_H

/* 1 for the regular tetrahedron, 0 for a flat or inverted one; *volume in m^3, signed. */
double pl_mesh_tet_ratio(const double *a, const double *b, const double *c, const double *d,
                         double *volume);
/* 1 for the regular triangle, 0 for a flat one; *area in m^2. */
double pl_mesh_triangle_ratio(const double *p, const double *q, const double *r, double *area);

#endif
