/* Kernels over vertices, rows and coordinates, and sums (row_kernels.h). */
#ifdef __CUDACC__
#define PL_ROW_KERNELS_ARE_HERE
#endif
#include "engine/backends/device/row_kernels.h"

#include "engine/backends/device/gather_kernels.h"

#include <assert.h>

/* ---- around a step ---- */

PL_THREAD void drift(const pl_drift_arguments *a, int64_t i)
{
    a->out[i] = (pl_number)(a->x[i] + a->h * (a->v[i] + a->h * a->gravity[i % 3]));
}

PL_THREAD void blend(const pl_blend_arguments *a, int64_t i)
{
    double sum = a->base[i];
    if (a->d != 0)
        sum += a->d * a->v[i];
    if (a->e != 0)
        sum += a->e * ((double)a->v[i] - a->v_old[i]);
    a->out[i] = (pl_number)sum;
}

PL_THREAD void velocity(const pl_velocity_arguments *a, int64_t i)
{
    a->out[i] = (pl_number)(((double)a->x_new[i] - a->x[i]) / a->h);
}

/* Coordinate r of R (x0 - origin) + to. */
PL_THREAD double bring(const double R[9], const double origin[3], const double to[3],
                       const double x0[3], int r)
{
    double at = to[r];
    for (int c = 0; c < 3; c++)
        at += R[r + 3 * c] * (x0[c] - origin[c]);
    return at;
}

PL_THREAD void place_pin(const pl_place_pin_arguments *a, int64_t thread)
{
    int64_t v = a->vertex[thread];
    const double *x0 = a->x0 + 3 * v;
    for (int r = 0; r < 3; r++)
        if (a->axes >> r & 1)
            a->x[3 * v + r] = (pl_number)(a->moved ? bring(a->R, a->origin, a->to, x0, r) : x0[r]);
}

PL_THREAD void pin_velocity(const pl_pin_velocity_arguments *a, int64_t thread)
{
    int64_t v = a->vertex[thread];
    const double *x0 = a->x0 + 3 * v;
    for (int r = 0; r < 3; r++) {
        double at[3];
        for (int n = 0; n < 3; n++)
            at[n] = a->moved ? bring(a->R[n], a->origin, a->to[n], x0, r) : x0[r];
        if (a->axes >> r & 1)
            a->v[3 * v + r] = (pl_number)((3 * at[0] - 4 * at[1] + at[2]) / a->span);
    }
}

PL_THREAD void inner(const pl_inner_arguments *a, int64_t i)
{
    int64_t v = i / 3;
    double force = a->contact[i], way = 0;
    if (a->at_stage && a->load)
        force += a->load[i];
    if (!a->at_stage || (a->held[v] >> (i % 3) & 1))
        force += a->gradient[i];
    if (a->at_stage)
        way = a->inertia * ((double)a->x[i] - a->x_pred[i]);
    a->out[i] = (pl_number)(way - force / a->mass[v]);
}

PL_THREAD void pin_force(const pl_pin_force_arguments *a, int64_t thread)
{
    for (int c = 0; c < 3; c++)
        a->columns[c * a->count + thread] = a->axes >> c & 1
                                                ? a->gradient[3 * (int64_t)a->vertex[thread] + c]
                                                : 0;
}

/* ---- metrics of a state ---- */

PL_THREAD void convert(const pl_convert_arguments *a, int64_t i)
{
    if (a->single)
        a->single[i] = (float)a->x[i];
    else
        a->wide[i] = a->x[i];
}

PL_THREAD void motion(const pl_motion_arguments *a, int64_t i)
{
    double mass = a->mass[i], x[3], v[3], sums[8] = {0, 0};
    for (int c = 0; c < 3; c++) {
        x[c] = a->x[3 * i + c];
        v[c] = a->v[3 * i + c];
    }
    for (int c = 0; c < 3; c++) {
        int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        sums[0] += 0.5 * mass * v[c] * v[c];
        sums[1] -= mass * a->gravity[c] * x[c];
        sums[2 + c] = mass * v[c];
        sums[5 + c] = mass * (x[c1] * v[c2] - x[c2] * v[c1]);
    }
    for (int k = 0; k < 4; k++)
        a->columns[k * a->count + i] = a->part ? sums[4 + k] : sums[k];
}

/* ---- descent ---- */

PL_THREAD void move(const pl_move_arguments *a, int64_t i)
{
    int64_t v = a->vertices.free_vertex[i];
    for (int k = 0; k < 3; k++)
        if (!(a->vertices.held[v] >> k & 1))
            a->x_new[3 * v + k] =
                (pl_number)(a->x[3 * v + k] + a->alpha * a->d[k * a->vertices.free + i]);
}

