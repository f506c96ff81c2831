#include "protocol/scene/params.h"

#include "engine/scene/scene.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params_rows.h"

#include <string.h>

_Static_assert(offsetof(pl_material, name) == 0 && offsetof(pl_body, name) == 0 &&
                   offsetof(pl_pin, name) == 0 && offsetof(pl_scene_force, name) == 0 &&
                   offsetof(pl_obstacle, name) == 0 && offsetof(pl_expectation, name) == 0 &&
                   offsetof(pl_attachment, name) == 0,
               "the members of lists and maps begin with their name");

/* ---- the scene ---- */

static const pl_param scene_rows[] = {
    {.key = "pliant",
     .kind = PL_PARAM_CUSTOM,
     .custom = PL_CUSTOM_VERSION,
     .required = true,
     .type = "1",
     .doc = "Version of the scene's format."},
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_scene, name),
     FROM(0, 255),
     .standard_text = "empty",
     .doc = "For people."},
    {.key = "time",
     .kind = PL_PARAM_OBJECT,
     AT(pl_scene, time),
     .table = &pl_time_table,
     .doc = "Steps and their integrator."},
    {.key = "solver",
     .kind = PL_PARAM_OBJECT,
     AT(pl_scene, solver),
     .table = &pl_solver_table,
     .doc = "The method and when it stops."},
    {.key = "gravity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_scene, gravity),
     .unit = "m/s^2",
     FROM(-1e6, 1e6),
     .standard = {0, -9.81, 0},
     .doc = "Acts on every body."},
    {.key = "materials",
     .kind = PL_PARAM_MAP,
     .table = &pl_material_table,
     .offset = offsetof(pl_scene, materials),
     .size = sizeof(pl_material),
     .count_offset = offsetof(pl_scene, material_count),
     FROM(0, 1024),
     .standard_text = "rubber",
     .doc = "By name."},
    {.key = "bodies",
     .kind = PL_PARAM_LIST,
     .table = &pl_body_table,
     .offset = offsetof(pl_scene, bodies),
     .size = sizeof(pl_body),
     .count_offset = offsetof(pl_scene, body_count),
     FROM(1, 1024),
     .required = true,
     .doc = "What deforms."},
    {.key = "pins",
     .kind = PL_PARAM_LIST,
     .table = &pl_pin_table,
     .offset = offsetof(pl_scene, pins),
     .size = sizeof(pl_pin),
     .count_offset = offsetof(pl_scene, pin_count),
     FROM(0, 4096),
     .doc = "What is held."},
    {.key = "obstacles",
     .kind = PL_PARAM_LIST,
     .table = &pl_obstacle_table,
     .offset = offsetof(pl_scene, obstacles),
     .size = sizeof(pl_obstacle),
     .count_offset = offsetof(pl_scene, obstacle_count),
     FROM(0, 4096),
     .doc = "What bodies collide with."},
    {.key = "attachments",
     .kind = PL_PARAM_LIST,
     .table = &pl_attachment_table,
     .offset = offsetof(pl_scene, attachments),
     .size = sizeof(pl_attachment),
     .count_offset = offsetof(pl_scene, attachment_count),
     FROM(0, 4096),
     .doc = "What is drawn together."},
    {.key = "forces",
     .kind = PL_PARAM_LIST,
     .table = &pl_force_table,
     .offset = offsetof(pl_scene, forces),
     .size = sizeof(pl_scene_force),
     .count_offset = offsetof(pl_scene, force_count),
     FROM(0, 256),
     .doc = "What pushes bodies, beside gravity."},
    {.key = "expect",
     .kind = PL_PARAM_LIST,
     .table = &pl_expectation_table,
     .offset = offsetof(pl_scene, expectations),
     .size = sizeof(pl_expectation),
     .count_offset = offsetof(pl_scene, expectation_count),
     FROM(0, 256),
     .doc = "What a run must show; pliant run --check and pliant check judge it."},
    {.key = "output",
     .kind = PL_PARAM_OBJECT,
     AT(pl_scene, output),
     .table = &pl_output_table,
     .doc = "What is stored of a run."},
    {.key = "resources",
     .kind = PL_PARAM_OBJECT,
     AT(pl_scene, resources),
     .table = &pl_resources_table,
     .doc = "What a run may take of the machine."},
    METADATA_ROW,
    LABELS_ROW,
    WEBHOOK_ROW,
};
static const pl_param_table scene_table = {.name = "scene", .doc = "A scene.", ROWS(scene_rows)};

