#include "engine/model/local.h"

static inline int64_t source_of(const pl_places *places, int64_t i)
{
    const int64_t term = places->term[i];
    return term < 0 ? ~term : term;
}

/* Index of row 0 of place i. */
static inline int64_t first_of(int64_t i, int32_t rows)
{
    return i / PL_BLOCK * rows * PL_BLOCK + i % PL_BLOCK;
}

void pl_local_fill_rows(const double *from, int32_t rows, const pl_places *places, double *to,
                        int64_t b0, int64_t b1)
{
    for (int64_t i = b0 * PL_BLOCK; i < b1 * PL_BLOCK; i++) {
        const double *source = from + first_of(source_of(places, i), rows);
        for (int32_t r = 0; r < rows; r++)
            to[first_of(i, rows) + r * PL_BLOCK] = source[r * PL_BLOCK];
    }
}

double *pl_local_copy_rows(const double *from, int32_t rows, const pl_places *places)
{
    double *to = pl_block_alloc(places->blocks * rows * PL_BLOCK, sizeof *to);
    if (to)
        pl_local_fill_rows(from, rows, places, to, 0, places->blocks);
    return to;
}

int32_t *pl_local_copy_corners(const int32_t *from, int32_t rows, const pl_places *places)
{
    int32_t *to = pl_block_alloc(places->blocks * rows * PL_BLOCK, sizeof *to);
    for (int64_t i = 0; to && i < places->blocks * PL_BLOCK; i++)
        for (int32_t r = 0; r < rows; r++)
            to[first_of(i, rows) + r * PL_BLOCK] =
                from[first_of(source_of(places, i), rows) + r * PL_BLOCK];
    return to;
}

void pl_local_clear_padding(const pl_places *places, int32_t rows, double *to)
{
    for (int64_t i = 0; i < places->blocks * PL_BLOCK; i++)
        if (places->term[i] < 0)
            to[first_of(i, rows)] = 0;
}
