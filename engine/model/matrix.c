#include "engine/model/matrix.h"

#include <stdlib.h>

/* Visits one term after the other, over all groups: its K (group.h) and its corners, PL_BLOCK apart. */
typedef struct each_term {
    int32_t g;
    int64_t t;
    int32_t corners;
    const int32_t *corner;
    double K[PL_CORNERS_MAX * PL_CORNERS_MAX];
} each_term;

static bool next_term(const pl_model *m, each_term *it)
{
    while (it->g < m->group_count && it->t >= m->groups[it->g].terms) {
        it->g++;
        it->t = 0;
    }
    if (it->g >= m->group_count)
        return false;
    const pl_group *group = &m->groups[it->g];
    int64_t block = it->t / PL_BLOCK, lane = it->t % PL_BLOCK;
    it->corners = group->ops->corners;
    it->corner = group->corner + block * it->corners * PL_BLOCK + lane;
    group->ops->stiffness(group, block, (int32_t)lane, it->K);
    it->t++;
    return true;
}

void pl_matrix_vertex_stiffness(const pl_model *m, double *stiffness)
{
    for (int64_t i = 0; i < m->vertices; i++)
        stiffness[i] = m->mass[i] * m->inertia;
    for (each_term it = {0}; next_term(m, &it);)
        for (int32_t c = 0; c < it.corners; c++)
            stiffness[it.corner[c * PL_BLOCK]] += it.K[c * it.corners + c];
}

/* Columns of held vertices, by free row: a stable counting sort of `entries`, which have the free row in `row` and
 * the model vertex in `column`. The vertex is held in all coordinates or some. */
static pl_status set_coupling(pl_model *m, const pl_entry *entries, int64_t count)
{
    m->coupling_start = calloc((size_t)m->free_vertices + 3, sizeof *m->coupling_start);
    m->coupling_vertex = malloc((size_t)(count + 1) * sizeof *m->coupling_vertex);
    m->coupling_value = malloc((size_t)(count + 1) * sizeof *m->coupling_value);
    if (!m->coupling_start || !m->coupling_vertex || !m->coupling_value)
        return PL_NO_MEMORY;
    /* Count into start[row + 2]. After the sums, start[row + 1] is the row's cursor, and once every cursor has run
     * through its row, start[row] is the row's start. */
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
    for (each_term it = {0}; next_term(m, &it);)
        for (int32_t c = 0; c < it.corners; c++)
            for (int32_t d = 0; d < it.corners; d++) {
                int32_t at = it.corner[c * PL_BLOCK], other = it.corner[d * PL_BLOCK];
                int32_t row = m->free_row[at], column = m->free_row[other];
                double value = it.K[c * it.corners + d];
                if (row >= 0 && column >= 0 && row >= column)
                    entries[count++] = (pl_entry){row, column, value};
                if (row >= 0 && row != column && m->held[other])
                    coupling[coupled++] = (pl_entry){row, other, value};
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
