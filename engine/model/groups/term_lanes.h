/* term_lanes.h - the parts of the templates of term groups (tets_template.h, terms_template.h) that depend on the
 * target: the CPU, where a function works on whole blocks of lanes, or a device (PL_DEVICE;
 * engine/backends/device), where a thread is one lane of its block. A thread's pointers point at its lane, so that
 * the same indices apply. What the CPU sums over the lanes of a block is one number per term on a device.
 *
 * On the CPU, contributions of a block are laid out as in group.h. On a device, those of a corner are one vector,
 * [block][corner][lane] x, y, z and one unused number: neighbouring threads write them side by side, and a gather
 * reads each in one piece. */
#ifndef PLIANT_ENGINE_MODEL_GROUPS_TERM_LANES_H
#define PLIANT_ENGINE_MODEL_GROUPS_TERM_LANES_H

#include "engine/lanes/lanes.h"
#include "engine/model/group.h"

#include <assert.h>

#ifdef PL_DEVICE
static_assert(PL_LANES == 1 && PL_ROW == PL_BLOCK, "a thread is a lane of a block");
#define PL_CONTRIBUTIONS(out, contributions, g, b, corners) pl_number out[3 * (corners)]
#define PL_CONTRIBUTE(out, c, r, value)                     ((out)[3 * (c) + (r)] = (value))
#define PL_CONTRIBUTED(out, contributions, g, b, corners)                                          \
    do {                                                                                           \
        pl_number4 *to = (pl_number4 *)(contributions) +                                           \
                         ((g)->contribution / 3 + (b) * (corners)*PL_BLOCK);                       \
        for (int corner = 0; corner < (corners); corner++) {                                       \
            const pl_number4 f = {(out)[3 * corner], (out)[3 * corner + 1], (out)[3 * corner + 2], \
                                  0};                                                              \
            to[corner * PL_BLOCK] = f;                                                             \
        }                                                                                          \
    } while (0)
#define PL_TERM                  PL_LARGE
#define PL_PUT_SUM(to, b, lanes) ((to)[(b)*PL_BLOCK] = (lanes))
#define PL_PUT_SUMS(to, b, p, c, s)                                                                \
    ((to)[(b)*PL_BLOCK].primal = (p), (to)[(b)*PL_BLOCK].change = (c),                             \
     (to)[(b)*PL_BLOCK].size = (s))
#else
#define PL_CONTRIBUTIONS(out, contributions, g, b, corners)                                        \
    pl_number *out = (contributions) + ((g)->contribution + (b)*3 * (corners)*PL_BLOCK)
#define PL_CONTRIBUTE(out, c, r, value)                   pl_store((out) + (3 * (c) + (r)) * PL_BLOCK, value)
#define PL_CONTRIBUTED(out, contributions, g, b, corners) ((void)0)
static_assert(PL_LANES == PL_BLOCK, "a block is one vector of doubles");
#define PL_TERM                                           static
#define PL_PUT_SUM(to, b, lanes)                          ((to)[b] = pl_sum(lanes))
#define PL_PUT_SUMS(to, b, p, c, s)                       ((to)[b] = (pl_block_sums){pl_sum(p), pl_sum(c), pl_sum(s)})
#endif

#endif
