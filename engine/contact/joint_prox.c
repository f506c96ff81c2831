#include "engine/contact/joint_prox.h"

#include "engine/contact/row_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least number of rows for a second thread. */
enum { PARALLEL = 512 };
/* Maximum sweeps of a prox: initially, and after proxes that did not converge. Rows that contradict each other
 * never converge. */
enum { MOST_SWEEPS = 320, LEAST_SWEEPS = 10 };

void pl_joint_prox_clear(pl_joint_prox *j)
{
    void *arrays[] = {j->give, j->step, j->corner, j->weight, j->entry_row, j->entry_weight,
                      j->p,    j->y,    j->last,   j->free,   j->part,      j->moved};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *j = (pl_joint_prox){.most = j->most};
}

static bool make_room(pl_joint_prox *j, const pl_contact_rows *rows)
{
    if (rows->count <= j->rows && rows->touched <= j->touched)
        return true;
    pl_joint_prox_clear(j);
    const size_t n = 2 * (size_t)rows->count + 1, m = 2 * (size_t)rows->touched + 1;
    double **of_rows[] = {&j->p, &j->y, &j->last, &j->free, &j->part, &j->weight, &j->entry_weight};
    bool good = true;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        *of_rows[i] = malloc(4 * n * sizeof(double));
        good = good && *of_rows[i];
    }
    j->corner = malloc(4 * n * sizeof *j->corner);
    j->entry_row = malloc(4 * n * sizeof *j->entry_row);
    j->step = malloc(n * sizeof *j->step);
    j->give = malloc(m * sizeof *j->give);
    j->moved = malloc(3 * m * sizeof *j->moved);
    if (!good || !j->corner || !j->entry_row || !j->step || !j->give || !j->moved) {
        pl_joint_prox_clear(j);
        return false;
    }
    j->rows = (int64_t)n;
    j->touched = (int64_t)m;
    return true;
}

static void list_corners(pl_joint_prox *j, const pl_contact_rows *rows)
{
    for (int64_t r = 0; r < rows->count; r++)
        for (int k = 0; k < 4; k++) {
            const int32_t v = rows->row[r].pair.vertex[k];
            j->corner[4 * r + k] = v >= 0 ? rows->place[v] : 0;
            j->weight[4 * r + k] = v >= 0 ? rows->row[r].pair.weight[k] : 0;
        }
    for (int64_t e = 0; e < rows->first[rows->touched]; e++) {
        j->entry_row[e] = (int32_t)(rows->entry[e] / 4);
        j->entry_weight[e] = j->weight[rows->entry[e]];
    }
}

static void set_steps(pl_joint_prox *j, const pl_contact_rows *rows)
{
    double *sum = j->moved; /* of |w| over a vertex's rows, over W */
    for (int64_t i = 0; i < rows->touched; i++) {
        sum[i] = 0;
        for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
            sum[i] += fabs(j->entry_weight[e]);
        sum[i] *= j->give[i];
    }
    for (int64_t r = 0; r < rows->count; r++) {
        double all = 0;
        for (int k = 0; k < 4; k++)
            all += fabs(j->weight[4 * r + k]) * sum[j->corner[4 * r + k]];
        j->step[r] = all > 0 ? 1 / all : 0;
    }
}

/* moved = W^-1 C^T y. */
static void move(pl_joint_prox *j, const pl_contact_rows *rows, const double *y, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->touched > PARALLEL)
    for (int64_t i = 0; i < rows->touched; i++) {
        double sum[3] = {0};
        for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++) {
            const double w = j->entry_weight[e], *of = y + 3 * (int64_t)j->entry_row[e];
            for (int c = 0; c < 3; c++)
                sum[c] += w * of[c];
        }
        for (int c = 0; c < 3; c++)
            j->moved[3 * i + c] = j->give[i] * sum[c];
    }
}

pl_status pl_joint_prox_set(pl_joint_prox *j, const pl_contact_rows *rows, const double *give)
{
    if (rows->count == 0)
        return PL_OK;
    if (!make_room(j, rows))
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < rows->touched; i++)
        j->give[i] = give[rows->vertex[i]];
    list_corners(j, rows);
    set_steps(j, rows);
    for (int64_t r = 0; r < rows->count; r++)
        for (int c = 0; c < 3; c++) {
            const pl_contact_row *row = &rows->row[r];
            j->p[3 * r + c] = j->step[r] > 0 ? row->force * row->pair.normal[c] - row->grip[c] : 0;
        }
    memcpy(j->y, j->p, 3 * (size_t)rows->count * sizeof *j->y);
    j->t = 1;
    j->most = j->most > 0 ? j->most : MOST_SWEEPS;
    move(j, rows, j->p, 1);
    return PL_OK;
}

