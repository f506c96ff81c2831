#include "server/worker/probes.h"

#include "protocol/scene/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- selecting vertices ---- */

/* Select every vertex of the bodies from `from` to before `to`. */
static pl_status take_all(pl_probes *p, int32_t k, const pl_session_scene *s, int32_t from,
                          int32_t to)
{
    int64_t first = 0, count = 0;
    for (int32_t b = 0; b < to; b++)
        *(b < from ? &first : &count) += s->meshes[b].vertex_count;
    p->vertex[k] = malloc((size_t)(count + 1) * sizeof **p->vertex);
    if (!p->vertex[k])
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < count; i++)
        p->vertex[k][i] = first + i;
    p->vertex_count[k] = count;
    return PL_OK;
}

static pl_status select_vertices(pl_probes *p, int32_t k, const pl_session_scene *s,
                                 pl_faults *faults)
{
    const pl_expectation *e = &s->scene.output.probes[k];
    if (!e->has_select || e->select.kind == PL_SELECT_ALL)
        return take_all(p, k, s, e->has_body ? e->body : 0,
                        e->has_body ? e->body + 1 : s->scene.body_count);
    char pointer[64];
    int32_t *found = NULL;
    int64_t first = 0;
    snprintf(pointer, sizeof pointer, "/output/probes/%d/select", k);
    pl_status status = pl_body_select(&s->scene.bodies[e->body], &s->meshes[e->body], &e->select,
                                      pointer, &found, &p->vertex_count[k], faults);
    if (status != PL_OK)
        return status;
    for (int32_t b = 0; b < e->body; b++)
        first += s->meshes[b].vertex_count;
    p->vertex[k] = malloc((size_t)(p->vertex_count[k] + 1) * sizeof **p->vertex);
    for (int64_t i = 0; p->vertex[k] && i < p->vertex_count[k]; i++)
        p->vertex[k][i] = first + found[i];
    free(found);
    return p->vertex[k] ? PL_OK : PL_NO_MEMORY;
}

static pl_status keep_places(pl_probes *p, int32_t k, const pl_state *state)
{
    const double *x = pl_state_positions(state);
    p->first[k] = malloc((size_t)(3 * p->vertex_count[k] + 1) * sizeof **p->first);
    if (!p->first[k])
        return PL_NO_MEMORY;
    for (int64_t i = 0; i < p->vertex_count[k]; i++)
        memcpy(p->first[k] + 3 * i, x + 3 * p->vertex[k][i], 3 * sizeof *x);
    return PL_OK;
}

pl_status pl_probes_init(pl_probes *p, const pl_session_scene *s, const pl_state *state,
                         pl_faults *faults)
{
    size_t n = (size_t)s->scene.output.probe_count;
    *p = (pl_probes){.scene = &s->scene, .count = (int32_t)n};
    p->vertex = calloc(n + 1, sizeof *p->vertex);
    p->vertex_count = calloc(n + 1, sizeof *p->vertex_count);
    p->first = calloc(n + 1, sizeof *p->first);
    p->names = calloc(n + 1, sizeof *p->names);
    p->values = calloc(n + 1, sizeof *p->values);
    if (!p->vertex || !p->vertex_count || !p->first || !p->names || !p->values)
        return PL_NO_MEMORY;
    pl_status worst = PL_OK;
    for (int32_t k = 0; k < p->count && worst != PL_NO_MEMORY; k++) {
        const pl_expectation *e = &s->scene.output.probes[k];
        p->names[k] = e->name;
        if (!pl_quantity_of_vertices(e->quantity))
            continue;
        pl_status status = select_vertices(p, k, s, faults);
        if (status == PL_OK && e->quantity == PL_QUANTITY_DISPLACEMENT)
            status = keep_places(p, k, state);
        worst = status != PL_OK ? status : worst;
    }
    return worst;
}

void pl_probes_clear(pl_probes *p)
{
    for (int32_t k = 0; k < p->count; k++) {
        if (p->vertex)
            free(p->vertex[k]);
        if (p->first)
            free(p->first[k]);
    }
    free(p->vertex);
    free(p->vertex_count);
    free(p->first);
    free(p->names);
    free(p->values);
    *p = (pl_probes){0};
}

/* ---- values ---- */

