#include "protocol/scene/contact_decode.h"

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
