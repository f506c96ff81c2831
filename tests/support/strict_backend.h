/* strict_backend.h - the CPU backend with separate memory, like a GPU's: its arrays are addresses that the host cannot
 * read, and phases accept no others. Mistakes of the rest of the engine with a device's arrays end the test: reading or
 * writing one (a segmentation fault), giving a phase the host's memory, a released array, or one that is too small, and
 * copying with upload or download from the wrong side. */
#ifndef PLIANT_TESTS_SUPPORT_STRICT_BACKEND_H
#define PLIANT_TESTS_SUPPORT_STRICT_BACKEND_H

#include "engine/backends/backend.h"

/* Make it the backend of PL_DEVICE_GPU in this process. */
void pl_strict_register(void);

/* Arrays that were made and not released. */
int64_t pl_strict_arrays(void);

#endif
