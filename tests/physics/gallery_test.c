/* Every scene of clients/scenes shows what it claims: `pliant run --quick --check`, or with PLIANT_LONG=1 the full
 * scene. And no bodies cross in any of its frames, by signs in quadruple precision. */
#include "protocol/export/shape.h"
#include "protocol/log/frame_variant.h"
#include "protocol/log/log.h"
#include "tests/support/built_path.h"
#include "tests/support/contact_exact.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCENES_MAX = 128, PAIRS_MOST = 20000000 /* of an edge and a triangle, in a quick run */ };
static char program[BUILT_PATH_MAX], folder[64], *scenes[SCENES_MAX];
static int scene_count;

static void find_program(void)
{
    built_path("pliant", X_OK, program);
}

static int is_scene(const struct dirent *e)
{
    const char *ending = strrchr(e->d_name, '.');
    return ending && strcmp(ending, ".json") == 0;
}

static void find_scenes(void)
{
    struct dirent **list;
    int count = scandir("clients/scenes", &list, is_scene, alphasort);
    for (int i = 0; i < count && i < SCENES_MAX; i++) {
        scenes[scene_count++] = strdup(list[i]->d_name);
        free(list[i]);
    }
    if (count >= 0)
        free(list);
}

static void make_folder(void)
{
    find_program();
    strcpy(folder, "/tmp/pliant-gallery-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

/* ---- crossings ---- */

static pl_json *read_document(const char *name)
{
    char path[PATH_MAX], error[160], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/run/%s", folder, name);
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "%s", path);
    ssize_t length = getdelim(&text, &size, '\0', f);
    fclose(f);
    pl_json *document = pl_json_parse(text, (size_t)length, error);
    ck_assert_msg(document != NULL, "%s: %s", path, error);
    free(text);
    return document;
}

/* Crossings in a stored frame. */
static int64_t crossings_of(pl_log_reader *log, int64_t frame, const pl_shape *shape, int32_t at[3])
{
    char *payload;
    uint64_t length;
    pl_frame_header h;
    ck_assert_int_eq(pl_log_read(log, frame, PL_LOG_FRAME, &payload, &length), PL_LOG_OK);
    ck_assert(pl_frame_header_decode((unsigned char *)payload, length, &h));
    ck_assert_uint_eq(h.count, (uint64_t)shape->vertices);
    const size_t numbers = 3 * (size_t)h.count;
    float *stored = malloc(numbers * sizeof *stored);
    double *x = malloc(numbers * sizeof *x);
    ck_assert(pl_frame_values(&h, payload, PL_FIELD_POSITION, stored));
    for (size_t i = 0; i < numbers; i++)
        x[i] = (double)stored[i];
    int64_t count = exact_crossings(x, shape->triangle, (int32_t)shape->triangles, shape->edge,
                                    (int32_t)shape->edges, at);
    free(payload);
    free(stored);
    free(x);
    return count;
}

/* Nothing crosses in any frame, if the scene has contact and begins so. Quick runs of many triangles: in the last frame
 * and some others. */
static void check_crossings(const char *scene)
{
    pl_json *effective = read_document("effective.json");
    const bool touching = pl_json_boolean(effective, "contact/enabled", false);
    pl_json_free(effective);
    if (!touching)
        return;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/run", folder);
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    pl_json *topology = read_document("topology.json");
    pl_shape shape = {0};
    const char *why;
    pl_log_reader *log;
    ck_assert_int_eq(pl_shape_read(topology, &shape, &why), PL_OK);
    ck_assert_int_eq(pl_log_reader_open(fd, &log), PL_OK);
    const int64_t frames = pl_log_reader_refresh(log);
    const int64_t pairs = (3 * shape.triangles + shape.edges) * shape.triangles;
    const int64_t every = is_long_form() ? 1 : 1 + frames * pairs / PAIRS_MOST;
    int32_t at[3] = {0};
    const bool apart = crossings_of(log, 0, &shape, at) == 0;
    for (int64_t k = frames - 1; k > 0 && apart; k -= every)
        ck_assert_msg(crossings_of(log, k, &shape, at) == 0,
                      "%s, frame %lld: the edge %d %d goes through triangle %d", scene,
                      (long long)k, at[0], at[1], at[2]);
    pl_log_reader_close(log);
    pl_json_free(topology);
    pl_shape_clear(&shape);
    close(fd);
}

START_TEST(scene_shows_what_it_says)
{
    bool whole = is_long_form();
    char command[2 * PATH_MAX], text[8192];
    snprintf(command, sizeof command,
             "'%s' run 'clients/scenes/%s' %s --check --force --out '%s/run' 2>&1 </dev/null",
             program, scenes[_i], whole ? "" : "--quick", folder);
    FILE *f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    while (fgetc(f) != EOF) /* to its end, so that it is not stopped by a closed pipe */
        continue;
    int status = pclose(f);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s\n%s", scenes[_i], text);
    check_crossings(scenes[_i]);
}
END_TEST

START_TEST(the_gallery_is_there)
{
    ck_assert_msg(scene_count >= 10, "run the tests from the project's root");
}
END_TEST

int main(void)
{
    find_scenes();
    Suite *suite = suite_create("gallery");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 3600);
    tcase_add_unchecked_fixture(t, make_folder, remove_folder);
    tcase_add_test(t, the_gallery_is_there);
    tcase_add_loop_test(t, scene_shows_what_it_says, 0, scene_count);
    suite_add_tcase(suite, t);
    int status = run_suite(suite);
    for (int i = 0; i < scene_count; i++)
        free(scenes[i]);
    return status;
}
