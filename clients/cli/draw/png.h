/* png.h - an RGB picture as a PNG file. */
#ifndef PLIANT_CLIENTS_CLI_DRAW_PNG_H
#define PLIANT_CLIENTS_CLI_DRAW_PNG_H

#include "engine/scene/fault.h"

#include <stdint.h>

/* rgb: [height][width][3], sRGB, top row first. */
pl_status pl_png_write(const char *path, const unsigned char *rgb, int32_t width, int32_t height);

#endif
