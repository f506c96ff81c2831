/* strain.h - deformation of a frame's elements relative to another frame, frame 0 in exports.
 *
 * With the edges of an element as columns, D of the frame and D0 of the other, F = D D0^-1; for triangles and edges
 * in the plane and along the line of D0. volume_ratio is det F (for triangles the ratio of areas, for edges of
 * lengths), negative if a tetrahedron is inverted; stretch is the largest singular value of F. Elements of zero
 * size get NAN.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_STRAIN_H
#define PLIANT_PROTOCOL_EXPORT_STRAIN_H

#include <stdint.h>

/* `corners` 4, 3 or 2; x and rest are [vertices][3]; volume_ratio and stretch are [count]. */
void pl_strain_of_cells(int corners, int64_t count, const int32_t *corner, const float *x,
                        const float *rest, float *volume_ratio, float *stretch);
/* C = F^T F of one element in its orthonormal axes at rest. Returns its size at rest, twice a triangle's area or
 * six times a tetrahedron's volume; 0 if it has none, and c is then not written. */
double pl_strain_of_element(int corners, const int32_t *corner, const float *x, const float *rest,
                            double c[3][3]);

#endif
