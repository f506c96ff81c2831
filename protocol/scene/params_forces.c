/* params_forces.c - the parameter tables of forces. */
#include "protocol/scene/params_rows.h"

#include "engine/scene/scene.h"

static const pl_param wind_rows[] = {
    {.key = "velocity",
     .kind = PL_PARAM_VECTOR,
     AT(pl_scene_force, velocity),
     .unit = "m/s",
     FROM(-RATE_MAX, RATE_MAX),
     .required = true,
     .doc = "Of the air."},
    {.key = "density",
     .kind = PL_PARAM_NUMBER,
     AT(pl_scene_force, density),
     .unit = "kg/m^3",
     FROM(0, 1e6),
     .standard = {1.2},
     .doc = "Of the air."},
    {.key = "drag",
     .kind = PL_PARAM_NUMBER,
     AT(pl_scene_force, drag),
     .unit = "1",
     FROM(0, 1e6),
     .standard = {1.2},
     .doc = "Coefficient: 1.2 is about that of a plate across the wind."},
    {.key = "body",
     .kind = PL_PARAM_REFERENCE,
     AT(pl_scene_force, body),
     .refers = "bodies",
     .flagged = true,
     .flag_offset = offsetof(pl_scene_force, has_body),
     .standard_text = "all",
     .doc = "A body's name."},
};
const pl_param_table pl_wind_table = {
    .name = "force.wind",
    .doc = "Air that passes: 1/2 density drag area |u| u along a triangle's normal, u the air's "
           "velocity along it relative to the triangle's. Taken at a step's start.",
    ROWS(wind_rows)};

static const char *const shares[] = {"total", "each", NULL};
static const pl_param point_rows[] = {
    BODY_ROW(pl_scene_force, "A body's name."),
    {.key = "select",
     .kind = PL_PARAM_OBJECT,
     AT(pl_scene_force, select),
     .table = &pl_select_table,
     .choices = pl_select_words,
     .required = true,
     .doc = "The vertices that it acts on."},
    {.key = "force",
     .kind = PL_PARAM_VECTOR,
     AT(pl_scene_force, force),
     .unit = "N",
     FROM(-1e15, 1e15),
     .required = true,
     .doc = "Constant."},
    {.key = "share",
     .kind = PL_PARAM_CHOICE,
     AT(pl_scene_force, each),
     .choices = shares,
     .doc = "Whether the force is the selection's, in equal shares, or each vertex's."},
};
const pl_param_table pl_point_table = {
    .name = "force.point", .doc = "A force on vertices.", ROWS(point_rows)};

static const pl_param pressure_rows[] = {
    BODY_ROW(pl_scene_force, "The name of a body with a closed surface."),
    {.key = "pressure",
     .kind = PL_PARAM_NUMBER,
     AT(pl_scene_force, pressure),
     .unit = "Pa",
     FROM(-1e15, 1e15),
     .required = true,
     .doc = "Inside less outside: above 0 it blows the body up."},
};
const pl_param_table pl_pressure_table = {
    .name = "force.pressure",
    .doc = "Along the outer normal of the surface as it lies at a step's start.",
    ROWS(pressure_rows)};

static const pl_param force_rows[] = {
    {.key = "name",
     .kind = PL_PARAM_STRING,
     AT(pl_scene_force, name),
     FROM(1, PL_SCENE_NAME_MAX),
     .standard_text = "force-K, K from 0",
     .doc = "Unique among forces."},
    {.key = "wind",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_wind_table,
     .variant = 1 + PL_LOAD_WIND,
     .doc = "Wind."},
    {.key = "point",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_point_table,
     .variant = 1 + PL_LOAD_POINT,
     .doc = "A point load."},
    {.key = "pressure",
     .kind = PL_PARAM_OBJECT,
     .table = &pl_pressure_table,
     .variant = 1 + PL_LOAD_PRESSURE,
     .doc = "Pressure inside a body."},
    {.key = "from",
     .kind = PL_PARAM_NUMBER,
     AT(pl_scene_force, from),
     .unit = "s",
     FROM(0, 1e12),
     .doc = "Acts in steps that start at this time or later."},
    {.key = "until",
     .kind = PL_PARAM_NUMBER,
     AT(pl_scene_force, until),
     .unit = "s",
     ABOVE(0, 1e12),
     .flagged = true,
     .flag_offset = offsetof(pl_scene_force, has_until),
     .standard_text = "the end",
     .doc = "Acts in steps that start before this time; later than from."},
};
const pl_param_table pl_force_table = {.name = "force",
                                       .doc = "What pushes bodies, beside gravity.",
                                       ROWS(force_rows),
                                       .one_of = true,
                                       .kind_offset = offsetof(pl_scene_force, kind)};