PL_THREAD void gradient(const pl_gradient_arguments *a, int64_t v)
{
    const pl_device_vertices *m = &a->vertices;
    int64_t n = m->free, row = m->free_row[v];
    pl_number f[3], g[3];
    gather(m, a->contributions, v, f);
    double square = 0, work = 0, norm = 0, slope = 0;
    for (int k = 0; k < 3; k++) {
        int held = m->held[v] >> k & 1;
        pl_number off = a->x[3 * v + k] - a->x_pred[3 * v + k];
        pl_number load = a->load ? a->load[3 * v + k] : 0;
        if (!held) {
            square += (double)off * off;
            work += (double)load * a->x[3 * v + k];
        }
        f[k] += (pl_number)(m->mass[v] * a->inertia) * off - load;
        f[k] += a->contact ? a->contact[3 * v + k] : 0;
        a->gradient[3 * v + k] = f[k];
        g[k] = held ? 0 : f[k];
        norm += (double)g[k] * g[k];
    }
    if (row >= 0)
        for (int k = 0; k < 3; k++) {
            if (a->g)
                a->g[k * n + row] = g[k];
            if (a->d)
                slope += (double)g[k] * a->d[k * n + row];
        }
    if (a->columns) {
        a->columns[v] = row < 0 ? 0 : 0.5 * a->inertia * m->mass[v] * square - work;
        a->columns[m->count + v] = slope;
        a->columns[2 * m->count + v] = norm;
        a->columns[3 * m->count + v] = row < 0 ? 0 : norm / m->diagonal[row];
    }
}

PL_THREAD void chebyshev(const pl_chebyshev_arguments *a, int64_t i)
{
    const pl_device_vertices *m = &a->vertices;
    int64_t v = m->free_vertex[i], n = m->free;
    double down = a->weights ? a->weights[0] : a->down, on = a->weights ? a->weights[1] : a->on;
    pl_number f[3] = {0, 0, 0};
    if (!a->g)
        gather(m, a->contributions, v, f);
    for (int k = 0; k < 3; k++) {
        int64_t row = k * n + i, at = 3 * v + k;
        int held = m->held[v] >> k & 1;
        pl_number g;
        if (a->g) {
            g = a->g[row];
        } else {
            pl_number load = a->load ? a->load[at] : 0;
            g = f[k] + (pl_number)(m->mass[v] * a->inertia) * (a->x[at] - a->x_pred[at]) - load;
            g += a->contact ? a->contact[at] : 0;
            g = held ? 0 : g;
        }
        pl_number s = (pl_number)down * a->inverse[row] * g + (pl_number)on * a->s[row];
        a->s[row] = s;
        a->x_new[at] = a->x[at] + s;
    }
}

PL_THREAD void jacobi(const pl_jacobi_arguments *a, int64_t i)
{
    const pl_device_vertices *m = &a->vertices;
    int64_t v = m->free_vertex[i], n = m->free;
    double sum[3] = {0, 0, 0}, inertia = m->mass[v] * a->inertia, all = 0;
    for (int32_t e = m->start[v]; e < m->start[v + 1]; e++) {
        const pl_number4 h = a->contributions[m->slot[e]]; /* NaN counts as 0 */
        sum[0] += h.x > 0 ? h.x : 0;
        sum[1] += h.y > 0 ? h.y : 0;
        sum[2] += h.z > 0 ? h.z : 0;
    }
    for (int k = 0; k < 3; k++) {
        sum[k] += a->contact ? a->contact[3 * v + k] : 0;
        double P = inertia + sum[k], least = a->least * m->diagonal[i];
        P = P > least ? P : least;
        a->inverse[k * n + i] = (pl_number)(1 / P);
        all += P;
    }
    a->columns[i] = 3 * inertia;
    a->columns[n + i] = all;
}

PL_THREAD void jacobi_constant(const pl_jacobi_constant_arguments *a, int64_t i)
{
    const pl_device_vertices *m = &a->vertices;
    int64_t n = m->free;
    double P = a->flat > 0 ? a->flat : m->diagonal[i];
    for (int k = 0; k < 3; k++)
        a->inverse[k * n + i] = (pl_number)(1 / P);
    a->columns[i] = m->mass[m->free_vertex[i]] * a->inertia;
    a->columns[n + i] = P;
}

PL_THREAD void scale(const pl_scale_arguments *a, int64_t i)
{
    a->out[i] = a->divide ? a->a[i] / a->b[i] : a->a[i] * a->b[i];
}

PL_THREAD void exchange(const pl_exchange_arguments *a, int64_t i)
{
    int64_t v = a->vertices.free_vertex[i], n = a->vertices.free;
    for (int k = 0; k < 3; k++) {
        if (a->to_rows)
            a->rows[k * n + i] = a->x[3 * v + k];
        else if (!(a->vertices.held[v] >> k & 1))
            a->x[3 * v + k] = a->rows[k * n + i];
    }
}

PL_THREAD void pair(const pl_pair_arguments *a, int64_t i)
{
    a->s[i] = (pl_number)(a->alpha * a->s[i]);
    a->w[i] = a->p[i] - a->p_old[i];
}

