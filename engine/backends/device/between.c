/* Contact between bodies: rows of the host's set, and the device's work on them. */
#include "engine/backends/device/device_backend.h"
#include "engine/contact/bounce.h"
#include "engine/model/groups/touching.h"

#include <stdlib.h>
#include <string.h>

/* Number of sweeps of the joint prox between two checks for convergence. */
enum { SWEEPS_A_LOOK = 8 };

#define device_of pl_device_of
#define numbers   pl_device_numbers
#define shown     PL_NAMED(pl_device_shown)

static pl_contact_rows *rows_of(const pl_device *d)
{
    return pl_host_contact_rows(&d->between.host);
}

/* ---- creation ---- */

static bool create_apart(pl_device *d, int32_t group)
{
    pl_device_between *k = &d->between;
    const pl_model *m = d->base.model;
    const pl_group *g = &m->groups[group];
    const size_t n = (size_t)m->vertices;
    k->group = group;
    k->rest = calloc(n + 1, sizeof *k->rest);
    k->term = malloc((n + 1) * sizeof *k->term);
    k->arguments.control = pl_device_alloc(d->queue, sizeof *k->arguments.control);
    if (!k->rest || !k->term || !k->arguments.control)
        return false;
    const pl_touching *t = g->data;
    memcpy(k->term, t->term, n * sizeof *k->term);
    for (int64_t i = 0; i < g->terms; i++)
        k->rest[g->corner[i]] = 1 / t->weight[i];
    return true;
}

pl_status PL_NAMED(pl_device_between_create)(pl_device *d)
{
    pl_device_between *k = &d->between;
    const pl_model *m = d->base.model;
    k->group = -1;
    pl_status status = pl_host_contact_create(m, d->threads, &k->host);
    if (status != PL_OK || !k->host.set)
        return status;
    k->force = pl_device_alloc(d->queue, 3 * (size_t)m->vertices * sizeof *k->force);
    bool good = k->force;
    for (int32_t g = 0; good && g < m->group_count; g++)
        if (PL_NAMED(pl_device_is_touching)(&m->groups[g]))
            good = create_apart(d, g);
    return good ? PL_OK : PL_NO_MEMORY;
}

static void release_rows(pl_device *d)
{
    pl_device_between *k = &d->between;
    for (int32_t i = 0; i < k->memory_count; i++)
        pl_device_release(d->queue, k->memory[i]);
    k->memory_count = 0;
    k->room = 0;
}

void PL_NAMED(pl_device_between_destroy)(pl_device *d)
{
    pl_device_between *k = &d->between;
    release_rows(d);
    pl_host_contact_clear(&k->host);
    pl_joint_prox_clear(&k->prox);
    pl_device_release(d->queue, k->force);
    pl_device_release(d->queue, k->arguments.control);
    free(k->rest);
    free(k->term);
}

/* ---- rows to the device ---- */

static void *take(pl_device *d, size_t bytes)
{
    pl_device_between *k = &d->between;
    void *memory = pl_device_alloc(d->queue, bytes);
    if (memory)
        k->memory[k->memory_count++] = memory;
    return memory;
}

static bool make_room(pl_device *d, int64_t count)
{
    pl_device_between *k = &d->between;
    if (count <= k->room)
        return true;
    release_rows(d);
    const size_t n = 2 * (size_t)count, wide = sizeof(double);
    k->rows.row = take(d, n * sizeof *k->rows.row);
    k->rows.vertex = take(d, 4 * n * sizeof *k->rows.vertex);
    k->rows.first = take(d, (4 * n + 1) * sizeof *k->rows.first);
    k->rows.entry = take(d, 4 * n * sizeof *k->rows.entry);
    k->pull = take(d, 3 * n * wide);
    k->energy = take(d, n * wide);
    bool good = k->rows.row && k->rows.vertex && k->rows.first && k->rows.entry && k->pull &&
                k->energy;
    if (k->group >= 0) {
        pl_prox_arguments *a = &k->arguments;
        a->give = take(d, 4 * n * wide);
        a->step = take(d, n * wide);
        a->p = take(d, 3 * n * wide);
        a->last = take(d, 3 * n * wide);
        a->free = take(d, 3 * n * wide);
        a->part = take(d, 3 * n * wide);
        a->moved = take(d, 12 * n * wide);
        a->v = take(d, 12 * n * wide);
        a->term = take(d, 4 * n * sizeof *a->term);
        good = good && a->give && a->step && a->p && a->last && a->free && a->part && a->moved &&
               a->v && a->term;
    }
    if (!good) {
        release_rows(d);
        return false;
    }
    k->room = (int64_t)n;
    return true;
}

