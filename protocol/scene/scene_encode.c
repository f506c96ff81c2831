/* scene_encode.c - the effective scene, written by the same tables that decode it, so that decoding it again gives
 * the same scene. */
#include "protocol/scene/scene_json.h"

#include "engine/scene/scene.h"
#include "protocol/text/json.h"
#include "protocol/scene/material_decode.h"
#include "protocol/scene/params_rows.h"

#include <string.h>

static void encode_members(pl_json_writer *w, const pl_scene *scene, const pl_param_table *table,
                           const char *base);

/* ---- values ---- */

static int64_t load_integer(const void *at, size_t size)
{
    if (size == sizeof(bool))
        return *(const bool *)at;
    if (size == sizeof(int32_t))
        return *(const int32_t *)at;
    return *(const int64_t *)at;
}

static void put_numbers(pl_json_writer *w, const double *v, int64_t n)
{
    pl_json_begin_array(w);
    for (int64_t i = 0; i < n; i++)
        pl_json_put_number(w, v[i], 17);
    pl_json_end_array(w);
}

static void put_integers(pl_json_writer *w, const int64_t *v, int64_t n)
{
    pl_json_begin_array(w);
    for (int64_t i = 0; i < n; i++)
        pl_json_put_integer(w, v[i]);
    pl_json_end_array(w);
}

static void put_counts(pl_json_writer *w, const int32_t *v, int n)
{
    pl_json_begin_array(w);
    for (int i = 0; i < n; i++)
        pl_json_put_integer(w, v[i]);
    pl_json_end_array(w);
}

static void put_upload(pl_json_writer *w, const pl_mesh_source *mesh)
{
    if (mesh->upload_count == 1) {
        pl_json_put_string(w, mesh->upload[0]);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, "node", mesh->upload[0]);
    pl_json_set_string(w, "ele", mesh->upload[1]);
    pl_json_end_object(w);
}

static void put_side(pl_json_writer *w, const pl_selection *select)
{
    char side[3] = {select->side_sign < 0 ? '-' : '+', "xyz"[select->side_axis], 0};
    pl_json_put_string(w, side);
}

static void put_at(pl_json_writer *w, const pl_expectation *e)
{
    if (e->when == PL_WHEN_TIME)
        pl_json_put_number(w, e->at, 17);
    else
        pl_json_put_string(w, pl_when_words[e->when]);
}

/* The words of an array whose bits are set. */
static void put_words(pl_json_writer *w, const char *const *names, int count, int32_t bits)
{
    pl_json_begin_array(w);
    for (int c = 0; c < count; c++)
        if (bits >> c & 1)
            pl_json_put_string(w, names[c]);
    pl_json_end_array(w);
}

static void put_axes(pl_json_writer *w, int32_t axes)
{
    static const char *const names[] = {"x", "y", "z"};
    put_words(w, names, 3, axes);
}

static void put_fields(pl_json_writer *w, int32_t fields)
{
    static const char *const names[] = {"position", "velocity", "stress", "element_stress",
                                        "contacts"};
    put_words(w, names, sizeof names / sizeof *names, fields);
}

static void put_by_tag(pl_json_writer *w, const pl_scene *scene, const pl_body *body)
{
    pl_json_begin_object(w);
    for (int32_t k = 0; k < body->tag_material_count; k++)
        pl_json_set_string(w, body->tag_materials[k].tag,
                           scene->materials[body->tag_materials[k].material].name);
    pl_json_end_object(w);
}

static void put_cores(pl_json_writer *w, const pl_resources *r)
{
    char range[32];
    snprintf(range, sizeof range, "%d-%d", r->cores, r->cores_most);
    if (r->cores_most > r->cores)
        pl_json_put_string(w, range);
    else
        pl_json_put_integer(w, r->cores);
}

static void put_after(pl_json_writer *w, const pl_resources *r)
{
    pl_json_begin_array(w);
    for (int32_t i = 0; i < r->after_count; i++)
        pl_json_put_string(w, r->after[i]);
    pl_json_end_array(w);
}

static void put_between(pl_json_writer *w, const pl_scene *scene, const int32_t *bodies)
{
    pl_json_begin_array(w);
    for (int k = 0; k < 2; k++)
        pl_json_put_string(w, scene->bodies[bodies[k]].name);
    pl_json_end_array(w);
}

