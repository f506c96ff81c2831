#include "engine/scene/scene.h"

#include <stdlib.h>

static void free_obstacle(pl_obstacle *o)
{
    free(o->name);
    free(o->motion.keyframes);
    free(o->heights);
    free(o->mesh.source.upload[0]);
    free(o->mesh.source.upload[1]);
    free(o->mesh.source.vertices);
    free(o->mesh.source.triangles);
}

static void free_expectations(pl_expectation *list, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        free(list[i].name);
        free(list[i].select.indices);
        free(list[i].select.tag);
    }
    free(list);
}

void pl_scene_clear(pl_scene *scene)
{
    for (int32_t i = 0; i < scene->material_count; i++)
        free(scene->materials[i].name);
    for (int32_t i = 0; i < scene->body_count; i++) {
        pl_body *b = &scene->bodies[i];
        free(b->name);
        free(b->mesh.upload[0]);
        free(b->mesh.upload[1]);
        free(b->mesh.vertices);
        free(b->mesh.tets);
        free(b->mesh.triangles);
        free(b->mesh.edges);
        for (int32_t k = 0; k < b->tag_material_count; k++)
            free(b->tag_materials[k].tag);
        free(b->tag_materials);
        free(b->fields.stiffness);
        free(b->fields.fibers);
    }
    for (int32_t i = 0; i < scene->pin_count; i++) {
        free(scene->pins[i].name);
        free(scene->pins[i].motion.keyframes);
        free(scene->pins[i].select.indices);
        free(scene->pins[i].select.tag);
    }
    for (int32_t i = 0; i < scene->attachment_count; i++) {
        free(scene->attachments[i].name);
        free(scene->attachments[i].select.indices);
        free(scene->attachments[i].select.tag);
    }
    for (int32_t i = 0; i < scene->obstacle_count; i++)
        free_obstacle(&scene->obstacles[i]);
    free_expectations(scene->expectations, scene->expectation_count);
    free_expectations(scene->output.probes, scene->output.probe_count);
    for (int32_t i = 0; i < scene->force_count; i++) {
        free(scene->forces[i].name);
        free(scene->forces[i].select.indices);
        free(scene->forces[i].select.tag);
    }
    free(scene->forces);
    free(scene->contact.pairs);
    free(scene->name);
    free(scene->materials);
    free(scene->bodies);
    free(scene->pins);
    free(scene->attachments);
    free(scene->obstacles);
    *scene = (pl_scene){0};
}
