#include "engine/model/build/digest.h"

#include "engine/model/hash.h"
#include "engine/obstacles/solid.h"
#include "engine/scene/carries.h"

/* Structs are hashed field by field, because their padding is undefined. A new field changes the size and stops
 * compilation here, so that it is added to the hash or omitted on purpose. */
_Static_assert(sizeof(pl_solver_settings) == 120, "a new solver setting: does it decide bits?");
_Static_assert(sizeof(pl_scene_force) == 280, "a new field of forces: does it decide bits?");
/* Of a mesh source, only vertices and triangles count, inline or read from a file. */
_Static_assert(sizeof(pl_obstacle) - sizeof(pl_mesh_source) == 520,
               "a new field of obstacles: does it decide bits?");
_Static_assert(sizeof(pl_material_numbers) == 80,
               "a new number of materials: does it decide bits?");

/* The default hashes as it did before `auto` existed, so that earlier sessions go on. */
static pl_linear_kind hashed_linear(const pl_solver_settings *s)
{
    return !s->has_linear && s->linear == PL_LINEAR_AUTO ? PL_LINEAR_DIRECT : s->linear;
}

static uint64_t hash_solver(uint64_t hash, const pl_solver_settings *s)
{
    hash = pl_hash_i64(hash, s->method);
    hash = pl_hash_i64(hash, s->iterations);
    hash = pl_hash_f64(hash, s->tolerance);
    hash = pl_hash_i64(hash, s->stiffness);
    hash = pl_hash_f64(hash, s->weight_scale);
    hash = pl_hash_f64(hash, s->relaxation);
    hash = pl_hash_i64(hash, s->acceleration);
    hash = pl_hash_i64(hash, s->window);
    hash = pl_hash_i64(hash, pl_obstacles_are_hard(s));
    hash = pl_hash_f64(hash, s->contact_stiffness);
    hash = pl_hash_i64(hash, s->on_not_converged); /* a failed step is retried in halves */
    hash = pl_hash_i64(hash, s->device);
    if (s->device != PL_DEVICE_CPU)
        hash = pl_hash_i64(hash, pl_solver_is_single(s));
    hash = pl_hash_i64(hash, hashed_linear(s));
    if (s->matrix == PL_MATRIX_MULTIGRID)
        hash = pl_hash(hash, "multigrid", 9);
    hash = pl_hash_i64(hash, s->preconditioner);
    hash = pl_hash_i64(hash, s->jacobi_refresh);
    hash = pl_hash_i64(hash, s->line_search);
    hash = pl_hash_i64(hash, s->initial_guess);
    hash = pl_hash_f64(hash, s->rho);
    hash = pl_hash_i64(hash, s->phases);
    return pl_hash_i64(hash, s->tune);
}

static uint64_t hash_solid(uint64_t hash, const pl_obstacle *o)
{
    const pl_mesh_source *m = &o->mesh.source;
    const pl_transform *t = &o->mesh.transform;
    hash = pl_hash_doubles(hash, o->heights, (int64_t)o->rows * o->columns);
    hash = pl_hash_i64(hash, o->columns);
    hash = pl_hash_f64(hash, o->spacing);
    hash = pl_hash_f64(hash, o->has_depth ? o->depth : -1);
    hash = pl_hash_doubles(hash, m->vertices, 3 * m->vertex_count);
    hash = pl_hash(hash, m->triangles, (size_t)(3 * m->triangle_count) * sizeof *m->triangles);
    hash = pl_hash_doubles(hash, t->scale, 3);
    hash = pl_hash_doubles(hash, t->rotate_axis, 3);
    hash = pl_hash_f64(hash, t->rotate_degrees);
    return pl_hash_doubles(hash, t->translate, 3);
}

static uint64_t hash_obstacle(uint64_t hash, const pl_obstacle *o)
{
    hash = pl_hash_i64(hash, o->kind);
    hash = pl_hash_doubles(hash, o->normal, 3);
    hash = pl_hash_f64(hash, o->offset);
    hash = pl_hash_doubles(hash, o->center, 3);
    hash = pl_hash_doubles(hash, o->axis, 3);
    hash = pl_hash_f64(hash, o->radius);
    hash = pl_hash_f64(hash, o->tube);
    hash = pl_hash_i64(hash, o->has_height);
    hash = pl_hash_f64(hash, o->height);
    hash = pl_hash_doubles(hash, o->size, 3);
    hash = pl_hash_f64(hash, o->rounding);
    hash = pl_hash_doubles(hash, o->place.rotate_axis, 3);
    hash = pl_hash_f64(hash, o->place.rotate_degrees);
    hash = pl_hash_i64(hash, o->kind == PL_OBSTACLE_MESH ? o->mesh.inside : o->inside);
    if (pl_obstacle_is_solid(o))
        hash = hash_solid(hash, o);
    hash = pl_hash_f64(hash, o->friction);
    if (o->restitution != 0)
        hash = pl_hash_f64(hash, o->restitution);
    if (o->margin != 0)
        hash = pl_hash_f64(pl_hash(hash, "margin", 6), o->margin);
    return pl_hash_motion(hash, &o->motion);
}

