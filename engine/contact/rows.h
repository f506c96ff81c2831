/* rows.h - pairs as constraints of a minimisation, by an augmented Lagrangian.
 *
 * Let r = sum_a w_a x_a be the vector from the closest point of the second feature to that of the first. A pair's
 * constraint is n . r >= d, with multiplier f >= 0, N, and penalty k, N/m:
 *
 *     U_n(x) = (|t|^2 - f^2) / 2k,   t = max(f - k (n . r - d), 0)                 Rockafellar 1973
 *
 * Friction is Coulomb's law at the fixed point of the rounds that renew multipliers. Over one round, its bound
 * b = mu f is given (Tresca). With the slip s = (1 - n n^T) (r - r_start) since the step's start and the tangential
 * multiplier g, |g| <= b,
 *
 *     U_t(x) = phi(|g + k s|) - |g|^2 / 2k,   phi(q) = q^2 / 2k up to q = b, (b q - b^2 / 2) / k beyond
 *
 * Both are convex in x, once differentiable, and 0 at a fixed point. The forces on the first feature are t n and
 * -min(1, b / |q|) q with q = g + k s; `renew` makes them the multipliers.
 *
 * Penalties scale with the stiffness of the vertices, whatever the number of rows at a vertex:
 *
 *     k_r = HARD / sum over rows q of |C W^-1 C^T|_rq,   W the stiffness of vertices, C the weights w
 *
 * so that C^T K C <= HARD W. A matrix near W stays a good first matrix for a quasi-Newton method. Penalties by a
 * row's own vertices alone, with ten rows at a vertex, cost three times the iterations. Each time the features of a
 * row meet again, its penalty doubles: among many rows, its share can be too small to keep them apart before the
 * rounds run out.
 */
#ifndef PLIANT_ENGINE_CONTACT_ROWS_H
#define PLIANT_ENGINE_CONTACT_ROWS_H

#include "engine/contact/measure.h"
#include "engine/scene/fault.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_contact_row {
    pl_contact_pair pair; /* normal and weights are constant over a round */
    double distance;      /* d, m */
    double stiffness;     /* k, N/m, set by pl_contact_rows_set; 0 if all vertices are held */
    double friction;      /* mu */
    double start[3];      /* r at the step's start, m */
    double force;         /* f, N */
    double grip[3];       /* g, N */
    double bound;         /* b, N */
    int meetings;         /* how often its features met on the way to an answer of this step */
    int again;            /* 0, or the number of this further row of its pair (set.h) */
    int turns; /* of the pair's first row: how often it was found too close in this step */
} pl_contact_row;

typedef struct pl_contact_rows {
    int64_t count, capacity;
    pl_contact_row *row; /* ordered by kind, features, and `again` */
    int32_t *place;      /* [scene vertices]: index in `vertex`, -1 without rows */
    int32_t scene_vertices;
    int64_t touched;  /* vertices that have rows */
    int32_t *vertex;  /* [touched], ascending */
    int64_t *first;   /* [touched + 1]: into `entry` */
    int64_t *entry;   /* 4 x row + corner, ascending for each vertex */
    double *pull;     /* [count][3]: dU/dr at the last x, N */
    double *energy;   /* [count]: U there, J */
    double *gradient; /* [touched][3]: dU/dx there, N */
    int64_t room;     /* capacity of the arrays above, in rows */
} pl_contact_rows;

/* PL_OK or PL_NO_MEMORY. */
pl_status pl_contact_rows_init(pl_contact_rows *rows, int32_t scene_vertices);
void pl_contact_rows_clear(pl_contact_rows *rows);

/* Replaces the rows by a malloc'ed list, of which it takes ownership, lists the rows of each vertex and sets
 * penalties. give [scene vertices]: 1 / W, m/N, 0 where held. PL_NO_MEMORY: no rows are left. */
pl_status pl_contact_rows_set(pl_contact_rows *rows, pl_contact_row *row, int64_t count,
                              const double *give);

/* Returns the sum of U at x [scene_vertices][3], J, and sets `gradient`. The bits do not depend on the number of
 * threads. */
double pl_contact_rows_evaluate(pl_contact_rows *rows, const double *x, int threads);

/* Sets `gradient` to that of the multipliers: the rows add this if the multipliers are the forces at x. */
void pl_contact_rows_pull(pl_contact_rows *rows);

/* Contribution of the last evaluation, or pull, to the gradient at a vertex, N. */
static inline void pl_contact_rows_add(const pl_contact_rows *rows, int64_t vertex, double f[3])
{
    int32_t k = rows->count > 0 ? rows->place[vertex] : -1;
    for (int c = 0; k >= 0 && c < 3; c++)
        f[c] += rows->gradient[3 * (int64_t)k + c];
}

/* K = d2U/dr2 at x, semidefinite, N/m; the block of corners a and b in the Hessian is w_a w_b K. False: K is 0. */
bool pl_contact_row_hessian(const pl_contact_row *row, const double *x, double K[3][3]);

/* r at x, m; U, J, and dU/dr at a given r, N; and K there. */
void pl_contact_row_way(const pl_contact_row *row, const double *x, double r[3]);
double pl_contact_row_pull_at(const pl_contact_row *row, const double r[3], double pull[3]);
bool pl_contact_row_hessian_at(const pl_contact_row *row, const double r[3], double K[3][3]);

/* s at x, m. */
void pl_contact_row_slip(const pl_contact_row *row, const double *x, double slip[3]);

/* Writes the diagonal of U's Hessian at x, N/m, in place of the gradient. */
void pl_contact_rows_diagonal(pl_contact_rows *rows, const double *x);

typedef struct pl_contact_renewal {
    double
        lack; /* the largest relative shortfall of a gap, (d - gap) / d with d the distance to keep; at least 0 */
    bool changed; /* false: the rows' energy and forces are the same functions of x as before */
} pl_contact_renewal;

/* Multipliers become the forces at x, and friction bounds follow them. */
pl_contact_renewal pl_contact_rows_renew(pl_contact_rows *rows, const double *x);
/* The shortfall, with the multipliers unchanged. */
double pl_contact_rows_lack(const pl_contact_rows *rows, const double *x);

#endif