static pl_device_row device_row(const pl_contact_rows *rows, const pl_contact_row *from)
{
    pl_device_row to = {.distance = from->distance,
                        .stiffness = from->stiffness,
                        .friction = from->friction,
                        .force = from->force,
                        .bound = from->bound};
    for (int i = 0; i < 4; i++) {
        const bool there = from->pair.vertex[i] >= 0;
        to.vertex[i] = from->pair.vertex[there ? i : 0];
        to.place[i] = rows->place[to.vertex[i]];
        to.weight[i] = there ? from->pair.weight[i] : 0;
    }
    memcpy(to.normal, from->pair.normal, sizeof to.normal);
    memcpy(to.start, from->start, sizeof to.start);
    memcpy(to.grip, from->grip, sizeof to.grip);
    return to;
}

static void put(pl_device *d, const void *to, const void *from, size_t bytes)
{
    pl_device_put(d->queue, (void *)(uintptr_t)to, from, bytes);
}

/* Converts 64-bit offsets to 32-bit ones, into `narrow`. */
static void put_offsets(pl_device *d, const int32_t *to, const int64_t *from, int64_t count,
                        int32_t *narrow)
{
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (int32_t)from[i];
    put(d, to, narrow, (size_t)count * sizeof *narrow);
}

static bool upload(pl_device *d)
{
    pl_device_between *k = &d->between;
    const pl_contact_rows *rows = rows_of(d);
    const int64_t entries = rows->first[rows->touched];
    if (rows->count > INT32_MAX / 4 || !make_room(d, rows->count))
        return false;
    pl_device_row *list = malloc((size_t)rows->count * sizeof *list);
    int32_t *narrow = malloc((size_t)(entries + rows->touched + 1) * sizeof *narrow);
    if (list && narrow) {
        for (int64_t r = 0; r < rows->count; r++)
            list[r] = device_row(rows, &rows->row[r]);
        put(d, k->rows.row, list, (size_t)rows->count * sizeof *list);
        put(d, k->rows.vertex, rows->vertex, (size_t)rows->touched * sizeof *rows->vertex);
        put_offsets(d, k->rows.first, rows->first, rows->touched + 1, narrow);
        put_offsets(d, k->rows.entry, rows->entry, entries, narrow);
        pl_device_clear(d->queue, k->force, 3 * (size_t)d->base.model->vertices * sizeof *k->force);
        k->count = rows->count;
        k->touched = rows->touched;
    }
    const bool good = list && narrow;
    free(list);
    free(narrow);
    return good;
}

/* Uploads the rows if they changed; false without rows. Out of memory is reported by the next `advance`. */
static bool is_touched(pl_device *d)
{
    pl_device_between *k = &d->between;
    const pl_contact_rows *rows = rows_of(d);
    if (!rows || rows->count == 0)
        return false;
    if (!k->uploaded)
        k->uploaded = upload(d);
    k->out_of_memory = k->out_of_memory || !k->uploaded;
    return k->uploaded;
}

/* The rows, with the newest multipliers of the device. */
static pl_contact_rows *fetched(pl_device *d)
{
    pl_device_between *k = &d->between;
    pl_contact_rows *rows = rows_of(d);
    if (k->newer) {
        pl_device_get(d->queue, k->prox.p, k->arguments.p,
                      3 * (size_t)rows->count * sizeof *k->prox.p);
        pl_joint_prox_store(&k->prox, rows);
    }
    k->newer = false;
    return rows;
}

/* ---- contributions to the objective ---- */

static void gather(pl_device *d, const pl_number *x, const double *pull, double sign)
{
    pl_device_between *k = &d->between;
    const pl_row_gather_arguments a = {
        .rows = k->rows, .pull = pull, .sign = sign, .x = x, .out = k->force};
    PL_NAMED(pl_device_row_gather)(d->queue, &a, k->touched);
}