PL_THREAD void combine(const pl_combine_arguments *a, int64_t i)
{
    double sum = 0;
    for (int32_t k = 0; k < a->count; k++)
        sum += a->coefficient[k] * a->list[k][i];
    a->out[i] = (pl_number)sum;
}

/* ---- sums ---- */

/* kind: s's, and a constant. */
PL_THREAD double summand(const pl_device_vertices *m, const pl_summing *s, pl_sum_kind kind,
                         int64_t i)
{
    const pl_number *a = (const pl_number *)s->a;
    switch (kind) {
    case PL_SUM_DOUBLES:
        return ((const double *)s->a)[i];
    case PL_SUM_THIRD:
        return ((const double *)s->a)[3 * i];
    case PL_SUM_NUMBERS:
    case PL_SUM_LARGEST:
        return a[i];
    case PL_SUM_DOT:
        return (double)a[i] * s->b[i];
    case PL_SUM_CHANGE_DOT:
        return ((double)a[i] - s->a0[i]) * ((double)s->b[i] - s->b0[i]);
    case PL_SUM_DOT_CHANGE:
        return a[i] * ((double)s->b[i] - s->b0[i]);
    case PL_SUM_MAGNITUDE: {
        const pl_number *x = a + 3 * (int64_t)m->free_vertex[i];
        return m->diagonal[i] * ((double)x[0] * x[0] + (double)x[1] * x[1] + (double)x[2] * x[2]);
    }
    }
    return 0;
}

/* Numbers that are read before they are added, because a read takes long. */
enum { AT_ONCE = 8, LAST_AT_ONCE = 16 };
static_assert(PL_SUM_ROUND % (LAST_AT_ONCE * PL_SUM_LAST) == 0, "sums_last reads whole rounds");
static_assert(PL_SUM_WIDTH % PL_SUM_ROUND == 0, "a sum has whole rounds");

/* Beyond the end the first is read once more, because a branch would wait for each, and counts as 0, which changes no
 * sum. */
PL_THREAD double add_some(const pl_sums_arguments *a, const pl_summing *s, pl_sum_kind kind,
                          int64_t i)
{
    double total = 0;
    for (; i < s->count; i += AT_ONCE * PL_SUM_WIDTH) {
        double some[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++) {
            const int64_t at = i + k * PL_SUM_WIDTH;
            const double one = summand(&a->vertices, s, kind, at < s->count ? at : i);
            some[k] = at < s->count ? one : 0;
        }
        for (int k = 0; k < AT_ONCE; k++)
            total = kind != PL_SUM_LARGEST ? total + some[k] : some[k] > total ? some[k] : total;
    }
    return total;
}

/* A loop for each kind. */
PL_THREAD double add_kind(const pl_sums_arguments *a, const pl_summing *s, int64_t i)
{
    switch (s->kind) {
    case PL_SUM_DOUBLES:
        return add_some(a, s, PL_SUM_DOUBLES, i);
    case PL_SUM_THIRD:
        return add_some(a, s, PL_SUM_THIRD, i);
    case PL_SUM_NUMBERS:
        return add_some(a, s, PL_SUM_NUMBERS, i);
    case PL_SUM_LARGEST:
        return add_some(a, s, PL_SUM_LARGEST, i);
    case PL_SUM_DOT:
        return add_some(a, s, PL_SUM_DOT, i);
    case PL_SUM_CHANGE_DOT:
        return add_some(a, s, PL_SUM_CHANGE_DOT, i);
    case PL_SUM_DOT_CHANGE:
        return add_some(a, s, PL_SUM_DOT_CHANGE, i);
    case PL_SUM_MAGNITUDE:
        return add_some(a, s, PL_SUM_MAGNITUDE, i);
    }
    return 0;
}

PL_THREAD void sums(const pl_sums_arguments *a, int64_t thread)
{
    const int64_t sum = thread / a->width;
    a->partial[thread] = add_kind(a, &a->sum[sum], a->first[sum] + thread % a->width);
}

PL_THREAD void sums_last(const pl_sums_last_arguments *a, int64_t thread)
{
    int64_t sum = thread / PL_SUM_LAST;
    const double *partial = a->partial + sum * a->width;
    int largest = a->largest >> sum & 1;
    double total = 0;
    for (int64_t i = thread % PL_SUM_LAST; i < a->width; i += LAST_AT_ONCE * PL_SUM_LAST) {
        double some[LAST_AT_ONCE];
        for (int k = 0; k < LAST_AT_ONCE; k++)
            some[k] = partial[i + k * PL_SUM_LAST];
        for (int k = 0; k < LAST_AT_ONCE; k++)
            total = !largest ? total + some[k] : some[k] > total ? some[k] : total;
    }
    a->out[thread] = total;
}

#define DO(name) PL_KERNEL(name, name, pl_##name##_arguments)
PL_ROW_KERNELS(DO)
