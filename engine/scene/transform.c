#include "engine/scene/transform.h"

#include <math.h>

void pl_rotation(const double axis[3], double degrees, double R[9])
{
    /* Whole turns are removed first, so that a pin returns to the same bits after each turn. */
    double angle = fmod(degrees, 360.0) * (M_PI / 180.0);
    double c = cos(angle), s = sin(angle), t = 1 - c;
    double x = axis[0], y = axis[1], z = axis[2];
    double rows[9] = {t * x * x + c,     t * x * y - s * z, t * x * z + s * y,
                      t * x * y + s * z, t * y * y + c,     t * y * z - s * x,
                      t * x * z - s * y, t * y * z + s * x, t * z * z + c};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            R[i + 3 * j] = rows[3 * i + j];
}

static void place(const pl_transform *t, const double shift[3], const double *from, int64_t n,
                  double *to)
{
    double R[9];
    pl_rotation(t->rotate_axis, t->rotate_degrees, R);
    for (int64_t i = 0; i < n; i++) {
        double s[3];
        for (int c = 0; c < 3; c++)
            s[c] = t->scale[c] * from[3 * i + c];
        for (int r = 0; r < 3; r++)
            to[3 * i + r] = R[r] * s[0] + R[r + 3] * s[1] + R[r + 6] * s[2] + shift[r];
    }
}

void pl_transform_points(const pl_transform *t, const double *from, int64_t n, double *to)
{
    place(t, t->translate, from, n, to);
}

void pl_transform_directions(const pl_transform *t, const double *from, int64_t n, double *to)
{
    static const double nowhere[3];
    place(t, nowhere, from, n, to);
    for (int64_t i = 0; i < n; i++) {
        double *d = to + 3 * i, length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int c = 0; length > 0 && c < 3; c++)
            d[c] /= length;
    }
}
