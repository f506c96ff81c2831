/* separation.h - a translation that separates two bodies. */
#ifndef PLIANT_SERVER_WORKER_SEPARATION_H
#define PLIANT_SERVER_WORKER_SEPARATION_H

#include "engine/scene/scene.h"
#include "server/worker/placed_body.h"

/* The smallest of several candidate translations of b, in m, after which a plane lies between the vertices of the two,
 * and contact keeps its distance. In a scene with obstacles no candidate leads down. */
void pl_bodies_separate(const pl_scene *scene, const pl_placed_body *a, const pl_placed_body *b,
                        double move[3]);

#endif
