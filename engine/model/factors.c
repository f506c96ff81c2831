#include "engine/model/factors.h"

#include <math.h>
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
static double *mask(const pl_model *m, int c)
{
    double *value = malloc((size_t)m->A.column[m->A.n] * sizeof *value + 1);
    if (!value)
        return NULL;
    for (int64_t j = 0; j < m->A.n; j++) {
        bool held_column = pl_model_holds(m, m->free_vertex[j], c);
        for (int64_t e = m->A.column[j]; e < m->A.column[j + 1]; e++) {
            int64_t i = m->A.row[e];
            bool held = held_column || pl_model_holds(m, m->free_vertex[i], c);
            value[e] = held ? i == j : m->A.value[e];
        }
    }
    return value;
}

static pl_status factor_masked(const pl_model *m, int c, pl_factor **out)
{
    pl_sparse masked = m->A;
    masked.value = mask(m, c);
    pl_status status = masked.value ? pl_factor_create(&masked, out) : PL_NO_MEMORY;
    free(masked.value);
    return status;
}

/* The first coordinate that the same vertices are held in. */
static int first_like(const pl_model *m, int c)
{
    for (int d = 0; d < c; d++)
        if (agree(m, c, d))
            return d;
    return c;
}

pl_status pl_factors_spectrum(const pl_model *m, double floor, pl_spectrum *out)
{
    if (!m->partly_held)
        return pl_spectrum_find(&m->A, floor, out);
    *out = (pl_spectrum){INFINITY, 0};
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        pl_sparse masked = m->A;
        pl_spectrum one;
        if (first_like(m, c) < c)
            continue;
        masked.value = mask(m, c);
        status = masked.value ? pl_spectrum_find(&masked, floor, &one) : PL_NO_MEMORY;
        free(masked.value);
        if (status == PL_OK)
            *out = (pl_spectrum){fmin(out->least, one.least), fmax(out->most, one.most)};
    }
    return status;
}

pl_status pl_factors_check(const pl_model *m)
{
    pl_spectrum found;
    pl_status status = pl_factors_spectrum(m, 0, &found);
    return status == PL_OK && found.least <= PL_SPECTRUM_LEAST ? PL_FAILED : status;
}

pl_status pl_factors_create(pl_model *m)
{
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        int same = first_like(m, c);
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
