/* Films: the input given to a stand-in for ffmpeg, its absence and its failure; and the real ffmpeg if installed. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 48, HEIGHT = 32, PIXELS = WIDTH * HEIGHT };

/* A box that falls freely past a ball that follows a motion: 0.4 s in 20 frames. */
static const char SCENE[] =
    "{\"pliant\": 1, \"time\": {\"step\": 0.02, \"steps\": 20}, \"solver\": {\"method\":"
    " \"lbfgs\", \"iterations\": 2}, \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}],"
    " \"obstacles\": [{\"sphere\": {\"center\": [0, 0.6, 0.6], \"radius\": 0.2}, \"motion\":"
    " {\"velocity\": [0, -2, 0]}, \"friction\": 0}]}";

static char path_before[4096];

/* An ffmpeg that records its arguments and input, in a folder that is the whole PATH. */
static void put_ffmpeg(const char *then)
{
    char script[2000];
    mkdir(pliant_path("programs"), 0700);
    snprintf(script, sizeof script,
             "#!/bin/sh\nprintf '%%s\\n' \"$@\" >'%s'\n/bin/cat >'%s'\nfor last; do :; done\n%s\n",
             pliant_path("asked"), pliant_path("given"), then);
    pliant_write("programs/ffmpeg", script);
    ck_assert_int_eq(chmod(pliant_path("programs/ffmpeg"), 0700), 0);
}

static void use_programs(void)
{
    static const char *const links[][2] = {{"/bin/sh", "programs/sh"},
                                           {"/usr/bin/env", "programs/env"}};
    snprintf(path_before, sizeof path_before, "%s", getenv("PATH"));
    mkdir(pliant_path("programs"), 0700);
    for (int k = 0; k < 2; k++)
        ck_assert_int_eq(symlink(links[k][0], pliant_path(links[k][1])), 0);
    setenv("PATH", pliant_path("programs"), 1);
}

static void make_run(void)
{
    pliant_write("fall.json", SCENE);
    ck_assert_msg(pliant("run fall.json --out r --threads 1") == 0, "%s", pliant_err);
}

