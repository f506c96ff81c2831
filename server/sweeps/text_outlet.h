/* text_outlet.h - what is put into an outlet, as one text. */
#ifndef PLIANT_SERVER_SWEEPS_TEXT_OUTLET_H
#define PLIANT_SERVER_SWEEPS_TEXT_OUTLET_H

#include "protocol/export/outlet.h"

/* `put` returns false to give up. Malloc'ed, or NULL then and without memory. */
char *pl_outlet_gather(bool (*put)(const void *context, pl_outlet *o), const void *context,
                       size_t *size);

#endif
