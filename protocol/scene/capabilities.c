/* capabilities.c - the capabilities of this version, read from the parameter tables. */
#include "engine/scene/carries.h"
#include "protocol/text/json.h"
#include "protocol/scene/params.h"
#include "protocol/scene/scene_json.h"

#include <string.h>

static const char *const kind_names[] = {
    [PL_PARAM_NUMBER] = "number",       [PL_PARAM_INTEGER] = "integer",
    [PL_PARAM_BOOLEAN] = "boolean",     [PL_PARAM_STRING] = "string",
    [PL_PARAM_CHOICE] = "choice",       [PL_PARAM_VECTOR] = "vector",
    [PL_PARAM_COUNTS] = "integers",     [PL_PARAM_OBJECT] = "object",
    [PL_PARAM_LIST] = "array",          [PL_PARAM_MAP] = "map",
    [PL_PARAM_REFERENCE] = "reference", [PL_PARAM_CUSTOM] = "other",
};

static void put_words(pl_json_writer *w, const char *const *words)
{
    pl_json_begin_array(w);
    for (; words && *words; words++)
        pl_json_put_string(w, *words);
    pl_json_end_array(w);
}

static void set_choices(pl_json_writer *w, const char *key, const char *table, const char *param)
{
    pl_json_key(w, key);
    put_words(w, pl_table_param(pl_table_named(table), param)->choices);
}

static void set_methods_that_carry(pl_json_writer *w, const char *key, unsigned traits)
{
    const char *const *methods = pl_table_param(pl_table_named("solver"), "method")->choices;
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (int32_t i = 0; methods[i]; i++)
        if (pl_method_takes((pl_method_kind)i, traits))
            pl_json_put_string(w, methods[i]);
    pl_json_end_array(w);
}

/* The methods that support obstacles, as constraints and as energies. */
static void set_obstacle_methods(pl_json_writer *w)
{
    pl_json_key(w, "obstacle_methods");
    pl_json_begin_object(w);
    set_methods_that_carry(w, "hard", PL_TRAIT_HARD);
    set_methods_that_carry(w, "energy", PL_TRAIT_NO_PROX);
    pl_json_end_object(w);
}

