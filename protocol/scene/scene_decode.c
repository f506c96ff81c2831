#include "protocol/scene/scene_json.h"

#include "engine/scene/scene.h"
#include "protocol/scene/contact_decode.h"
#include "protocol/scene/control_decode.h"
#include "engine/scene/carries.h"
#include "protocol/scene/decode.h"
#include "protocol/scene/expect_decode.h"
#include "protocol/text/json_load.h"
#include "protocol/scene/material_decode.h"
#include "protocol/scene/mesh_decode.h"
#include "protocol/scene/notes_decode.h"
#include "protocol/scene/obstacle_decode.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- customs of the scene ---- */

static void decode_version(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    if (!json_is_integer(value))
        pl_decode_refuse(d, value, "wrong_type", "the number 1", "");
    else if (json_integer_value(value) != 1)
        pl_decode_refuse(d, value, "unsupported", "1, the only version of the format", "");
}

static void decode_scale(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    double *scale = (double *)((char *)out + p->offset);
    if (json_is_number(value)) {
        double factor;
        pl_param number = *p;
        number.kind = PL_PARAM_NUMBER;
        if (pl_decode_number(d, value, &number, &factor))
            scale[0] = scale[1] = scale[2] = factor;
    } else if (json_is_array(value)) {
        pl_param vector = *p;
        vector.kind = PL_PARAM_VECTOR;
        pl_decode_vector(d, value, &vector, scale);
    } else {
        char expected[128];
        pl_param_expected(p, expected, sizeof expected);
        pl_decode_refuse(d, value, "wrong_type", expected, "");
    }
}

/* ---- customs of a body ---- */

static void decode_by_tag(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_body *body = out;
    const char *tag;
    json_t *material;
    if (!json_is_object(value)) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    if (json_object_size(value) > (size_t)p->maximum) {
        pl_decode_refuse(d, value, "too_many", "at most 256 groups", "");
        return;
    }
    body->tag_materials = calloc(json_object_size(value) + 1, sizeof *body->tag_materials);
    if (!body->tag_materials) {
        d->no_memory = true;
        return;
    }
    json_object_foreach(value, tag, material)
    {
        size_t mark = pl_decode_enter(d, tag);
        pl_tag_material *entry = &body->tag_materials[body->tag_material_count];
        if (pl_decode_reference(d, material, p, &entry->material)) {
            entry->tag = strdup(tag);
            d->no_memory |= !entry->tag;
            body->tag_material_count++;
        }
        pl_decode_leave(d, mark);
    }
}

/* ---- customs of a selection ---- */

static void decode_side(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char *const sides[] = {"-x", "+x", "-y", "+y", "-z", "+z", NULL};
    pl_selection *select = out;
    int side = pl_decode_word(d, value, sides, NULL);
    if (side < 0)
        return;
    select->side_axis = side / 2;
    select->side_sign = side % 2 ? 1 : -1;
}

static void decode_indices(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_selection *select = out;
    size_t n = json_array_size(value);
    if (!json_is_array(value) || n == 0) {
        pl_decode_refuse(d, value, "wrong_type", "array of at least one vertex index", "");
        return;
    }
    if (n > PL_SCENE_INDICES_MAX) {
        pl_decode_refuse(d, value, "too_many", "at most 1000000 indices",
                         "a box, a sphere or a tag selects many vertices");
        return;
    }
    select->indices = calloc(n, sizeof *select->indices);
    if (!select->indices) {
        d->no_memory = true;
        return;
    }
    select->index_count = (int64_t)n;
    pl_param index = *p;
    index.kind = PL_PARAM_INTEGER;
    for (size_t i = 0; i < n; i++) {
        size_t mark = pl_decode_enter_item(d, i);
        pl_decode_integer(d, json_array_get(value, i), &index, &select->indices[i]);
        pl_decode_leave(d, mark);
    }
}

