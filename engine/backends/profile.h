/* profile.h - times and counts the CPU's phases for scene/profile.h.
 *
 * While a thread has a profile, pl_backend_find gives it a table of the CPU's phases with a clock around each. Arrays
 * and bits are the plain backend's. Without a profile the plain table is used, and nothing is measured or asked.
 */
#ifndef PLIANT_ENGINE_BACKENDS_PROFILE_H
#define PLIANT_ENGINE_BACKENDS_PROFILE_H

#include "engine/scene/profile.h"

/* Profiles the CPU states that this thread creates from now on; only this thread may step them, and `profile` must
 * outlive them. NULL ends it, once they are destroyed. */
void pl_profile_begin(pl_profile *profile);
/* The thread's profile, or NULL. */
pl_profile *pl_profile_current(void);

/* The table of the CPU's phases for a thread with a profile (cpu/cpu_profile.c). */
const struct pl_backend_ops *pl_backend_cpu_profiled(void);

#endif
