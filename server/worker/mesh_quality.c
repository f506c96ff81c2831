#include "server/worker/mesh_quality.h"

static const char *name_of(const pl_shapes *s, int measure)
{
    static const char *const names[PL_SHAPE_MEASURES] = {"least_angle", "greatest_angle",
                                                         "radius_ratio", "aspect", "volume"};
    return measure == PL_SHAPE_EXTENT && s->corners == 3 ? "area" : names[measure];
}

static void put_range(pl_json_writer *w, const pl_shape_range *r)
{
    pl_json_begin_object(w);
    pl_json_set_number(w, "least", r->least);
    pl_json_set_number(w, "mean", r->mean);
    pl_json_set_number(w, "greatest", r->greatest);
    pl_json_key(w, "edges");
    pl_json_begin_array(w);
    for (int k = 0; k <= PL_SHAPE_BINS; k++)
        pl_json_put_number(w, r->edge[k], 6);
    pl_json_end_array(w);
    pl_json_key(w, "counts");
    pl_json_begin_array(w);
    for (int k = 0; k < PL_SHAPE_BINS; k++)
        pl_json_put_integer(w, r->count[k]);
    pl_json_end_array(w);
    pl_json_end_object(w);
}

static void put_worst(pl_json_writer *w, const pl_shapes *shapes)
{
    pl_json_key(w, "worst");
    pl_json_begin_array(w);
    for (int i = 0; i < shapes->worst_count; i++) {
        const pl_shape *s = &shapes->worst[i];
        pl_json_begin_object(w);
        pl_json_set_integer(w, "element", s->element);
        pl_json_set_boolean(w, "flat", s->flat);
        pl_json_set_boolean(w, "inverted", s->inverted);
        pl_json_key(w, "centre");
        pl_json_begin_array(w);
        for (int k = 0; k < 3; k++)
            pl_json_put_number(w, s->centre[k], 9);
        pl_json_end_array(w);
        for (int m = 0; m < PL_SHAPE_MEASURES; m++)
            pl_json_set_number(w, name_of(shapes, m), s->value[m]);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

void pl_mesh_quality_put(pl_json_writer *w, const pl_shapes *shapes)
{
    if (shapes->corners == 0) {
        pl_json_put_null(w);
        return;
    }
    pl_json_begin_object(w);
    pl_json_set_string(w, "of", shapes->corners == 4 ? "tetrahedra" : "triangles");
    pl_json_set_integer(w, "elements", shapes->elements);
    pl_json_set_integer(w, "flat", shapes->flat);
    pl_json_set_integer(w, "inverted", shapes->inverted);
    for (int m = 0; m < PL_SHAPE_MEASURES; m++) {
        pl_json_key(w, name_of(shapes, m));
        put_range(w, &shapes->range[m]);
    }
    put_worst(w, shapes);
    pl_json_end_object(w);
}