static void decode_tag(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_selection *select = out;
    static const pl_param name = {
        .kind = PL_PARAM_STRING, .minimum = 1, .maximum = PL_SCENE_NAME_MAX};
    if (!json_is_integer(value)) {
        if (json_is_string(value))
            pl_decode_name(d, value, &name, &select->tag);
        else
            pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    if (asprintf(&select->tag, "%lld", (long long)json_integer_value(value)) < 0) {
        select->tag = NULL;
        d->no_memory = true;
    }
}

/* ---- customs of a pin ---- */

/* An array of distinct words, at least one: bit k for the k-th of `names`. */
static int32_t decode_words(pl_decoder *d, json_t *value, const char *const *names,
                            const char *expected, const char *once)
{
    int32_t bits = 0;
    if (!json_is_array(value) || json_array_size(value) == 0) {
        pl_decode_refuse(d, value, "wrong_type", expected, "");
        return 0;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        size_t mark = pl_decode_enter_item(d, i);
        json_t *item = json_array_get(value, i);
        int c = pl_decode_word(d, item, names, NULL);
        if (c >= 0 && (bits >> c & 1))
            pl_decode_refuse(d, item, "conflict", once, "");
        bits |= c >= 0 ? 1 << c : 0;
        pl_decode_leave(d, mark);
    }
    return bits;
}

static void decode_axes(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char *const names[] = {"x", "y", "z", NULL};
    int32_t axes = decode_words(d, value, names, "array of one to three of: x, y, z",
                                "each axis once");
    if (axes)
        *(int32_t *)((char *)out + p->offset) = axes;
}

static void decode_fields(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    static const char *const names[] = {"position",       "velocity", "stress",
                                        "element_stress", "contacts", NULL};
    int32_t fields = decode_words(d, value, names,
                                  "array of: position, velocity, stress, element_stress, contacts",
                                  "each field once");
    if (fields && !(fields & PL_OUTPUT_POSITION))
        pl_decode_refuse(d, value, "missing", "position among them",
                         "Positions are always stored.");
    if (fields)
        *(int32_t *)((char *)out + p->offset) = fields;
}

/* "1-4": whole numbers without signs or blanks. False if it is not a range. */
static bool read_range(const char *text, int64_t *least, int64_t *most)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 6 || text[digits] != '-') {
        return false;
    }
    size_t more = strspn(text + digits + 1, "0123456789");
    *least = strtoll(text, NULL, 10);
    *most = strtoll(text + digits + 1, &end, 10);
    return more > 0 && more <= 6 && *end == 0;
}

static void decode_cores(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_resources *r = out;
    int64_t least, most;
    pl_param number = *p;
    number.kind = PL_PARAM_INTEGER;
    if (!json_is_string(value)) {
        if (pl_decode_integer(d, value, &number, &least))
            r->cores = (int32_t)least;
        return;
    }
    if (!read_range(json_string_value(value), &least, &most))
        pl_decode_refuse(d, value, "wrong_type", "whole number, or a range as \"1-4\"", "");
    else if (least < 1 || most > (int64_t)p->maximum || least > most)
        pl_decode_refuse(d, value, "out_of_range", "a range within 1 to 256, the smaller first",
                         "");
    else {
        r->cores = (int32_t)least;
        r->cores_most = (int32_t)most;
    }
}

