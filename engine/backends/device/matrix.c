#include "engine/backends/device/matrix.h"

#include "engine/backends/device/device_model.h"
#include "engine/linear/spectrum.h"
#include "engine/model/spectra.h"

#include <math.h>
#include <stdlib.h>

/* Maximum number of steps of a solve: with a matrix that has no good bound, a solve is only started. */
enum { STEPS_MAX = 4000 };

static void *take(pl_device_system *s, const void *from, int64_t count, size_t size)
{
    int at = 0;
    while (s->memory[at])
        at++;
    size_t bytes = (size_t)count * size;
    void *to = s->memory[at] = pl_device_alloc(s->queue, bytes > 0 ? bytes : 1);
    if (to && from)
        pl_device_put(s->queue, to, from, bytes);
    return to;
}

static pl_number *take_numbers(pl_device_system *s, const double *from, int64_t count)
{
    pl_number *to = take(s, NULL, count, sizeof *to);
    if (to)
        PL_NAMED(pl_device_put_numbers)(s->queue, to, from, count);
    return to;
}

/* The lower triangle, without its diagonal, once for each of an entry's two rows. */
typedef struct slices {
    int32_t *start, *column, *used; /* [slices + 1]; entries; [n]: of a row */
    double *value, *sum;            /* entries; [n] */
} slices;

static void release(slices *s)
{
    free(s->start);
    free(s->column);
    free(s->used);
    free(s->value);
    free(s->sum);
}

static pl_status measure(const pl_sparse *A, int64_t slice_count, slices *s)
{
    s->start = calloc((size_t)slice_count + 1, sizeof *s->start);
    s->used = calloc((size_t)A->n + 1, sizeof *s->used);
    s->sum = calloc((size_t)A->n + 1, sizeof *s->sum);
    if (!s->start || !s->used || !s->sum)
        return PL_NO_MEMORY;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t e = A->column[j] + 1; e < A->column[j + 1]; e++) {
            s->used[j]++;
            s->used[A->row[e]]++;
        }
    int64_t total = 0;
    for (int64_t k = 0; k < slice_count; k++) {
        int32_t widest = 0;
        for (int64_t i = k * PL_SLICE; i < (k + 1) * PL_SLICE && i < A->n; i++)
            widest = s->used[i] > widest ? s->used[i] : widest;
        total += (int64_t)widest * PL_SLICE;
        if (total > INT32_MAX)
            return PL_NO_MEMORY;
        s->start[k + 1] = (int32_t)total;
    }
    return PL_OK;
}

static void put_entry(slices *s, int64_t row, int64_t column, double value)
{
    int64_t at = s->start[row / PL_SLICE] + (int64_t)s->used[row]++ * PL_SLICE + row % PL_SLICE;
    s->column[at] = (int32_t)column;
    s->value[at] = value;
    s->sum[row] += value;
}

static pl_status fill(const pl_sparse *A, int64_t slice_count, slices *s)
{
    int64_t entries = s->start[slice_count];
    s->column = malloc((size_t)(entries + 1) * sizeof *s->column);
    s->value = calloc((size_t)entries + 1, sizeof *s->value);
    if (!s->column || !s->value)
        return PL_NO_MEMORY;
    for (int64_t k = 0; k < slice_count; k++)
        for (int64_t at = s->start[k]; at < s->start[k + 1]; at++) {
            int64_t row = k * PL_SLICE + (at - s->start[k]) % PL_SLICE;
            s->column[at] = (int32_t)(row < A->n ? row : 0);
        }
    for (int64_t i = 0; i < A->n; i++)
        s->used[i] = 0;
    for (int64_t j = 0; j < A->n; j++)
        for (int64_t e = A->column[j]; e < A->column[j + 1]; e++) {
            int64_t i = A->row[e];
            if (i == j) {
                s->sum[j] += A->value[e];
                continue;
            }
            put_entry(s, i, j, A->value[e]);
            put_entry(s, j, i, A->value[e]);
        }
    return PL_OK;
}

static bool take_slices(pl_device_system *s, const slices *from, int64_t n, int64_t slice_count)
{
    int64_t entries = from->start[slice_count];
    s->matrix.start = take(s, from->start, slice_count + 1, sizeof *from->start);
    s->matrix.column = take(s, from->column, entries, sizeof *from->column);
    s->matrix.value = take_numbers(s, from->value, entries);
    s->matrix.sum = take_numbers(s, from->sum, n);
    return s->matrix.start && s->matrix.column && s->matrix.value && s->matrix.sum;
}

static bool take_coupling(pl_device_system *s, const pl_model *m)
{
    int64_t n = m->free_vertices, count = m->coupling_start[n];
    int32_t *start = malloc((size_t)(n + 1) * sizeof *start);
    for (int64_t i = 0; start && i <= n; i++)
        start[i] = (int32_t)m->coupling_start[i];
    s->matrix.coupling_start = start ? take(s, start, n + 1, sizeof *start) : NULL;
    free(start);
    s->matrix.coupling_vertex = take(s, m->coupling_vertex, count, sizeof *m->coupling_vertex);
    s->matrix.coupling_value = take_numbers(s, m->coupling_value, count);
    return s->matrix.coupling_start && s->matrix.coupling_vertex && s->matrix.coupling_value;
}

