/* limit_range.h - parameter of a strain limit: the allowed range of singular values. */
#include "engine/model/groups/terms.h"

typedef struct law {
    pl_real lo, hi;
} law;

PL_INLINE law law_load(const pl_terms *t, int64_t b)
{
    const pl_number *c = t->constant + b * PL_LIMIT_CONSTANTS * PL_BLOCK;
    return (law){pl_load(c + PL_LIMIT_LO * PL_BLOCK), pl_load(c + PL_LIMIT_HI * PL_BLOCK)};
}
