#include "server/sweeps/sweep_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pl_sweep_row_state_name(pl_sweep_row_state state)
{
    static const char *const names[PL_ROW_STATES] = {"waiting", "live",     "succeeded",
                                                     "failed",  "rejected", "cancelled",
                                                     "refused", "deleted",  "stopped"};
    return names[state];
}

pl_sweep_run *pl_sweep_run_create(const char *id, const char *owner, const char *group,
                                  pl_sweep *plan, size_t length)
{
    pl_sweep_run *s = calloc(1, sizeof *s);
    if (!s) {
        pl_sweep_clear(plan);
        errno = ENOMEM;
        return NULL;
    }
    atomic_store(&s->references, 1);
    memcpy(s->id, id, sizeof s->id);
    s->plan = *plan;
    s->bytes = 4 * (int64_t)length +
               plan->row_room *
                   (48 * plan->parameter_count + 8 * plan->result_count + (int64_t)sizeof *s->rows);
    *plan = (pl_sweep){0};
    s->owner = strdup(owner);
    s->group = group ? strdup(group) : NULL;
    s->rows = calloc((size_t)s->plan.row_room, sizeof *s->rows);
    if (!s->owner || (group && !s->group) || !s->rows) {
        pl_sweep_release(s);
        errno = ENOMEM;
        return NULL;
    }
    return s;
}

void pl_sweep_outcome_clear(pl_sweep_outcome *outcome)
{
    free(outcome->message);
    free(outcome->warnings);
    free(outcome->results);
    *outcome = (pl_sweep_outcome){0};
}

void pl_sweep_release(pl_sweep_run *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1) {
        return;
    }
    for (int64_t i = 0; s->rows && i < s->plan.row_room; i++) {
        pl_sweep_outcome_clear(&s->rows[i].outcome);
    }
    free(s->rows);
    free(s->owner);
    free(s->group);
    pl_sweep_clear(&s->plan);
    free(s);
}

pl_sweep_run *pl_sweep_acquire(pl_sweep_run *s)
{
    atomic_fetch_add(&s->references, 1);
    return s;
}

int64_t pl_sweep_live(const pl_sweep_run *s)
{
    int64_t live = 0;
    for (int64_t i = 0; i < s->plan.row_count; i++) {
        live += s->rows[i].state == PL_ROW_LIVE;
    }
    return live;
}

bool pl_sweep_open(const pl_sweep_run *s)
{
    bool open = s->plan.fit && s->end == PL_FIT_OPEN && s->halt == PL_HALT_NONE;
    for (int64_t i = 0; i < s->plan.row_count && !open; i++) {
        open = s->rows[i].state == PL_ROW_LIVE ||
               (s->rows[i].state == PL_ROW_WAITING && s->halt == PL_HALT_NONE);
    }
    return open && !s->gone;
}

int64_t pl_sweep_best(const pl_sweep_run *s)
{
    int64_t best = -1;
    double least = INFINITY;
    for (int64_t i = 0; s->plan.fit && i < s->plan.row_count; i++) {
        const double *results = s->rows[i].outcome.results;
        if (s->rows[i].state == PL_ROW_SUCCEEDED && results && results[0] < least) {
            least = results[0];
            best = i;
        }
    }
    return best;
}
