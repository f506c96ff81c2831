/* weights.h - adaptation of ADMM's weights to the state.
 *
 * At rest, w^2 = weight_scale mu V works for every material (engine/README.md). But ADMM converges only where w^2
 * outweighs the concavity of a term. For U = c z^2 / 2, in directions that D x cannot follow, z is w^2
 * v / (w^2 + c), and v becomes v - a z with relaxation a (anderson.h). That factor is below -1 where -c > (1 - a/2)
 * w^2: half of w^2 with a = 1, and a tenth with 1.8. z and u then alternate in a 2-cycle, which acceleration breaks
 * only while few elements do so. Strongly compressed elements are that concave: under a pressure p they would
 * rather rotate (like Euler's column), and -c is p over their thickness. The group's `concavity` gives -c of each
 * term, and the rule is:
 *
 *     if some term has w^2 < 2 (-c), every term gets w^2 = max(weight_scale mu V, 4 (-c)),
 *
 * in levels of root 2, up to 32 times its weight at rest. The rule is checked before the first iteration, at the F
 * of the step's start, and after every tenth iteration at z, where weights only increase, at most three times a
 * step. Weights return to those at rest before a step in which no term needs more.
 *
 * Weights are also those at rest in a step that begins outside an energy's domain, such as that of log J with
 * inverted elements: elements that return from there soon move elsewhere, and weight would slow them down.
 *
 * Each change costs an assembly and a factorisation, and changes no other number of a model. Levels persist from
 * step to step and are saved. Hard terms keep their weights, so their saved u represents the same forces. The
 * exception is the hard terms that keep bodies apart: they have weights only once bodies are near each other.
 */
#ifndef PLIANT_ENGINE_SOLVERS_WEIGHTS_H
#define PLIANT_ENGINE_SOLVERS_WEIGHTS_H

#include "engine/backends/backend.h"
#include "engine/solvers/bytes.h"

typedef struct pl_weights pl_weights;

/* follow: adapt the weights; otherwise the weights of concave terms are those at rest. PL_NO_MEMORY, or PL_OK. The
 * backend continues with other models, made by the weights, until they are destroyed. Destroying NULL does nothing. */
pl_status pl_weights_create(const pl_model *model, pl_backend *backend, bool follow,
                            pl_weights **out);
void pl_weights_destroy(pl_weights *w);

/* Called before a stage's solve. z is overwritten with D x_start. touching: the group `touching`, if the model has
 * one, has its weights from now on (model/groups/touching.h). PL_OK; or PL_NO_MEMORY, or PL_FAILED if the matrix
 * cannot be factored, and the backend then has the model with the weights at rest. */
pl_status pl_weights_begin(pl_weights *w, const pl_backend_stage *stage, pl_array *const *z,
                           bool touching);
/* Called after iteration k. *renewed: whether the weights have changed. If so, u is rescaled to represent the same
 * forces, and the matrix and right-hand side are new. Fails as pl_weights_begin does. */
pl_status pl_weights_renew(pl_weights *w, int64_t k, pl_array *const *z, pl_array *const *u,
                           bool *renewed);

/* Size of the levels in bytes, a multiple of a word. */
void pl_weights_save(const pl_weights *w, pl_bytes_out *out);
/* False, with nothing changed, if the bytes do not belong to this model. */
bool pl_weights_restore(pl_weights *w, pl_bytes_in *in);

#endif
