/* Contact between bodies in ADMM: the local step of the group `touching`, whose terms share one prox. */
#include "engine/backends/cpu/cpu_internal.h"

#include "engine/contact/joint_prox.h"
#include "engine/model/groups/touching.h"
#include "engine/model/groups/vertex_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct apart {
    int32_t group;
    pl_joint_prox prox;
    double *give; /* [vertices], m/N: 1 / w^2, 0 where held */
    double *v;    /* [room][3]: of the touched vertices */
    int64_t room;
    double exact; /* of the next prox, J^(1/2); 0: as exact as possible */
};

void pl_cpu_apart_release(cpu *c)
{
    if (!c->apart)
        return;
    pl_joint_prox_clear(&c->apart->prox);
    free(c->apart->give);
    free(c->apart->v);
    free(c->apart);
}

pl_status pl_cpu_apart_create(cpu *c)
{
    const pl_model *m = c->base.model;
    const int32_t group = pl_touching_find(m->groups, m->group_count);
    if (group < 0)
        return PL_OK;
    c->apart = calloc(1, sizeof *c->apart);
    if (!c->apart)
        return PL_NO_MEMORY;
    c->apart->group = group;
    c->apart->give = calloc((size_t)m->vertices + 1, sizeof *c->apart->give);
    if (!c->apart->give)
        return PL_NO_MEMORY;
    const pl_group *g = &m->groups[group];
    const pl_touching *k = g->data;
    for (int64_t i = 0; i < g->terms; i++)
        c->apart->give[g->corner[i]] = 1 / k->weight[i];
    return PL_OK;
}

bool pl_cpu_is_apart(const cpu *c, int32_t group)
{
    return c->apart && c->apart->group == group;
}

static pl_contact_rows *rows_of(cpu *c)
{
    return pl_contact_set_rows(c->between.set);
}

static bool make_room(struct apart *a, int64_t touched)
{
    if (touched <= a->room)
        return true;
    free(a->v);
    a->room = 0;
    a->v = malloc(6 * (size_t)touched * sizeof *a->v);
    if (a->v)
        a->room = 2 * touched;
    return a->v;
}

/* values = sign * moved for touched vertices that have a term, and 0 elsewhere. */
static void spread(cpu *c, double sign, double *values)
{
    struct apart *a = c->apart;
    const pl_group *g = &c->base.model->groups[a->group];
    const pl_touching *k = g->data;
    const pl_contact_rows *rows = rows_of(c);
    memset(values, 0, (size_t)pl_group_values(g) * sizeof *values);
    for (int64_t i = 0; i < rows->touched; i++) {
        const int64_t t = k->term[rows->vertex[i]];
        for (int i3 = 0; t >= 0 && i3 < 3; i3++)
            values[(t / PL_BLOCK * 3 + i3) * PL_BLOCK + t % PL_BLOCK] = sign *
                                                                        a->prox.moved[3 * i + i3];
    }
}

void pl_cpu_apart_renew(cpu *c)
{
    if (c->apart)
        c->apart->prox.most = 0;
}

pl_status pl_cpu_apart_begin(pl_backend *b, pl_array *const *u)
{
    cpu *c = cpu_of(b);
    struct apart *a = c->apart;
    a->exact = 0;
    if (!make_room(a, rows_of(c)->touched) ||
        pl_joint_prox_set(&a->prox, rows_of(c), a->give) != PL_OK)
        return PL_NO_MEMORY;
    spread(c, -1, pl_numbers(u[a->group]));
    return PL_OK;
}

void pl_cpu_apart_find(cpu *c, const pl_admm_local *local)
{
    struct apart *a = c->apart;
    const pl_group *g = &c->base.model->groups[a->group];
    const pl_touching *k = g->data;
    pl_contact_rows *rows = rows_of(c);
    for (int64_t i = 0; i < rows->touched; i++) {
        const int32_t vertex = rows->vertex[i], term = k->term[vertex];
        double *v = a->v + 3 * i, z_hat[3];
        if (term >= 0)
            pl_vertex_term_point(g, local, term, v, z_hat);
        else
            memcpy(v, local->x + 3 * (int64_t)vertex, 3 * sizeof *v);
    }
    pl_joint_prox_solve(&a->prox, rows, a->v, a->exact, c->threads);
    spread(c, 1, k->way);
}

void pl_cpu_apart_end(cpu *c, double primal)
{
    c->apart->exact = PL_JOINT_PROX_OF_RESIDUAL * primal;
}
