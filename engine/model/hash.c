#include "engine/model/hash.h"

#include "engine/scene/carries.h"
#include "engine/obstacles/solid.h"

#include <string.h>

uint64_t pl_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        if (size - i >= 8)
            memcpy(&word, bytes + i, 8);
        else
            memcpy(&word, bytes + i, size - i);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    return (hash ^ size) * UINT64_C(0x9E3779B97F4A7C15);
}

static uint64_t hash_i64(uint64_t hash, int64_t value)
{
    return pl_hash(hash, &value, sizeof value);
}

static uint64_t hash_f64(uint64_t hash, double value)
{
    return pl_hash(hash, &value, sizeof value);
}

static uint64_t hash_doubles(uint64_t hash, const double *values, int64_t count)
{
    return pl_hash(hash, values, (size_t)count * sizeof *values);
}

static uint64_t hash_ints(uint64_t hash, const int32_t *values, int64_t count)
{
    return pl_hash(hash, values, (size_t)count * sizeof *values);
}

/* Structs are hashed field by field, for their padding is anything. A field more changes the size
 * and stops here, to be added to the hash or left out of it on purpose. */
_Static_assert(sizeof(pl_solver_settings) == 120, "a new solver setting: does it decide bits?");
_Static_assert(sizeof(pl_scene_force) == 280, "a new field of forces: does it decide bits?");
_Static_assert(sizeof(pl_motion) == 120, "a new field of motions: does it decide bits?");
/* Of a mesh source only vertices and triangles count, inline or read from a file. */
_Static_assert(sizeof(pl_obstacle) - sizeof(pl_mesh_source) == 512,
               "a new field of obstacles: does it decide bits?");
_Static_assert(sizeof(pl_material_numbers) == 80,
               "a new number of materials: does it decide bits?");

static uint64_t hash_solver(uint64_t hash, const pl_solver_settings *s)
{
    hash = hash_i64(hash, s->method);
    hash = hash_i64(hash, s->iterations);
    hash = hash_f64(hash, s->tolerance);
    hash = hash_i64(hash, s->stiffness);
    hash = hash_f64(hash, s->weight_scale);
    hash = hash_f64(hash, s->relaxation);
    hash = hash_i64(hash, s->acceleration);
    hash = hash_i64(hash, s->window);
    hash = hash_i64(hash, pl_obstacles_are_hard(s));
    hash = hash_f64(hash, s->contact_stiffness);
    hash = hash_i64(hash, s->on_not_converged); /* a failed step is retried in halves */
    hash = hash_i64(hash, s->device);
    if (s->device != PL_DEVICE_CPU)
        hash = hash_i64(hash, pl_solver_is_single(s));
    hash = hash_i64(hash, s->linear);
    hash = hash_i64(hash, s->preconditioner);
    hash = hash_i64(hash, s->jacobi_refresh);
    hash = hash_i64(hash, s->line_search);
    hash = hash_i64(hash, s->initial_guess);
    hash = hash_f64(hash, s->rho);
    hash = hash_i64(hash, s->phases);
    return hash_i64(hash, s->tune);
}

uint64_t pl_hash_motion(uint64_t hash, const pl_motion *m)
{
    hash = hash_i64(hash, m->present);
    hash = hash_doubles(hash, m->velocity, 3);
    hash = hash_doubles(hash, m->axis, 3);
    hash = hash_f64(hash, m->degrees_per_second);
    hash = hash_i64(hash, m->interpolation);
    hash = hash_i64(hash, m->keyframe_count);
    for (int32_t k = 0; k < m->keyframe_count; k++) {
        const pl_keyframe *key = &m->keyframes[k];
        hash = hash_f64(hash, key->time);
        hash = hash_doubles(hash, key->translate, 3);
        hash = hash_doubles(hash, key->axis, 3);
        hash = hash_f64(hash, key->degrees);
    }
    hash = hash_i64(hash, m->has_origin);
    return hash_doubles(hash, m->origin, 3);
}

static uint64_t hash_solid(uint64_t hash, const pl_obstacle *o)
{
    const pl_mesh_source *m = &o->mesh.source;
    const pl_transform *t = &o->mesh.transform;
    hash = hash_doubles(hash, o->heights, (int64_t)o->rows * o->columns);
    hash = hash_i64(hash, o->columns);
    hash = hash_f64(hash, o->spacing);
    hash = hash_f64(hash, o->has_depth ? o->depth : -1);
    hash = hash_doubles(hash, m->vertices, 3 * m->vertex_count);
    hash = pl_hash(hash, m->triangles, (size_t)(3 * m->triangle_count) * sizeof *m->triangles);
    hash = hash_doubles(hash, t->scale, 3);
    hash = hash_doubles(hash, t->rotate_axis, 3);
    hash = hash_f64(hash, t->rotate_degrees);
    return hash_doubles(hash, t->translate, 3);
}