const pl_number *PL_NAMED(pl_device_between_pull)(pl_device *d, const pl_number *x,
                                                  const double **energies, int64_t *count)
{
    pl_device_between *k = &d->between;
    *energies = NULL;
    *count = 0;
    if (!is_touched(d))
        return NULL;
    if (k->group >= 0) {
        gather(d, NULL, k->arguments.p, -1);
        return k->force;
    }
    const pl_row_pull_arguments a = {.rows = k->rows, .x = x, .pull = k->pull, .energy = k->energy};
    PL_NAMED(pl_device_row_pull)(d->queue, &a, k->count);
    gather(d, NULL, k->pull, 1);
    *energies = k->energy;
    *count = k->count;
    return k->force;
}

const pl_number *PL_NAMED(pl_device_between_diagonal)(pl_device *d, const pl_number *x)
{
    if (!is_touched(d))
        return NULL;
    gather(d, x, NULL, 0);
    return d->between.force;
}

/* ---- the joint prox ---- */

bool PL_NAMED(pl_device_is_apart)(const pl_device *d, int32_t group)
{
    return d->between.host.set && d->between.group == group;
}

/* The prox's arrays as pl_joint_prox_set leaves them. */
static void upload_prox(pl_device *d)
{
    pl_device_between *k = &d->between;
    const pl_contact_rows *rows = rows_of(d);
    const pl_prox_arguments *a = &k->arguments;
    const pl_prox_control control = {.t = 1};
    const size_t n = (size_t)rows->count, m = (size_t)rows->touched;
    put(d, a->give, k->prox.give, m * sizeof(double));
    put(d, a->step, k->prox.step, n * sizeof(double));
    put(d, a->p, k->prox.p, 3 * n * sizeof(double));
    put(d, a->last, k->prox.p, 3 * n * sizeof(double));
    put(d, a->moved, k->prox.moved, 3 * m * sizeof(double));
    put(d, a->control, &control, sizeof control);
    int32_t *term = k->prox.corner; /* capacity 4 per row, and free once the lists are built */
    for (size_t i = 0; i < m; i++)
        term[i] = k->term[rows->vertex[i]];
    put(d, a->term, term, m * sizeof *term);
}

static void spread(pl_device *d, double sign, pl_number *values)
{
    pl_device_between *k = &d->between;
    const pl_device_group *on = &d->model.groups[k->group];
    pl_prox_arguments a = k->arguments;
    a.rows = k->rows;
    a.sign = sign;
    a.values = values;
    pl_device_clear(d->queue, values, 3 * (size_t)on->threads * sizeof *values);
    if (is_touched(d))
        PL_NAMED(pl_device_prox_spread)(d->queue, &a, k->touched);
}

static pl_status device_apart(pl_backend *b, pl_array *const *u)
{
    pl_device *d = device_of(b);
    pl_device_between *k = &d->between;
    pl_contact_rows *rows = fetched(d);
    k->exact = 0;
    if (pl_joint_prox_set(&k->prox, rows, k->rest) != PL_OK)
        return PL_NO_MEMORY;
    k->uploaded = false;
    if (rows->count > 0 && !is_touched(d))
        return PL_NO_MEMORY;
    if (rows->count > 0)
        upload_prox(d);
    spread(d, -1, numbers(u[k->group]));
    return PL_OK;
}

/* One sweep; does nothing once the prox has converged. */
static void sweep(pl_device *d, const pl_prox_arguments *a)
{
    const int64_t width = pl_sum_width(d->between.count);
    pl_sums_arguments sums = {.vertices = d->model.vertices, .width = width, .partial = d->partial};
    const pl_sums_last_arguments last = {.partial = d->partial, .width = width, .out = d->last};
    for (int i = 0; i < 3; i++)
        sums.sum[i] = (pl_summing){
            .kind = PL_SUM_THIRD, .count = d->between.count, .a = d->between.arguments.part + i};
    PL_NAMED(pl_device_prox_move)(d->queue, a, d->between.touched);
    PL_NAMED(pl_device_prox_sweep)(d->queue, a, d->between.count);
    PL_NAMED(pl_device_sums)(d->queue, &sums, 3 * width);
    PL_NAMED(pl_device_sums_last)(d->queue, &last, 3 * (int64_t)PL_SUM_LAST);
    PL_NAMED(pl_device_prox_decide)(d->queue, a, 1);
}

