#include "protocol/log/verify_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void pl_verifier_damage(pl_verifier *v, const char *file, int64_t offset, int64_t frame,
                        const pl_damage_words *words, const char *format, ...)
{
    pl_verify_report *r = v->report;
    r->total++;
    if (r->count == PL_DAMAGES_MAX)
        return;
    if ((r->count & (r->count - 1)) == 0) { /* full: 1, 2, 4, 8, .. */
        pl_damage *larger = realloc(r->damages, (2 * r->count + 1) * sizeof *r->damages);
        if (!larger) {
            v->status = PL_NO_MEMORY;
            return;
        }
        r->damages = larger;
    }
    pl_damage *d = &r->damages[r->count++];
    d->offset = offset;
    d->frame = frame;
    snprintf(d->file, sizeof d->file, "%s", file);
    snprintf(d->readable, sizeof d->readable, "%s", words->readable);
    snprintf(d->advice, sizeof d->advice, "%s", words->advice);
    va_list args;
    va_start(args, format);
    vsnprintf(d->what, sizeof d->what, format, args);
    va_end(args);
}

void pl_verifier_forgive(pl_verifier *v, size_t count, int64_t frame)
{
    pl_verify_report *r = v->report;
    size_t kept = count;
    for (size_t i = count; i < r->count; i++)
        if (r->damages[i].frame < frame)
            r->damages[kept++] = r->damages[i];
    r->total -= r->count - kept;
    r->count = kept;
}

bool pl_verifier_advance(pl_verifier *v, uint64_t bytes)
{
    v->done += bytes;
    if (v->options->progress && !v->options->progress(v->options->context, v->done, v->total))
        v->status = PL_FAILED;
    return v->status == PL_OK;
}

void pl_verify_report_clear(pl_verify_report *report)
{
    free(report->damages);
    *report = (pl_verify_report){0};
}
