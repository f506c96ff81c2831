#include "engine/model/build/fields.h"

#include "engine/scene/transform.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger or smaller factors make matrices with which no solver is reliable. */
static const double FACTOR_MIN = 1e-6, FACTOR_MAX = 1e6;

static void list_fields(const pl_mesh *mesh, char *out, size_t size)
{
    size_t used = 0;
    snprintf(out, size, "the file has no fields");
    for (int32_t i = 0; i < mesh->field_count && used + 1 < size; i++) {
        const pl_mesh_field *f = &mesh->fields[i];
        int n = snprintf(out + used, size - used, "%s\"%s\" (%s)", i ? ", " : "", f->name,
                         f->components == 1 ? "numbers" : "vectors");
        used += n > 0 ? (size_t)n : 0;
    }
}

/* A field that a body uses. */
typedef struct request {
    const pl_body *body;
    const pl_mesh *mesh;
    const char *name;
    char pointer[64];
    int32_t components;
    pl_faults *faults;
} request;

/* NULL, with a fault, if the mesh has no field of that name and width. */
static const pl_mesh_field *find(const request *r)
{
    const pl_mesh_field *field = pl_mesh_find_field(r->mesh, r->name);
    char known[400];
    if (field && field->components == r->components)
        return field;
    list_fields(r->mesh, known, sizeof known);
    if (!field)
        pl_faults_addf(r->faults, r->pointer, "unknown_field", known,
                       "fields are read from $ElementData of Gmsh files",
                       "\"%s\", which the mesh of body \"%s\" does not have", r->name,
                       r->body->name);
    else
        pl_faults_addf(r->faults, r->pointer, "wrong_field", known,
                       r->components == 1 ? "a field with one number per element"
                                          : "a field with three numbers per element",
                       "\"%s\", whose values have %" PRId32 " components", r->name,
                       field->components);
    return NULL;
}

/* The first bad value and the number of bad values. */
static pl_status refuse(const request *r, const char *expected, int64_t first, int64_t count,
                        double value)
{
    if (count == 0)
        return PL_OK;
    char got[64];
    if (isnan(value))
        snprintf(got, sizeof got, "no value");
    else
        snprintf(got, sizeof got, "%.6g", value);
    pl_faults_addf(r->faults, r->pointer, "field_value", expected,
                   "write a value for every element of the body",
                   "%s for element %" PRId64 " of body \"%s\" and %" PRId64 " others", got, first,
                   r->body->name, count - 1);
    return PL_INVALID;
}

/* The single kind of elements of a mesh with fields. */
static pl_elements *elements_of(pl_elements *elements, int32_t b)
{
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++)
        if (elements[kind].first[b] < elements[kind].first[b + 1])
            return &elements[kind];
    return NULL;
}

static pl_status set_stiffness(const request *r, pl_elements *e, int32_t b)
{
    const pl_mesh_field *field = find(r);
    if (!field)
        return PL_INVALID;
    int64_t count = e->first[b + 1] - e->first[b], bad = 0, first = 0;
    for (int64_t t = 0; t < count; t++) {
        double factor = field->values[t];
        e->stiffness[e->first[b] + t] = factor;
        if (factor >= FACTOR_MIN && factor <= FACTOR_MAX)
            continue;
        first = bad++ == 0 ? t : first;
    }
    return refuse(r, "factors from 1e-6 to 1e6", first, bad, field->values[first]);
}

/* The materials' directions, until fields override them. */
static pl_status make_fibers(const pl_scene *scene, pl_elements *e)
{
    if (e->fiber)
        return PL_OK;
    e->fiber = malloc((size_t)e->count * sizeof *e->fiber);
    if (!e->fiber)
        return PL_NO_MEMORY;
    for (int64_t t = 0; t < e->count; t++)
        memcpy(e->fiber[t], scene->materials[e->material[t]].fibers.direction, sizeof *e->fiber);
    return PL_OK;
}

static pl_status set_fibers(const request *r, pl_elements *e, int32_t b)
{
    const pl_mesh_field *field = find(r);
    if (!field)
        return PL_INVALID;
    int64_t count = e->first[b + 1] - e->first[b], bad = 0, first = 0;
    for (int64_t t = 0; t < count; t++)
        if (isnan(field->values[3 * t]))
            first = bad++ == 0 ? t : first;
    if (bad > 0)
        return refuse(r, "a vector for each element; zeros for elements without fibres", first, bad,
                      NAN);
    pl_transform_directions(&r->body->transform, field->values, count,
                            (double *)(e->fiber + e->first[b]));
    return PL_OK;
}

static pl_status check_fibers_are_used(const pl_scene *scene, const request *r,
                                       const pl_elements *e, int32_t b)
{
    for (int64_t t = e->first[b]; t < e->first[b + 1]; t++)
        if (scene->materials[e->material[t]].fibers.present)
            return PL_OK;
    pl_faults_addf(r->faults, r->pointer, "no_fibers", "a body whose material has fibers",
                   "give the material \"fibers\": {\"stiffness\": ...}, or omit the field",
                   "directions for body \"%s\", whose materials have no fibers", r->body->name);
    return PL_INVALID;
}

pl_status pl_fields_apply(const pl_scene *scene, int32_t b, const pl_mesh *mesh,
                          pl_elements *elements, pl_faults *faults)
{
    const pl_body *body = &scene->bodies[b];
    pl_elements *e = elements_of(elements, b);
    pl_status status = PL_OK;
    if (e && body->fields.stiffness) {
        request r = {body, mesh, body->fields.stiffness, "", 1, faults};
        snprintf(r.pointer, sizeof r.pointer, "/bodies/%" PRId32 "/fields/stiffness", b);
        status = set_stiffness(&r, e, b);
    }
    if (e && body->fields.fibers && status != PL_NO_MEMORY) {
        request r = {body, mesh, body->fields.fibers, "", 3, faults};
        snprintf(r.pointer, sizeof r.pointer, "/bodies/%" PRId32 "/fields/fibers", b);
        pl_status one = check_fibers_are_used(scene, &r, e, b);
        if (one == PL_OK)
            one = make_fibers(scene, e);
        if (one == PL_OK)
            one = set_fibers(&r, e, b);
        status = one == PL_OK ? status : one;
    }
    return status;
}
