/* picture.h - a picture of one frame: bodies and obstacles on a ground grid, y up, lit by a key
 * light with soft shadows, a fill light and the sky, framed so that the bodies fill the picture.
 * No GPU and no display: this is the first thing to look at after a run on a machine elsewhere.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_PICTURE_H
#define PLIANT_CLIENTS_CLI_DRAW_PICTURE_H

#include "engine/scene/fault.h"

#include <stdint.h>

typedef struct pl_picture_obstacle {
    bool sphere;       /* else with triangles, or a plane */
    float normal[3];   /* plane: unit */
    float point[3];    /* plane: a point of it; the others: the centre */
    float radius;      /* sphere */
    int64_t triangles; /* of any other shape */
    float *corner;     /* [triangles][3][3] */
    float *normal_at;  /* [triangles][3][3], unit, at the corners */
} pl_picture_obstacle;

typedef struct pl_picture {
    int64_t vertices;
    const float *positions; /* [vertices][3] */
    int64_t triangles;
    const int32_t *triangle; /* [triangles][3], outward */
    int64_t edges;
    const int32_t *edge; /* [edges][2], drawn as thin rods */
    const int32_t *body; /* [vertices] index of the body: its colour */
    int32_t obstacles;
    const pl_picture_obstacle *obstacle;
    int32_t width, height; /* pixels, 16 .. 8192 */
    const float *box; /* {low, high}: what is framed, as for pictures of a film; NULL: the bodies */
    float azimuth, elevation; /* degrees of the camera about +y from +z, and above the horizon */
} pl_picture;

/* *rgb: malloc'ed, [height][width][3], sRGB. PL_INVALID where there is nothing to draw. */
pl_status pl_picture_render(const pl_picture *picture, unsigned char **rgb);

#endif
