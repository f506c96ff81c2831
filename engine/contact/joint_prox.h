/* joint_prox.h - the places nearest to given ones at which no row's features are too close, with friction.
 *
 * For places v and weights W of vertices, and the rows of rows.h with their r, n, d, r_start and mu,
 *
 *     z = v + W^-1 C^T p,   (C^T p)_a = sum over rows of w_a p
 *
 * where each row's p, N, is f n - g with f >= 0, 0 unless n . r(z) = d, and g as Coulomb's law has it: |g| <= mu f,
 * and against the slip at z where it is mu f. Without friction z is the solution of
 *
 *     argmin 1/2 |z - v|^2_W   where n . r(z) >= d for every row
 *
 * It is solved by accelerated projected gradients of the dual problem (Nesterov 1983), with a step of each row's
 * own, 1 / sum |C W^-1 C^T|, restarted where they go up (O'Donoghue, Candes 2015), from the p of the last time. In
 * each sweep the disk of g has the radius that its f has then, as model/groups/contacts.h has for obstacles. */
#ifndef PLIANT_ENGINE_CONTACT_JOINT_PROX_H
#define PLIANT_ENGINE_CONTACT_JOINT_PROX_H

#include "engine/contact/rows.h"

typedef struct pl_joint_prox {
    int64_t rows, touched; /* that the arrays have room for */
    double *give;          /* [touched]: 1 / W, m/N */
    double *step;          /* [rows]: N/m; 0: of vertices that are all held */
    int32_t *
        corner; /* [rows][4]: among the touched vertices; 0 with a weight of 0 where there is none */
    double *weight;     /* [rows][4] */
    int32_t *entry_row; /* as rows->entry: which rows a vertex is in, and with what weight */
    double *entry_weight;
    double *p, *y, *last; /* [rows][3], N: forces; where they are looked at; before */
    double *free;         /* [rows][3]: r(v) - r_0, m: r_0 has a gap of d and no slip */
    double *part;         /* [rows][3]: sums of a sweep */
    double *moved;        /* [touched][3]: z - v, m */
    int most;             /* sweeps of the next prox; 0: as many as there may be */
    double t;             /* of Nesterov's sequence, which goes on from one time to the next */
} pl_joint_prox;

/* Of p: changes below it are rounding. */
#define PL_JOINT_PROX_ROUNDING 1e-13
/* Tolerance of the prox, relative to the residual of the previous local step. */
#define PL_JOINT_PROX_OF_RESIDUAL 0.1

void pl_joint_prox_clear(pl_joint_prox *prox);

/* For the rows as they are: p is of their multipliers, and `moved` is of p. give [scene vertices] is 1 / W, 0
 * where held. PL_OK or PL_NO_MEMORY. */
pl_status pl_joint_prox_set(pl_joint_prox *prox, const pl_contact_rows *rows, const double *give);

/* v [rows->touched][3], m. Sweeps until one changes p by less than `exact`, J^(1/2), in the norm of steps. Sets
 * `moved`, and the rows' multipliers and bounds to p. The bits do not depend on threads. */
void pl_joint_prox_solve(pl_joint_prox *prox, pl_contact_rows *rows, const double *v, double exact,
                         int threads);

/* The parts of pl_joint_prox_solve around its sweeps, for devices, which make the sweeps themselves: adapts the limit of
 * sweeps, and stores p as the rows' multipliers and bounds. */
void pl_joint_prox_adapt(pl_joint_prox *prox, bool done);
void pl_joint_prox_store(const pl_joint_prox *prox, pl_contact_rows *rows);

#endif