static double error_of(const pl_model *m)
{
    bool damped = false;
    for (int32_t g = 0; g < m->group_count; g++)
        damped = damped || m->groups[g].ops->dissipate;
    return damped && m->solver.method == PL_METHOD_ADMM ? PL_SOLVE_ERROR_DAMPED : PL_SOLVE_ERROR;
}

/* The iteration's constants. A >= inertia M, so no eigenvalue of D^-1 A is below the least inertia m_i / A_ii;
 * those of A_k lie between A's (Cauchy's interlacing) and 1. In statics, A may be singular although no A_k is: the
 * bounds of the A_k count. */
static pl_status set_steps(pl_device_system *s, const pl_model *m)
{
    double floor = 1;
    pl_spectrum found;
    for (int64_t i = 0; i < m->free_vertices; i++)
        floor = fmin(floor, m->inertia * m->mass[m->free_vertex[i]] / m->diagonal[i]);
    pl_status status = m->inertia > 0 ? pl_spectrum_find(&m->A, floor, &found)
                                      : pl_spectra_find(m, 0, &found);
    if (status != PL_OK)
        return status;
    double least = fmin(found.least, 0.999), most = fmax(found.most, 1.001);
    s->middle = (most + least) / 2;
    s->ratio = (most + least) / (most - least);
    double steps = ceil(acosh(1 / error_of(m)) / acosh(s->ratio));
    s->steps = (int32_t)fmin(fmax(steps, 1), STEPS_MAX);
    return PL_OK;
}

pl_status PL_NAMED(pl_device_system_create)(pl_device_queue *queue, const pl_model *model,
                                            pl_device_system *out)
{
    *out = (pl_device_system){.queue = queue};
    int64_t n = model->A.n, slice_count = (n + PL_SLICE - 1) / PL_SLICE;
    slices s = {0};
    pl_status status = measure(&model->A, slice_count, &s);
    if (status == PL_OK)
        status = fill(&model->A, slice_count, &s);
    if (status == PL_OK) {
        out->matrix.diagonal = out->diagonal = take_numbers(out, model->diagonal, n);
        bool good = out->diagonal && take_slices(out, &s, n, slice_count) &&
                    take_coupling(out, model);
        status = good ? set_steps(out, model) : PL_NO_MEMORY;
    }
    release(&s);
    return status;
}

void PL_NAMED(pl_device_system_destroy)(pl_device_system *s)
{
    for (int32_t k = 0; k < PL_DEVICE_SOLVES; k++)
        pl_device_forget(&s->solves.recording[k]);
    for (size_t i = 0; i < sizeof s->memory / sizeof *s->memory; i++)
        pl_device_release(s->queue, s->memory[i]);
    *s = (pl_device_system){0};
}

static void launch(const pl_device_system *s, const pl_device_vertices *vertices,
                   const pl_device_iterate *work, const pl_device_solve_key *key)
{
    pl_iterate_arguments a = {.vertices = *vertices,
                              .matrix = s->matrix,
                              .first = 1 / s->middle,
                              .rhs = key->rhs,
                              .from = key->from,
                              .x = work->x,
                              .r = work->r,
                              .r0 = key->columns ? work->r0 : NULL,
                              .d_new = work->d[0],
                              .rows = (pl_number *)key->rows,
                              .columns = (double *)key->columns};
    PL_NAMED(pl_device_iterate_begin)(s->queue, &a, vertices->free);
    double rho = 1 / s->ratio;
    for (int32_t k = 1; k < s->steps; k++) {
        double rho_new = 1 / (2 * s->ratio - rho);
        a.on = rho_new * rho;
        a.down = 2 * rho_new * s->ratio / s->middle;
        a.d = work->d[(k + 1) % 2];
        a.d_new = work->d[k % 2];
        PL_NAMED(pl_device_iterate_step)(s->queue, &a, vertices->free);
        rho = rho_new;
    }
    a.d = work->d[(s->steps + 1) % 2];
    PL_NAMED(pl_device_iterate_end)(s->queue, &a, vertices->free);
}

/* The place of a key that was launched before, or -1 after making a place for it. */
static int32_t place_of(pl_device_solves *solves, const pl_device_solve_key *key)
{
    for (int32_t k = 0; k < PL_DEVICE_SOLVES; k++) {
        const pl_device_solve_key *known = &solves->key[k];
        if (known->rhs == key->rhs && known->from == key->from && known->rows == key->rows &&
            known->columns == key->columns)
            return k;
    }
    pl_device_forget(&solves->recording[solves->next]);
    solves->key[solves->next] = *key;
    solves->next = (solves->next + 1) % PL_DEVICE_SOLVES;
    return -1;
}

void PL_NAMED(pl_device_system_solve)(pl_device_system *s, const pl_device_vertices *vertices,
                                      const pl_device_iterate *work, const pl_number *rhs,
                                      const pl_number *from, pl_number *rows, double *columns)
{
    const pl_device_solve_key key = {.rhs = rhs, .from = from, .rows = rows, .columns = columns};
    pl_device_solves *solves = &s->solves;
    int32_t k = place_of(solves, &key);
    if (k >= 0 && !solves->recording[k].list && pl_device_record_begin(s->queue)) {
        launch(s, vertices, work, &key);
        solves->recorded += pl_device_record_end(s->queue, &solves->recording[k]);
    }
    if (k >= 0 && solves->recording[k].list) {
        pl_device_replay(s->queue, &solves->recording[k]);
        solves->replayed++;
    } else {
        launch(s, vertices, work, &key);
        solves->launched++;
    }
}
