/* build_model.h - builds a model (model.h) from a scene and its meshes. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_BUILD_MODEL_H
#define PLIANT_ENGINE_MODEL_BUILD_BUILD_MODEL_H

#include "engine/mesh/mesh.h"
#include "engine/model/model.h"

/* Builds for an integrator whose stages have the factor a (1 for backward Euler). */
pl_status pl_model_build(const pl_scene *scene, const pl_mesh *meshes, double a, pl_model **out,
                         pl_faults *faults);

#endif
