/* The tables of a control: what of a running session can be changed. */
#include "engine/scene/change.h"
#include "protocol/scene/params_rows.h"

#define FLAG(type, field) .flagged = true, .flag_offset = offsetof(type, field)
#define NAME_ROW(type, list, text)                                                                 \
    {                                                                                              \
        .key = "name", .kind = PL_PARAM_REFERENCE, AT(type, index), .refers = list,                \
        .required = true, .doc = text                                                              \
    }
#define LIST(type, field, members)                                                                 \
    .kind = PL_PARAM_LIST, .table = &members, .offset = offsetof(pl_change, field##s),             \
    .size = sizeof(type), .count_offset = offsetof(pl_change, field##_count), FROM(1, 4096)

static const pl_param pin_rows[] = {
    NAME_ROW(pl_change_motion, "pins", "A pin of the scene."),
    {.key = "motion",
     .kind = PL_PARAM_OBJECT,
     AT(pl_change_motion, motion),
     .table = &pl_motion_table,
     .required = true,
     .doc = "From where it is now on: rates, or keyframes whose times count from now. Its origin "
            "stays the scene's."},
};
const pl_param_table pl_control_pin_table = {
    .name = "control.pin", .doc = "A pin's new motion.", ROWS(pin_rows)};

static const pl_param obstacle_rows[] = {
    NAME_ROW(pl_change_motion, "obstacles", "An obstacle of the scene."),
    {.key = "motion",
     .kind = PL_PARAM_OBJECT,
     AT(pl_change_motion, motion),
     .table = &pl_motion_table,
     .required = true,
     .doc = "As of a pin."},
};
const pl_param_table pl_control_obstacle_table = {
    .name = "control.obstacle", .doc = "An obstacle's new motion.", ROWS(obstacle_rows)};

static const pl_param force_rows[] = {
    NAME_ROW(pl_change_force, "forces", "A force of the scene."),
    {.key = "velocity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_change_force, velocity),
     .unit = "m/s",
     FROM(-RATE_MAX, RATE_MAX),
     FLAG(pl_change_force, has_velocity),
     .standard_text = "as it is",
     .doc = "Of wind."},
    {.key = "density",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_force, density),
     .unit = "kg/m^3",
     FROM(0, 1e6),
     FLAG(pl_change_force, has_density),
     .standard_text = "as it is",
     .doc = "Of the air, of wind."},
    {.key = "drag",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_force, drag),
     .unit = "1",
     FROM(0, 1e6),
     FLAG(pl_change_force, has_drag),
     .standard_text = "as it is",
     .doc = "Of wind."},
    {.key = "force",
     .kind = PL_PARAM_VECTOR,
     AT(pl_change_force, force),
     .unit = "N",
     FROM(-1e15, 1e15),
     FLAG(pl_change_force, has_force),
     .standard_text = "as it is",
     .doc = "Of a point load."},
    {.key = "pressure",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_force, pressure),
     .unit = "Pa",
     FROM(-1e15, 1e15),
     FLAG(pl_change_force, has_pressure),
     .standard_text = "as it is",
     .doc = "Of a pressure."},
};
const pl_param_table pl_control_force_table = {
    .name = "control.force", .doc = "A force's new numbers.", ROWS(force_rows)};

#define AMOUNT(name, of, most, text)                                                               \
    {                                                                                              \
        .key = #name, .kind = PL_PARAM_NUMBER, AT(pl_change_damping, name), .unit = of,            \
        FROM(0, most), FLAG(pl_change_damping, has_##name), .standard_text = "as it is",           \
        .doc = text                                                                                \
    }

static const pl_param damping_rows[] = {
    AMOUNT(viscosity, "Pa s", 1e15, "Of strain_rate, viscous and rate_spline."),
    AMOUNT(bulk_viscosity, "Pa s", 1e15, "Of strain_rate."),
    AMOUNT(beta, "s", 1e6, "Of rayleigh, rayleigh_lagged and principal_strain."),
    AMOUNT(coefficient, "Pa s^power", 1e15, "Of power_law."),
    AMOUNT(mass, "1/s", 1e6, "Of any."),
};
const pl_param_table pl_control_damping_table = {
    .name = "control.damping",
    .doc =
        "How strongly the dissipation function that the scene gives the material acts from now on.",
    ROWS(damping_rows)};

static const pl_param material_rows[] = {
    NAME_ROW(pl_change_material, "materials", "A material of the scene."),
    {.key = "young",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_material, young),
     .unit = "Pa",
     ABOVE(0, 1e15),
     FLAG(pl_change_material, has_young),
     .standard_text = "as it is",
     .doc = "Of a material that the scene gives by young and poisson."},
    {.key = "poisson",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_material, poisson),
     .unit = "1",
     FROM(0, 0.4999),
     FLAG(pl_change_material, has_poisson),
     .standard_text = "as it is",
     .doc = "The same."},
    {.key = "lame",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_lame_table,
     .offset = offsetof(pl_change_material, lame),
     FLAG(pl_change_material, has_lame),
     .standard_text = "as they are",
     .doc = "Of a material that the scene gives by them."},
    {.key = "constants",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_rubber_table,
     .offset = offsetof(pl_change_material, constants),
     FLAG(pl_change_material, has_constants),
     .standard_text = "as they are",
     .doc = "Of a material that the scene gives by them."},
    {.key = "damping",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_control_damping_table,
     .offset = offsetof(pl_change_material, damping),
     FLAG(pl_change_material, has_damping),
     .standard_text = "as it is",
     .doc = "Of a material that the scene gives damping; 0 switches it off."},
    {.key = "air_damping",
     .kind = PL_PARAM_NUMBER,
     AT(pl_change_material, air_damping),
     .unit = "N s/m^3",
     FROM(0, 1e12),
     FLAG(pl_change_material, has_air_damping),
     .standard_text = "as it is",
     .doc = "Of any material."},
};
const pl_param_table pl_control_material_table = {
    .name = "control.material",
    .doc = "A material's new stiffness and damping: the model is made anew, which takes as long as "
           "its "
           "start.",
    ROWS(material_rows)};

static const pl_param control_rows[] = {
    {.key = "gravity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_change, gravity),
     .unit = "m/s^2",
     FROM(-1e6, 1e6),
     FLAG(pl_change, has_gravity),
     .standard_text = "as it is",
     .doc = "Acts on every body."},
    {.key = "pins",
     LIST(pl_change_motion, pin, pl_control_pin_table),
     .standard_text = "none",
     .doc = "Those that move otherwise from now on."},
    {.key = "obstacles",
     LIST(pl_change_motion, obstacle, pl_control_obstacle_table),
     .standard_text = "none",
     .doc = "Those that move otherwise from now on."},
    {.key = "forces",
     LIST(pl_change_force, force, pl_control_force_table),
     .standard_text = "none",
     .doc = "Those that push otherwise from now on."},
    {.key = "materials",
     LIST(pl_change_material, material, pl_control_material_table),
     .standard_text = "none",
     .doc = "Those that are stiffer, softer or otherwise damped from now on."},
};
const pl_param_table pl_control_table = {
    .name = "control",
    .doc = "What POST /v1/sessions/{id}/controls changes; at least one of it.",
    ROWS(control_rows)};