static void put_heights(pl_json_writer *w, const pl_obstacle *o)
{
    pl_json_begin_array(w);
    for (int32_t r = 0; r < o->rows; r++)
        put_numbers(w, o->heights + (int64_t)r * o->columns, o->columns);
    pl_json_end_array(w);
}

static void put_pairs(pl_json_writer *w, const double (*pairs)[2], int32_t n)
{
    pl_json_begin_array(w);
    for (int32_t i = 0; i < n; i++)
        put_numbers(w, pairs[i], 2);
    pl_json_end_array(w);
}

static void put_splines(pl_json_writer *w, const pl_splines *splines)
{
    static const char *const functions[] = {"a", "b", "c"};
    if (splines->kind != PL_SPLINES_POINTS) {
        pl_json_put_string(w, splines->kind == PL_SPLINES_A ? "A" : "B");
        return;
    }
    pl_json_begin_object(w);
    for (int f = 0; f < 3; f++)
        if (splines->count[f] > 0) {
            pl_json_key(w, functions[f]);
            put_pairs(w, splines->points[f], splines->count[f]);
        }
    pl_json_end_object(w);
}

/* A material's numbers are written in one form only. */
static bool material_leaves_out(const pl_material *m, const pl_param *p)
{
    const pl_splines_kind kind = m->splines.kind;
    if (strcmp(p->key, "young") == 0 || strcmp(p->key, "poisson") == 0)
        return m->has_lame || m->has_constants || kind == PL_SPLINES_POINTS ||
               kind == PL_SPLINES_CURVE;
    if (p->custom == PL_CUSTOM_SPLINES)
        return kind == PL_SPLINES_NONE || kind == PL_SPLINES_CURVE;
    return p->custom == PL_CUSTOM_CURVE && kind != PL_SPLINES_CURVE;
}

/* Wang's constants of a model: all have s0 and s1. */
static bool has_constant(const pl_rubber_constants *c, const pl_param *p)
{
    return p->offset < offsetof(pl_rubber_constants, s2) ||
           *(const double *)((const char *)c + p->offset) != 0;
}

static void put_custom(pl_json_writer *w, const pl_scene *scene, const pl_param *p,
                       const char *base)
{
    const pl_mesh_source *mesh = (const void *)base;
    const pl_selection *select = (const void *)base;
    switch (p->custom) {
    case PL_CUSTOM_VERSION:
        pl_json_put_integer(w, 1);
        break;
    case PL_CUSTOM_SCALE:
        put_numbers(w, (const double *)(base + p->offset), 3);
        break;
    case PL_CUSTOM_UPLOAD:
        put_upload(w, mesh);
        break;
    case PL_CUSTOM_VERTICES:
        put_numbers(w, mesh->vertices, 3 * mesh->vertex_count);
        break;
    case PL_CUSTOM_TETS:
        put_integers(w, mesh->tets, 4 * mesh->tet_count);
        break;
    case PL_CUSTOM_HEIGHTS:
        put_heights(w, (const void *)base);
        break;
    case PL_CUSTOM_TRIANGLES:
        put_integers(w, mesh->triangles, 3 * mesh->triangle_count);
        break;
    case PL_CUSTOM_EDGES:
        put_integers(w, mesh->edges, 2 * mesh->edge_count);
        break;
    case PL_CUSTOM_SIDE:
        put_side(w, select);
        break;
    case PL_CUSTOM_INDICES:
        put_integers(w, select->indices, select->index_count);
        break;
    case PL_CUSTOM_BY_TAG:
        put_by_tag(w, scene, (const void *)base);
        break;
    case PL_CUSTOM_TAG:
        pl_json_put_string(w, select->tag);
        break;
    case PL_CUSTOM_AT:
        put_at(w, (const void *)base);
        break;
    case PL_CUSTOM_AXES:
        put_axes(w, *(const int32_t *)(base + p->offset));
        break;
    case PL_CUSTOM_FIELDS:
        put_fields(w, *(const int32_t *)(base + p->offset));
        break;
    case PL_CUSTOM_SPLINES:
        put_splines(w, &((const pl_material *)(const void *)base)->splines);
        break;
    case PL_CUSTOM_CURVE: {
        const pl_splines *splines = &((const pl_material *)(const void *)base)->splines;
        put_pairs(w, splines->curve, splines->curve_count);
        break;
    }
    case PL_CUSTOM_POINTS: {
        const pl_damping_points *points = (const void *)(base + p->offset);
        put_pairs(w, points->points, points->count);
        break;
    }
    case PL_CUSTOM_BETWEEN:
        put_between(w, scene, (const int32_t *)(const void *)(base + p->offset));
        break;
    case PL_CUSTOM_CORES:
        put_cores(w, (const void *)base);
        break;
    case PL_CUSTOM_AFTER:
        put_after(w, (const void *)base);
        break;
    case PL_CUSTOM_METADATA: /* not kept in the struct: left_out() */
    case PL_CUSTOM_LABELS:
    case PL_CUSTOM_PRIORITY:
    case PL_CUSTOM_WEBHOOK:
    case PL_CUSTOM_NONE:
    case PL_CUSTOM_COUNT:
        pl_json_put_null(w);
        break;
    }
}

