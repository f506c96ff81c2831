/* loads.h - the scene's forces as a model stores them; load_forces.h describes their effect. */
#ifndef PLIANT_ENGINE_MODEL_LOADS_H
#define PLIANT_ENGINE_MODEL_LOADS_H

#include "engine/scene/scene.h"

/* One force of the scene, without its strings and its selection. */
typedef struct pl_load_model {
    pl_scene_force load;
    int32_t *vertex; /* for a point load, ascending */
    int64_t count;
} pl_load_model;

/* The surface of every body under wind or pressure. */
typedef struct pl_skin {
    int64_t count;
    int32_t *triangle; /* [count][3], model vertices */
    bool *two_sided;   /* [count]: cloth */
    double *mass;      /* [count], kg: its part of the corners' mass, shared by their triangles */
    int64_t *first;    /* [bodies + 1] */
    int64_t *start;    /* [vertices + 1]: of a vertex's triangles in `incident` */
    int64_t *incident; /* triangles, ascending */
} pl_skin;

typedef struct pl_loads {
    int32_t count;
    pl_load_model *list;
    pl_skin skin;
} pl_loads;

void pl_loads_destroy(pl_loads *loads);

#endif
