#include "engine/model/spectra.h"

#include <math.h>
#include <stdlib.h>

/* True if the same vertices with a row are held in both coordinates. */
static bool agree(const pl_model *m, int c, int d)
{
    for (int64_t i = 0; i < m->free_vertices; i++)
        if (pl_model_holds(m, m->free_vertex[i], c) != pl_model_holds(m, m->free_vertex[i], d))
            return false;
    return true;
}

/* A with the identity in the rows and columns of coordinates held in c. Existing entries stay, with value 0, so
 * that all three matrices have one pattern and one order. */
double *pl_spectra_mask(const pl_model *m, int c)
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

/* The first coordinate in which the same vertices are held. */
int pl_spectra_first_like(const pl_model *m, int c)
{
    for (int d = 0; d < c; d++)
        if (agree(m, c, d))
            return d;
    return c;
}

pl_status pl_spectra_find(const pl_model *m, double floor, pl_spectrum *out)
{
    if (!m->partly_held)
        return pl_spectrum_find(&m->A, floor, out);
    *out = (pl_spectrum){INFINITY, 0};
    pl_status status = PL_OK;
    for (int c = 0; status == PL_OK && c < 3; c++) {
        pl_sparse masked = m->A;
        pl_spectrum one;
        if (pl_spectra_first_like(m, c) < c)
            continue;
        masked.value = pl_spectra_mask(m, c);
        status = masked.value ? pl_spectrum_find(&masked, floor, &one) : PL_NO_MEMORY;
        free(masked.value);
        if (status == PL_OK)
            *out = (pl_spectrum){fmin(out->least, one.least), fmax(out->most, one.most)};
    }
    return status;
}

pl_status pl_spectra_check(const pl_model *m)
{
    pl_spectrum found;
    pl_status status = pl_spectra_find(m, 0, &found);
    return status == PL_OK && found.least <= PL_SPECTRUM_LEAST ? PL_FAILED : status;
}