/* ---- objects, lists, maps ---- */

static int kind_of(const pl_param_table *table, const char *base)
{
    int kind;
    memcpy(&kind, base + table->kind_offset, sizeof kind);
    return kind;
}

/* An object, or the word that stands for it. Words are the first kinds of their union. */
static void put_object(pl_json_writer *w, const pl_scene *scene, const pl_param *p, const char *at)
{
    int words = 0;
    while (p->choices && p->choices[words])
        words++;
    if (words > 0 && kind_of(p->table, at) < words)
        pl_json_put_string(w, p->choices[kind_of(p->table, at)]);
    else
        encode_members(w, scene, p->table, at);
}

static const char *member(const pl_param *list, const void *base, int64_t i)
{
    const char *members = *(char *const *)((const char *)base + list->offset);
    return members + (size_t)i * list->size;
}

static const char *member_name(const pl_param *list, const void *base, int64_t i)
{
    return *(char *const *)member(list, base, i);
}

static void put_members(pl_json_writer *w, const pl_scene *scene, const pl_param *p,
                        const char *base)
{
    int32_t count = *(const int32_t *)(base + p->count_offset);
    bool map = p->kind == PL_PARAM_MAP;
    map ? pl_json_begin_object(w) : pl_json_begin_array(w);
    for (int32_t i = 0; i < count; i++) {
        if (map)
            pl_json_key(w, member_name(p, base, i));
        encode_members(w, scene, p->table, member(p, base, i));
    }
    map ? pl_json_end_object(w) : pl_json_end_array(w);
}

/* The words besides false and true come first. */
static void put_boolean(pl_json_writer *w, const pl_param *p, int64_t value)
{
    for (const char *const *word = p->choices; word && *word; word++)
        if (value-- == 0) {
            pl_json_put_string(w, *word);
            return;
        }
    pl_json_put_boolean(w, value != 0);
}

static void put_param(pl_json_writer *w, const pl_scene *scene, const pl_param *p, const char *base)
{
    const char *at = base + p->offset;
    switch (p->kind) {
    case PL_PARAM_NUMBER:
        pl_json_put_number(w, *(const double *)at, 17);
        break;
    case PL_PARAM_INTEGER:
        pl_json_put_integer(w, load_integer(at, p->size));
        break;
    case PL_PARAM_BOOLEAN:
        put_boolean(w, p, load_integer(at, p->size));
        break;
    case PL_PARAM_STRING:
        pl_json_put_string(w, *(char *const *)at);
        break;
    case PL_PARAM_CHOICE:
        pl_json_put_string(w, p->choices[load_integer(at, p->size)]);
        break;
    case PL_PARAM_VECTOR:
        put_numbers(w, (const double *)at, pl_param_components(p));
        break;
    case PL_PARAM_COUNTS:
        put_counts(w, (const int32_t *)at, pl_param_components(p));
        break;
    case PL_PARAM_OBJECT:
        put_object(w, scene, p, at);
        break;
    case PL_PARAM_LIST:
    case PL_PARAM_MAP:
        put_members(w, scene, p, base);
        break;
    case PL_PARAM_REFERENCE:
        pl_json_put_string(w, member_name(pl_table_param(&pl_scene_table, p->refers), scene,
                                          load_integer(at, sizeof(int32_t))));
        break;
    case PL_PARAM_CUSTOM:
        put_custom(w, scene, p, base);
        break;
    }
}