void PL_NAMED(pl_device_apart_find)(pl_device *d, const pl_number *x, const pl_admm_local *local)
{
    pl_device_between *k = &d->between;
    pl_number *way = (pl_number *)(uintptr_t)d->model.groups[k->group].arguments.way;
    if (!is_touched(d)) {
        spread(d, 1, way);
        return;
    }
    pl_prox_arguments a = k->arguments;
    a.rows = k->rows;
    a.x = x;
    a.local = *local;
    a.sums = d->last;
    a.exact = k->exact;
    a.rounding = PL_JOINT_PROX_ROUNDING;
    pl_prox_control control;
    pl_device_get(d->queue, &control, a.control, sizeof control);
    control.done = 0;
    put(d, a.control, &control, sizeof control);
    PL_NAMED(pl_device_prox_points)(d->queue, &a, k->touched);
    PL_NAMED(pl_device_prox_free)(d->queue, &a, k->count);
    for (int done = 0; done < k->prox.most && !control.done; done += SWEEPS_A_LOOK) {
        for (int i = done; i < done + SWEEPS_A_LOOK && i < k->prox.most; i++)
            sweep(d, &a);
        pl_device_get(d->queue, &control, a.control, sizeof control);
    }
    pl_joint_prox_adapt(&k->prox, control.done);
    a.settle = 1;
    PL_NAMED(pl_device_prox_move)(d->queue, &a, k->touched);
    k->newer = true;
    spread(d, 1, way);
}

void PL_NAMED(pl_device_apart_end)(pl_device *d, double primal)
{
    d->between.exact = PL_JOINT_PROX_OF_RESIDUAL * primal;
}

/* ---- the table ---- */

static pl_status begin(pl_backend *b, const pl_backend_stage *stage, const pl_array *x)
{
    pl_device *d = device_of(b);
    fetched(d);
    d->between.uploaded = false;
    d->between.prox.most = 0;
    return pl_contact_set_begin(d->between.host.set, shown(d, stage->x_start, d->host_v),
                                shown(d, x, d->host_x));
}

static pl_contact_renewal renew(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
    pl_contact_rows *rows = fetched(d);
    d->between.uploaded = false;
    if (rows->count == 0)
        return (pl_contact_renewal){0};
    return pl_contact_rows_renew(rows, shown(d, x, d->host_x));
}

static double lack(pl_backend *b, const pl_array *x)
{
    pl_device *d = device_of(b);
    const pl_contact_rows *rows = rows_of(d);
    return rows->count > 0 ? pl_contact_rows_lack(rows, shown(d, x, d->host_x)) : 0;
}

static pl_status advance(pl_backend *b, const pl_array *x, pl_contact_keeping keeping,
                         pl_contact_advance *out)
{
    pl_device *d = device_of(b);
    const bool failed = d->between.out_of_memory;
    fetched(d);
    d->between.out_of_memory = d->between.uploaded = false;
    if (failed)
        return PL_NO_MEMORY;
    return pl_contact_set_advance(d->between.host.set, shown(d, x, d->host_x), keeping, out);
}

static pl_status measure(pl_backend *b, const pl_array *x, pl_contact_sums *out)
{
    pl_device *d = device_of(b);
    fetched(d);
    return pl_contact_set_measure(d->between.host.set, shown(d, x, d->host_x), out);
}

static pl_status bounce(pl_backend *b, const pl_array *v_start, pl_array *v)
{
    pl_device *d = device_of(b);
    const pl_model *m = b->model;
    if (!d->between.host.ease)
        return PL_OK;
    const double *start = shown(d, v_start, d->host_x);
    shown(d, v, d->host_v);
    pl_status status = pl_contact_bounce(m->touching, fetched(d), d->between.host.ease, start,
                                         d->host_v, d->threads);
    if (status == PL_OK)
        PL_NAMED(pl_device_put_numbers)(d->queue, numbers(v), d->host_v, 3 * m->vertices);
    return status;
}

static pl_status points(pl_backend *b, const pl_array *x, pl_contact_points *out)
{
    pl_device *d = device_of(b);
    return pl_contact_points_find(fetched(d), b->model->touching, shown(d, x, d->host_x), out);
}

static pl_contact_set *set_of(pl_backend *b)
{
    fetched(device_of(b));
    return device_of(b)->between.host.set;
}

const pl_pairs_ops PL_NAMED(pl_device_pairs_ops) = {.begin = begin,
                                                    .renew = renew,
                                                    .apart = device_apart,
                                                    .lack = lack,
                                                    .advance = advance,
                                                    .measure = measure,
                                                    .bounce = bounce,
                                                    .points = points,
                                                    .set = set_of};
