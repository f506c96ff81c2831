/* raster.h - rasterises triangles: a view (camera or light), and a buffer with the nearest triangle at each pixel and
 * the position on it. Shading follows, once per pixel.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_RASTER_H
#define PLIANT_CLIENTS_CLI_DRAW_RASTER_H

#include "clients/cli/draw/vec.h"

#include "engine/scene/fault.h"

#include <stdint.h>

/* Looks from `eye` along -`back` (unit vector from the scene to the eye). */
typedef struct pl_view {
    pl_vec eye, right, up, back;
    float scale;  /* pixels per unit of right / depth, or per metre of right if orthographic */
    float cx, cy; /* pixel at the axis */
    bool orthographic;
} pl_view;

typedef struct pl_raster {
    int32_t width, height;
    float *depth;      /* distance from the eye along -back; INFINITY: nothing there */
    int32_t *triangle; /* -1: nothing there; NULL: not kept */
    float *bary;       /* [2] weights of corners 1 and 2, in space; NULL: not kept */
} pl_raster;

pl_status pl_raster_create(int32_t width, int32_t height, bool depth_only, pl_raster *out);
void pl_raster_clear(pl_raster *r);

/* (x, y) in pixels and depth of a point. */
pl_vec pl_view_project(const pl_view *view, pl_vec point);
/* Unit direction through a pixel. */
pl_vec pl_view_ray(const pl_view *view, float x, float y);
/* The right-handed frame of a view whose `back` is given. */
void pl_view_aim(pl_view *view, pl_vec back);

/* Draw corner[3 m .. 3 m + 2] as triangle m. Triangles behind the eye are skipped; a camera that frames its scene has
 * none. */
void pl_raster_triangles(pl_raster *r, const pl_view *view, const pl_vec *corner, int64_t count);

#endif
