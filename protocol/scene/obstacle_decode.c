#include "protocol/scene/obstacle_decode.h"

#include "engine/scene/scene.h"
#include "protocol/scene/mesh_decode.h"

#include <math.h>
#include <stdio.h>

void pl_decode_heights(pl_decoder *d, json_t *value, const pl_param *p, void *out)
{
    pl_obstacle *o = out;
    size_t width = json_array_size(json_array_get(value, 0));
    if (width < 2 || json_array_size(value) < 2) {
        char expected[160];
        pl_param_expected(p, expected, sizeof expected);
        pl_decode_refuse(d, value, "wrong_type", expected, "at least two rows of two numbers");
        return;
    }
    int64_t rows = 0;
    o->heights = pl_decode_rows(d, value, p, width, &rows);
    o->rows = (int32_t)rows;
    o->columns = (int32_t)width;
}

static void check_rounding(pl_decoder *d, const pl_obstacle *o, double most, const char *of)
{
    char got[64], expected[128];
    if (o->rounding <= most)
        return;
    size_t mark = pl_decode_enter(d, "rounding");
    snprintf(got, sizeof got, "number %.15g", o->rounding);
    snprintf(expected, sizeof expected, "at most %.15g, %s", most, of);
    pl_decode_fault(d, "out_of_range", got, expected, "edges are rounded within the size");
    pl_decode_leave(d, mark);
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
    if (clean)
        pl_check_tube(d, o->tube, o->radius, "the radius of its circle");
}

void pl_check_obstacle(pl_decoder *d, json_t *object, void *out, bool clean)
{
    const pl_obstacle *o = out;
    char got[64], expected[128];
    double room = pl_obstacle_inradius(o);
    if (!clean || !o->inside || o->margin < room)
        return;
    size_t mark = pl_decode_enter(d, "margin");
    snprintf(got, sizeof got, "number %.15g", o->margin);
    snprintf(expected, sizeof expected, "less than %.15g, which is all that fits in", room);
    pl_decode_fault(d, "out_of_range", got, expected, "no place would be left for bodies");
    pl_decode_leave(d, mark);
}
