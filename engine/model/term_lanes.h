/* term_lanes.h - what the templates of term groups (tets_template.h, terms_template.h) leave to how
 * they are compiled: for the CPU, where a function works on whole blocks of lanes; or for a device
 * (PL_DEVICE; engine/backends/device), where a thread is one lane of its block. A thread's pointers
 * stand at its lane, so that the same indices are right, and what the lanes of a block add up to on
 * the CPU is there a number for each term. */
#ifndef PLIANT_ENGINE_MODEL_TERM_LANES_H
#define PLIANT_ENGINE_MODEL_TERM_LANES_H

#include "engine/lanes/lanes.h"
#include "engine/model/group.h"

#include <assert.h>

#ifdef PL_DEVICE
static_assert(PL_LANES == 1 && PL_ROW == PL_BLOCK, "a thread is a lane of a block");
#define PL_TERM                  PL_LARGE
#define PL_PUT_SUM(to, b, lanes) ((to)[(b)*PL_BLOCK] = (lanes))
#define PL_PUT_SUMS(to, b, p, c, s)                                                                \
    ((to)[(b)*PL_BLOCK].primal = (p), (to)[(b)*PL_BLOCK].change = (c),                             \
     (to)[(b)*PL_BLOCK].size = (s))
#else
static_assert(PL_LANES == PL_BLOCK, "a block is one vector of doubles");
#define PL_TERM                     static
#define PL_PUT_SUM(to, b, lanes)    ((to)[b] = pl_sum(lanes))
#define PL_PUT_SUMS(to, b, p, c, s) ((to)[b] = (pl_block_sums){pl_sum(p), pl_sum(c), pl_sum(s)})
#endif

#endif
