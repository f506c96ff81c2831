/* digest.h - the hash that ties saved states to their model. */
#ifndef PLIANT_ENGINE_MODEL_BUILD_DIGEST_H
#define PLIANT_ENGINE_MODEL_BUILD_DIGEST_H

#include "engine/model/build/layout.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"

/* Hashes everything that determines the bits of the model's runs; materials [scene->material_count]. The model is
 * complete except for its factor, which follows from A. */
uint64_t pl_model_digest(const pl_model *model, const pl_scene *scene, const pl_layout *layout,
                         const pl_material_numbers *materials);

#endif
