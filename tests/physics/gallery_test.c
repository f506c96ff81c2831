/* Every scene of clients/scenes shows what it claims: `pliant run --quick --check`, or with PLIANT_LONG=1 the full
 * scene. */
#include "tests/support/built_path.h"
#include "tests/support/long_form.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SCENES_MAX = 128 };
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
