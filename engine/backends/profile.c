#include "engine/backends/profile.h"

#include <stddef.h>

static _Thread_local pl_profile *current;

void pl_profile_begin(pl_profile *profile)
{
    current = profile;
}

pl_profile *pl_profile_current(void)
{
    return current;
}
