/* Requirements of a scene on its bodies beside pins: attachments, and the parts of materials. */
#include "engine/model/build/layout.h"
#include "engine/model/build/select.h"

#include <stdio.h>
#include <stdlib.h>

static pl_status resolve_attachment(const pl_scene *scene, const pl_mesh *meshes, int32_t i,
                                    pl_layout *layout, pl_faults *faults)
{
    const pl_attachment *a = &scene->attachments[i];
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/attachments/%d", i);
    static const char *const expected = "to, obstacle, point, or obstacle and point";
    if (a->has_to ? a->has_point || a->has_obstacle : !a->has_point && !a->has_obstacle) {
        pl_faults_add(faults, pointer, a->has_to ? "conflict" : "missing_key",
                      !a->has_to     ? "none of them"
                      : a->has_point ? "to and point"
                                     : "to and obstacle",
                      expected,
                      "attach to a body with \"to\", to an obstacle, or to a place with \"point\"");
        return PL_INVALID;
    }
    if (a->has_obstacle && scene->obstacle_count == 0) {
        snprintf(pointer, sizeof pointer, "/attachments/%d/obstacle", i);
        pl_faults_add(faults, pointer, "conflict", "a scene without obstacles",
                      "the name of an obstacle",
                      "add the obstacle to \"obstacles\", or attach to a place with \"point\"");
        return PL_INVALID;
    }
    if (a->has_to && a->to == a->body) {
        snprintf(pointer, sizeof pointer, "/attachments/%d/to", i);
        pl_faults_addf(faults, pointer, "conflict", "another body",
                       "a vertex of a body is its own nearest point", "body \"%s\" itself",
                       scene->bodies[a->body].name);
        return PL_INVALID;
    }
    int64_t first = layout->first_vertex[a->body];
    pl_pin_vertices *list = &layout->attached[i];
    snprintf(pointer, sizeof pointer, "/attachments/%d/select", i);
    pl_status status = pl_select_vertices(&a->select, &meshes[a->body], layout->rest + 3 * first,
                                          pointer, &list->vertex, &list->count, faults);
    for (int64_t k = 0; status == PL_OK && k < list->count; k++)
        list->vertex[k] += (int32_t)first;
    return status;
}

/* Without this check, a part of a material whose bodies have no elements for it would silently have no effect. */
static pl_status check_part(const pl_scene *scene, int32_t material, const pl_layout *layout,
                            const char *key, unsigned kinds, const char *expected,
                            pl_faults *faults)
{
    bool used = false;
    for (int kind = 0; kind < PL_ELEMENT_KINDS; kind++)
        for (int64_t t = 0; t < layout->elements[kind].count; t++)
            if (layout->elements[kind].material[t] == material) {
                used = true;
                if (kinds >> kind & 1)
                    return PL_OK;
            }
    if (!used)
        return PL_OK; /* no body has the material at all */
    char pointer[PL_POINTER_SIZE];
    pl_fault_at_material(scene->materials[material].name, key, pointer);
    pl_faults_addf(faults, pointer, "no_elements", expected,
                   "omit it, or give the material to a body with such elements",
                   "bodies without such elements");
    return PL_INVALID;
}

static void refuse_damping(const pl_material *m, const char *key, const char *code, const char *got,
                           const char *expected, const char *hint, pl_faults *faults)
{
    char pointer[PL_POINTER_SIZE];
    pl_fault_at_material(m->name, key, pointer);
    pl_faults_add(faults, pointer, code, got, expected, hint);
}

/* Principal strains, and terms that include the elastic energy, are for tetrahedra only. */
static pl_status check_damping(const pl_scene *scene, int32_t material, const pl_layout *layout,
                               pl_faults *faults)
{
    const pl_material *m = &scene->materials[material];
    const pl_material_damping *d = &m->damping;
    const bool principal = d->model == PL_DAMPING_PRINCIPAL_STRAIN;
    const bool merged = d->form == PL_DAMPING_MERGED;
    size_t before = faults->total;
    if (d->present && merged && m->invertible)
        refuse_damping(m, "damping/form", "conflict", "merged damping with an invertible material",
                       "a material that is not invertible",
                       "use \"form\": \"separate\": the invertible part of the energy changes "
                       "every step and has separate terms",
                       faults);
    for (int kind = PL_ELEMENT_TRIANGLE; d->present && kind <= PL_ELEMENT_EDGE; kind++) {
        const char *got = kind == PL_ELEMENT_EDGE ? "bodies with edges" : "bodies with triangles";
        bool used = false;
        for (int64_t t = 0; t < layout->elements[kind].count && !used; t++)
            used = layout->elements[kind].material[t] == material;
        if (used && principal)
            refuse_damping(m, "damping/model", "unsupported", got, "tetrahedra alone",
                           "use rayleigh, which damps by the stiffness of sheets, edges and bends: "
                           "eq. 53 needs the three principal strains of a solid",
                           faults);
        if (used && merged)
            refuse_damping(m, "damping/form", "unsupported", got, "tetrahedra alone",
                           "use \"form\": \"auto\", which merges the terms of tetrahedra", faults);
    }
    return faults->total > before ? PL_INVALID : PL_OK;
}

static pl_status check_material(const pl_scene *scene, int32_t i, const pl_layout *layout,
                                pl_faults *faults)
{
    enum {
        TET = 1 << PL_ELEMENT_TET,
        TRIANGLE = 1 << PL_ELEMENT_TRIANGLE,
        EDGE = 1 << PL_ELEMENT_EDGE
    };
    const pl_material *m = &scene->materials[i];
    const struct {
        bool present;
        const char *key;
        unsigned kinds;
        const char *expected;
    } parts[] = {
        {m->bending.present && m->bending.model == PL_BENDING_QUADRATIC, "bending", TRIANGLE | EDGE,
         "triangles or edges, which can bend"},
        {m->bending.present && m->bending.model == PL_BENDING_HINGE, "bending/model", TRIANGLE,
         "triangles: edges have quadratic bending"},
        {m->strain_limit.present, "strain_limit", TET | TRIANGLE, "triangles or tetrahedra"},
        {m->fibers.present, "fibers", TET | TRIANGLE, "tetrahedra or triangles"},
        {m->inextensible != PL_EXTENSIBLE, "inextensible", EDGE, "edges"},
        {m->invertible, "invertible", TET, "tetrahedra: sheets cannot be inverted"},
    };
    pl_status status = PL_OK;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].present && check_part(scene, i, layout, parts[k].key, parts[k].kinds,
                                           parts[k].expected, faults) != PL_OK)
            status = PL_INVALID;
    return check_damping(scene, i, layout, faults) == PL_OK ? status : PL_INVALID;
}

pl_status pl_layout_parts(const pl_scene *scene, const pl_mesh *meshes, pl_layout *layout,
                          pl_faults *faults)
{
    layout->attached = calloc((size_t)scene->attachment_count + 1, sizeof *layout->attached);
    if (!layout->attached)
        return PL_NO_MEMORY;
    layout->attachment_count = scene->attachment_count;
    pl_status status = PL_OK;
    for (int32_t i = 0; i < scene->attachment_count; i++) {
        pl_status one = resolve_attachment(scene, meshes, i, layout, faults);
        if (one == PL_NO_MEMORY)
            return one;
        status = one == PL_OK ? status : one;
    }
    for (int32_t i = 0; i < scene->material_count; i++)
        if (check_material(scene, i, layout, faults) != PL_OK)
            status = PL_INVALID;
    return status;
}
