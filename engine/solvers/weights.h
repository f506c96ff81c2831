/* weights.h - the rule by which ADMM's weights follow the state.
 *
 * At rest w^2 = weight_scale mu V serves every material (engine/README.md). But ADMM converges only
 * where w^2 outweighs how concave a term is. Of U = c z^2 / 2, in what D x cannot follow, z is
 * w^2 v / (w^2 + c) and v becomes v - a z with relaxation a (anderson.h): a factor of less than -1 where
 * -c > (1 - a/2) w^2, half of w^2 with a = 1 and a tenth with 1.8. z and u then go in a 2-cycle, which
 * acceleration breaks while it is a few elements'. Elements that are pressed hard are that concave:
 * what is under a pressure p would rather turn (as Euler's column does), and -c is p over its thickness.
 * So the rule, of the concavity -c that the group's `concavity` gives of each term:
 *
 *     where some term has w^2 < 2 (-c), every term gets w^2 = max(weight_scale mu V, 4 (-c)),
 *
 * in levels of root 2, at most 32 times its weight at rest; looked at before the first iteration, at
 * the F where the step begins, and after every tenth at z, when weights only go up, at most
 * three times a step. Weights go back to those at rest before a step in which no term needs more.
 * They are those at rest also in a step that begins outside of an energy's domain, such as log J's of
 * inverted elements: what comes back from there is soon anywhere else, and is slowed down by weight.
 * Each change is an assembly and a factorisation, and no other number of a model changes. Levels are
 * kept from step to step, and saved; hard terms keep their weights, so what is kept of their u is of
 * the same forces. But those that keep bodies apart have weights only once something is near something else.
 */
#ifndef PLIANT_ENGINE_SOLVERS_WEIGHTS_H
#define PLIANT_ENGINE_SOLVERS_WEIGHTS_H

#include "engine/backends/backend.h"
#include "engine/solvers/bytes.h"

typedef struct pl_weights pl_weights;

/* follow: else the weights of concave terms are those at rest. PL_NO_MEMORY, or PL_OK. The backend goes on with other models of the weights' making until they are
 * destroyed. NULL may be destroyed. */
pl_status pl_weights_create(const pl_model *model, pl_backend *backend, bool follow,
                            pl_weights **out);
void pl_weights_destroy(pl_weights *w);

/* Before a stage's solve. z is overwritten: D x_start. touching: the group `touching`, where the model has one, has
 * its weights from now on (model/groups/touching.h). PL_OK; or PL_NO_MEMORY, PL_FAILED where the matrix
 * has no factor, and the backend's model is that of the weights at rest. */
pl_status pl_weights_begin(pl_weights *w, const pl_backend_stage *stage, pl_array *const *z,
                           bool touching);
/* After iteration k of it: *renewed, whether the weights are others now. u, scaled by them, is then of the
 * same forces; matrix and right-hand side are others. Fails as pl_weights_begin does. */
pl_status pl_weights_renew(pl_weights *w, int64_t k, pl_array *const *z, pl_array *const *u,
                           bool *renewed);

/* Bytes of the levels: whole words. */
void pl_weights_save(const pl_weights *w, pl_bytes_out *out);
/* False, and nothing changed, where the bytes are not of this model. */
bool pl_weights_restore(pl_weights *w, pl_bytes_in *in);

#endif
