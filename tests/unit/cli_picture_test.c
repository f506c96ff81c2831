/* The picture shows the objects, and its PNG decodes to the same pixels. */
#include "clients/cli/draw/field.h"
#include "clients/cli/draw/picture.h"
#include "clients/cli/draw/png.h"

#include "tests/unit/cli_files.h"
#include "tests/support/suite.h"

#include <zlib.h>

enum { WIDTH = 96, HEIGHT = 64 };

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int predict(int filter, int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    switch (filter) {
    case 1:
        return a;
    case 2:
        return b;
    case 3:
        return (a + b) / 2;
    case 4:
        return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
    default:
        return 0;
    }
}

/* A decoder of its own for 8-bit RGB: chunks with their CRC, inflate, unfilter. */
static unsigned char *decode(const unsigned char *png, size_t size, int width, int height)
{
    uLongf raw_size = (uLongf)height * (3 * (uLongf)width + 1);
    unsigned char *raw = malloc(raw_size), *rgb = malloc((size_t)width * (size_t)height * 3);
    ck_assert_int_eq(memcmp(png, "\x89PNG\r\n\x1a\n", 8), 0);
    for (size_t at = 8; at < size;) {
        uint32_t length = big_endian(png + at);
        ck_assert_uint_eq(crc32(0, png + at + 4, length + 4), big_endian(png + at + 8 + length));
        if (memcmp(png + at + 4, "IHDR", 4) == 0) {
            ck_assert_uint_eq(big_endian(png + at + 8), (uint32_t)width);
            ck_assert_uint_eq(big_endian(png + at + 12), (uint32_t)height);
        }
        if (memcmp(png + at + 4, "IDAT", 4) == 0)
            ck_assert_int_eq(uncompress(raw, &raw_size, png + at + 8, length), Z_OK);
        at += 12 + length;
    }
    ck_assert_uint_eq(raw_size, (uLongf)height * (3 * (uLongf)width + 1));
    int row = 3 * width;
    for (int y = 0; y < height; y++)
        for (int i = 0; i < row; i++) {
            int a = i >= 3 ? rgb[y * row + i - 3] : 0, b = y > 0 ? rgb[(y - 1) * row + i] : 0;
            int c = i >= 3 && y > 0 ? rgb[(y - 1) * row + i - 3] : 0;
            rgb[y * row + i] =
                (unsigned char)(raw[y * (row + 1) + 1 + i] + predict(raw[y * (row + 1)], a, b, c));
        }
    free(raw);
    return rgb;
}

/* Two squares that face +z, the second nearer to a camera there and half as large. */
static const float squares[] = {-2, 0, 0, 2, 0, 0, 2, 4, 0, -2, 4, 0,
                                -1, 1, 1, 1, 1, 1, 1, 3, 1, -1, 3, 1};
static const int32_t square_triangles[] = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7};
static const int32_t square_bodies[] = {0, 0, 0, 0, 1, 1, 1, 1};

static pl_picture two_squares(void)
{
    return (pl_picture){.geometry = {.vertices = 8,
                                     .positions = squares,
                                     .triangles = 4,
                                     .triangle = square_triangles,
                                     .body = square_bodies},
                        .width = WIDTH,
                        .height = HEIGHT};
}

static const unsigned char *pixel(const unsigned char *rgb, int x, int y)
{
    return rgb + 3 * (y * WIDTH + x);
}

START_TEST(nearest_body_is_seen_and_framed)
{
    unsigned char *rgb;
    pl_picture p = two_squares();
    ck_assert_int_eq(pl_picture_render(&p, &rgb), PL_OK);
    const unsigned char *middle = pixel(rgb, WIDTH / 2, HEIGHT / 2);
    ck_assert_int_gt(middle[2], middle[0] + 40); /* body 1 is teal */
    /* Round it body 0, which is orange: the first pixel of the middle row that is not ground. */
    int x = 0;
    while (x < WIDTH / 2 && pixel(rgb, x, HEIGHT / 2)[0] < pixel(rgb, x, HEIGHT / 2)[2] + 40)
        x++;
    ck_assert_int_gt(x, 5); /* a margin */
    ck_assert_int_lt(x, WIDTH / 2 - 10);
    /* The corners are light and nearly grey. */
    const unsigned char *corner = pixel(rgb, 0, 0);
    ck_assert_int_gt(corner[0], 180);
    ck_assert_int_lt(abs(corner[0] - corner[2]), 30);
    free(rgb);
}
END_TEST

START_TEST(obstacle_hides_what_is_behind)
{
    unsigned char *rgb;
    pl_picture p = two_squares();
    float corners[] = {-0.5f, 1.5f, 2, 0.5f, 1.5f, 2, 0.5f, 2.5f, 2, -0.5f, 2.5f, 2};
    int32_t triangles[] = {0, 1, 2, 0, 2, 3};
    pl_drawn_obstacle board = {
        .vertices = 4, .positions = corners, .triangles = 2, .triangle = triangles};
    p.geometry.obstacles = 1;
    p.geometry.obstacle = &board;
    ck_assert_int_eq(pl_picture_render(&p, &rgb), PL_OK);
    const unsigned char *middle = pixel(rgb, WIDTH / 2, HEIGHT / 2);
    ck_assert_int_lt(abs(middle[0] - middle[2]), 45); /* grey */
    free(rgb);
}
END_TEST

