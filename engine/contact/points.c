#include "engine/contact/points.h"

#include "engine/vectors.h"

#include <math.h>
#include <stdlib.h>

/* Weights are positive on the first feature and negative on the second, and sum to 1 and -1. Positions are relative
 * to the first corner, as in rows.c. */
static pl_contact_point point_of(const pl_contact_row *row, const pl_contact_bodies *bodies,
                                 const double *x)
{
    const pl_contact_pair *p = &row->pair;
    const double *origin = x + 3 * (int64_t)p->vertex[0];
    pl_contact_point out = {.gap = 0};
    int32_t body[2];
    pl_contact_bodies_of(bodies, p, body);
    const bool turned = body[1] < body[0];
    for (int k = 0; k < 2; k++)
        out.body[k] = body[turned ? 1 - k : k];
    for (int c = 0; c < 3; c++) {
        const double on_first = row->force * p->normal[c] - row->grip[c];
        double apart = 0, middle = 0;
        for (int k = 1; k < 4 && p->vertex[k] >= 0; k++) {
            const double d = x[3 * (int64_t)p->vertex[k] + c] - origin[c];
            apart += p->weight[k] * d;
            middle += fabs(p->weight[k]) * d / 2;
        }
        out.place[c] = origin[c] + middle;
        out.newton[c] = turned ? on_first : -on_first;
        out.gap += p->normal[c] * apart;
    }
    return out;
}

static int by_force(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a < b) - (a > b);
}

/* Selects the listed rows: those with a force above `above`, and the first `ties` of those with a force equal to
 * it. */
typedef struct choice {
    int64_t count, ties;
    double above;
} choice;

static pl_status choose(const pl_contact_rows *rows, choice *out)
{
    *out = (choice){.above = 0};
    for (int64_t r = 0; r < rows->count; r++)
        out->count += rows->row[r].force > 0;
    if (out->count <= PL_CONTACT_POINTS)
        return PL_OK;
    double *force = malloc((size_t)out->count * sizeof *force);
    if (!force)
        return PL_NO_MEMORY;
    int64_t n = 0;
    for (int64_t r = 0; r < rows->count; r++)
        if (rows->row[r].force > 0)
            force[n++] = rows->row[r].force;
    qsort(force, (size_t)n, sizeof *force, by_force);
    out->above = force[PL_CONTACT_POINTS - 1];
    while (out->ties < PL_CONTACT_POINTS &&
           !(force[PL_CONTACT_POINTS - 1 - out->ties] > out->above))
        out->ties++;
    out->count = PL_CONTACT_POINTS;
    free(force);
    return PL_OK;
}

static bool make_room(pl_contact_points *points, int64_t count)
{
    if (count <= points->room)
        return true;
    pl_contact_points_clear(points);
    points->point = malloc((size_t)(count + count / 2) * sizeof *points->point);
    points->room = points->point ? count + count / 2 : 0;
    return points->point;
}

pl_status pl_contact_points_find(const pl_contact_rows *rows, const pl_contact_bodies *bodies,
                                 const double *x, pl_contact_points *out)
{
    choice chosen;
    out->count = 0;
    if (choose(rows, &chosen) != PL_OK || !make_room(out, chosen.count))
        return PL_NO_MEMORY;
    for (int64_t r = 0; r < rows->count; r++) {
        const pl_contact_row *row = &rows->row[r];
        if (row->force > chosen.above ||
            (row->force > 0 && row->force == chosen.above && chosen.ties-- > 0))
            out->point[out->count++] = point_of(row, bodies, x);
    }
    return PL_OK;
}

void pl_contact_points_clear(pl_contact_points *points)
{
    free(points->point);
    *points = (pl_contact_points){.count = 0};
}
