#include "protocol/obstacle_decode.h"

#include "engine/scene.h"

#include <math.h>
#include <stdio.h>

static void refuse_length(pl_decoder *d, const char *key, double got, const char *expected,
                          const char *hint)
{
    char text[64];
    size_t mark = pl_decode_enter(d, key);
    snprintf(text, sizeof text, "number %.15g", got);
    pl_decode_fault(d, "out_of_range", text, expected, hint);
    pl_decode_leave(d, mark);
}

static void check_rounding(pl_decoder *d, const pl_obstacle *o, double most, const char *of)
{
    char expected[128];
    if (o->rounding <= most)
        return;
    snprintf(expected, sizeof expected, "at most %.15g, %s", most, of);
    refuse_length(d, "rounding", o->rounding, expected, "edges are rounded within the size");
}

void pl_check_block(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_obstacle *o = out;
    double shortest = fmin(fmin(o->size[0], o->size[1]), o->size[2]);
    if (clean)
        check_rounding(d, o, shortest / 2, "half of the shortest edge");
}

void pl_check_cylinder(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_obstacle *o = out;
    if (!clean)
        return;
    if (o->has_height && o->height / 2 < o->radius)
        check_rounding(d, o, o->height / 2, "half the height");
    else
        check_rounding(d, o, o->radius, "the radius");
}

void pl_check_torus(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_obstacle *o = out;
    char expected[96];
    if (!clean || o->tube < o->radius)
        return;
    snprintf(expected, sizeof expected, "less than the radius, %.15g", o->radius);
    refuse_length(d, "tube", o->tube, expected, "a ring has a hole in the middle");
}
