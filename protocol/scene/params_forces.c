/* params_forces.c - the parameter tables of forces. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

static const pl_param wind_rows[] = {
    VECTOR("velocity", "m/s", FROM(-RATE_MAX, RATE_MAX), 0, pl_scene_force, velocity,
           "Velocity of the air.", REQUIRED),
    NUMBER("density", "kg/m^3", FROM(0, 1e6), 1.2, pl_scene_force, density, "Density of the air."),
    NUMBER("drag", "1", FROM(0, 1e6), 1.2, pl_scene_force, drag,
           "Drag coefficient; a plate across the wind has about 1.2."),
    REFERENCE("body", "bodies", pl_scene_force, body, "A body's name.",
              OPTIONAL(pl_scene_force, has_body, "all")),
};
const pl_param_table pl_wind_table = {
    .name = "force.wind",
    .doc = "Force of moving air: 1/2 density drag area |u| u along a triangle's normal, with u the "
           "air's velocity along it relative to the triangle. Evaluated at a step's start.",
    ROWS(wind_rows)};

static const char *const shares[] = {"total", "each", NULL};
static const pl_param point_rows[] = {
    BODY(pl_scene_force, "A body's name."),
    SELECT(pl_scene_force, "Vertices that the force acts on.", REQUIRED),
    VECTOR("force", "N", FROM(-1e15, 1e15), 0, pl_scene_force, force, "Constant force.", REQUIRED),
    CHOICE("share", shares, pl_scene_force, each,
           "total: the selected vertices share the force equally; each: the full force acts on "
           "every vertex."),
};
const pl_param_table pl_point_table = {
    .name = "force.point", .doc = "A force on vertices.", ROWS(point_rows)};

static const pl_param pressure_rows[] = {
    BODY(pl_scene_force, "The name of a body with a closed surface."),
    NUMBER("pressure", "Pa", FROM(-1e15, 1e15), 0, pl_scene_force, pressure,
           "Pressure inside minus outside; above 0 it inflates the body.", REQUIRED),
};
const pl_param_table pl_pressure_table = {
    .name = "force.pressure",
    .doc = "Force along the outer normal of the surface, evaluated at a step's start.",
    ROWS(pressure_rows)};

static const pl_param force_rows[] = {
    NAME(pl_scene_force, "force", "forces"),
    PART("wind", pl_wind_table, "Wind.", FORM(PL_LOAD_WIND)),
    PART("point", pl_point_table, "A point load.", FORM(PL_LOAD_POINT)),
    PART("pressure", pl_pressure_table, "Pressure inside a body.", FORM(PL_LOAD_PRESSURE)),
    NUMBER("from", "s", FROM(0, 1e12), 0, pl_scene_force, from,
           "Start: acts in steps that begin at this time or later."),
    NUMBER("until", "s", ABOVE(0, 1e12), 0, pl_scene_force, until,
           "End: acts in steps that begin before this time, which is later than from.",
           OPTIONAL(pl_scene_force, has_until, "the end")),
};
const pl_param_table pl_force_table = {.name = "force",
                                       .doc = "A force on bodies, in addition to gravity.",
                                       ROWS(force_rows),
                                       .one_of = true,
                                       .kind_offset = offsetof(pl_scene_force, kind)};
