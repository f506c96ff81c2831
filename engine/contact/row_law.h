/* row_law.h - one row's contribution to an objective (rows.h) and to a sweep of the joint prox (joint_prox.h); the
 * same source for the CPU and for devices, in double whatever the precision. */
#ifndef PLIANT_ENGINE_CONTACT_ROW_LAW_H
#define PLIANT_ENGINE_CONTACT_ROW_LAW_H

#include "engine/vectors.h"

#include <math.h>

/* Letters as in rows.h: n, r_start, g; d, k, f, b. */
typedef struct pl_row_law {
    const double *normal, *start, *grip; /* [3] each */
    double distance, stiffness, force, bound;
} pl_row_law;

/* The forces of a row at r. */
typedef struct pl_row_state {
    double t;         /* along the normal, N */
    double q[3], abs; /* g + k s and its length, N */
} pl_row_state;

/* s = (1 - n n^T) (r - r_start), m. */
PL_EVERYWHERE void pl_row_slip(const double normal[3], const double start[3], const double r[3],
                               double slip[3])
{
    pl_vector_subtract(r, start, slip);
    const double along = pl_vector_dot(normal, slip);
    for (int c = 0; c < 3; c++)
        slip[c] -= along * normal[c];
}

PL_EVERYWHERE pl_row_state pl_row_at(const pl_row_law *row, const double r[3])
{
    const double k = row->stiffness;
    double slip[3];
    pl_row_state s;
    s.t = fmax(row->force - k * (pl_vector_dot(row->normal, r) - row->distance), 0);
    pl_row_slip(row->normal, row->start, r, slip);
    for (int c = 0; c < 3; c++)
        s.q[c] = row->grip[c] + k * slip[c];
    s.abs = sqrt(pl_vector_dot(s.q, s.q));
    return s;
}

/* U, J, and dU/dr, N. */
PL_EVERYWHERE double pl_row_pull(const pl_row_law *row, const double r[3], double pull[3])
{
    const double k = row->stiffness, b = row->bound;
    pull[0] = pull[1] = pull[2] = 0;
    if (k == 0)
        return 0;
    const pl_row_state s = pl_row_at(row, r);
    double energy = (s.t * s.t - row->force * row->force) / (2 * k);
    const double share = b > 0 ? (s.abs <= b ? 1 : b / s.abs) : 0;
    if (b > 0)
        energy += ((s.abs <= b ? s.abs * s.abs / 2 : b * s.abs - b * b / 2) -
                   pl_vector_dot(row->grip, row->grip) / 2) /
                  k;
    for (int c = 0; c < 3; c++)
        pull[c] = share * s.q[c] - s.t * row->normal[c];
    return energy;
}

/* K = d2U/dr2, semidefinite, N/m: U_n has k n n^T where t > 0; U_t has k (1 - n n^T) where it sticks, and where it
 * slips k b / |q| (1 - n n^T - u u^T) with u along q. Returns 0 where K is 0. */
PL_EVERYWHERE int pl_row_hessian(const pl_row_law *row, const double r[3], double K[3][3])
{
    const double k = row->stiffness, b = row->bound, *n = row->normal;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[i][j] = 0;
    if (k == 0)
        return 0;
    const pl_row_state s = pl_row_at(row, r);
    const double normal = s.t > 0 ? k : 0;
    const double across = b > 0 ? k * (s.abs <= b ? 1 : b / s.abs) : 0;
    const double along = b > 0 && s.abs > b ? across / (s.abs * s.abs) : 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[i][j] = (normal - across) * n[i] * n[j] + (i == j ? across : 0) -
                      along * s.q[i] * s.q[j];
    return normal > 0 || across > 0;
}

/* ---- the joint prox ---- */

/* r(v) - r_0, m, from r(v) in `way`: the gap over d along n, and the slip across. */
PL_EVERYWHERE void pl_row_free(const double normal[3], double distance, const double start[3],
                               const double way[3], double out[3])
{
    double slip[3];
    const double gap = pl_vector_dot(normal, way) - distance;
    pl_vector_subtract(way, start, slip);
    const double along = pl_vector_dot(normal, slip);
    for (int c = 0; c < 3; c++)
        out[c] = gap * normal[c] + slip[c] - along * normal[c];
}

/* Projects p = f n - g: f at least 0, and g no longer than mu f. */
PL_EVERYWHERE void pl_row_project(const double n[3], double friction, double p[3])
{
    const double normal = pl_vector_dot(n, p);
    double across[3];
    for (int c = 0; c < 3; c++)
        across[c] = p[c] - normal * n[c];
    const double f = fmax(normal, 0), most = friction * f;
    const double square = pl_vector_dot(across, across);
    const double share = square > most * most ? most / sqrt(square) : 1;
    for (int c = 0; c < 3; c++)
        p[c] = f * n[c] + share * across[c];
}

/* p <- projection of y - step (free + way), with way = C W^-1 C^T y; last <- the previous p. part, J: |p - y|^2 and
 * |p|^2 over the step, and (y - p) . (p - last), which is above 0 where momentum goes up. */
PL_EVERYWHERE void pl_row_sweep(const double normal[3], double friction, double step,
                                const double y[3], const double free[3], const double way[3],
                                double p[3], double last[3], double part[3])
{
    part[0] = part[1] = part[2] = 0;
    if (step == 0)
        return;
    for (int c = 0; c < 3; c++) {
        last[c] = p[c];
        p[c] = y[c] - step * (free[c] + way[c]);
    }
    pl_row_project(normal, friction, p);
    double change = 0, size = 0, turn = 0;
    for (int c = 0; c < 3; c++) {
        change += (p[c] - y[c]) * (p[c] - y[c]);
        size += p[c] * p[c];
        turn += (y[c] - p[c]) * (p[c] - last[c]);
    }
    const double inverse = 1 / step;
    part[0] = inverse * change;
    part[1] = inverse * size;
    part[2] = inverse * turn;
}

#endif
