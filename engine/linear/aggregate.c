#include "engine/linear/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Roots of the largest -a_ij of each row, [rows]; NULL: out of memory. */
static double *largest_couplings(const pl_csr *A)
{
    double *most = malloc((size_t)(A->rows + 1) * sizeof *most);
    for (int64_t i = 0; most && i < A->rows; i++) {
        double m = 0;
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++)
            if (A->column[e] != i)
                m = fmax(m, -A->value[e]);
        most[i] = sqrt(m);
    }
    return most;
}

static bool is_strong(const pl_csr *A, const double *most, int64_t i, int64_t e)
{
    int64_t j = A->column[e];
    return j != i && A->value[e] < 0 && -A->value[e] >= PL_STRONG * most[i] * most[j];
}

enum { UNDECIDED = -2 };

/* A row whose strong neighbours are all undecided: with them it is an aggregate. */
static void join_neighbourhoods(const pl_csr *A, const double *most, int32_t *aggregate,
                                int64_t *count)
{
    for (int64_t i = 0; i < A->rows; i++) {
        bool alone = true, undecided = aggregate[i] == UNDECIDED;
        for (int64_t e = A->start[i]; undecided && e < A->start[i + 1]; e++) {
            if (!is_strong(A, most, i, e))
                continue;
            alone = false;
            undecided = aggregate[A->column[e]] == UNDECIDED;
        }
        if (alone && aggregate[i] == UNDECIDED)
            aggregate[i] = PL_NO_AGGREGATE;
        if (alone || !undecided)
            continue;
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++)
            if (is_strong(A, most, i, e))
                aggregate[A->column[e]] = (int32_t)*count;
        aggregate[i] = (int32_t)(*count)++;
    }
}

/* Undecided rows join the aggregate, of those made so far, of their most strongly coupled neighbour. */
static void join_nearest(const pl_csr *A, const double *most, const int32_t *made,
                         int32_t *aggregate)
{
    for (int64_t i = 0; i < A->rows; i++) {
        double best = 0;
        for (int64_t e = A->start[i]; made[i] == UNDECIDED && e < A->start[i + 1]; e++) {
            int64_t j = A->column[e];
            double coupling = is_strong(A, most, i, e) ? -A->value[e] / most[j] : 0;
            if (made[j] < 0 || coupling <= best)
                continue;
            best = coupling;
            aggregate[i] = made[j];
        }
    }
}

/* Those left: with their undecided strong neighbours. */
static void join_rest(const pl_csr *A, const double *most, int32_t *aggregate, int64_t *count)
{
    for (int64_t i = 0; i < A->rows; i++) {
        if (aggregate[i] != UNDECIDED)
            continue;
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++)
            if (is_strong(A, most, i, e) && aggregate[A->column[e]] == UNDECIDED)
                aggregate[A->column[e]] = (int32_t)*count;
        aggregate[i] = (int32_t)(*count)++;
    }
}

pl_status pl_aggregate(const pl_csr *A, int32_t *aggregate, int64_t *count)
{
    size_t bytes = (size_t)A->rows * sizeof *aggregate;
    double *most = largest_couplings(A);
    int32_t *made = malloc(bytes + 1);
    bool good = most && made;
    *count = 0;
    for (int64_t i = 0; i < A->rows; i++)
        aggregate[i] = UNDECIDED;
    if (good) {
        join_neighbourhoods(A, most, aggregate, count);
        memcpy(made, aggregate, bytes);
        join_nearest(A, most, made, aggregate);
        join_rest(A, most, aggregate, count);
    }
    free(most);
    free(made);
    return good ? PL_OK : PL_NO_MEMORY;
}

static bool is_weak(const pl_csr *A, const double *most, int64_t i, int64_t e)
{
    int64_t j = A->column[e];
    return j != i && fabs(A->value[e]) < PL_WEAK * most[i] * most[j];
}

/* S of A (aggregate.h): weak entries go to the diagonal, unless that would take more than half of it. */
static pl_status filter(const pl_csr *A, pl_csr *S)
{
    pl_status status = pl_csr_alloc(A->rows, A->columns, A->start[A->rows], S);
    double *most = status == PL_OK ? largest_couplings(A) : NULL;
    int64_t at = 0;
    if (!most)
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < A->rows; i++) {
        double weak = 0;
        int64_t own = -1;
        for (int64_t e = A->start[i]; e < A->start[i + 1]; e++) {
            if (is_weak(A, most, i, e)) {
                weak += A->value[e];
                continue;
            }
            own = A->column[e] == i ? at : own;
            S->column[at] = A->column[e];
            S->value[at++] = A->value[e];
        }
        if (own >= 0)
            S->value[own] = fmax(S->value[own] + weak, 0.5 * S->value[own]);
        S->start[i + 1] = at;
    }
    free(most);
    return PL_OK;
}

/* Adds to the entry of a column in a row that began at `start`, or appends one. */
static void add_to_row(pl_csr *P, int64_t start, int64_t *end, int32_t column, double value)
{
    int64_t at = start;
    while (at < *end && P->column[at] < column)
        at++;
    if (at == *end || P->column[at] != column) {
        for (int64_t k = (*end)++; k > at; k--) {
            P->column[k] = P->column[k - 1];
            P->value[k] = P->value[k - 1];
        }
        P->column[at] = column;
        P->value[at] = 0;
    }
    P->value[at] += value;
}

pl_status pl_prolongation(const pl_csr *A, double bound, const int32_t *aggregate, int64_t count,
                          pl_csr *out)
{
    pl_csr S = {0};
    *out = (pl_csr){0};
    pl_status status = filter(A, &S);
    if (status == PL_OK)
        status = pl_csr_alloc(A->rows, count, S.start[A->rows], out);
    double largest = bound;
    if (status == PL_OK && S.start[S.rows] < A->start[A->rows])
        status = pl_csr_largest(&S, &largest);
    const double omega = 4 / (3 * largest);
    int64_t end = 0;
    for (int64_t i = 0; status == PL_OK && i < A->rows; i++) {
        double scale = omega / pl_csr_diagonal(&S, i);
        for (int64_t e = S.start[i]; e < S.start[i + 1]; e++) {
            int32_t to = aggregate[S.column[e]];
            double value = (S.column[e] == i) - scale * S.value[e];
            if (to != PL_NO_AGGREGATE)
                add_to_row(out, out->start[i], &end, to, value);
        }
        out->start[i + 1] = end;
    }
    pl_csr_clear(&S);
    return status;
}
