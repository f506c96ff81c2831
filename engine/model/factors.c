#include "engine/model/factors.h"

#include "engine/model/spectra.h"

#include <stdlib.h>

static pl_status make(pl_model *m, const pl_model *like, const pl_sparse *A, int c)
{
    if (m->solver.matrix != PL_MATRIX_MULTIGRID)
        return pl_factor_create(A, &m->factor[c]);
    pl_status status = pl_multigrid_create(A, like ? like->multigrid[c] : NULL, &m->multigrid[c]);
    /* Aggregates of the other matrix may not suit this one. */
    return status == PL_FAILED && like ? pl_multigrid_create(A, NULL, &m->multigrid[c]) : status;
}

static pl_status make_masked(pl_model *m, const pl_model *like, int c)
{
    pl_sparse masked = m->A;
    masked.value = pl_spectra_mask(m, c);
    pl_status status = masked.value ? make(m, like, &masked, c) : PL_NO_MEMORY;
    free(masked.value);
    return status;
}

pl_status pl_factors_create(pl_model *m, const pl_model *like)
{
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        int same = pl_spectra_first_like(m, c);
        if (same < c) {
            m->factor[c] = m->factor[same];
            m->multigrid[c] = m->multigrid[same];
        } else {
            status = m->partly_held ? make_masked(m, like, c) : make(m, like, &m->A, c);
        }
    }
    return status;
}

bool pl_factors_shared(const pl_model *m, int c, int d)
{
    return m->factor[c] == m->factor[d] && m->multigrid[c] == m->multigrid[d];
}

void pl_factors_destroy(pl_model *m)
{
    for (int c = 2; c >= 0; c--) {
        bool shared = false;
        for (int d = 0; d < c; d++)
            shared |= pl_factors_shared(m, c, d);
        if (!shared) {
            pl_factor_destroy(m->factor[c]);
            pl_multigrid_destroy(m->multigrid[c]);
        }
        m->factor[c] = NULL;
        m->multigrid[c] = NULL;
    }
}

int32_t pl_factors_count(const pl_model *m)
{
    return 1 + !pl_factors_shared(m, 1, 0) +
           (!pl_factors_shared(m, 2, 0) && !pl_factors_shared(m, 2, 1));
}

double pl_factors_filled(const pl_model *m)
{
    if (m->factor[0])
        return (double)pl_factor_nonzeros(m->factor[0]);
    return m->multigrid[0] ? pl_factor_expected((double)m->free_vertices) : 0;
}

/* A cycle reads the matrix of each level five times. */
double pl_factors_numbers(const pl_model *m)
{
    if (m->factor[0])
        return (double)pl_factor_nonzeros(m->factor[0]);
    if (!m->multigrid[0])
        return 0;
    const pl_multigrid_facts facts = pl_multigrid_describe(m->multigrid[0]);
    return 2.5 * facts.apply_cycles * (double)facts.entries;
}
