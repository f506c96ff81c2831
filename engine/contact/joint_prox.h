/* joint_prox.h - projection onto the places at which no row's features are too close, with friction.
 *
 * For places v and weights W of vertices, and the rows of rows.h with their r, n, d, r_start and mu,
 *
 *     z = v + W^-1 C^T p,   (C^T p)_a = sum over rows of w_a p
 *
 * where each row's force p, N, is f n - g. The normal part has f >= 0, and f = 0 unless n . r(z) = d. The
 * tangential part g follows Coulomb's law: |g| <= mu f, and g opposes the slip at z where |g| = mu f. Without
 * friction, z is the solution of
 *
 *     argmin 1/2 |z - v|^2_W   where n . r(z) >= d for every row
 *
 * The solver is accelerated projected gradients on the dual problem (Nesterov 1983). Each row has its own step,
 * 1 / sum |C W^-1 C^T|. The momentum restarts where the iteration goes up (O'Donoghue, Candes 2015), and a solve starts
 * from the p of the previous one. In each sweep, the disk that bounds g has the radius given by the row's current
 * f, as in model/groups/contacts.h for obstacles. */
#ifndef PLIANT_ENGINE_CONTACT_JOINT_PROX_H
#define PLIANT_ENGINE_CONTACT_JOINT_PROX_H

#include "engine/contact/rows.h"

typedef struct pl_joint_prox {
    int64_t rows, touched; /* capacity of the arrays */
    double *give;          /* [touched]: 1 / W, m/N */
    double *step;          /* [rows]: step, N/m; 0 if all vertices of the row are held */
    int32_t *
        corner; /* [rows][4]: index among the touched vertices; 0 with a weight of 0 in unused places */
    double *weight;     /* [rows][4] */
    int32_t *entry_row; /* as rows->entry: the rows of each vertex, and its weight in them */
    double *entry_weight;
    double *p, *y, *last; /* [rows][3], N: forces; where the gradient is taken; previous forces */
    double *free;         /* [rows][3]: r(v) - r_0, m, where r_0 has a gap of d and no slip */
    double *part;         /* [rows][3]: sums of a sweep */
    double *moved;        /* [touched][3]: z - v, m */
    int most;             /* maximum number of sweeps of the next prox; 0: the upper limit */
    double t;             /* of Nesterov's sequence, which continues from one solve to the next */
} pl_joint_prox;

/* Relative to p: smaller changes are rounding. */
#define PL_JOINT_PROX_ROUNDING 1e-13
/* Tolerance of the prox, relative to the residual of the previous local step. */
#define PL_JOINT_PROX_OF_RESIDUAL 0.1

void pl_joint_prox_clear(pl_joint_prox *prox);

/* Sets up the prox for the current rows: p starts from their multipliers, and `moved` from p. give [scene
 * vertices]: 1 / W, 0 where held. PL_OK or PL_NO_MEMORY. */
pl_status pl_joint_prox_set(pl_joint_prox *prox, const pl_contact_rows *rows, const double *give);

/* v [rows->touched][3], m. Sweeps until one changes p by less than `exact`, J^(1/2), in the norm of the steps. Sets
 * `moved`, and sets the rows' multipliers and bounds from p. The bits do not depend on the number of threads. */
void pl_joint_prox_solve(pl_joint_prox *prox, pl_contact_rows *rows, const double *v, double exact,
                         int threads);

/* Parts of pl_joint_prox_solve before and after its sweeps, for devices, which run the sweeps themselves: adapt the
 * limit of sweeps, and store p as the rows' multipliers and bounds. */
void pl_joint_prox_adapt(pl_joint_prox *prox, bool done);
void pl_joint_prox_store(const pl_joint_prox *prox, pl_contact_rows *rows);

#endif
