/* The tables of a control: what of a running session can be changed. */
#include "engine/scene/change.h"
#include "protocol/scene/params_rows.h"

#define NAMED(type, list, text) REFERENCE("name", list, type, index, text, REQUIRED)
#define UNCHANGED(type, field)  OPTIONAL(type, has_##field, "as it is")

static const pl_param pin_rows[] = {
    NAMED(pl_change_motion, "pins", "A pin of the scene."),
    OBJECT("motion", pl_motion_table, pl_change_motion, motion,
           "New motion from the current pose: rates, or keyframes whose times count from now. The "
           "origin stays that of the scene.",
           REQUIRED),
};
const pl_param_table pl_control_pin_table = {
    .name = "control.pin", .doc = "A pin's new motion.", ROWS(pin_rows)};

static const pl_param obstacle_rows[] = {
    NAMED(pl_change_motion, "obstacles", "An obstacle of the scene."),
    OBJECT("motion", pl_motion_table, pl_change_motion, motion, "New motion, as for a pin.",
           REQUIRED),
};
const pl_param_table pl_control_obstacle_table = {
    .name = "control.obstacle", .doc = "An obstacle's new motion.", ROWS(obstacle_rows)};

static const pl_param force_rows[] = {
    NAMED(pl_change_force, "forces", "A force of the scene."),
    VECTOR("velocity", "m/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_change_force, velocity,
           "Velocity of wind.", UNCHANGED(pl_change_force, velocity)),
    NUMBER("density", "kg/m^3", FROM(0, 1e6), 0, pl_change_force, density,
           "Density of the air, for wind.", UNCHANGED(pl_change_force, density)),
    NUMBER("drag", "1", FROM(0, 1e6), 0, pl_change_force, drag, "Drag coefficient of wind.",
           UNCHANGED(pl_change_force, drag)),
    VECTOR("force", "N", FROM(-1e15, 1e15), 0, pl_change_force, force, "Force of a point load.",
           UNCHANGED(pl_change_force, force)),
    NUMBER("pressure", "Pa", FROM(-1e15, 1e15), 0, pl_change_force, pressure,
           "Pressure of a pressure force.", UNCHANGED(pl_change_force, pressure)),
};
const pl_param_table pl_control_force_table = {
    .name = "control.force", .doc = "A force's new values.", ROWS(force_rows)};

#define AMOUNT(field, of, most, text)                                                              \
    NUMBER(#field, of, FROM(0, most), 0, pl_change_damping, field, text,                           \
           UNCHANGED(pl_change_damping, field))

static const pl_param damping_rows[] = {
    AMOUNT(viscosity, "Pa s", 1e15, "Viscosity of strain_rate, viscous and rate_spline."),
    AMOUNT(bulk_viscosity, "Pa s", 1e15, "Bulk viscosity of strain_rate."),
    AMOUNT(beta, "s", 1e6, "beta of rayleigh, rayleigh_lagged and principal_strain."),
    AMOUNT(coefficient, "Pa s^power", 1e15, "Coefficient of power_law."),
    AMOUNT(mass, "1/s", 1e6, "Mass damping, with any model."),
};
const pl_param_table pl_control_damping_table = {
    .name = "control.damping",
    .doc = "New strength of the material's dissipation function.",
    ROWS(damping_rows)};

static const pl_param material_rows[] = {
    NAMED(pl_change_material, "materials", "A material of the scene."),
    NUMBER("young", "Pa", ABOVE(0, 1e15), 0, pl_change_material, young,
           "Young's modulus, if the scene gives young and poisson.",
           UNCHANGED(pl_change_material, young)),
    NUMBER("poisson", "1", FROM(0, 0.4999), 0, pl_change_material, poisson,
           "Poisson's ratio, if the scene gives young and poisson.",
           UNCHANGED(pl_change_material, poisson)),
    OBJECT("lame", pl_lame_table, pl_change_material, lame,
           "Lame parameters, if the scene gives them.",
           OPTIONAL(pl_change_material, has_lame, "unchanged")),
    OBJECT("constants", pl_rubber_table, pl_change_material, constants,
           "Constants of a rubber, if the scene gives them.",
           OPTIONAL(pl_change_material, has_constants, "unchanged")),
    OBJECT("damping", pl_control_damping_table, pl_change_material, damping,
           "Damping of a material with damping in the scene; 0 switches it off.",
           UNCHANGED(pl_change_material, damping)),
    NUMBER("air_damping", "N s/m^3", FROM(0, 1e12), 0, pl_change_material, air_damping,
           "Air damping, of any material.", UNCHANGED(pl_change_material, air_damping)),
};
const pl_param_table pl_control_material_table = {
    .name = "control.material",
    .doc = "A material's new stiffness and damping. The model is rebuilt, which takes as long as "
           "at the start.",
    ROWS(material_rows)};

static const pl_param control_rows[] = {
    VECTOR("gravity", "m/s^2", FROM(-1e6, 1e6), 0, pl_change, gravity, "Acts on every body.",
           UNCHANGED(pl_change, gravity)),
    LIST("pins", pl_control_pin_table, FROM(1, 4096), pl_change, pins, pin_count,
         "Motions to change.", WORDED("none")),
    LIST("obstacles", pl_control_obstacle_table, FROM(1, 4096), pl_change, obstacles,
         obstacle_count, "Motions to change.", WORDED("none")),
    LIST("forces", pl_control_force_table, FROM(1, 4096), pl_change, forces, force_count,
         "Forces to change.", WORDED("none")),
    LIST("materials", pl_control_material_table, FROM(1, 4096), pl_change, materials,
         material_count, "Materials to change.", WORDED("none")),
};
const pl_param_table pl_control_table = {
    .name = "control",
    .doc = "Changes by POST /v1/sessions/{id}/controls; at least one is needed.",
    ROWS(control_rows)};