#define SHAPE_TABLE(shape) &pl_obstacle_##shape##_table,
/* One a line, so that additions merge. */
/* clang-format off */
static const pl_param_table *const tables[] = {
    &scene_table,
    &pl_notes_table,
    &pl_time_table,
    &pl_solver_table,
    &pl_material_table,
    &pl_lame_table,
    &pl_rubber_table,
    &pl_bending_table,
    &pl_strain_limit_table,
    &pl_fibers_table,
    &pl_damping_table,
    &pl_body_table,
    &pl_body_fields_table,
    &pl_mesh_table,
    &pl_box_table,
    &pl_sphere_table,
    &pl_cylinder_table,
    &pl_torus_table,
    &pl_helix_table,
    &pl_cloth_table,
    &pl_rope_table,
    &pl_transform_table,
    &pl_rotate_table,
    &pl_initial_table,
    &pl_shape_table,
    &pl_random_table,
    &pl_twisted_table,
    &pl_pin_table,
    &pl_attachment_table,
    &pl_select_table,
    &pl_select_box_table,
    &pl_select_sphere_table,
    &pl_select_plane_table,
    &pl_motion_table,
    &pl_obstacle_table,
    &pl_obstacle_plane_table,
    &pl_obstacle_sphere_table,
    &pl_expectation_table,
    &pl_probe_table,
    &pl_keyframe_table,
    &pl_key_rotate_table,
    &pl_force_table,
    &pl_wind_table,
    &pl_point_table,
    &pl_pressure_table,
    PL_OBSTACLE_SHAPES(SHAPE_TABLE)
    &pl_output_table,
    &pl_retention_table,
    &pl_resources_table,
    &pl_control_table,
    &pl_control_pin_table,
    &pl_control_obstacle_table,
    &pl_control_force_table,
    &pl_control_damping_table,
    &pl_control_material_table,
    NULL,
};
/* clang-format on */

/* ---- reading the tables ---- */

const pl_param_table *const *pl_param_tables(void)
{
    return tables;
}
const pl_param_table *pl_scene_table(void)
{
    return &scene_table;
}

const pl_param_table *pl_table_named(const char *name)
{
    for (const pl_param_table *const *t = tables; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

const pl_param *pl_table_param(const pl_param_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->params[i].key, key) == 0)
            return &table->params[i];
    return NULL;
}

static void set_integer(void *at, size_t size, int64_t value)
{
    if (size == sizeof(bool))
        *(bool *)at = value != 0;
    else if (size == sizeof(int32_t))
        *(int32_t *)at = (int32_t)value;
    else
        *(int64_t *)at = value;
}

static void set_default(const pl_param *p, char *at)
{
    switch (p->kind) {
    case PL_PARAM_NUMBER:
        *(double *)at = p->standard[0];
        break;
    case PL_PARAM_INTEGER:
    case PL_PARAM_BOOLEAN:
    case PL_PARAM_CHOICE:
        set_integer(at, p->size, (int64_t)p->standard[0]);
        break;
    case PL_PARAM_VECTOR:
        memcpy(at, p->standard, (size_t)pl_param_components(p) * sizeof *p->standard);
        break;
    case PL_PARAM_COUNTS:
        for (int i = 0; i < pl_param_components(p); i++)
            ((int32_t *)at)[i] = (int32_t)p->standard[i];
        break;
    case PL_PARAM_OBJECT:
        pl_table_defaults(p->table, at);
        break;
    case PL_PARAM_CUSTOM:
        if (p->custom == PL_CUSTOM_SCALE)
            memcpy(at, p->standard, sizeof p->standard);
        else if (p->custom == PL_CUSTOM_AXES || p->custom == PL_CUSTOM_FIELDS)
            set_integer(at, p->size, (int64_t)p->standard[0]);
        break;
    case PL_PARAM_STRING:
    case PL_PARAM_LIST:
    case PL_PARAM_MAP:
    case PL_PARAM_REFERENCE:
        break;
    }
}

void pl_table_defaults(const pl_param_table *table, void *out)
{
    for (size_t i = 0; i < table->count; i++)
        set_default(&table->params[i], (char *)out + table->params[i].offset);
}
