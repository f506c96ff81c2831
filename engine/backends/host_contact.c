#include "engine/backends/host_contact.h"

#include "engine/contact/bounce.h"

#include <stdlib.h>

void pl_host_contact_clear(pl_host_contact *contact)
{
    pl_contact_set_destroy(contact->set);
    free(contact->compliance);
    free(contact->ease);
    *contact = (pl_host_contact){0};
}

pl_status pl_host_contact_create(const pl_model *m, int threads, pl_host_contact *out)
{
    const size_t n = (size_t)m->vertices;
    *out = (pl_host_contact){0};
    if (!m->touching)
        return PL_OK;
    out->compliance = malloc(n * sizeof *out->compliance);
    if (!out->compliance)
        return PL_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        out->compliance[i] = m->free_row[i] < 0 ? 0 : 1 / pl_model_diagonal(m, m->free_row[i]);
    if (m->inertia > 0 && pl_contact_has_bounce(m->touching)) {
        out->ease = malloc(n * sizeof *out->ease);
        if (!out->ease)
            return PL_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
            out->ease[i] = m->held[i] ? 0 : 1 / m->mass[i];
    }
    return pl_contact_set_create(m->touching, out->compliance, threads, &out->set);
}

pl_contact_rows *pl_host_contact_rows(const pl_host_contact *contact)
{
    return contact->set ? pl_contact_set_rows(contact->set) : NULL;
}
