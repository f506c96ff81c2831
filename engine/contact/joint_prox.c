#include "engine/contact/joint_prox.h"

#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are worth a second thread. */
enum { PARALLEL = 512, MOST_SWEEPS = 100 };
/* Of p: changes below it are rounding. */
static const double ROUNDING = 1e-13;

void pl_joint_prox_clear(pl_joint_prox *j)
{
    double *arrays[] = {j->give, j->step, j->p, j->y, j->last, j->free, j->moved};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *j = (pl_joint_prox){0};
}

static bool make_room(pl_joint_prox *j, const pl_contact_rows *rows)
{
    if (rows->count <= j->rows && rows->touched <= j->touched)
        return true;
    pl_joint_prox_clear(j);
    const size_t n = 2 * (size_t)rows->count + 1, m = 2 * (size_t)rows->touched + 1;
    double **of_rows[] = {&j->p, &j->y, &j->last, &j->free};
    bool good = true;
    for (int i = 0; i < 4; i++) {
        *of_rows[i] = malloc(3 * n * sizeof(double));
        good = good && *of_rows[i];
    }
    j->step = malloc(n * sizeof *j->step);
    j->give = malloc(m * sizeof *j->give);
    j->moved = malloc(3 * m * sizeof *j->moved);
    if (!good || !j->step || !j->give || !j->moved) {
        pl_joint_prox_clear(j);
        return false;
    }
    j->rows = (int64_t)n;
    j->touched = (int64_t)m;
    return true;
}

static void set_steps(pl_joint_prox *j, const pl_contact_rows *rows)
{
    double *sum = j->moved; /* of |w| over a vertex's rows, over W */
    for (int64_t i = 0; i < rows->touched; i++) {
        sum[i] = 0;
        for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++)
            sum[i] += fabs(rows->row[rows->entry[e] / 4].pair.weight[rows->entry[e] % 4]);
        sum[i] *= j->give[i];
    }
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_pair *p = &rows->row[r].pair;
        double all = 0;
        for (int k = 0; k < 4 && p->vertex[k] >= 0; k++)
            all += fabs(p->weight[k]) * sum[rows->place[p->vertex[k]]];
        j->step[r] = all > 0 ? 1 / all : 0;
    }
}

/* moved = C^T y / W at a touched vertex. */
static void move(pl_joint_prox *j, const pl_contact_rows *rows, const double *y, int64_t i)
{
    double sum[3] = {0};
    for (int64_t e = rows->first[i]; e < rows->first[i + 1]; e++) {
        const int64_t r = rows->entry[e] / 4;
        const double w = rows->row[r].pair.weight[rows->entry[e] % 4];
        for (int c = 0; c < 3; c++)
            sum[c] += w * y[3 * r + c];
    }
    for (int c = 0; c < 3; c++)
        j->moved[3 * i + c] = j->give[i] * sum[c];
}

static void move_all(pl_joint_prox *j, const pl_contact_rows *rows, const double *y, int threads)
{
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->touched > PARALLEL)
    for (int64_t i = 0; i < rows->touched; i++)
        move(j, rows, y, i);
}

pl_status pl_joint_prox_set(pl_joint_prox *j, const pl_contact_rows *rows, const double *give)
{
    if (!make_room(j, rows))
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < rows->touched; i++)
        j->give[i] = give[rows->vertex[i]];
    set_steps(j, rows);
    for (int64_t r = 0; r < rows->count; r++)
        for (int c = 0; c < 3; c++) {
            const pl_contact_row *row = &rows->row[r];
            j->p[3 * r + c] = j->step[r] > 0 ? row->force * row->pair.normal[c] - row->grip[c] : 0;
        }
    move_all(j, rows, j->p, 1);
    return PL_OK;
}