static bool is_session_id(const char *text)
{
    return text && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

static void decode_after(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_resources *r = out;
    size_t i;
    json_t *item;
    if (!json_is_array(value) || json_array_size(value) > PL_AFTER_MAX) {
        pl_decode_refuse(d, value, json_is_array(value) ? "out_of_range" : "wrong_type",
                         "array of at most 16 session ids", "");
        return;
    }
    json_array_foreach(value, i, item)
    {
        size_t mark = pl_decode_enter_item(d, i);
        if (!is_session_id(json_string_value(item)))
            pl_decode_refuse(d, item, "wrong_type", "the id of a session, 32 hex digits", "");
        else
            snprintf(r->after[r->after_count++], PL_SESSION_ID_MAX, "%s", json_string_value(item));
        pl_decode_leave(d, mark);
    }
}

const pl_decode_custom pl_scene_customs[PL_CUSTOM_COUNT] = {
    [PL_CUSTOM_VERSION] = decode_version,
    [PL_CUSTOM_METADATA] = pl_decode_metadata,
    [PL_CUSTOM_LABELS] = pl_decode_labels,
    [PL_CUSTOM_PRIORITY] = pl_decode_priority,
    [PL_CUSTOM_WEBHOOK] = pl_decode_webhook,
    [PL_CUSTOM_SCALE] = decode_scale,
    [PL_CUSTOM_UPLOAD] = pl_decode_upload,
    [PL_CUSTOM_VERTICES] = pl_decode_vertices,
    [PL_CUSTOM_TETS] = pl_decode_tets,
    [PL_CUSTOM_SIDE] = decode_side,
    [PL_CUSTOM_INDICES] = decode_indices,
    [PL_CUSTOM_HEIGHTS] = pl_decode_heights,
    [PL_CUSTOM_TAG] = decode_tag,
    [PL_CUSTOM_AT] = pl_decode_at,
    [PL_CUSTOM_AXES] = decode_axes,
    [PL_CUSTOM_FIELDS] = decode_fields,
    [PL_CUSTOM_TRIANGLES] = pl_decode_triangles,
    [PL_CUSTOM_EDGES] = pl_decode_edges,
    [PL_CUSTOM_BY_TAG] = decode_by_tag,
    [PL_CUSTOM_SPLINES] = pl_decode_splines,
    [PL_CUSTOM_CURVE] = pl_decode_curve,
    [PL_CUSTOM_POINTS] = pl_decode_points,
    [PL_CUSTOM_BETWEEN] = pl_decode_between,
    [PL_CUSTOM_CORES] = decode_cores,
    [PL_CUSTOM_AFTER] = decode_after,
};

/* ---- rules over several keys ---- */

/* steps = ceil(duration / step), where a duration of k steps to within rounding is k steps. */
static void check_time(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_time *time = out;
    bool by_steps = json_object_get(object, "steps");
    if (by_steps && json_object_get(object, "duration")) {
        pl_decode_fault(d, "conflict", "duration and steps", "one of: duration, steps", "");
        return;
    }
    if (!clean)
        return;
    if (by_steps) {
        time->duration = (double)time->steps * time->step;
        return;
    }
    if (time->pace == PL_PACE_REALTIME && !json_object_get(object, "duration")) {
        time->steps = PL_STEPS_ENDLESS;
        time->duration = 0;
        return;
    }
    double steps = ceil(time->duration / time->step - 1e-9);
    if (steps > PL_SCENE_STEPS_MAX) {
        char got[96];
        snprintf(got, sizeof got, "%.15g steps of %.15g s", steps, time->step);
        pl_decode_fault(d, "too_many", got, "at most 100000000 steps", "");
        return;
    }
    time->steps = steps < 1 ? 1 : (int64_t)steps;
}

/* Maximum iterations per step for auto, which hands over to Newton after half of them at the latest; with strain
 * limits, when it is admm, which takes more than 2000 in a few steps of a sheet that folds on a ball. */
enum { AUTO_ITERATIONS = 2000, AUTO_ITERATIONS_LIMITED = 5000 };
/* Default tolerance of auto when it descends: bodies lie within 0.001 of their size of the exact answer
 * (clients/docs/typical-scenes.md). On rough obstacles the errors of all steps add up: a ball that rolls six times
 * its size is off by 0.015 of it with 1e-4, by 0.002 with 1e-5, by 0.0001 with 3e-6. */
static const double AUTO_TOLERANCE = 1e-4, AUTO_TOLERANCE_ROUGH = 3e-6;
/* The same for admm, if auto selects it, on rough obstacles. Without obstacles, and with strain limits, which would
 * take it twice the iterations, admm keeps its own default. */
static const double AUTO_TOLERANCE_SPLIT = 3e-4;

static double weight_scale_of(pl_method_kind method)
{
    return method == PL_METHOD_ADMM ? 1.8 : 2;
}

/* Over-relaxation works with Anderson acceleration and not with momentum, and lighter weights with both: their
 * defaults depend on the acceleration. */
static void check_solver(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_solver_settings *solver = out;
    if (!json_object_get(object, "relaxation") && solver->acceleration != PL_ACCELERATION_ANDERSON)
        solver->relaxation = 1;
    if (!json_object_get(object, "weight_scale"))
        solver->weight_scale = weight_scale_of(solver->method);
    if (clean && solver->device == PL_DEVICE_CPU && pl_solver_is_single(solver)) {
        size_t mark = pl_decode_enter(d, "precision");
        pl_decode_fault(d, "unsupported", "single, on the CPU", "double or auto, on the CPU",
                        "omit it, or use \"device\": \"gpu\"");
        pl_decode_leave(d, mark);
    }
}

static void check_select_box(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_selection *select = out;
    for (int i = 0; clean && i < 3; i++) {
        if (select->lo[i] <= select->hi[i])
            continue;
        char got[96];
        snprintf(got, sizeof got, "min %.15g, max %.15g along %c", select->lo[i], select->hi[i],
                 "xyz"[i]);
        pl_decode_fault(d, "out_of_range", got, "min <= max along each axis", "");
    }
}

/* Keyframes exclude rates, and each is later than the previous one. */
static void check_keyframes(pl_decoder *d, json_t *object, const pl_motion *motion, bool clean)
{
    static const char *const rates[] = {"velocity", "axis", "degrees_per_second"};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        if (!json_object_get(object, rates[i]))
            continue;
        size_t mark = pl_decode_enter(d, rates[i]);
        pl_decode_fault(d, "conflict", "beside keyframes", "keyframes, or rates",
                        "a keyframe takes translate and rotate");
        pl_decode_leave(d, mark);
    }
    size_t list = pl_decode_enter(d, "keyframes");
    for (int32_t k = 1; clean && k < motion->keyframe_count; k++) {
        const pl_keyframe *key = &motion->keyframes[k];
        if (key->time > key[-1].time)
            continue;
        char got[96];
        size_t item = pl_decode_enter_item(d, (size_t)k), mark = pl_decode_enter(d, "time");
        snprintf(got, sizeof got, "%.15g s after %.15g s", key->time, key[-1].time);
        pl_decode_fault(d, "out_of_order", got, "a time later than the previous keyframe's", "");
        pl_decode_leave(d, mark);
        pl_decode_leave(d, item);
    }
    pl_decode_leave(d, list);
}