/* The statistic over the vertices, in their order. */
static double of_vertices(const pl_probes *p, int32_t k, const pl_state *state)
{
    const pl_expectation *e = &p->scene->output.probes[k];
    const double *from = e->quantity == PL_QUANTITY_VELOCITY ? pl_state_velocities(state)
                                                             : pl_state_positions(state);
    pl_sample sample = pl_sample_begin();
    for (int64_t i = 0; i < p->vertex_count[k]; i++) {
        double v[3];
        memcpy(v, from + 3 * p->vertex[k][i], sizeof v);
        for (int c = 0; c < 3 && p->first[k]; c++)
            v[c] -= p->first[k][3 * i + c];
        pl_sample_add(&sample, pl_quantity_component(e, v));
    }
    return pl_sample_statistic(&sample, e);
}

static double deepest(const pl_scene *scene, const pl_metrics *m)
{
    double most = 0;
    for (int32_t o = 0; o < scene->obstacle_count; o++)
        most = fmax(most, m->penetration[o]);
    return most;
}

/* Force of the first body on the second; 0 if the two do not touch. */
static double contact_force(const pl_expectation *e, const pl_contact_metrics *c)
{
    double v[3] = {0};
    for (int32_t i = 0; i < c->force_count; i++) {
        const pl_body_force *f = &c->forces[i];
        bool along = f->body[0] == e->between[0] && f->body[1] == e->between[1];
        bool back = f->body[0] == e->between[1] && f->body[1] == e->between[0];
        for (int k = 0; (along || back) && k < 3; k++)
            v[k] = along ? f->newton[k] : -f->newton[k];
    }
    return pl_quantity_component(e, v);
}

static double of_contact(const pl_expectation *e, const pl_contact_metrics *c)
{
    if (!c->on)
        return NAN;
    switch (e->quantity) {
    case PL_QUANTITY_CONTACT_PAIRS:
        return (double)c->pairs;
    case PL_QUANTITY_CONTACT_GAP:
        return c->gap;
    case PL_QUANTITY_CONTACT_FORCE:
        return contact_force(e, c);
    default:
        return c->friction_work;
    }
}

/* A value from the metrics; NaN for a count that was not measured. */
static double of_metrics(const pl_scene *scene, const pl_expectation *e, const pl_metrics *m)
{
    switch (e->quantity) {
    case PL_QUANTITY_REACTION:
        return pl_quantity_component(e, e->has_pin ? m->pins[e->pin].newton
                                                   : m->obstacles[e->obstacle].newton);
    case PL_QUANTITY_LINEAR_MOMENTUM:
        return pl_quantity_component(e, m->linear);
    case PL_QUANTITY_ANGULAR_MOMENTUM:
        return pl_quantity_component(e, m->angular);
    case PL_QUANTITY_KINETIC:
        return m->kinetic;
    case PL_QUANTITY_ELASTIC:
        return m->elastic;
    case PL_QUANTITY_ENERGY:
        return m->kinetic + m->elastic + m->gravity;
    case PL_QUANTITY_INVERTED:
        return (double)m->inverted;
    case PL_QUANTITY_CONTACTS:
        return (double)m->contacts;
    case PL_QUANTITY_MAX_STRETCH:
        return m->max_stretch;
    case PL_QUANTITY_CONVERGED:
        return m->unconverged < 0 || m->steps == 0 ? NAN
                                                   : 1 - (double)m->unconverged / (double)m->steps;
    case PL_QUANTITY_ITERATIONS:
        return (double)m->iterations;
    case PL_QUANTITY_HALVED:
        return (double)m->halved;
    case PL_QUANTITY_OBJECTIVE:
        return m->objective;
    case PL_QUANTITY_GRADIENT_NORM:
        return m->gradient_norm;
    case PL_QUANTITY_PENETRATION:
        return e->has_obstacle ? m->penetration[e->obstacle] : deepest(scene, m);
    case PL_QUANTITY_CONTACT_PAIRS:
    case PL_QUANTITY_CONTACT_GAP:
    case PL_QUANTITY_CONTACT_FORCE:
    case PL_QUANTITY_FRICTION_WORK:
        return of_contact(e, &m->contact);
    default:
        return NAN;
    }
}

void pl_probes_measure(pl_probes *p, const pl_state *state, pl_metrics *metrics)
{
    for (int32_t k = 0; k < p->count; k++) {
        const pl_expectation *e = &p->scene->output.probes[k];
        p->values[k] = pl_quantity_of_vertices(e->quantity) ? of_vertices(p, k, state)
                                                            : of_metrics(p->scene, e, metrics);
    }
    metrics->probe_count = p->count;
    metrics->probe_names = p->names;
    metrics->probes = p->values;
}