/* r - r_0 of a row at v: its gap over d along n, and its slip across. */
static void set_free(pl_joint_prox *j, const pl_contact_rows *rows, const double *v, int64_t r)
{
    const pl_contact_row *row = &rows->row[r];
    const pl_contact_pair *p = &row->pair;
    const double *n = p->normal, *origin = v + 3 * (int64_t)rows->place[p->vertex[0]];
    double way[3] = {0}, slip[3];
    for (int k = 1; k < 4 && p->vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            way[c] += p->weight[k] * (v[3 * (int64_t)rows->place[p->vertex[k]] + c] - origin[c]);
    const double gap = pl_vector_dot(n, way) - row->distance;
    pl_vector_subtract(way, row->start, slip);
    const double along = pl_vector_dot(n, slip);
    for (int c = 0; c < 3; c++)
        j->free[3 * r + c] = gap * n[c] + slip[c] - along * n[c];
}

/* p = f n - g with f at least 0, and g no longer than mu f. */
static void project(const pl_contact_row *row, double p[3])
{
    const double *n = row->pair.normal, normal = pl_vector_dot(n, p);
    double across[3];
    for (int c = 0; c < 3; c++)
        across[c] = p[c] - normal * n[c];
    const double f = fmax(normal, 0), most = row->friction * f;
    const double length = sqrt(pl_vector_dot(across, across));
    const double share = length > most ? most / length : 1;
    for (int c = 0; c < 3; c++)
        p[c] = f * n[c] + share * across[c];
}

/* p <- projection of y - step (C (v + W^-1 C^T y) - r_0), and where p is looked at next. */
static void sweep_row(pl_joint_prox *j, const pl_contact_rows *rows, int64_t r)
{
    const pl_contact_row *row = &rows->row[r];
    const pl_contact_pair *pair = &row->pair;
    double way[3], *p = j->p + 3 * r;
    const double *y = j->y + 3 * r;
    memcpy(way, j->free + 3 * r, sizeof way);
    for (int k = 0; k < 4 && pair->vertex[k] >= 0; k++) {
        const double *moved = j->moved + 3 * (int64_t)rows->place[pair->vertex[k]];
        for (int c = 0; c < 3; c++)
            way[c] += pair->weight[k] * moved[c];
    }
    for (int c = 0; c < 3; c++)
        p[c] = y[c] - j->step[r] * way[c];
    project(row, p);
}

typedef struct sums {
    double change, size; /* |p - y|^2, |p|^2 in the norm of steps, J */
    double turn;         /* (y - p) . (p - last) in it: above 0, momentum goes up */
} sums;

static sums compare(const pl_joint_prox *j, int64_t count)
{
    sums s = {0};
    for (int64_t r = 0; r < count; r++) {
        if (j->step[r] == 0)
            continue;
        const double *p = j->p + 3 * r, *y = j->y + 3 * r, *last = j->last + 3 * r;
        double change = 0, size = 0, turn = 0;
        for (int c = 0; c < 3; c++) {
            change += (p[c] - y[c]) * (p[c] - y[c]);
            size += p[c] * p[c];
            turn += (y[c] - p[c]) * (p[c] - last[c]);
        }
        s.change += change / j->step[r];
        s.size += size / j->step[r];
        s.turn += turn / j->step[r];
    }
    return s;
}

static void sweep(pl_joint_prox *j, const pl_contact_rows *rows, double exact, int threads)
{
    const int64_t values = 3 * rows->count;
    double t = 1;
    memcpy(j->y, j->p, (size_t)values * sizeof *j->y);
    for (int k = 0; k < MOST_SWEEPS; k++) {
        memcpy(j->last, j->p, (size_t)values * sizeof *j->last);
        move_all(j, rows, j->y, threads);
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->count > PARALLEL)
        for (int64_t r = 0; r < rows->count; r++)
            if (j->step[r] > 0)
                sweep_row(j, rows, r);
        const sums s = compare(j, rows->count);
        if (s.change <= fmax(exact * exact, ROUNDING * ROUNDING * s.size))
            break;
        double next = (1 + sqrt(1 + 4 * t * t)) / 2, beta = (t - 1) / next;
        if (s.turn > 0) {
            next = 1;
            beta = 0;
        }
        for (int64_t i = 0; i < values; i++)
            j->y[i] = j->p[i] + beta * (j->p[i] - j->last[i]);
        t = next;
    }
}

static void store(const pl_joint_prox *j, pl_contact_row *row, int64_t r)
{
    const double *p = j->p + 3 * r, *n = row->pair.normal;
    row->force = j->step[r] > 0 ? fmax(pl_vector_dot(n, p), 0) : 0;
    row->bound = row->friction * row->force;
    for (int c = 0; c < 3; c++)
        row->grip[c] = j->step[r] > 0 ? row->force * n[c] - p[c] : 0;
}

void pl_joint_prox_solve(pl_joint_prox *j, pl_contact_rows *rows, const double *v, double exact,
                         int threads)
{
    if (rows->count == 0)
        return;
#pragma omp parallel for num_threads(threads) schedule(static) if (rows->count > PARALLEL)
    for (int64_t r = 0; r < rows->count; r++)
        set_free(j, rows, v, r);
    sweep(j, rows, exact, threads);
    move_all(j, rows, j->p, threads);
    for (int64_t r = 0; r < rows->count; r++)
        store(j, &rows->row[r], r);
}
