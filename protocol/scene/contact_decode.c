#include "protocol/scene/contact_decode.h"

#include "engine/scene/carries.h"

#include <stdio.h>

void pl_decode_between(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    int32_t *bodies = (int32_t *)(void *)((char *)out + p->offset);
    if (!json_is_array(value) || json_array_size(value) != 2) {
        pl_decode_refuse(d, value, "wrong_type", p->type, "");
        return;
    }
    for (size_t k = 0; k < 2; k++) {
        size_t mark = pl_decode_enter_item(d, k);
        pl_decode_reference(d, json_array_get(value, k), p, &bodies[k]);
        pl_decode_leave(d, mark);
    }
}

void pl_check_contact(pl_decoder *d, json_t *object, void *out, bool clean)
{
    pl_contact_settings *contact = out;
    const json_t *pairs = json_object_get(object, "pairs");
    for (int32_t k = 0; k < contact->pair_count; k++)
        if (!json_object_get(json_array_get(pairs, (size_t)k), "restitution"))
            contact->pairs[k].restitution = contact->restitution;
}

void pl_settle_contact(pl_decoder *d, json_t *object, pl_scene *scene)
{
    const char *why = pl_contact_refused(&scene->solver);
    if (!why)
        return;
    if (json_is_true(json_object_get(object, "enabled"))) {
        char hint[192];
        snprintf(hint, sizeof hint, "%s; leave it out for a run without contact", why);
        size_t contact = pl_decode_enter(d, "contact"), mark = pl_decode_enter(d, "enabled");
        pl_decode_fault(d, "unsupported", "true, on a GPU", "solver.device cpu", hint);
        pl_decode_leave(d, mark);
        pl_decode_leave(d, contact);
    }
    scene->contact.enabled = false;
}
