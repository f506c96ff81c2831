#include "clients/cli/draw/png.h"

#include "clients/cli/base/outfile.h"
#include "protocol/export/zpack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER_NONE, FILTER_SUB, FILTER_UP, FILTER_AVERAGE, FILTER_PAETH, FILTERS, PIXEL = 3 };

static void big_endian(unsigned char *out, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void write_chunk(pl_outfile *f, const char *type, const void *data, size_t size)
{
    unsigned char word[4];
    big_endian(word, (uint32_t)size);
    pl_outfile_write(f, word, 4);
    pl_outfile_write(f, type, 4);
    pl_outfile_write(f, data, size);
    uint32_t crc = pl_zpack_crc32(0, type, 4);
    if (size > 0)
        crc = pl_zpack_crc32(crc, data, size);
    big_endian(word, crc);
    pl_outfile_write(f, word, 4);
}

/* The PNG specification's predictor: the neighbour nearest to left + up - corner. */
static int paeth(int left, int up, int corner)
{
    int p = left + up - corner, a = abs(p - left), b = abs(p - up), c = abs(p - corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

static void filter_row(int filter, const unsigned char *row, const unsigned char *above,
                       size_t bytes, unsigned char *out)
{
    for (size_t i = 0; i < bytes; i++) {
        int left = i >= PIXEL ? row[i - PIXEL] : 0, up = above ? above[i] : 0;
        int corner = above && i >= PIXEL ? above[i - PIXEL] : 0, guess = 0;
        switch (filter) {
        case FILTER_SUB:
            guess = left;
            break;
        case FILTER_UP:
            guess = up;
            break;
        case FILTER_AVERAGE:
            guess = (left + up) / 2;
            break;
        case FILTER_PAETH:
            guess = paeth(left, up, corner);
            break;
        default:
            break;
        }
        out[i] = (unsigned char)(row[i] - guess);
    }
}

/* Each row gets the filter with the smallest sum of absolute differences, the usual heuristic. */
static void filter_best(const unsigned char *row, const unsigned char *above, size_t bytes,
                        unsigned char *trial, unsigned char *out)
{
    uint64_t best = UINT64_MAX;
    for (int filter = FILTER_NONE; filter < FILTERS; filter++) {
        filter_row(filter, row, above, bytes, trial);
        uint64_t sum = 0;
        for (size_t i = 0; i < bytes; i++)
            sum += (uint64_t)abs((signed char)trial[i]);
        if (sum >= best)
            continue;
        best = sum;
        out[0] = (unsigned char)filter;
        memcpy(out + 1, trial, bytes);
    }
}

pl_status pl_png_write(const char *path, const unsigned char *rgb, int32_t width, int32_t height)
{
    size_t bytes = (size_t)width * PIXEL, filtered_size = (size_t)height * (bytes + 1);
    size_t packed_size = 0;
    unsigned char *filtered = malloc(filtered_size), *trial = malloc(bytes), *packed = NULL;
    pl_status status = filtered && trial ? PL_OK : PL_NO_MEMORY;
    for (int32_t y = 0; status == PL_OK && y < height; y++) {
        const unsigned char *row = rgb + (size_t)y * bytes;
        filter_best(row, y > 0 ? row - bytes : NULL, bytes, trial,
                    filtered + (size_t)y * (bytes + 1));
    }
    if (status == PL_OK)
        status = pl_zpack_deflate(filtered, filtered_size, &packed, &packed_size);
    pl_outfile f;
    if (status == PL_OK)
        status = pl_outfile_open(&f, path);
    if (status == PL_OK) {
        unsigned char head[13] = {[8] = 8, [9] = 2}; /* 8 bits a channel, RGB */
        big_endian(head, (uint32_t)width);
        big_endian(head + 4, (uint32_t)height);
        pl_outfile_write(&f, "\x89PNG\r\n\x1a\n", 8);
        write_chunk(&f, "IHDR", head, sizeof head);
        write_chunk(&f, "sRGB", "", 1);
        write_chunk(&f, "IDAT", packed, packed_size);
        write_chunk(&f, "IEND", NULL, 0);
        status = pl_outfile_commit(&f);
    }
    free(filtered);
    free(trial);
    free(packed);
    return status;
}
