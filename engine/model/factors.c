#include "engine/model/factors.h"

#include "engine/model/spectra.h"

#include <stdlib.h>

static pl_status factor_masked(const pl_model *m, int c, pl_factor **out)
{
    pl_sparse masked = m->A;
    masked.value = pl_spectra_mask(m, c);
    pl_status status = masked.value ? pl_factor_create(&masked, out) : PL_NO_MEMORY;
    free(masked.value);
    return status;
}

pl_status pl_factors_create(pl_model *m)
{
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        int same = pl_spectra_first_like(m, c);
        if (same < c)
            m->factor[c] = m->factor[same];
        else if (m->partly_held)
            status = factor_masked(m, c, &m->factor[c]);
        else
            status = pl_factor_create(&m->A, &m->factor[c]);
    }
    return status;
}

void pl_factors_destroy(pl_model *m)
{
    for (int c = 2; c >= 0; c--) {
        bool shared = false;
        for (int d = 0; d < c; d++)
            shared |= m->factor[d] == m->factor[c];
        if (!shared)
            pl_factor_destroy(m->factor[c]);
        m->factor[c] = NULL;
    }
}

int32_t pl_factors_count(const pl_model *m)
{
    return 1 + (m->factor[1] != m->factor[0]) +
           (m->factor[2] != m->factor[0] && m->factor[2] != m->factor[1]);
}
