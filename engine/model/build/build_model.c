#include "engine/model/build/build_model.h"

#include "engine/model/build/build.h"
#include "engine/model/build/digest.h"
#include "engine/model/factors.h"
#include "engine/model/matrix.h"
#include "engine/model/spectra.h"
#include "engine/scene/carries.h"

#include <stdlib.h>
#include <string.h>

void pl_model_destroy(pl_model *m)
{
    if (!m)
        return;
    for (int32_t g = 0; g < m->group_count; g++)
        m->groups[g].ops->destroy(&m->groups[g]);
    for (int32_t p = 0; m->pins && p < m->pin_count; p++)
        free(m->pins[p].vertex);
    for (int32_t i = 0; m->materials && i < m->material_count; i++)
        free(m->materials[i].shared);
    free(m->materials);
    pl_gather_destroy(&m->gather);
    pl_contact_bodies_destroy(m->touching);
    free(m->diagonal);
    pl_sparse_clear(&m->A);
    pl_factors_destroy(m);
    free(m->pins);
    free(m->gravity);
    free(m->keyframes);
    for (int32_t i = 0; m->drives && i < m->pin_count + m->obstacle_count; i++)
        pl_drive_clear(&m->drives[i]);
    free(m->drives);
    free(m->own_motions);
    pl_loads_destroy(&m->loads);
    free(m->groups);
    free(m->group_obstacle);
    free(m->first_vertex);
    free(m->first_tet);
    free(m->first_triangle);
    free(m->thickness);
    free(m->x0);
    free(m->v0);
    free(m->mass);
    free(m->free_vertex);
    free(m->free_row);
    free(m->held);
    free(m->coupling_start);
    free(m->coupling_vertex);
    free(m->coupling_value);
    free(m);
}

static void clear_build(pl_build *b)
{
    pl_layout_destroy(&b->layout);
    free(b->own.pins);
    free(b->own.obstacles);
}

static pl_status make_materials(pl_build *b)
{
    b->tets = b->layout.elements[PL_ELEMENT_TET].corner;
    pl_model *m = b->model;
    m->material_count = b->scene->material_count;
    m->materials = calloc((size_t)m->material_count + 1, sizeof *m->materials);
    b->materials = m->materials;
    pl_status status = m->materials ? PL_OK : PL_NO_MEMORY;
    for (int32_t i = 0; status == PL_OK && i < m->material_count; i++)
        status = pl_material_make(&b->scene->materials[i], &m->materials[i]);
    return status;
}

static pl_status set_free_rows(pl_build *b)
{
    pl_model *m = b->model;
    m->free_vertex = malloc((size_t)m->free_vertices * sizeof *m->free_vertex);
    m->free_row = malloc((size_t)m->vertices * sizeof *m->free_row);
    if (!m->free_vertex || !m->free_row)
        return PL_NO_MEMORY;
    m->held = b->layout.held; /* moved out of the layout */
    b->layout.held = NULL;
    int32_t row = 0;
    for (int64_t i = 0; i < m->vertices; i++) {
        bool free_there = m->held[i] != PL_AXES_ALL;
        m->free_row[i] = free_there ? row : -1;
        m->partly_held |= free_there && m->held[i];
        if (free_there)
            m->free_vertex[row++] = (int32_t)i;
    }
    return PL_OK;
}

/* diag(A) and, if the method solves with A, all of it. */
static pl_status set_diagonal_or_matrix(pl_build *b)
{
    pl_model *m = b->model;
    double *stiffness = malloc((size_t)m->vertices * sizeof *stiffness);
    m->diagonal = malloc((size_t)m->free_vertices * sizeof *m->diagonal);
    pl_status status = stiffness && m->diagonal ? PL_OK : PL_NO_MEMORY;
    if (status == PL_OK && pl_method_uses_matrix(m->solver.method)) {
        status = pl_matrix_assemble(m);
    } else if (status == PL_OK) {
        pl_matrix_vertex_stiffness(m, stiffness);
        for (int64_t i = 0; i < m->free_vertices; i++)
            m->diagonal[i] = stiffness[m->free_vertex[i]];
    }
    free(stiffness);
    return status;
}

