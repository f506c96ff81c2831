#include "engine/contact/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pl_contact_row_add(pl_contact_row *first, const pl_contact_row *row)
{
    first->force += row->force;
    for (int c = 0; c < 3; c++)
        first->grip[c] += row->grip[c];
}

int64_t pl_contact_memory_save(const pl_contact_rows *rows, pl_contact_memory *out)
{
    int64_t count = 0, next;
    for (int64_t r = 0; r < rows->count; r = next) {
        pl_contact_row row = rows->row[r];
        for (next = r + 1; next < rows->count && rows->row[next].again > 0; next++)
            pl_contact_row_add(&row, &rows->row[next]);
        if (!(row.force > 0))
            continue;
        if (out)
            out[count] = (pl_contact_memory){row.pair.kind,
                                             row.pair.feature[0],
                                             row.pair.feature[1],
                                             row.force,
                                             {row.grip[0], row.grip[1], row.grip[2]}};
        count++;
    }
    return count;
}

/* Number of features of a kind, for the first or the second of a pair. */
static int32_t features(const pl_contact_surface *s, int64_t kind, int which)
{
    if (kind == PL_CONTACT_EDGE_EDGE || (kind == PL_CONTACT_VERTEX_EDGE && which))
        return s->edges;
    return kind == PL_CONTACT_VERTEX_TRIANGLE && which ? s->triangles : s->vertices;
}

static bool is_good(const pl_contact_surface *s, const pl_contact_memory *m)
{
    bool good = m->kind >= PL_CONTACT_VERTEX_TRIANGLE && m->kind <= PL_CONTACT_VERTEX_VERTEX &&
                m->first >= 0 && m->second >= 0 && m->first < features(s, m->kind, 0) &&
                m->second < features(s, m->kind, 1) && m->force > 0 && isfinite(m->force);
    for (int c = 0; c < 3; c++)
        good = good && isfinite(m->grip[c]);
    return good;
}

bool pl_contact_memory_is_good(const pl_contact_surface *surface, const pl_contact_memory *memory,
                               int64_t count)
{
    bool good = true;
    for (int64_t i = 0; good && i < count; i++) {
        const pl_contact_memory *m = &memory[i], *before = m - 1;
        good = is_good(surface, m) && (i == 0 || before->kind < m->kind ||
                                       (before->kind == m->kind && (before->first < m->first ||
                                                                    (before->first == m->first &&
                                                                     before->second < m->second))));
    }
    return good;
}

bool pl_contact_memory_restore(const pl_contact_memory *memory, int64_t count,
                               const double *compliance, pl_contact_rows *rows)
{
    pl_contact_row *row = calloc((size_t)count + 1, sizeof *row);
    for (int64_t i = 0; row && i < count; i++) {
        row[i].pair =
            (pl_contact_pair){.kind = (pl_contact_kind)memory[i].kind,
                              .feature = {(int32_t)memory[i].first, (int32_t)memory[i].second},
                              .vertex = {-1, -1, -1, -1}};
        row[i].force = memory[i].force;
        memcpy(row[i].grip, memory[i].grip, sizeof memory[i].grip);
    }
    return pl_contact_rows_set(rows, row, row ? count : 0, compliance) == PL_OK && row;
}
