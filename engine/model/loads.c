#include "engine/model/loads.h"

#include <stdlib.h>

void pl_loads_destroy(pl_loads *loads)
{
    for (int32_t f = 0; loads->list && f < loads->count; f++)
        free(loads->list[f].vertex);
    free(loads->list);
    free(loads->skin.triangle);
    free(loads->skin.two_sided);
    free(loads->skin.mass);
    free(loads->skin.first);
    free(loads->skin.start);
    free(loads->skin.incident);
    *loads = (pl_loads){0};
}