static uint64_t hash_obstacle(uint64_t hash, const pl_obstacle *o)
{
    hash = hash_i64(hash, o->kind);
    hash = hash_doubles(hash, o->normal, 3);
    hash = hash_f64(hash, o->offset);
    hash = hash_doubles(hash, o->center, 3);
    hash = hash_doubles(hash, o->axis, 3);
    hash = hash_f64(hash, o->radius);
    hash = hash_f64(hash, o->tube);
    hash = hash_i64(hash, o->has_height);
    hash = hash_f64(hash, o->height);
    hash = hash_doubles(hash, o->size, 3);
    hash = hash_f64(hash, o->rounding);
    hash = hash_doubles(hash, o->place.rotate_axis, 3);
    hash = hash_f64(hash, o->place.rotate_degrees);
    hash = hash_i64(hash, o->kind == PL_OBSTACLE_MESH ? o->mesh.inside : o->inside);
    if (pl_obstacle_is_solid(o))
        hash = hash_solid(hash, o);
    hash = hash_f64(hash, o->friction);
    if (o->restitution != 0)
        hash = hash_f64(hash, o->restitution);
    return pl_hash_motion(hash, &o->motion);
}

static uint64_t hash_load(uint64_t hash, const pl_load_model *load)
{
    const pl_scene_force *l = &load->load;
    const int64_t words[] = {l->kind, l->has_until, l->has_body, l->body, l->each};
    const double numbers[] = {l->from, l->until, l->density, l->drag, l->pressure};
    hash = pl_hash(hash, words, sizeof words);
    hash = pl_hash(hash, numbers, sizeof numbers);
    hash = hash_doubles(hash, l->velocity, 3);
    hash = hash_doubles(hash, l->force, 3);
    return hash_ints(hash, load->vertex, load->count);
}

static uint64_t hash_material(uint64_t hash, const pl_material *m, const pl_material_numbers *n)
{
    hash = hash_i64(hash, m->model);
    hash = hash_i64(hash, m->invertible);
    hash = hash_doubles(hash, n->constants, PL_STRETCH_CONSTANTS_MAX);
    hash = hash_f64(hash, n->shear);
    return hash_doubles(hash, n->shared, n->shared_count);
}

static uint64_t hash_matrix(uint64_t hash, const pl_model *m)
{
    if (!m->A.column)
        return hash_doubles(hash, m->diagonal, m->free_vertices);
    int64_t nonzeros = m->A.column[m->A.n], coupled = m->coupling_start[m->free_vertices];
    hash = pl_hash(hash, m->A.column, (size_t)(m->A.n + 1) * sizeof *m->A.column);
    hash = hash_ints(hash, m->A.row, nonzeros);
    hash = hash_doubles(hash, m->A.value, nonzeros);
    hash = hash_ints(hash, m->coupling_vertex, coupled);
    return hash_doubles(hash, m->coupling_value, coupled);
}

/* A kind's elements, and each one's material. Rest shapes are hashed as what is made of them. */
static uint64_t hash_elements(uint64_t hash, const pl_elements *e)
{
    hash = hash_i64(hash, e->count);
    hash = hash_ints(hash, e->corner, e->corners * e->count);
    return hash_ints(hash, e->material, e->count);
}

uint64_t pl_model_hash_make(const pl_model *m, const pl_scene *scene, const pl_layout *layout,
                            const pl_material_numbers *materials)
{
    uint64_t hash = PL_HASH_START;
    const int64_t counts[] = {m->vertices,  m->tets,           m->free_vertices, m->body_count,
                              m->pin_count, m->obstacle_count, m->group_count,   m->steps,
                              m->every,     (int)m->integrator};
    hash = pl_hash(hash, counts, sizeof counts);
    hash = hash_f64(hash, m->h);
    hash = hash_f64(hash, m->a);
    hash = hash_doubles(hash, m->gravity, 3);
    hash = hash_solver(hash, &m->solver);
    hash = hash_doubles(hash, layout->rest, 3 * m->vertices);
    hash = hash_doubles(hash, m->x0, 3 * m->vertices);
    hash = hash_doubles(hash, m->v0, 3 * m->vertices);
    hash = hash_doubles(hash, m->mass, m->vertices);
    for (int32_t b = 0; b < m->body_count; b++)
        hash = hash_i64(hash, m->first_vertex[b]);
    for (int32_t i = 0; i < scene->material_count; i++)
        hash = hash_material(hash, &scene->materials[i], &materials[i]);
    for (int k = 0; k < PL_ELEMENT_KINDS; k++)
        hash = hash_elements(hash, &layout->elements[k]);
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        hash = hash_doubles(hash, group->weight, group->blocks * PL_BLOCK);
        if (group->ops->hash)
            hash = group->ops->hash(group, hash);
    }
    for (int32_t p = 0; p < m->pin_count; p++) {
        hash = hash_ints(hash, m->pins[p].vertex, m->pins[p].count);
        hash = hash_i64(hash, m->pins[p].axes);
        hash = pl_hash_motion(hash, &m->pins[p].motion);
    }
    for (int32_t o = 0; o < m->obstacle_count; o++)
        hash = hash_obstacle(hash, &scene->obstacles[o]);
    for (int32_t f = 0; f < m->loads.count; f++)
        hash = hash_load(hash, &m->loads.list[f]);
    return hash_matrix(hash, m);
}
