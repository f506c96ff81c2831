#include "protocol/scene/control_decode.h"

#include "engine/scene/change.h"
#include "protocol/scene/control_json.h"
#include "protocol/text/json_load.h"
#include "protocol/scene/material_decode.h"
#include "protocol/scene/params_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules over several keys ---- */

/* A key that is undefined for the named thing. */
static void refuse_key(pl_decoder *d, bool given, const char *key, const char *of,
                       const char *expected)
{
    if (given)
        pl_decode_conflict(d, key, of, expected);
}

void pl_check_control_motion(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_change_motion *c = out;
    c->motion.present = true;
    if (clean && c->motion.has_origin) {
        size_t mark = pl_decode_enter(d, "motion");
        pl_decode_conflict(d, "origin", "a control",
                           "no such key: the scene's origin cannot change");
        pl_decode_leave(d, mark);
    }
}

void pl_check_control_force(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_change_force *c = out;
    const pl_scene *scene = d->root;
    if (!clean || scene->force_count == 0)
        return;
    static const char *const kinds[] = {"a wind", "a point load", "a pressure"};
    static const char *const takes[] = {"velocity, density, drag", "force", "pressure"};
    pl_load_kind kind = scene->forces[c->index].kind;
    bool wind = kind == PL_LOAD_WIND, point = kind == PL_LOAD_POINT;
    refuse_key(d, c->has_velocity && !wind, "velocity", kinds[kind], takes[kind]);
    refuse_key(d, c->has_density && !wind, "density", kinds[kind], takes[kind]);
    refuse_key(d, c->has_drag && !wind, "drag", kinds[kind], takes[kind]);
    refuse_key(d, c->has_force && !point, "force", kinds[kind], takes[kind]);
    refuse_key(d, c->has_pressure && (wind || point), "pressure", kinds[kind], takes[kind]);
    if (!c->has_velocity && !c->has_density && !c->has_drag && !c->has_force && !c->has_pressure)
        pl_decode_fault(d, "missing_key", "only a name", takes[kind], "");
}

/* A control changes the strength of a function, not which one it is. */
static void check_control_damping(pl_decoder *d, const pl_change_damping *c,
                                  const pl_material_damping *of)
{
    const struct {
        bool given;
        const char *key;
    } amounts[] = {{c->has_viscosity, "viscosity"},
                   {c->has_bulk_viscosity, "bulk_viscosity"},
                   {c->has_beta, "beta"},
                   {c->has_coefficient, "coefficient"},
                   {c->has_mass, "mass"}};
    bool any = false;
    if (!of->present) {
        pl_decode_conflict(d, "damping", "a material without damping in the scene",
                           "a material with damping in the scene, or air_damping");
        return;
    }
    size_t mark = pl_decode_enter(d, "damping");
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
        any = any || amounts[i].given;
        refuse_key(d, amounts[i].given && !pl_damping_uses(of, amounts[i].key), amounts[i].key,
                   "a model without it", "a coefficient of the scene's model, or mass");
    }
    if (!any)
        pl_decode_fault(d, "missing_key", "nothing",
                        "viscosity, bulk_viscosity, beta, coefficient or mass", "");
    pl_decode_leave(d, mark);
}

void pl_check_control_material(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_change_material *c = out;
    const pl_scene *scene = d->root;
    if (!clean || scene->material_count == 0)
        return;
    const pl_material *m = &scene->materials[c->index];
    const char *by = m->has_lame ? "lame" : m->has_constants ? "constants" : "young and poisson";
    char of[64];
    snprintf(of, sizeof of, "a material given by %s", by);
    bool plain = !m->has_lame && !m->has_constants;
    refuse_key(d, c->has_young && !plain, "young", of, by);
    refuse_key(d, c->has_poisson && !plain, "poisson", of, by);
    refuse_key(d, c->has_lame && !m->has_lame, "lame", of, by);
    refuse_key(d, c->has_constants && !m->has_constants, "constants", of, by);
    if (c->has_damping)
        check_control_damping(d, &c->damping, &m->damping);
    if (!c->has_young && !c->has_poisson && !c->has_lame && !c->has_constants && !c->has_damping &&
        !c->has_air_damping) {
        char expected[96];
        snprintf(expected, sizeof expected, "%s, damping, air_damping", by);
        pl_decode_fault(d, "missing_key", "only a name", expected, "");
    }
}