static void check_motion(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_motion *motion = out;
    if (json_object_get(object, "keyframes")) {
        check_keyframes(d, object, motion, clean);
        return;
    }
    bool axis = json_object_get(object, "axis"),
         rate = json_object_get(object, "degrees_per_second");
    if (!clean || axis == rate || (!axis && motion->degrees_per_second == 0))
        return;
    pl_decode_missing(d, axis ? "degrees_per_second" : "axis",
                      "both of: axis, degrees_per_second, or neither", "");
}

/* {x : n . x = c} is {x : n/|n| . x = c/|n|}: the walker normalised n, and this divides c. A length that is 1 to
 * rounding was left alone there and is here. */
static void scale_offset(pl_decoder *d, json_t *object, const char *table, double *offset)
{
    json_t *normal = json_object_get(object, "normal");
    const pl_param *p = pl_table_param(pl_table_named(table), "offset");
    double length = hypot(hypot(json_number_value(json_array_get(normal, 0)),
                                json_number_value(json_array_get(normal, 1))),
                          json_number_value(json_array_get(normal, 2)));
    if (!normal || fabs(length - 1) <= 1e-15)
        return;
    double scaled = *offset / length;
    if (fabs(scaled) <= p->maximum) {
        *offset = scaled;
        return;
    }
    char got[96];
    size_t mark = pl_decode_enter(d, p->key);
    snprintf(got, sizeof got, "%.15g for a normal of length %.15g", *offset, length);
    pl_decode_fault(d, "out_of_range", got, "offset / |normal| at most 1e9 m", "");
    pl_decode_leave(d, mark);
}

static void check_plane(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_obstacle *obstacle = out;
    if (clean)
        scale_offset(d, object, "obstacle.plane", &obstacle->offset);
}

static void check_select_plane(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_selection *select = out;
    if (clean)
        scale_offset(d, object, "select.plane", &select->offset);
}

static void check_force(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_scene_force *load = out;
    if (!clean || !load->has_until || load->until > load->from)
        return;
    char got[96];
    size_t mark = pl_decode_enter(d, "until");
    snprintf(got, sizeof got, "until %.15g s, from %.15g s", load->until, load->from);
    pl_decode_fault(d, "out_of_range", got, "a time later than from", "");
    pl_decode_leave(d, mark);
}

const pl_decode_rule pl_scene_rules[] = {
    {"force", check_force},
    {"time", check_time},
    {"solver", check_solver},
    {"contact", pl_check_contact},
    {"material", pl_check_material},
    {"material.damping", pl_check_damping},
    {"mesh.box", pl_check_cells},
    {"mesh.cloth", pl_check_cloth},
    {"mesh.cylinder", pl_check_tube_cylinder},
    {"mesh.torus", pl_check_tube_torus},
    {"mesh.helix", pl_check_tube_helix},
    {"mesh", pl_check_mesh},
    {"select.box", check_select_box},
    {"select.plane", check_select_plane},
    {"motion", check_motion},
    {"obstacle", pl_check_obstacle},
    {"obstacle.plane", check_plane},
    {"expect", pl_check_expectation},
    {"probe", pl_check_probe},
    {"obstacle.box", pl_check_block},
    {"obstacle.cylinder", pl_check_cylinder},
    {"obstacle.torus", pl_check_torus},
    {"obstacle.mesh", pl_check_obstacle_mesh},
    {"control", pl_check_control},
    {"control.pin", pl_check_control_motion},
    {"control.obstacle", pl_check_control_motion},
    {"control.force", pl_check_control_force},
    {"control.material", pl_check_control_material},
    {0},
};

/* ---- the whole scene ---- */

