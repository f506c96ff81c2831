/* shared_launches.h - statistics of launching together: rounds so far, launches that sessions requested in them,
 * and launches made. */
#ifndef PLIANT_ENGINE_BACKENDS_SHARED_LAUNCHES_H
#define PLIANT_ENGINE_BACKENDS_SHARED_LAUNCHES_H

#include <stdint.h>

typedef struct pl_shared_launches {
    int64_t rounds, asked, made;
} pl_shared_launches;

#endif