/* What each method supports: material models, and hard constraints, inextensible edges and contact between bodies. */
static void set_carries(pl_json_writer *w)
{
    const char *const *methods = pl_table_param(pl_table_named("solver"), "method")->choices;
    const char *const *models = pl_table_param(pl_table_named("material"), "model")->choices;
    pl_json_key(w, "carries");
    pl_json_begin_object(w);
    for (int32_t i = 0; methods[i]; i++) {
        pl_method_kind method = (pl_method_kind)i;
        pl_json_key(w, methods[i]);
        pl_json_begin_object(w);
        pl_json_key(w, "materials");
        pl_json_begin_array(w);
        for (int32_t k = 0; models[k]; k++)
            if (pl_method_takes(method, pl_material_traits((pl_material_kind)k)))
                pl_json_put_string(w, models[k]);
        pl_json_end_array(w);
        pl_json_set_boolean(w, "hard_constraints", pl_method_takes(method, PL_TRAIT_HARD));
        pl_json_set_boolean(w, "inextensible_edges", pl_method_takes(method, PL_TRAIT_HELD));
        pl_json_set_boolean(w, "contact", true);
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
}

/* The keys that select the variants of a union, after the words that stand for others. */
static void set_variants(pl_json_writer *w, const char *key, const char *table_name,
                         const char *const *words)
{
    const pl_param_table *table = pl_table_named(table_name);
    pl_json_key(w, key);
    pl_json_begin_array(w);
    for (; words && *words; words++)
        pl_json_put_string(w, *words);
    for (size_t i = 0; i < table->count; i++)
        if (table->params[i].variant && !table->params[i].accompanies)
            pl_json_put_string(w, table->params[i].key);
    pl_json_end_array(w);
}

static void put_numbers(pl_json_writer *w, const double *v, int n, bool integers)
{
    pl_json_begin_array(w);
    for (int i = 0; i < n; i++)
        integers ? pl_json_put_integer(w, (int64_t)v[i]) : pl_json_put_number(w, v[i], 17);
    pl_json_end_array(w);
}

/* A default that is not a single value is given in words. */
static void set_default(pl_json_writer *w, const pl_param *p)
{
    if (p->standard_text)
        pl_json_set_string(w, "default_text", p->standard_text);
    if (p->required || p->standard_text)
        return;
    pl_json_key(w, "default");
    if (p->kind == PL_PARAM_NUMBER)
        pl_json_put_number(w, p->standard[0], 17);
    else if (p->kind == PL_PARAM_INTEGER)
        pl_json_put_integer(w, (int64_t)p->standard[0]);
    else if (p->kind == PL_PARAM_BOOLEAN && p->choices)
        pl_json_put_string(w, p->choices[0]);
    else if (p->kind == PL_PARAM_BOOLEAN)
        pl_json_put_boolean(w, p->standard[0] != 0);
    else if (p->kind == PL_PARAM_CHOICE)
        pl_json_put_string(w, p->choices[(size_t)p->standard[0]]);
    else if (p->kind == PL_PARAM_VECTOR || p->kind == PL_PARAM_COUNTS ||
             p->custom == PL_CUSTOM_SCALE)
        put_numbers(w, p->standard, pl_param_components(p), p->kind == PL_PARAM_COUNTS);
    else
        pl_json_put_null(w);
}

static void set_range(pl_json_writer *w, const pl_param *p)
{
    const char *least = p->above_minimum ? "exclusive_minimum" : "minimum";
    const char *most = "maximum";
    if (p->maximum <= p->minimum)
        return;
    if (p->kind == PL_PARAM_LIST || p->kind == PL_PARAM_MAP) {
        least = "min_items";
        most = "max_items";
    } else if (p->kind == PL_PARAM_STRING) {
        least = "min_bytes";
        most = "max_bytes";
    }
    pl_json_set_number(w, least, p->minimum);
    pl_json_set_number(w, most, p->maximum);
}

static void set_param(pl_json_writer *w, const pl_param_table *table, const pl_param *p)
{
    pl_json_key(w, p->key);
    pl_json_begin_object(w);
    pl_json_set_string(w, "type", p->type ? p->type : kind_names[p->kind]);
    if (p->table)
        pl_json_set_string(w, "table", p->table->name);
    if (p->refers)
        pl_json_set_string(w, "refers", p->refers);
    if (p->unit)
        pl_json_set_string(w, "unit", p->unit);
    pl_json_set_boolean(w, "required", p->required);
    set_default(w, p);
    set_range(w, p);
    if (p->direction)
        pl_json_set_boolean(w, "direction", true);
    if (p->choices) {
        pl_json_key(w, "choices");
        put_words(w, p->choices);
    }
    if (p->variant)
        pl_json_set_boolean(w, "one_of", !p->accompanies);
    pl_json_set_string(w, "description", p->doc);
    pl_json_end_object(w);
}

static void set_tables(pl_json_writer *w)
{
    pl_json_key(w, "parameters");
    pl_json_begin_object(w);
    for (const pl_param_table *const *t = pl_param_tables(); *t; t++) {
        pl_json_key(w, (*t)->name);
        pl_json_begin_object(w);
        for (size_t i = 0; i < (*t)->count; i++)
            set_param(w, *t, &(*t)->params[i]);
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
}

static void set_scene_limits(pl_json_writer *w)
{
    pl_json_key(w, "scene_limits");
    pl_json_begin_object(w);
    pl_json_set_integer(w, "bytes", PL_SCENE_BYTES_MAX);
    pl_json_set_integer(w, "inline_mesh_numbers", PL_SCENE_INLINE_MAX);
    pl_json_set_integer(w, "cells", PL_SCENE_CELLS_MAX);
    pl_json_set_integer(w, "indices", PL_SCENE_INDICES_MAX);
    pl_json_set_integer(w, "labels", PL_SCENE_LABELS_MAX);
    pl_json_set_integer(w, "steps", PL_SCENE_STEPS_MAX);
    pl_json_set_integer(w, "uploads", PL_OUTLINE_UPLOADS_MAX);
    pl_json_end_object(w);
}

char *pl_capabilities_encode(const char *devices_json, const char *exports_json,
                             const char *limits_json)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "version", PLIANT_VERSION);
    set_choices(&w, "materials", "material", "model");
    set_choices(&w, "methods", "solver", "method");
    set_obstacle_methods(&w);
    set_carries(&w);
    set_choices(&w, "integrators", "time", "integrator");
    pl_json_set_raw(&w, "devices", devices_json);
    pl_json_set_raw(&w, "exports", exports_json);
    set_variants(&w, "mesh_sources", "mesh", NULL);
    set_choices(&w, "mesh_formats", "mesh", "format");
    set_variants(&w, "selections", "select",
                 pl_table_param(pl_table_named("pin"), "select")->choices);
    set_variants(&w, "shapes", "shape",
                 pl_table_param(pl_table_named("initial"), "shape")->choices);
    set_variants(&w, "obstacles", "obstacle", NULL);
    pl_json_set_raw(&w, "limits", limits_json);
    set_scene_limits(&w);
    set_tables(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}
