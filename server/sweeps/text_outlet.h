/* text_outlet.h - gathers an outlet's output in one text. */
#ifndef PLIANT_SERVER_SWEEPS_TEXT_OUTLET_H
#define PLIANT_SERVER_SWEEPS_TEXT_OUTLET_H

#include "protocol/export/outlet.h"

/* The output of `put`, malloc'ed; NULL if `put` returns false or memory runs out. */
char *pl_outlet_gather(bool (*put)(const void *context, pl_outlet *o), const void *context,
                       size_t *size);

#endif
