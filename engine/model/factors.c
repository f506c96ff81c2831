#include "engine/model/factors.h"

#include <stdlib.h>
#include <string.h>

/* Whether the same vertices with a row are held in both coordinates. */
static bool agree(const pl_model *m, int c, int d)
{
    for (int64_t i = 0; i < m->free_vertices; i++)
        if (pl_model_holds(m, m->free_vertex[i], c) != pl_model_holds(m, m->free_vertex[i], d))
            return false;
    return true;
}

/* A with the identity in the rows and columns of what is held in coordinate c. What was an entry
 * stays one, of value 0, so that all three have one pattern and one order. */
static pl_status factor_masked(const pl_model *m, int c, pl_factor **out)
{
    pl_sparse masked = m->A;
    masked.value = malloc((size_t)m->A.column[m->A.n] * sizeof *masked.value + 1);
    if (!masked.value)
        return PL_NO_MEMORY;
    for (int64_t j = 0; j < m->A.n; j++) {
        bool held_column = pl_model_holds(m, m->free_vertex[j], c);
        for (int64_t e = m->A.column[j]; e < m->A.column[j + 1]; e++) {
            int64_t i = m->A.row[e];
            bool held = held_column || pl_model_holds(m, m->free_vertex[i], c);
            masked.value[e] = held ? i == j : m->A.value[e];
        }
    }
    pl_status status = pl_factor_create(&masked, out);
    free(masked.value);
    return status;
}

pl_status pl_factors_create(pl_model *m)
{
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        int same = c;
        for (int d = 0; same == c && d < c; d++)
            if (agree(m, c, d))
                same = d;
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
