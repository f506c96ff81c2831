/* machine.h - the resources that the daemon shares out among sessions; no scene may ask for more. */
#ifndef PLIANT_SERVER_RUN_MACHINE_H
#define PLIANT_SERVER_RUN_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pl_machine {
    int64_t cores;
    double memory; /* bytes */
    struct pl_gpus *gpus;
    const char *batch;   /* name of its batch system; NULL: none */
    bool batch_default;  /* sessions without an executor run there */
    int64_t batch_cores; /* limit for all sessions there together */
    bool elsewhere;      /* this session runs there: memory and GPUs of this machine do not apply */
    struct pl_learning *learning; /* measured run times; may be NULL */
} pl_machine;

#endif