pl_decode_outcome pl_decode_refuse_syntax(const json_error_t *error, pl_faults *faults)
{
    char got[256];
    const char *hint = "";
    if (errno == ENOMEM)
        return PL_DECODE_NO_MEMORY;
    bool duplicate = json_error_code(error) == json_error_duplicate_key;
    snprintf(got, sizeof got, "line %d, column %d: %.200s", error->line, error->column,
             error->text);
    if (json_error_code(error) == json_error_numeric_overflow)
        hint = "numbers must fit a double, integers 64 bits";
    else if (strcasestr(error->text, "nan") || strcasestr(error->text, "inf"))
        hint = "JSON has no NaN and no infinity; an omitted key takes its default";
    pl_faults_add(faults, "", duplicate ? "duplicate_key" : "json_syntax", got,
                  duplicate ? "each key once in an object" : "a JSON document in UTF-8", hint);
    return PL_DECODE_SYNTAX;
}

static bool is_rough(const pl_scene *scene)
{
    bool rough = false;
    for (int32_t k = 0; k < scene->obstacle_count; k++)
        rough = rough || scene->obstacles[k].friction > 0;
    return rough;
}

static bool has_limits(const pl_scene *scene)
{
    bool limits = false;
    for (int32_t k = 0; k < scene->material_count; k++)
        limits = limits || scene->materials[k].strain_limit.present;
    return limits;
}

/* Resolves auto for this scene, which has no fault, and its defaults. object: the scene's solver, or NULL. */
static void settle_auto(json_t *object, pl_scene *scene)
{
    pl_solver_settings *solver = &scene->solver;
    if (solver->method != PL_METHOD_AUTO)
        return;
    solver->automatic = true;
    solver->method = pl_auto_method(scene);
    if (!json_object_get(object, "iterations"))
        solver->iterations = has_limits(scene) ? AUTO_ITERATIONS_LIMITED : AUTO_ITERATIONS;
    if (!json_object_get(object, "tolerance") && solver->method == PL_METHOD_AUTO)
        solver->tolerance = is_rough(scene) ? AUTO_TOLERANCE_ROUGH : AUTO_TOLERANCE;
    else if (!json_object_get(object, "tolerance") && is_rough(scene) && !has_limits(scene))
        solver->tolerance = AUTO_TOLERANCE_SPLIT;
    if (!json_object_get(object, "weight_scale"))
        solver->weight_scale = weight_scale_of(solver->method);
}

static pl_decode_outcome decode_document(json_t *document, pl_scene *out, pl_faults *faults)
{
    size_t before = faults->total;
    pl_decoder d = {.faults = faults,
                    .root_table = &pl_scene_table,
                    .customs = pl_scene_customs,
                    .rules = pl_scene_rules};
    pl_scene scene = {0};
    pl_decode_root(&d, document, &scene);
    /* Applies the joint defaults when the key is omitted altogether. */
    if (!scene.time.steps)
        check_time(&d, NULL, &scene.time, !json_object_get(document, "time"));
    if (faults->total == before && !d.no_memory)
        settle_auto(json_object_get(document, "solver"), &scene);
    if (!scene.name)
        scene.name = strdup("");
    if (d.no_memory || !scene.name || faults->total > before) {
        pl_scene_clear(&scene);
        return d.no_memory || !faults->total ? PL_DECODE_NO_MEMORY : PL_DECODE_INVALID;
    }
    *out = scene;
    return PL_DECODE_OK;
}

pl_decode_outcome pl_scene_decode_with(const char *text, size_t length, pl_scene *out,
                                       pl_notes *notes, pl_faults *faults)
{
    json_error_t error;
    *out = (pl_scene){0};
    if (length > PL_SCENE_BYTES_MAX) {
        pl_faults_addf(faults, "", "too_large", "at most 16777216 bytes",
                       "upload meshes instead of writing them into the scene", "%zu bytes", length);
        return PL_DECODE_INVALID;
    }
    json_t *document = pl_json_load(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!document)
        return pl_decode_refuse_syntax(&error, faults);
    pl_decode_outcome outcome = decode_document(document, out, faults);
    if (outcome == PL_DECODE_OK && notes && !pl_notes_take(document, true, notes)) {
        pl_scene_clear(out);
        outcome = PL_DECODE_NO_MEMORY;
    }
    json_decref(document);
    return outcome;
}

pl_decode_outcome pl_scene_decode(const char *text, size_t length, pl_scene *out, pl_faults *faults)
{
    return pl_scene_decode_with(text, length, out, NULL, faults);
}
