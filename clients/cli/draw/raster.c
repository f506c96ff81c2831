#include "clients/cli/draw/raster.h"

#include <stdlib.h>

pl_status pl_raster_create(int32_t width, int32_t height, bool depth_only, pl_raster *out)
{
    size_t pixels = (size_t)width * (size_t)height;
    *out = (pl_raster){.width = width, .height = height};
    out->depth = malloc(pixels * sizeof *out->depth);
    if (!depth_only) {
        out->triangle = malloc(pixels * sizeof *out->triangle);
        out->bary = malloc(2 * pixels * sizeof *out->bary);
    }
    if (!out->depth || (!depth_only && (!out->triangle || !out->bary))) {
        pl_raster_clear(out);
        return PL_NO_MEMORY;
    }
    for (size_t i = 0; i < pixels; i++)
        out->depth[i] = INFINITY;
    for (size_t i = 0; !depth_only && i < pixels; i++)
        out->triangle[i] = -1;
    return PL_OK;
}

void pl_raster_clear(pl_raster *r)
{
    free(r->depth);
    free(r->triangle);
    free(r->bary);
    *r = (pl_raster){0};
}

void pl_view_aim(pl_view *view, pl_vec back)
{
    view->back = vec_unit(back);
    pl_vec world_up = fabsf(view->back.y) > 0.9999f ? vec(0, 0, -1) : vec(0, 1, 0);
    view->right = vec_unit(vec_cross(world_up, view->back));
    view->up = vec_cross(view->back, view->right);
}

pl_vec pl_view_project(const pl_view *view, pl_vec point)
{
    pl_vec d = vec_sub(point, view->eye);
    float depth = -vec_dot(d, view->back);
    float scale = view->orthographic ? view->scale : view->scale / depth;
    return vec(view->cx + vec_dot(d, view->right) * scale, view->cy - vec_dot(d, view->up) * scale,
               depth);
}

pl_vec pl_view_ray(const pl_view *view, float x, float y)
{
    if (view->orthographic)
        return vec_scale(view->back, -1);
    pl_vec side = vec_add(vec_scale(view->right, (x - view->cx) / view->scale),
                          vec_scale(view->up, (view->cy - y) / view->scale));
    return vec_unit(vec_sub(side, view->back));
}

/* Twice the signed area of (a, b, p). */
static float edge(pl_vec a, pl_vec b, float x, float y)
{
    return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
}

/* In a perspective view 1/depth is linear on the screen and so are the weights over depth; in an
 * orthographic one depth itself and the weights are. */
static void draw(pl_raster *r, bool orthographic, const pl_vec p[3], int32_t id)
{
    float area = edge(p[0], p[1], p[2].x, p[2].y);
    if (!(fabsf(area) > 1e-12f))
        return;
    float x_lo = fminf(fminf(p[0].x, p[1].x), p[2].x), x_hi = fmaxf(fmaxf(p[0].x, p[1].x), p[2].x);
    float y_lo = fminf(fminf(p[0].y, p[1].y), p[2].y), y_hi = fmaxf(fmaxf(p[0].y, p[1].y), p[2].y);
    int32_t x0 = (int32_t)ceilf(clampf(x_lo - 0.5f, 0, (float)r->width));
    int32_t x1 = (int32_t)floorf(clampf(x_hi - 0.5f, -1, (float)(r->width - 1)));
    int32_t y0 = (int32_t)ceilf(clampf(y_lo - 0.5f, 0, (float)r->height));
    int32_t y1 = (int32_t)floorf(clampf(y_hi - 0.5f, -1, (float)(r->height - 1)));
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            float px = (float)x + 0.5f, py = (float)y + 0.5f;
            float w0 = edge(p[1], p[2], px, py) / area, w1 = edge(p[2], p[0], px, py) / area;
            float w2 = 1 - w0 - w1;
            if (w0 < 0 || w1 < 0 || w2 < 0)
                continue;
            float q = w0 / p[0].z + w1 / p[1].z + w2 / p[2].z;
            float depth = orthographic ? w0 * p[0].z + w1 * p[1].z + w2 * p[2].z : 1 / q;
            size_t at = (size_t)y * (size_t)r->width + (size_t)x;
            if (depth >= r->depth[at])
                continue;
            r->depth[at] = depth;
            if (!r->triangle)
                continue;
            r->triangle[at] = id;
            r->bary[2 * at] = orthographic ? w1 : w1 / p[1].z / q;
            r->bary[2 * at + 1] = orthographic ? w2 : w2 / p[2].z / q;
        }
}

void pl_raster_triangles(pl_raster *r, const pl_view *view, const pl_vec *corner, int64_t count)
{
    for (int64_t m = 0; m < count; m++) {
        pl_vec p[3];
        bool in_front = true;
        for (int i = 0; i < 3; i++) {
            p[i] = pl_view_project(view, corner[3 * m + i]);
            in_front = in_front && p[i].z > 0;
        }
        if (in_front || view->orthographic)
            draw(r, view->orthographic, p, (int32_t)m);
    }
}
