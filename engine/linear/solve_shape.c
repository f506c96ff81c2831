#include "engine/linear/solve_shape.h"

#include <math.h>
#include <stdlib.h>

static double numbers(const pl_panel *p)
{
    return 0.5 * p->width * (p->width + 1) + (double)p->rows * p->width;
}

/* path [n]: the heaviest path that ends below a panel, by its first column. Panels come before their parents: the
 * parent contains a panel's first row below its triangle. */
static double heaviest_path(const pl_panels *f, double *path, int32_t *first)
{
    double most = 0;
    for (int64_t i = 0; i < f->panel_count; i++)
        for (int32_t k = 0; k < f->panel[i].width; k++)
            first[f->panel[i].column + k] = f->panel[i].column;
    for (int64_t i = 0; i < f->panel_count; i++) {
        const pl_panel *p = &f->panel[i];
        double here = path[p->column] + numbers(p);
        most = fmax(most, here);
        if (p->rows > 0) {
            int32_t parent = first[f->row[p->row]];
            path[parent] = fmax(path[parent], here);
        }
    }
    return most;
}

pl_solve_shape pl_panels_shape(const pl_panels *f)
{
    double all = (double)f->value_count, largest = 0, top = 0;
    for (int64_t t = 0; t < f->part_count; t++) {
        double part = 0;
        for (int64_t i = f->part[t]; i < f->part[t + 1]; i++)
            part += numbers(&f->panel[i]);
        if (t + 1 < f->part_count)
            largest = fmax(largest, part);
        else
            top = part;
    }
    pl_solve_shape s = {.all = all, .two = f->part_count > 2 ? largest + top : all, .chain = all};
    double *path = calloc((size_t)f->n + 1, sizeof *path);
    int32_t *first = malloc(((size_t)f->n + 1) * sizeof *first);
    if (path && first)
        s.chain = heaviest_path(f, path, first);
    free(path);
    free(first);
    return s;
}