static pl_status refuse_multigrid(pl_faults *faults)
{
    pl_faults_add(faults, "/solver/matrix", "unsupported",
                  "multigrid for a matrix on which it hardly converges, or a singular one",
                  "cholesky", "omit solver.matrix");
    return PL_INVALID;
}

/* What solves with the matrix. */
static pl_status make_factors(pl_build *b, pl_faults *faults)
{
    pl_status status = pl_factors_create(b->model, NULL);
    bool multigrid = b->model->solver.matrix == PL_MATRIX_MULTIGRID;
    return status == PL_FAILED && multigrid ? refuse_multigrid(faults) : status;
}

static pl_status build_parts(pl_build *b, pl_faults *faults)
{
    pl_status (*const parts[])(pl_build *) = {
        pl_build_own_motions, make_materials,  pl_build_bodies,
        pl_build_pins,        pl_build_loads,  set_free_rows,
        pl_build_touching,    pl_build_groups, set_diagonal_or_matrix};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pl_status status = parts[i](b);
        if (status != PL_OK)
            return status;
    }
    b->model->built_hash = pl_model_digest(b->model, b->scene, &b->layout, b->materials);
    b->model->hash = b->model->built_hash;
    if (!pl_method_uses_matrix(b->model->solver.method))
        return PL_OK;
    /* Devices solve with the matrix itself (backends/device/matrix.h); inertia keeps it regular. */
    pl_status status = b->scene->solver.device == PL_DEVICE_CPU ? make_factors(b, faults)
                       : b->model->inertia == 0                 ? pl_spectra_check(b->model)
                                                                : PL_OK;
    if (status == PL_FAILED) {
        pl_faults_add(faults, "/bodies", "singular_matrix", "a matrix without a Cholesky factor",
                      "positive masses and stiffnesses of comparable size",
                      "look for elements that are flat, or for densities and moduli that differ by "
                      "more than ten orders of magnitude");
        status = PL_INVALID;
    }
    return status;
}

pl_status pl_model_build(const pl_scene *scene, const pl_mesh *meshes, double a, pl_model **out,
                         pl_faults *faults)
{
    pl_build b = {.scene = scene, .meshes = meshes};
    pl_status status = pl_layout_create(scene, meshes, &b.layout, faults);
    if (status != PL_OK)
        return status;
    pl_model *m = b.model = calloc(1, sizeof *m);
    if (m)
        m->gravity = malloc(sizeof scene->gravity);
    if (m && m->gravity) {
        memcpy(m->gravity, scene->gravity, sizeof scene->gravity);
        m->vertices = b.layout.vertices;
        m->tets = b.layout.tets;
        m->free_vertices = b.layout.free_vertices;
        m->body_count = scene->body_count;
        m->pin_count = scene->pin_count;
        m->obstacle_count = scene->obstacle_count;
        m->h = scene->time.step;
        m->a = a;
        bool still = scene->time.integrator == PL_INTEGRATOR_QUASI_STATIC;
        m->inertia = still ? 0 : 1 / (a * a * m->h * m->h);
        m->steps = scene->time.steps;
        m->every = scene->output.every;
        m->integrator = scene->time.integrator;
        m->solver = scene->solver;
        m->solver.linear = pl_newton_linear(&scene->solver, m->free_vertices);
        m->detail = scene->output.metrics;
        m->lists_contacts = scene->output.fields & PL_OUTPUT_CONTACTS;
        status = build_parts(&b, faults);
    } else {
        status = PL_NO_MEMORY;
    }
    clear_build(&b);
    if (status != PL_OK) {
        pl_model_destroy(m);
        return status;
    }
    *out = m;
    return PL_OK;
}
