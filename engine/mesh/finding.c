#include "engine/mesh/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void pl_finding_note(pl_finding *f, int64_t id, double value)
{
    if (f->count < PL_FINDING_TOLD) {
        f->id[f->count] = id;
        f->value[f->count] = value;
    }
    f->count++;
}

/* ", also 3, 5, 9 and 12 more" */
static const char *others(const pl_finding *f, char out[160])
{
    int used = 0;
    out[0] = 0;
    for (int64_t i = 1; i < f->count && i < PL_FINDING_TOLD; i++)
        used += snprintf(out + used, 160 - (size_t)used, "%s%" PRId64, i == 1 ? "; also " : ", ",
                         f->id[i]);
    if (f->count > PL_FINDING_TOLD)
        snprintf(out + used, 160 - (size_t)used, " and %" PRId64 " more",
                 f->count - PL_FINDING_TOLD);
    return out;
}

void pl_check_tell(pl_check *c, const pl_finding *f, const char *unit, const char *code,
                   const char *const advice[2], const char *what, ...)
{
    if (f->count == 0)
        return;
    char message[160], rest[160];
    va_list args;
    va_start(args, what);
    vsnprintf(message, sizeof message, what, args);
    va_end(args);
    pl_faults_addf(c->faults, c->pointer, code, advice[0], advice[1], "%s %" PRId64 ": %s%s", unit,
                   f->id[0], message, others(f, rest));
    c->bad = true;
}
