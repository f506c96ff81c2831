#include "engine/model/group.h"

#include <string.h>

/* Row i of a lower triangle by rows begins at i (i + 1) / 2, and ends with the diagonal. */
static void take_diagonal(const pl_group *g, const double *H, double *out, int64_t b)
{
    int64_t coordinates = 3 * (int64_t)g->ops->corners;
    const double *from = H + b * (coordinates * (coordinates + 1) / 2) * PL_BLOCK;
    for (int64_t i = 0; i < coordinates; i++)
        memcpy(out + i * PL_BLOCK, from + (i * (i + 1) / 2 + i) * PL_BLOCK, PL_BLOCK * sizeof *out);
}

void pl_group_hessian_diagonal(const pl_group *g, const double *x, double *contributions,
                               double *scratch, int64_t b0, int64_t b1)
{
    int64_t width = 3 * (int64_t)g->ops->corners * PL_BLOCK;
    double *out = contributions + g->contribution;
    if (g->ops->hessian_diagonal) {
        g->ops->hessian_diagonal(g, x, contributions, b0, b1);
    } else if (g->ops->hessian) {
        g->ops->hessian(g, x, scratch, b0, b1);
        for (int64_t b = b0; b < b1; b++)
            take_diagonal(g, scratch, out + b * width, b);
    } else {
        memset(out + b0 * width, 0, (size_t)((b1 - b0) * width) * sizeof *out);
    }
}
