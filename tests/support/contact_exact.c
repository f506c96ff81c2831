#include "tests/support/contact_exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static long double dot(const exact_point a, const exact_point b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const exact_point a, const exact_point b, exact_point out)
{
    for (int c = 0; c < 3; c++)
        out[c] = a[c] - b[c];
}

long double exact_point_edge(const exact_point p, const exact_point a, const exact_point b,
                             long double *place)
{
    exact_point e, r;
    subtract(b, a, e);
    subtract(p, a, r);
    long double length = dot(e, e), t = length > 0 ? dot(r, e) / length : 0;
    if (place)
        *place = t;
    t = fminl(fmaxl(t, 0), 1);
    for (int c = 0; c < 3; c++)
        r[c] -= t * e[c];
    return sqrtl(dot(r, r));
}

/* Solve [aa ab; ab bb] (s, t) = (ra, rb) by Cramer's rule. */
static bool solve(long double aa, long double ab, long double bb, long double ra, long double rb,
                  long double *s, long double *t)
{
    long double det = aa * bb - ab * ab;
    *s = (ra * bb - rb * ab) / det;
    *t = (rb * aa - ra * ab) / det;
    return det > 1e-30L * aa * bb;
}

long double exact_point_triangle(const exact_point p, exact_point x[3], long double place[3])
{
    exact_point e, f, r;
    long double s, t, best = INFINITY;
    for (int k = 0; k < 3; k++)
        best = fminl(best, exact_point_edge(p, x[k], x[(k + 1) % 3], NULL));
    subtract(x[1], x[0], e);
    subtract(x[2], x[0], f);
    subtract(p, x[0], r);
    bool plane = solve(dot(e, e), dot(e, f), dot(f, f), dot(r, e), dot(r, f), &s, &t);
    if (place) {
        place[0] = plane ? 1 - s - t : NAN;
        place[1] = plane ? s : NAN;
        place[2] = plane ? t : NAN;
    }
    if (plane && s >= 0 && t >= 0 && s + t <= 1) {
        for (int c = 0; c < 3; c++)
            r[c] -= s * e[c] + t * f[c];
        best = fminl(best, sqrtl(dot(r, r)));
    }
    return best;
}

long double exact_edge_edge(exact_point a[2], exact_point b[2], long double place[2])
{
    exact_point e, f, r;
    long double s, t, best = INFINITY;
    for (int k = 0; k < 2; k++) {
        best = fminl(best, exact_point_edge(a[k], b[0], b[1], NULL));
        best = fminl(best, exact_point_edge(b[k], a[0], a[1], NULL));
    }
    subtract(a[1], a[0], e);
    subtract(b[0], b[1], f);
    subtract(b[0], a[0], r);
    bool apart = solve(dot(e, e), dot(e, f), dot(f, f), dot(r, e), dot(r, f), &s, &t);
    if (place) {
        place[0] = apart ? s : NAN;
        place[1] = apart ? t : NAN;
    }
    if (apart && s >= 0 && s <= 1 && t >= 0 && t <= 1) {
        for (int c = 0; c < 3; c++)
            r[c] -= s * e[c] + t * f[c];
        best = fminl(best, sqrtl(dot(r, r)));
    }
    return best;
}

int exact_volume_sign(const double a[3], const double b[3], const double c[3], const double d[3])
{
    __float128 e[3][3], det = 0, size = 0;
    for (int k = 0; k < 3; k++) {
        e[0][k] = (__float128)b[k] - a[k];
        e[1][k] = (__float128)c[k] - a[k];
        e[2][k] = (__float128)d[k] - a[k];
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        __float128 one = e[0][k] * e[1][i] * e[2][j], other = e[0][k] * e[1][j] * e[2][i];
        det += one - other;
        size += (one < 0 ? -one : one) + (other < 0 ? -other : other);
    }
    __float128 rounding = size * (__float128)0x1p-108;
    return det > rounding ? 1 : det < -rounding ? -1 : 0;
}

bool exact_edge_crosses(const double p[3], const double q[3], const double a[3], const double b[3],
                        const double c[3])
{
    if (exact_volume_sign(a, b, c, p) * exact_volume_sign(a, b, c, q) >= 0)
        return false;
    int s[3] = {exact_volume_sign(p, q, a, b), exact_volume_sign(p, q, b, c),
                exact_volume_sign(p, q, c, a)};
    bool up = s[0] > 0 || s[1] > 0 || s[2] > 0, down = s[0] < 0 || s[1] < 0 || s[2] < 0;
    return !(up && down);
}

typedef struct box {
    double low[3], high[3];
} box;

static box box_of(const double *x, const int32_t *vertex, int count)
{
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < count; k++)
        for (int c = 0; c < 3; c++) {
            b.low[c] = fmin(b.low[c], x[3 * (int64_t)vertex[k] + c]);
            b.high[c] = fmax(b.high[c], x[3 * (int64_t)vertex[k] + c]);
        }
    return b;
}

static bool boxes_meet(const box *a, const box *b)
{
    for (int c = 0; c < 3; c++)
        if (a->high[c] < b->low[c] || a->low[c] > b->high[c])
            return false;
    return true;
}

static bool crosses(const double *x, const int32_t *edge, const int32_t *t)
{
    for (int k = 0; k < 3; k++)
        if (edge[0] == t[k] || edge[1] == t[k])
            return false;
    return exact_edge_crosses(x + 3 * (int64_t)edge[0], x + 3 * (int64_t)edge[1],
                              x + 3 * (int64_t)t[0], x + 3 * (int64_t)t[1], x + 3 * (int64_t)t[2]);
}

int64_t exact_crossings(const double *x, const int32_t *triangle, int32_t triangles,
                        const int32_t *segment, int32_t segments, int32_t first[3])
{
    int64_t count = 0, sides = 3 * (int64_t)triangles;
    box *around = malloc(((size_t)triangles + 1) * sizeof *around);
    if (!around)
        abort();
    for (int32_t t = 0; t < triangles; t++)
        around[t] = box_of(x, triangle + 3 * (int64_t)t, 3);
    for (int64_t i = 0; i < sides + segments; i++) {
        int32_t edge[2];
        if (i < sides) {
            edge[0] = triangle[i];
            edge[1] = triangle[i / 3 * 3 + (i + 1) % 3];
        } else {
            memcpy(edge, segment + 2 * (i - sides), sizeof edge);
        }
        const box own = box_of(x, edge, 2);
        for (int32_t t = 0; t < triangles; t++)
            if (boxes_meet(&own, &around[t]) && crosses(x, edge, triangle + 3 * (int64_t)t)) {
                if (count == 0 && first) {
                    memcpy(first, edge, sizeof edge);
                    first[2] = t;
                }
                count++;
            }
    }
    free(around);
    return count;
}
