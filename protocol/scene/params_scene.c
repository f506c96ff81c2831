/* params_scene.c - the table of a whole scene, and the list of all tables. */
#include "engine/scene/scene.h"
#include "protocol/scene/notes.h"
#include "protocol/scene/params_rows.h"

#include <string.h>

_Static_assert(offsetof(pl_material, name) == 0 && offsetof(pl_body, name) == 0 &&
                   offsetof(pl_pin, name) == 0 && offsetof(pl_scene_force, name) == 0 &&
                   offsetof(pl_obstacle, name) == 0 && offsetof(pl_expectation, name) == 0 &&
                   offsetof(pl_attachment, name) == 0,
               "the members of lists and maps begin with their name");

static const pl_param scene_rows[] = {
    CUSTOM("pliant", VERSION, "1", "Version of the scene's format.", REQUIRED),
    TITLE(pl_scene),
    OBJECT("time", pl_time_table, pl_scene, time, "Steps and their integrator."),
    OBJECT("solver", pl_solver_table, pl_scene, solver, "The method and when it stops."),
    VECTOR("gravity", "m/s^2", FROM(-1e6, 1e6), EACH(0, -9.81, 0), pl_scene, gravity,
           "Acts on every body."),
    MAP("materials", pl_material_table, FROM(0, 1024), pl_scene, materials, material_count,
        "Materials by name.", WORDED("rubber")),
    LIST("bodies", pl_body_table, FROM(1, 1024), pl_scene, bodies, body_count, "Deformable bodies.",
         REQUIRED),
    LIST("pins", pl_pin_table, FROM(0, 4096), pl_scene, pins, pin_count,
         "Vertices that are fixed or moved."),
    LIST("obstacles", pl_obstacle_table, FROM(0, 4096), pl_scene, obstacles, obstacle_count,
         "Rigid shapes that bodies collide with."),
    LIST("attachments", pl_attachment_table, FROM(0, 4096), pl_scene, attachments, attachment_count,
         "Springs between vertices and other things."),
    LIST("forces", pl_force_table, FROM(0, 256), pl_scene, forces, force_count,
         "Forces on bodies, in addition to gravity."),
    OBJECT("contact", pl_contact_table, pl_scene, contact,
           "Contact between bodies, and of a body with itself."),
    LIST("expect", pl_expectation_table, FROM(0, 256), pl_scene, expectations, expectation_count,
         "Requirements on the results, tested by pliant run --check and pliant check."),
    OBJECT("output", pl_output_table, pl_scene, output, "Stored results of a run."),
    OBJECT("resources", pl_resources_table, pl_scene, resources,
           "Resources of the machine for a run."),
    METADATA,
    LABELS,
    WEBHOOK,
};
const pl_param_table pl_scene_table = {.name = "scene", .doc = "A scene.", ROWS(scene_rows)};

#define LIST_TABLE(name) &pl_##name##_table,
static const pl_param_table *const tables[] = {PL_PARAM_TABLES(LIST_TABLE) NULL};

const pl_param_table *const *pl_param_tables(void)
{
    return tables;
}

const pl_param_table *pl_table_named(const char *name)
{
    for (const pl_param_table *const *t = tables; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}
