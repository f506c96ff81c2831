#include "engine/model/matrix.h"

#include <stdlib.h>

/* K of a term (group.h); returns its corners, PL_BLOCK apart. */
static const int32_t *term_stiffness(const pl_group *group, int64_t t, double *K)
{
    int64_t block = t / PL_BLOCK;
    int32_t lane = (int32_t)(t % PL_BLOCK);
    group->ops->stiffness(group, block, lane, K);
    return group->corner + block * group->ops->corners * PL_BLOCK + lane;
}

void pl_matrix_vertex_stiffness(const pl_model *m, double *stiffness)
{
    for (int64_t i = 0; i < m->vertices; i++)
        stiffness[i] = m->mass[i] * m->inertia;
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        int32_t corners = group->ops->corners;
        for (int64_t t = 0; t < group->terms; t++) {
            double K[PL_CORNERS_MAX * PL_CORNERS_MAX];
            const int32_t *corner = term_stiffness(group, t, K);
            for (int32_t c = 0; c < corners; c++)
                stiffness[corner[c * PL_BLOCK]] += K[c * corners + c];
        }
    }
}

/* Free rows' columns of held vertices, by row: a stable counting sort of `entries`, which carry the
 * free row in `row` and the model vertex that is held, in all coordinates or some, in `column`. */
static pl_status set_coupling(pl_model *m, const pl_entry *entries, int64_t count)
{
    m->coupling_start = calloc((size_t)m->free_vertices + 3, sizeof *m->coupling_start);
    m->coupling_vertex = malloc((size_t)(count + 1) * sizeof *m->coupling_vertex);
    m->coupling_value = malloc((size_t)(count + 1) * sizeof *m->coupling_value);
    if (!m->coupling_start || !m->coupling_vertex || !m->coupling_value)
        return PL_NO_MEMORY;
    /* Count into start[row + 2], so that after the sums start[row + 1] is row's cursor, and when
     * every cursor has run through its row, start[row] is where the row begins. */
    int64_t *start = m->coupling_start;
    for (int64_t k = 0; k < count; k++)
        start[entries[k].row + 2]++;
    for (int64_t i = 0; i <= m->free_vertices; i++)
        start[i + 1] += start[i];
    for (int64_t k = 0; k < count; k++) {
        int64_t at = start[entries[k].row + 1]++;
        m->coupling_vertex[at] = entries[k].column;
        m->coupling_value[at] = entries[k].value;
    }
    return PL_OK;
}

pl_status pl_matrix_assemble(pl_model *m)
{
    int64_t most = m->vertices;
    for (int32_t g = 0; g < m->group_count; g++) {
        int32_t corners = m->groups[g].ops->corners;
        most += m->groups[g].terms * corners * corners;
    }
    pl_entry *entries = malloc((size_t)most * sizeof *entries);
    pl_entry *coupling = malloc((size_t)most * sizeof *coupling);
    if (!entries || !coupling) {
        free(entries);
        free(coupling);
        return PL_NO_MEMORY;
    }
    int64_t count = 0, coupled = 0;
    for (int64_t i = 0; i < m->vertices; i++)
        if (m->free_row[i] >= 0)
            entries[count++] = (pl_entry){m->free_row[i], m->free_row[i], m->mass[i] * m->inertia};
    for (int32_t g = 0; g < m->group_count; g++) {
        const pl_group *group = &m->groups[g];
        int32_t corners = group->ops->corners;
        for (int64_t t = 0; t < group->terms; t++) {
            double K[PL_CORNERS_MAX * PL_CORNERS_MAX];
            const int32_t *corner = term_stiffness(group, t, K);
            for (int32_t c = 0; c < corners; c++)
                for (int32_t d = 0; d < corners; d++) {
                    int32_t row = m->free_row[corner[c * PL_BLOCK]];
                    int32_t column = m->free_row[corner[d * PL_BLOCK]];
                    if (row >= 0 && column >= 0 && row >= column)
                        entries[count++] = (pl_entry){row, column, K[c * corners + d]};
                    if (row >= 0 && row != column && m->held[corner[d * PL_BLOCK]])
                        coupling[coupled++] = (pl_entry){row, corner[d * PL_BLOCK],
                                                         K[c * corners + d]};
                }
        }
    }
    pl_status status = pl_sparse_assemble(m->free_vertices, entries, count, &m->A);
    if (status == PL_OK)
        status = set_coupling(m, coupling, coupled);
    for (int64_t i = 0; status == PL_OK && i < m->free_vertices; i++)
        m->diagonal[i] = m->A.value[m->A.column[i]];
    free(entries);
    free(coupling);
    return status;
}
