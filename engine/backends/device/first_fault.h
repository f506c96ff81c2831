/* first_fault.h - the first fault of the device in this process, kept for all queues, whichever thread noticed it.
 * Included by the implementation of the device's memory, once per process. */
#ifndef PLIANT_ENGINE_BACKENDS_DEVICE_FIRST_FAULT_H
#define PLIANT_ENGINE_BACKENDS_DEVICE_FIRST_FAULT_H

#include <stdio.h>

typedef struct pl_first_fault {
    char text[256];
    int state; /* 0: none; 1: being written; 2: available */
} pl_first_fault;

static inline const char *pl_first_fault_of(const pl_first_fault *f)
{
    return __atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == 2 ? f->text : NULL;
}

static inline void pl_first_fault_note(pl_first_fault *f, const char *doing, const char *what)
{
    int none = 0;
    if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) == 0 &&
        __atomic_compare_exchange_n(&f->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        snprintf(f->text, sizeof f->text, "%s: %s", doing, what);
        __atomic_store_n(&f->state, 2, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != 2) /* another thread is writing it */
        ;
}

#endif
