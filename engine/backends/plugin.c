#include "engine/backends/plugin.h"

#include <stdio.h>
#include <string.h>

const char *pl_engine_abi(void)
{
    return PLIANT_ENGINE_ABI;
}

bool pl_plugin_fits(const pl_plugin *p, char *why, size_t why_size)
{
    if (p->layout != PL_PLUGIN_LAYOUT) {
        snprintf(why, why_size,
                 "its table has layout %u, this program reads %u; build both with one make",
                 (unsigned)p->layout, (unsigned)PL_PLUGIN_LAYOUT);
        return false;
    }
    if (strcmp(p->engine_abi, pl_engine_abi()) != 0) {
        snprintf(why, why_size,
                 "it was built from engine headers %.16s, this program from %.16s; build both with"
                 " one make",
                 p->engine_abi, pl_engine_abi());
        return false;
    }
    return true;
}