/* An inline mesh may lack kinds of elements. */
static bool no_cells(const pl_mesh_source *mesh, pl_custom kind)
{
    if (kind == PL_CUSTOM_TETS)
        return mesh->tet_count == 0;
    return kind == PL_CUSTOM_TRIANGLES ? mesh->triangle_count == 0 : mesh->edge_count == 0;
}

/* What is omitted: the other variants of a union; values that were not given and have no substitute, including an
 * empty list inside something; the rates of a motion by keyframes; values that the struct does not keep; and the
 * derived one of duration and steps. */
static bool left_out(const pl_param_table *table, const pl_param *p, const char *base)
{
    const double *v = (const double *)(base + p->offset);
    if (table->one_of && p->variant && p->variant != 1 + kind_of(table, base))
        return true;
    if (p->flagged && !*(const bool *)(base + p->flag_offset))
        return true;
    if (p->kind == PL_PARAM_STRING && !*(char *const *)(base + p->offset))
        return true;
    if (p->kind == PL_PARAM_VECTOR && p->direction && v[0] == 0 && v[1] == 0 && v[2] == 0)
        return true;
    if (p->custom == PL_CUSTOM_TETS || p->custom == PL_CUSTOM_TRIANGLES ||
        p->custom == PL_CUSTOM_EDGES)
        return no_cells((const void *)base, p->custom);
    if (p->kind == PL_PARAM_LIST && strcmp(table->name, "scene") != 0)
        return *(const int32_t *)(base + p->count_offset) == 0;
    if (strcmp(table->name, "motion") == 0 &&
        ((const pl_motion *)(const void *)base)->keyframe_count)
        return strcmp(p->key, "velocity") == 0 || strcmp(p->key, "degrees_per_second") == 0;
    if (strcmp(table->name, "material") == 0)
        return material_leaves_out((const void *)base, p);
    if (p->custom == PL_CUSTOM_POINTS &&
        ((const pl_damping_points *)(const void *)(base + p->offset))->count == 0)
        return true;
    if (strcmp(table->name, "material.damping") == 0)
        return !pl_damping_uses((const void *)base, p->key);
    if (strcmp(table->name, "constants") == 0)
        return !has_constant((const void *)base, p);
    if (p->kind == PL_PARAM_CUSTOM)
        return p->custom == PL_CUSTOM_METADATA || p->custom == PL_CUSTOM_LABELS ||
               p->custom == PL_CUSTOM_PRIORITY || p->custom == PL_CUSTOM_WEBHOOK;
    if (strcmp(table->name, "time") != 0)
        return false;
    const pl_time *time = (const void *)base;
    bool length = strcmp(p->key, "duration") == 0 || strcmp(p->key, "steps") == 0;
    if (time->steps == PL_STEPS_ENDLESS && length)
        return true;
    bool by_steps = time->duration == (double)time->steps * time->step;
    return strcmp(p->key, by_steps ? "duration" : "steps") == 0;
}

static void encode_members(pl_json_writer *w, const pl_scene *scene, const pl_param_table *table,
                           const char *base)
{
    pl_json_begin_object(w);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        if (left_out(table, p, base))
            continue;
        pl_json_key(w, p->key);
        put_param(w, scene, p, base);
    }
    pl_json_end_object(w);
}

char *pl_scene_encode(const pl_scene *scene)
{
    pl_json_writer w = {0};
    pl_scene posted = *scene;
    if (scene->solver.automatic)
        posted.solver.method = PL_METHOD_AUTO;
    encode_members(&w, scene, &pl_scene_table, (const char *)&posted);
    return pl_json_finish(&w, NULL);
}

void pl_obstacle_put(pl_json_writer *w, const pl_obstacle *obstacle)
{
    encode_members(w, NULL, pl_table_named("obstacle"), (const char *)obstacle);
}
