/* picture.h - a picture of one frame: bodies and obstacles on a ground grid, y up, framed so that the bodies fill the
 * picture. Light comes from a key light with soft shadows, a fill light and the sky. It needs no GPU and no display, so
 * that a run on a remote machine can be checked at once.
 */
#ifndef PLIANT_CLIENTS_CLI_DRAW_PICTURE_H
#define PLIANT_CLIENTS_CLI_DRAW_PICTURE_H

#include "clients/cli/draw/solid.h"

typedef struct pl_picture {
    pl_geometry geometry;
    int32_t width, height; /* pixels, 16 .. 8192 */
    const float *box; /* {low, high}: region to frame, for pictures of a film; NULL: the bodies */
    float azimuth, elevation; /* degrees of the camera about +y from +z, and above the horizon */
} pl_picture;

/* *rgb: malloc'ed, [height][width][3], sRGB. PL_INVALID if there is nothing to draw. */
pl_status pl_picture_render(const pl_picture *picture, unsigned char **rgb);

#endif