/* C v of a row, from differences, because its weights sum to 0. */
static void apply(const pl_joint_prox *j, const double *v, int64_t r, double way[3])
{
    const int32_t *corner = j->corner + 4 * r;
    const double *w = j->weight + 4 * r, *origin = v + 3 * (int64_t)corner[0];
    way[0] = way[1] = way[2] = 0;
    for (int k = 1; k < 4; k++)
        for (int c = 0; c < 3; c++)
            way[c] += w[k] * (v[3 * (int64_t)corner[k] + c] - origin[c]);
}

static void set_free(pl_joint_prox *j, const pl_contact_row *row, const double *v, int64_t r)
{
    double way[3];
    apply(j, v, r, way);
    pl_row_free(row->pair.normal, row->distance, row->start, way, j->free + 3 * r);
}

/* For one sweep, in the norm of the steps, J. */
typedef struct sums {
    double change, size; /* |p - y|^2, |p|^2 */
    double turn;         /* (y - p) . (p - last): above 0, momentum goes up */
} sums;

static void sweep_row(pl_joint_prox *j, const pl_contact_row *row, int64_t r)
{
    double way[3];
    apply(j, j->moved, r, way);
    pl_row_sweep(row->pair.normal, row->friction, j->step[r], j->y + 3 * r, j->free + 3 * r, way,
                 j->p + 3 * r, j->last + 3 * r, j->part + 3 * r);
}

static sums sweep(pl_joint_prox *j, const pl_contact_rows *rows, int threads)
{
    sums s = {0};
    move(j, rows, j->y, threads);
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->count > PARALLEL)
    for (int64_t r = 0; r < rows->count; r++)
        sweep_row(j, &rows->row[r], r);
    for (int64_t r = 0; r < rows->count; r++) {
        s.change += j->part[3 * r];
        s.size += j->part[3 * r + 1];
        s.turn += j->part[3 * r + 2];
    }
    return s;
}

/* y for the next sweep. */
static void accelerate(pl_joint_prox *j, int64_t count, bool restart)
{
    const double next = restart ? 1 : (1 + sqrt(1 + 4 * j->t * j->t)) / 2;
    const double beta = restart ? 0 : (j->t - 1) / next;
    for (int64_t i = 0; i < 3 * count; i++)
        j->y[i] = j->p[i] + beta * (j->p[i] - j->last[i]);
    j->t = next;
}

static void store_row(const pl_joint_prox *j, pl_contact_row *row, int64_t r)
{
    const double *p = j->p + 3 * r, *n = row->pair.normal;
    row->force = j->step[r] > 0 ? fmax(pl_vector_dot(n, p), 0) : 0;
    row->bound = row->friction * row->force;
    for (int c = 0; c < 3; c++)
        row->grip[c] = j->step[r] > 0 ? row->force * n[c] - p[c] : 0;
}

void pl_joint_prox_store(const pl_joint_prox *j, pl_contact_rows *rows)
{
    for (int64_t r = 0; r < rows->count; r++)
        store_row(j, &rows->row[r], r);
}

void pl_joint_prox_adapt(pl_joint_prox *j, bool done)
{
    if (done && j->most < MOST_SWEEPS)
        j->most *= 2;
    else if (!done && j->most > LEAST_SWEEPS)
        j->most /= 2;
}

void pl_joint_prox_solve(pl_joint_prox *j, pl_contact_rows *rows, const double *v, double exact,
                         int threads)
{
    if (rows->count == 0)
        return;
    for (int64_t r = 0; r < rows->count; r++) {
        set_free(j, &rows->row[r], v, r);
        memcpy(j->last + 3 * r, j->p + 3 * r, 3 * sizeof *j->last);
    }
    bool done = false;
    for (int k = 0; k < j->most && !done; k++) {
        const sums s = sweep(j, rows, threads);
        accelerate(j, rows->count, s.turn > 0);
        done = s.change <=
               fmax(exact * exact, PL_JOINT_PROX_ROUNDING * PL_JOINT_PROX_ROUNDING * s.size);
    }
    pl_joint_prox_adapt(j, done);
    move(j, rows, j->p, threads);
    pl_joint_prox_store(j, rows);
}
