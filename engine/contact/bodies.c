#include "engine/contact/bodies.h"

#include <stdlib.h>

void pl_contact_bodies_of(const pl_contact_bodies *b, const pl_contact_pair *pair, int32_t body[2])
{
    int last = 3;
    while (pair->vertex[last] < 0)
        last--;
    const int corner[] = {0, last};
    for (int k = 0; k < 2; k++)
        body[k] = b->surface->vertex_body[b->surface->place[pair->vertex[corner[k]]]];
}

void pl_contact_bodies_destroy(pl_contact_bodies *b)
{
    if (!b)
        return;
    pl_contact_surface_destroy(b->surface);
    free(b->ignore);
    free(b->distance);
    free(b->friction);
    free(b->restitution);
    free(b);
}
