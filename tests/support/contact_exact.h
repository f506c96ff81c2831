/* contact_exact.h - geometry of features in more than double precision, for tests: distances in long
 * double, and whether surfaces cross, by signs of volumes in quadruple precision. Shares nothing with
 * engine/contact. */
#ifndef PLIANT_TESTS_SUPPORT_CONTACT_EXACT_H
#define PLIANT_TESTS_SUPPORT_CONTACT_EXACT_H

#include <stdbool.h>
#include <stdint.h>

typedef long double exact_point[3];

/* Distances of a point or two edges, m. `place` for a triangle: weights of its corners at the point's projection on its
 * plane (NAN without a plane); for edges: the nearest point on each line. */
long double exact_point_edge(const exact_point p, const exact_point a, const exact_point b,
                             long double *place);
long double exact_point_triangle(const exact_point p, exact_point t[3], long double place[3]);
long double exact_edge_edge(exact_point a[2], exact_point b[2], long double place[2]);

/* The sign of the volume of a tetrahedron; 0 if it is below the rounding of 113 bits. */
int exact_volume_sign(const double a[3], const double b[3], const double c[3], const double d[3]);

/* An edge p q goes through the triangle a b c: its ends are strictly on both sides, and the way
 * between them does not leave the triangle's sides. In one plane nothing goes through. */
bool exact_edge_crosses(const double p[3], const double q[3], const double a[3], const double b[3],
                        const double c[3]);

/* How many pairs of an edge (of triangles or segments) and a triangle without a common vertex cross,
 * by brute force. An edge counts once for each of its triangles. first: of the first one found, the
 * edge's vertices and the triangle; may be NULL. */
int64_t exact_crossings(const double *x, const int32_t *triangle, int32_t triangles,
                        const int32_t *segment, int32_t segments, int32_t first[3]);

#endif
