#include "engine/scene/contact_between.h"

#include <math.h>

static double friction_of(const pl_scene *scene, int32_t body)
{
    const pl_material *material = &scene->materials[scene->bodies[body].material];
    return material->has_friction ? material->friction : scene->contact.friction;
}

static bool attached(const pl_scene *scene, int32_t a, int32_t b)
{
    bool found = false;
    for (int32_t i = 0; i < scene->attachment_count; i++) {
        const pl_attachment *t = &scene->attachments[i];
        found = found ||
                (t->has_to && ((t->body == a && t->to == b) || (t->body == b && t->to == a)));
    }
    return found;
}

pl_contact_between pl_contact_between_bodies(const pl_scene *scene, int32_t a, int32_t b)
{
    const pl_contact_settings *settings = &scene->contact;
    pl_contact_between out = {.enabled = a == b ? settings->self : !attached(scene, a, b),
                              .friction = sqrt(friction_of(scene, a) * friction_of(scene, b)),
                              .restitution = settings->restitution};
    for (int32_t i = 0; i < settings->pair_count; i++) {
        const pl_contact_pair_settings *p = &settings->pairs[i];
        if (!(p->body[0] == a && p->body[1] == b) && !(p->body[0] == b && p->body[1] == a))
            continue;
        out.enabled = p->enabled;
        out.friction = p->has_friction ? p->friction : out.friction;
        out.restitution = p->restitution;
    }
    out.enabled = out.enabled && settings->enabled;
    return out;
}
