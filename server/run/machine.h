/* machine.h - what the daemon shares out among sessions, and no scene may ask for more of. */
#ifndef PLIANT_SERVER_RUN_MACHINE_H
#define PLIANT_SERVER_RUN_MACHINE_H

#include <stdint.h>

typedef struct pl_machine {
    int64_t cores;
    double memory; /* bytes */
    struct pl_gpus *gpus;
} pl_machine;

#endif