/* No two members of a list may change the same thing, because their order would matter. */
static void check_once(pl_decoder *d, const char *list, const void *members, size_t size,
                       int32_t count)
{
    size_t mark = pl_decode_enter(d, list);
    for (int32_t i = 1; i < count; i++) {
        const int32_t *mine = (const void *)((const char *)members + (size_t)i * size);
        bool seen = false;
        for (int32_t j = 0; j < i && !seen; j++)
            seen = *mine ==
                   *(const int32_t *)(const void *)((const char *)members + (size_t)j * size);
        if (!seen)
            continue;
        size_t item = pl_decode_enter_item(d, (size_t)i);
        size_t name = pl_decode_enter(d, "name");
        pl_decode_fault(d, "duplicate_name", "named before", "each item only once in a control",
                        "");
        pl_decode_leave(d, name);
        pl_decode_leave(d, item);
    }
    pl_decode_leave(d, mark);
}

void pl_check_control(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_change *c = out;
    const pl_scene *scene = d->root;
    /* The walker does not check names against an empty list. */
    const struct {
        const char *list;
        int32_t named, there;
    } lists[] = {{"pins", c->pin_count, scene->pin_count},
                 {"obstacles", c->obstacle_count, scene->obstacle_count},
                 {"forces", c->force_count, scene->force_count}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i].named == 0 || lists[i].there > 0)
            continue;
        char got[64];
        size_t mark = pl_decode_enter(d, lists[i].list);
        snprintf(got, sizeof got, "a scene without %s", lists[i].list);
        pl_decode_fault(d, "unknown_name", got, "items of the scene", "");
        pl_decode_leave(d, mark);
    }
    if (!clean)
        return;
    check_once(d, "pins", c->pins, sizeof *c->pins, c->pin_count);
    check_once(d, "obstacles", c->obstacles, sizeof *c->obstacles, c->obstacle_count);
    check_once(d, "forces", c->forces, sizeof *c->forces, c->force_count);
    check_once(d, "materials", c->materials, sizeof *c->materials, c->material_count);
    if (json_object_size(object) == 0)
        pl_decode_fault(d, "missing_key", "nothing",
                        "at least one of: gravity, pins, obstacles, forces, materials", "");
}

/* ---- a control ---- */

static pl_decode_outcome decode_document(json_t *document, const pl_scene *scene, pl_change *out,
                                         pl_faults *faults)
{
    size_t before = faults->total;
    pl_scene root = *scene; /* root for references */
    pl_decoder d = {.faults = faults,
                    .root = &root,
                    .root_table = &pl_scene_table,
                    .customs = pl_scene_customs,
                    .rules = pl_scene_rules};
    pl_change change = {0};
    pl_decode_beside(&d, document, &pl_control_table, &change);
    if (d.no_memory || faults->total > before) {
        pl_change_clear(&change);
        return d.no_memory ? PL_DECODE_NO_MEMORY : PL_DECODE_INVALID;
    }
    *out = change;
    return PL_DECODE_OK;
}

/* The document, or NULL with an outcome. */
static json_t *parse(const char *text, size_t length, pl_decode_outcome *outcome, pl_faults *faults)
{
    json_error_t error;
    if (length > PL_CONTROL_BYTES_MAX) {
        pl_faults_addf(faults, "", "too_large", "at most 49152 bytes", "", "%zu bytes", length);
        *outcome = PL_DECODE_INVALID;
        return NULL;
    }
    json_t *document = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!document)
        *outcome = pl_decode_refuse_syntax(&error, faults);
    return document;
}

pl_decode_outcome pl_control_decode(const char *text, size_t length, const pl_scene *scene,
                                    pl_change *out, pl_faults *faults)
{
    pl_decode_outcome outcome;
    *out = (pl_change){0};
    json_t *document = parse(text, length, &outcome, faults);
    if (!document)
        return outcome;
    outcome = decode_document(document, scene, out, faults);
    json_decref(document);
    return outcome;
}

pl_decode_outcome pl_control_validate(const char *text, size_t length, const char *scene_text,
                                      size_t scene_length, char **compact, pl_faults *faults)
{
    pl_scene scene = {0};
    pl_change change;
    pl_decode_outcome outcome;
    json_t *document = parse(text, length, &outcome, faults);
    if (!document)
        return outcome;
    pl_faults ignored = {0};
    outcome = pl_scene_decode(scene_text, scene_length, &scene, &ignored);
    pl_faults_clear(&ignored);
    if (outcome == PL_DECODE_OK)
        outcome = decode_document(document, &scene, &change, faults);
    else if (outcome != PL_DECODE_NO_MEMORY)
        pl_faults_add(faults, "", "no_scene", "a scene that cannot be read", "the accepted scene",
                      "");
    if (outcome == PL_DECODE_OK) {
        *compact = json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(17));
        pl_change_clear(&change);
        outcome = *compact ? PL_DECODE_OK : PL_DECODE_NO_MEMORY;
    }
    pl_scene_clear(&scene);
    json_decref(document);
    return outcome;
}
