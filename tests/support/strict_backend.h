/* strict_backend.h - the CPU backend behind memory of its own, as a GPU has: its arrays are addresses
 * that the host cannot read, and a phase takes no others. What the rest of the engine may do to a
 * device's arrays by mistake ends the test: reading or writing one (a segmentation fault), giving a
 * phase the host's memory, one that was released, or one that is too small, and copying with upload or
 * download from the wrong side. */
#ifndef PLIANT_TESTS_SUPPORT_STRICT_BACKEND_H
#define PLIANT_TESTS_SUPPORT_STRICT_BACKEND_H

#include "engine/backends/backend.h"

/* Make it the backend of PL_DEVICE_GPU in this process. */
void pl_strict_register(void);

/* Arrays that were made and not released. */
int64_t pl_strict_arrays(void);

#endif
