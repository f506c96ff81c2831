/* machine.h - what the daemon shares out among sessions, and no scene may ask for more of; and what it knows of it. */
#ifndef PLIANT_SERVER_RUN_MACHINE_H
#define PLIANT_SERVER_RUN_MACHINE_H

#include <stdint.h>

typedef struct pl_machine {
    int64_t cores;
    double memory; /* bytes */
    struct pl_gpus *gpus;
    struct pl_learning *learning; /* what runs took on it; may be NULL */
} pl_machine;

#endif
