#include "protocol/sweep/sweep.h"

#include <jansson.h>
#include <stdlib.h>

const char *const pl_sweep_at_names[] = {"last", "min", "max", "mean", NULL};

static void clear_parameter(pl_sweep_parameter *p)
{
    for (int64_t i = 0; p->values && i < p->count; i++)
        free(p->values[i]);
    free(p->values);
    free(p->path);
    free(p->name);
}

void pl_sweep_clear(pl_sweep *s)
{
    for (int64_t i = 0; s->values && i < s->row_room * s->parameter_count; i++)
        free(s->values[i]);
    free(s->values);
    pl_fit_destroy(s->fit);
    free(s->stop_runs.of.metric);
    free(s->stop_runs.of.probe);
    for (int32_t j = 0; j < s->parameter_count; j++)
        clear_parameter(&s->parameters[j]);
    free(s->parameters);
    for (int32_t k = 0; k < s->result_count; k++) {
        free(s->results[k].name);
        free(s->results[k].metric);
        free(s->results[k].probe);
        free(s->results[k].expect);
    }
    free(s->results);
    free(s->name);
    json_decref((json_t *)s->document);
    *s = (pl_sweep){.stop.result = -1};
}