static uint64_t hash_load(uint64_t hash, const pl_load_model *load)
{
    const pl_scene_force *l = &load->load;
    const int64_t words[] = {l->kind, l->has_until, l->has_body, l->body, l->each};
    const double numbers[] = {l->from, l->until, l->density, l->drag, l->pressure};
    hash = pl_hash(hash, words, sizeof words);
    hash = pl_hash(hash, numbers, sizeof numbers);
    hash = pl_hash_doubles(hash, l->velocity, 3);
    hash = pl_hash_doubles(hash, l->force, 3);
    return pl_hash_ints(hash, load->vertex, load->count);
}

static uint64_t hash_material(uint64_t hash, const pl_material *m, const pl_material_numbers *n)
{
    hash = pl_hash_i64(hash, m->model);
    hash = pl_hash_i64(hash, m->invertible);
    hash = pl_hash_doubles(hash, n->constants, PL_STRETCH_CONSTANTS_MAX);
    hash = pl_hash_f64(hash, n->shear);
    return pl_hash_doubles(hash, n->shared, n->shared_count);
}

static uint64_t hash_matrix(uint64_t hash, const pl_model *m)
{
    if (!m->A.column)
        return pl_hash_doubles(hash, m->diagonal, m->free_vertices);
    int64_t nonzeros = m->A.column[m->A.n], coupled = m->coupling_start[m->free_vertices];
    hash = pl_hash(hash, m->A.column, (size_t)(m->A.n + 1) * sizeof *m->A.column);
    hash = pl_hash_ints(hash, m->A.row, nonzeros);
    hash = pl_hash_doubles(hash, m->A.value, nonzeros);
    hash = pl_hash_ints(hash, m->coupling_vertex, coupled);
    return pl_hash_doubles(hash, m->coupling_value, coupled);
}

/* A kind's elements, and each one's material. Rest shapes are hashed through the data made from them. */
static uint64_t hash_elements(uint64_t hash, const pl_elements *e)
{
    hash = pl_hash_i64(hash, e->count);
    hash = pl_hash_ints(hash, e->corner, e->corners * e->count);
    return pl_hash_ints(hash, e->material, e->count);
}

static uint64_t hash_touching(uint64_t hash, const pl_contact_bodies *t)
{
    const int64_t cells = (int64_t)t->count * t->count;
    hash = pl_hash(hash, "contact", 7);
    hash = pl_hash(hash, t->ignore, (size_t)cells);
    hash = pl_hash_doubles(hash, t->distance, cells);
    hash = pl_hash_doubles(hash, t->friction, cells);
    hash = pl_hash_doubles(hash, t->restitution, cells);
    return pl_hash_i64(hash, t->check);
}

uint64_t pl_model_digest(const pl_model *m, const pl_scene *scene, const pl_layout *layout,
                         const pl_material_numbers *materials)
{
    uint64_t hash = PL_HASH_START;
    const int64_t counts[] = {m->vertices,  m->tets,           m->free_vertices, m->body_count,
                              m->pin_count, m->obstacle_count, m->group_count,   m->steps,
                              m->every,     (int)m->integrator};
    hash = pl_hash(hash, counts, sizeof counts);
    hash = pl_hash_f64(hash, m->h);
    hash = pl_hash_f64(hash, m->a);
    hash = pl_hash_doubles(hash, m->gravity, 3);
    hash = hash_solver(hash, &m->solver);
    hash = pl_hash_doubles(hash, layout->rest, 3 * m->vertices);
    hash = pl_hash_doubles(hash, m->x0, 3 * m->vertices);
    hash = pl_hash_doubles(hash, m->v0, 3 * m->vertices);
    hash = pl_hash_doubles(hash, m->mass, m->vertices);
    for (int32_t b = 0; b < m->body_count; b++)
        hash = pl_hash_i64(hash, m->first_vertex[b]);
    for (int32_t i = 0; i < scene->material_count; i++)
        hash = hash_material(hash, &scene->materials[i], &materials[i]);
    for (int k = 0; k < PL_ELEMENT_KINDS; k++)
        hash = hash_elements(hash, &layout->elements[k]);
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        hash = pl_hash_doubles(hash, group->weight, group->blocks * PL_BLOCK);
        if (group->ops->hash)
            hash = group->ops->hash(group, hash);
    }
    for (int32_t p = 0; p < m->pin_count; p++) {
        hash = pl_hash_ints(hash, m->pins[p].vertex, m->pins[p].count);
        hash = pl_hash_i64(hash, m->pins[p].axes);
        hash = pl_hash_motion(hash, &m->pins[p].motion);
    }
    for (int32_t o = 0; o < m->obstacle_count; o++)
        hash = hash_obstacle(hash, &scene->obstacles[o]);
    for (int32_t f = 0; f < m->loads.count; f++)
        hash = hash_load(hash, &m->loads.list[f]);
    if (m->touching)
        hash = hash_touching(hash, m->touching);
    return hash_matrix(hash, m);
}
