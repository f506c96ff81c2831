/* loads.h - the scene's forces as one vector of newtons that is constant over a step: they are taken
 * at the step's start, from x(n) and v(n) (lagged), so that what is minimised keeps an energy, - load
 * . x. The work that a load does over a step is load . (x(n+1) - x(n)).
 *
 * Over a triangle with area vector S = (b - a) x (c - a) / 2 = A n, n outward (by the corners' order
 * for cloth), a third of it at each corner:
 *
 *     pressure p   F = p S: above 0 it blows a closed body up. Its sum over a closed surface is 0,
 *                  and its work is p times the change of the enclosed volume, to first order.
 *     wind w       F = 1/2 density drag A |u| u n, u = (w - v) . n, v the mean of the corners'.
 *                  Cloth feels it from both sides, a body where it faces the wind (u < 0). It is
 *                  explicit, so its impulse is cut to what stops the triangle's own mass against
 *                  the wind, |F| <= m |u| / h: beyond that a step would swing over and back.
 *
 * A point load's force is given. In statics the weight M g is part of the load too (stage.h). */
#ifndef PLIANT_ENGINE_MODEL_LOADS_H
#define PLIANT_ENGINE_MODEL_LOADS_H

#include "engine/scene/metrics.h"
#include "engine/model/build/layout.h"

typedef struct pl_model pl_model;

/* One force of the scene; its strings and its selection are not kept. */
typedef struct pl_load_model {
    pl_scene_force load;
    int32_t *vertex; /* of a point load, ascending */
    int64_t count;
} pl_load_model;

/* The surface of every body that wind or pressure acts on. */
typedef struct pl_skin {
    int64_t count;
    int32_t *triangle; /* [count][3], model vertices */
    bool *two_sided;   /* [count]: cloth */
    double *mass;      /* [count], kg: of its corners, shared with their other triangles */
    int64_t *first;    /* [bodies + 1] */
    int64_t *start;    /* [vertices + 1]: of a vertex's triangles in `incident` */
    int64_t *incident; /* triangles, ascending */
} pl_skin;

typedef struct pl_loads {
    int32_t count;
    pl_load_model *list;
    pl_skin skin;
} pl_loads;

/* From a layout whose forces are resolved, whose vertices are moved out of it. PL_NO_MEMORY: *out
 * is still to be destroyed. */
pl_status pl_loads_create(const pl_scene *scene, const pl_mesh *meshes, pl_layout *layout,
                          const double *mass, pl_loads *out);
void pl_loads_destroy(pl_loads *loads);

/* Whether steps of the model have a load at all. */
bool pl_loads_any(const pl_model *model);

/* load [vertices][3] of a step that starts at `time` with x and v; total [count] receives the sum
 * that each force applies. The same bits with any number of threads. */
void pl_loads_evaluate(const pl_model *model, double time, const double *x, const double *v,
                       int32_t threads, double *load, pl_force *total);

#endif