START_TEST(nothing_to_draw_is_said)
{
    unsigned char *rgb;
    pl_picture p = two_squares();
    p.geometry.triangles = 0;
    ck_assert_int_eq(pl_picture_render(&p, &rgb), PL_INVALID);
}
END_TEST

START_TEST(png_decodes_to_the_pixels)
{
    unsigned char *rgb;
    size_t size;
    pl_picture p = two_squares();
    ck_assert_int_eq(pl_picture_render(&p, &rgb), PL_OK);
    ck_assert_int_eq(pl_png_write(cli_path("a.png"), rgb, WIDTH, HEIGHT), PL_OK);
    unsigned char *png = cli_read("a.png", &size), *back = decode(png, size, WIDTH, HEIGHT);
    ck_assert_int_eq(memcmp(rgb, back, WIDTH * HEIGHT * 3), 0);
    free(rgb);
    free(png);
    free(back);
}
END_TEST

START_TEST(a_field_colours_the_picture)
{
    unsigned char *rgb;
    pl_picture p = two_squares();
    float yellow[24];
    for (int i = 0; i < 24; i++)
        yellow[i] = i % 3 == 2 ? 0.02f : 0.8f;
    p.geometry.colour = yellow;
    ck_assert_int_eq(pl_picture_render(&p, &rgb), PL_OK);
    const unsigned char *middle = pixel(rgb, WIDTH / 2, HEIGHT / 2);
    ck_assert_int_gt(middle[0], middle[2] + 80); /* not teal */
    ck_assert_int_lt(abs(middle[0] - middle[1]), 40);
    free(rgb);
}
END_TEST

/* A sheet that is a tenth longer along x: E = ((1.1^2 - 1) / 2, 0) and S = 2 mu / (1 - nu) (E, nu E), so that von
 * Mises' stress is 2 mu / (1 - nu) E sqrt(1 - nu + nu^2). A tetrahedron with the same strain: S = 2 mu E, the other
 * components are lambda tr E alone, so 2 mu E. */
START_TEST(fields_are_those_of_closed_forms)
{
    const double e = (1.1 * 1.1 - 1) / 2, mu = 1e5 / 2.6;
    float rest[] = {0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, now[21];
    int32_t sheet[] = {0, 1, 2}, tet[] = {3, 4, 5, 6}, body[] = {0, 0, 0, 1, 1, 1, 1};
    double modulus[] = {mu, 0.3, mu, 0.3};
    pl_shape mesh = {.vertices = 7,
                     .body = body,
                     .triangles = 1,
                     .triangle = sheet,
                     .sheet_triangles = 1,
                     .sheet = sheet,
                     .tets = 1,
                     .tet = tet};
    float value[7], weight[7], colour[21];
    pl_field f = {.kind = PL_COLOUR_STRESS,
                  .rest = rest,
                  .value = value,
                  .weight = weight,
                  .colour = colour,
                  .modulus = modulus,
                  .low = INFINITY,
                  .high = -INFINITY};
    for (int i = 0; i < 21; i++)
        now[i] = rest[i] * (i % 3 == 0 ? 1.1f : 1);
    pl_field_measure(&f, &mesh, now);
    double plane = 2 * mu / 0.7 * e * sqrt(1 - 0.3 + 0.09);
    ck_assert_double_eq_tol(value[1], plane, 1e-3 * plane);
    ck_assert_double_eq_tol(value[4], 2 * mu * e, 1e-3 * plane);
    ck_assert_double_eq_tol(f.high, plane, 1e-3 * plane);
    pl_field_paint(&f, 7);
    ck_assert_float_gt(colour[3], colour[12]); /* the sheet's yellow, the tetrahedron's green */
    f = (pl_field){.kind = PL_COLOUR_STRETCH, .rest = rest, .value = value, .weight = weight};
    pl_field_measure(&f, &mesh, now);
    ck_assert_double_eq_tol(value[0], 5, 1e-3); /* of its two edges one is longer by 10 % */
    ck_assert_double_eq_tol(f.low, -f.high, 1e-6);
    f = (pl_field){.kind = PL_COLOUR_DISPLACEMENT, .rest = rest, .value = value, .weight = weight};
    pl_field_measure(&f, &mesh, now);
    ck_assert_double_eq_tol(value[1], 0.2, 1e-6);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli_picture");
    TCase *t = tcase_create("picture");
    tcase_add_checked_fixture(t, cli_folder_make, cli_folder_remove);
    tcase_add_test(t, nearest_body_is_seen_and_framed);
    tcase_add_test(t, obstacle_hides_what_is_behind);
    tcase_add_test(t, nothing_to_draw_is_said);
    tcase_add_test(t, png_decodes_to_the_pixels);
    tcase_add_test(t, a_field_colours_the_picture);
    tcase_add_test(t, fields_are_those_of_closed_forms);
    suite_add_tcase(s, t);
    return run_suite(s);
}