static unsigned char *given(size_t *pictures)
{
    struct stat st;
    ck_assert_int_eq(stat(pliant_path("given"), &st), 0);
    ck_assert_int_eq(st.st_size % (3 * PIXELS), 0);
    *pictures = (size_t)st.st_size / (3 * PIXELS);
    unsigned char *rgb = malloc((size_t)st.st_size + 1);
    FILE *f = fopen(pliant_path("given"), "rb");
    ck_assert_uint_eq(fread(rgb, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    fclose(f);
    return rgb;
}

/* The mean row of orange pixels; the first body is orange. */
static double row_of_body(const unsigned char *rgb)
{
    double sum = 0, count = 0;
    for (int i = 0; i < PIXELS; i++)
        if (rgb[3 * i] > rgb[3 * i + 2] + 60) {
            sum += i / (double)WIDTH;
            count++;
        }
    ck_assert_double_gt(count, 5);
    return sum / count;
}

START_TEST(pictures_go_to_ffmpeg)
{
    char asked[2000];
    size_t pictures;
    make_run();
    put_ffmpeg("echo film >\"$last\"");
    use_programs();
    ck_assert_msg(pliant("export r --out fall.mp4 --size %dx%d --fps 25", WIDTH, HEIGHT) == 0, "%s",
                  pliant_err);
    pliant_read("fall.mp4", asked, sizeof asked);
    ck_assert_str_eq(asked, "film\n");
    pliant_read("asked", asked, sizeof asked);
    ck_assert_ptr_nonnull(strstr(asked, "rawvideo\n-pix_fmt\nrgb24\n-s\n48x32\n-r\n25\n-i\n"));
    ck_assert_ptr_nonnull(strstr(asked, "-pix_fmt\nyuv420p\n-f\nmp4\n"));
    unsigned char *rgb = given(&pictures);
    ck_assert_uint_eq(pictures, 11); /* 0.4 s at 25 a second, and the end */
    /* The camera stands still and the body falls: by g t^2 / 2, never up. */
    double row[11];
    for (int k = 0; k < 11; k++)
        row[k] = row_of_body(rgb + 3 * PIXELS * k);
    for (int k = 1; k < 11; k++)
        ck_assert_double_ge(row[k], row[k - 1] - 0.05);
    ck_assert_double_gt(row[10] - row[0], 4);
    ck_assert_double_gt(row[10] - row[5], row[5] - row[0]);
    free(rgb);
    /* At half the speed each frame is there twice; at 60 times only the first and the last. */
    ck_assert_int_eq(pliant("export r --out fall.webm --size 48x32 --fps 50 --speed 0.5"), 0);
    rgb = given(&pictures);
    ck_assert_uint_eq(pictures, 41);
    for (int k = 0; k < 40; k += 2)
        ck_assert_int_eq(
            memcmp(rgb + 3 * PIXELS * k, rgb + 3 * PIXELS * (k + 1), 3 * (size_t)PIXELS), 0);
    free(rgb);
    ck_assert_int_eq(pliant("export r --out fall.gif --size 48x32 --fps 5 --from 4 --to 8"), 0);
    free(given(&pictures));
    ck_assert_uint_eq(pictures, 2); /* 0.08 s: one picture, and the end */
    pliant_read("asked", asked, sizeof asked);
    ck_assert_ptr_nonnull(strstr(asked, "paletteuse"));
    setenv("PATH", path_before, 1);
}
END_TEST

/* A moving body is at its position at the picture's time. */
START_TEST(obstacles_move)
{
    size_t pictures;
    pliant_write("still.json",
                 "{\"pliant\": 1, \"time\": {\"step\": 0.1, \"steps\": 4}, \"gravity\": [0, 0, 0],"
                 " \"bodies\": [{\"mesh\": {\"box\": {\"cells\": [1, 1, 1]}}}], \"obstacles\":"
                 " [{\"sphere\": {\"center\": [0.9, 0, 0], \"radius\": 0.2}, \"motion\":"
                 " {\"velocity\": [0, 1, 0]}}]}");
    ck_assert_msg(pliant("run still.json --out s --threads 1") == 0, "%s", pliant_err);
    put_ffmpeg(": >\"$last\"");
    use_programs();
    ck_assert_int_eq(pliant("export s --out s.mp4 --size 48x32 --fps 10 --azimuth 0"), 0);
    unsigned char *rgb = given(&pictures);
    ck_assert_uint_eq(pictures, 5);
    int changed = 0;
    for (int i = 0; i < 3 * PIXELS; i++)
        changed += abs(rgb[i] - rgb[3 * PIXELS * 4 + i]) > 20;
    ck_assert_int_gt(changed, 30);
    ck_assert_double_eq_tol(row_of_body(rgb), row_of_body(rgb + 3 * PIXELS * 4), 0.01);
    free(rgb);
    setenv("PATH", path_before, 1);
}
END_TEST

START_TEST(what_is_wrong_is_said_and_leaves_nothing)
{
    make_run();
    use_programs();
    ck_assert_int_eq(pliant("export r --out no.mp4 --size 48x32"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "apt install ffmpeg"));
    ck_assert_int_eq(pliant("export r --out no.mp4 --size 47x32"), 2);
    ck_assert_int_eq(pliant("export r --out no.mp4 --fps 0"), 2);
    ck_assert_int_eq(pliant("export r --out no.mp4 --size 48"), 2);
    /* One that ends before reading anything, and one that fails at the end. */
    put_ffmpeg("exit 1");
    ck_assert_int_eq(pliant("export r --out no.mp4 --size 48x32"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "ffmpeg failed"));
    pliant_write("programs/ffmpeg", "#!/bin/sh\nexit 3\n");
    ck_assert_int_eq(pliant("export r --out no.mp4 --size 640x480"), 1);
    ck_assert_ptr_nonnull(strstr(pliant_err, "ffmpeg failed"));
    setenv("PATH", path_before, 1);
    char ask[600];
    snprintf(ask, sizeof ask, "ls '%s' | grep -q no.mp4", pliant_fixture.directory);
    ck_assert_int_ne(system(ask), 0);
}
END_TEST

START_TEST(the_real_one_makes_films)
{
    static const char *const endings[] = {"mp4", "webm", "gif"};
    static const char *const begins[] = {"ftyp", "\x1a\x45\xdf\xa3", "GIF8"};
    char head[16];
    if (system("command -v ffmpeg >/dev/null") != 0) {
        skip_test("cli_film: ffmpeg is not installed");
    }
    make_run();
    for (int k = 0; k < 3; k++) {
        ck_assert_msg(pliant("export r --out f.%s --size 48x32 --fps 10", endings[k]) == 0, "%s",
                      pliant_err);
        FILE *f = fopen(pliant_path(k == 0 ? "f.mp4" : k == 1 ? "f.webm" : "f.gif"), "rb");
        ck_assert_uint_eq(fread(head, 1, sizeof head, f), sizeof head);
        fclose(f);
        ck_assert_int_eq(memcmp(head + (k == 0 ? 4 : 0), begins[k], 4), 0);
    }
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("film");
    tcase_set_timeout(t, 180);
    tcase_add_checked_fixture(t, pliant_setup_here, pliant_teardown);
    tcase_add_test(t, pictures_go_to_ffmpeg);
    tcase_add_test(t, obstacles_move);
    tcase_add_test(t, what_is_wrong_is_said_and_leaves_nothing);
    tcase_add_test(t, the_real_one_makes_films);
    return run_cases("cli_film", t);
}
