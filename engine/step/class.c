/* The numerics class: what determines bits beside the scene. Separate from state.c, so that a program without BLAS
 * can query it. */
#include "engine/linear/linear.h"
#include "engine/model/groups/isa.h"
#include "engine/step/pliant.h"

#include <stdio.h>

const char *pl_engine_isa(void)
{
    return pl_isa_name(pl_isa_current());
}

const char *pl_engine_class(void)
{
    static _Thread_local char text[128];
    snprintf(text, sizeof text, "%s %s double %s", PLIANT_VERSION, pl_engine_isa(), pl_blas_core());
    return text;
}
