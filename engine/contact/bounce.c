#include "engine/contact/bounce.h"

#include "engine/contact/joint_prox.h"
#include "engine/vectors.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of sweeps of a prox; one that is cut off continues at the next call. */
enum { PROXES = 40 };

bool pl_contact_has_bounce(const pl_contact_bodies *b)
{
    for (int64_t k = 0; k < (int64_t)b->count * b->count; k++)
        if (!b->ignore[k] && b->restitution[k] > 0)
            return true;
    return false;
}

/* n . C v of a pair. */
static double speed(const pl_contact_pair *p, const double *v)
{
    double way[3] = {0};
    for (int k = 1; k < 4 && p->vertex[k] >= 0; k++)
        for (int c = 0; c < 3; c++)
            way[c] += p->weight[k] *
                      (v[3 * (int64_t)p->vertex[k] + c] - v[3 * (int64_t)p->vertex[0] + c]);
    return pl_vector_dot(p->normal, way);
}

/* The rows of separating features: the speed takes the place of their distance. NULL: out of memory. */
static pl_contact_row *list(const pl_contact_bodies *bodies, const pl_contact_rows *rows,
                            const double *v_start, int64_t *count)
{
    pl_contact_row *out = malloc(((size_t)rows->count + 1) * sizeof *out);
    *count = 0;
    for (int64_t r = 0; out && r < rows->count; r++) {
        int32_t body[2];
        const pl_contact_pair *pair = &rows->row[r].pair;
        pl_contact_bodies_of(bodies, pair, body);
        const double e = bodies->restitution[pl_contact_bodies_at(bodies, body[0], body[1])];
        if (rows->row[r].force > 0 && e > 0 && speed(pair, v_start) < 0)
            out[(*count)++] = (pl_contact_row){.pair = *pair,
                                               .distance = -e * speed(pair, v_start)};
    }
    return out;
}

static pl_status leave(pl_contact_rows *rows, const double *give, double *v, int threads)
{
    pl_joint_prox prox = {0};
    double *touched = malloc((3 * (size_t)rows->touched + 1) * sizeof *touched);
    pl_status status = touched ? pl_joint_prox_set(&prox, rows, give) : PL_NO_MEMORY;
    for (int64_t i = 0; status == PL_OK && i < rows->touched; i++)
        memcpy(touched + 3 * i, v + 3 * (int64_t)rows->vertex[i], 3 * sizeof *v);
    for (int k = 0; status == PL_OK && k < PROXES; k++)
        pl_joint_prox_solve(&prox, rows, touched, 0, threads);
    for (int64_t i = 0; status == PL_OK && i < 3 * rows->touched; i++)
        v[3 * (int64_t)rows->vertex[i / 3] + i % 3] += prox.moved[i];
    free(touched);
    pl_joint_prox_clear(&prox);
    return status;
}

pl_status pl_contact_bounce(const pl_contact_bodies *bodies, const pl_contact_rows *rows,
                            const double *give, const double *v_start, double *v, int threads)
{
    pl_contact_rows leaving;
    int64_t count;
    pl_contact_row *row = list(bodies, rows, v_start, &count);
    if (!row)
        return PL_NO_MEMORY;
    if (count == 0) {
        free(row);
        return PL_OK;
    }
    pl_status status = pl_contact_rows_init(&leaving, rows->scene_vertices);
    if (status == PL_OK)
        status = pl_contact_rows_set(&leaving, row, count, give);
    else
        free(row);
    if (status == PL_OK)
        status = leave(&leaving, give, v, threads);
    pl_contact_rows_clear(&leaving);
    return status;
}
