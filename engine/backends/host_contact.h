/* host_contact.h - contact between bodies, the part that all backends share: the host finds the pairs, in double. */
#ifndef PLIANT_ENGINE_BACKENDS_HOST_CONTACT_H
#define PLIANT_ENGINE_BACKENDS_HOST_CONTACT_H

#include "engine/contact/set.h"
#include "engine/model/model.h"

typedef struct pl_host_contact {
    pl_contact_set *set; /* NULL: the model has no contact between bodies */
    double *compliance;  /* [vertices], m/N: compliance for the set */
    double *ease;        /* [vertices], 1/kg, 0 where held; NULL: no restitution between bodies */
} pl_host_contact;

/* PL_OK or PL_NO_MEMORY; clear *out in either case. */
pl_status pl_host_contact_create(const pl_model *model, int threads, pl_host_contact *out);
void pl_host_contact_clear(pl_host_contact *contact);

/* The rows of the set; NULL without a set. */
pl_contact_rows *pl_host_contact_rows(const pl_host_contact *contact);

#endif
