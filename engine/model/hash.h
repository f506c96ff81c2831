/* hash.h - a 64-bit hash of numbers, for telling models and saved states apart and for finding
 * damage. Not for hostile input: whoever can write a file can also write its hash. */
#ifndef PLIANT_ENGINE_MODEL_HASH_H
#define PLIANT_ENGINE_MODEL_HASH_H

#include "engine/model/build/layout.h"
#include "engine/model/materials.h"
#include "engine/model/model.h"

/* FNV-1a over 8-byte words, with a shift so that high bits reach low ones: several GB/s where a
 * byte at a time makes one. The last word is padded with zeros and the size goes in last. Start
 * from PL_HASH_START; feed it in pieces by handing on what it returned. */
#define PL_HASH_START UINT64_C(0xCBF29CE484222325)
uint64_t pl_hash(uint64_t hash, const void *data, size_t size);

uint64_t pl_hash_motion(uint64_t hash, const pl_motion *motion);

/* Of everything that decides the bits of the model's runs; materials [scene->material_count]. The
 * model is complete but for its factor, which follows from A. */
uint64_t pl_model_hash_make(const pl_model *model, const pl_scene *scene, const pl_layout *layout,
                            const pl_material_numbers *materials);

#endif
