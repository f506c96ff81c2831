/* The scene's JSON Schema: every scene that decodes fits it, and it rejects those invalid scenes that a schema can
 * detect. */
#include "protocol/scene/schema.h"
#include "tests/support/json_schema.h"
#include "tests/support/suite.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *schema;

static void start(void)
{
    char *text = pl_scene_schema_encode();
    json_error_t error;
    ck_assert_ptr_nonnull(text);
    schema = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(schema != NULL, "%s", error.text);
    free(text);
}

static void stop(void)
{
    json_decref(schema);
}

typedef void (*see_scene)(const char *name, json_t *scene);

/* Every .json file of a folder beside this file's, except those that are not JSON. */
static int each_scene(const char *folder, see_scene see)
{
    char path[700], base[512];
    int count = 0;
    snprintf(base, sizeof base, "%s", __FILE__);
    *strrchr(base, '/') = 0;
    snprintf(path, sizeof path, "%.500s/%s", base, folder);
    DIR *list = opendir(path);
    ck_assert_msg(list != NULL, "%s: run the tests from the project's root", path);
    for (struct dirent *e; (e = readdir(list));) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 5, ".json") != 0)
            continue;
        char file[1000];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        json_t *scene = json_load_file(file, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
        if (scene) {
            see(e->d_name, scene);
            json_decref(scene);
            count++;
        }
    }
    closedir(list);
    return count;
}

/* A file of the command line's is an upload for a daemon. */
static void upload_files(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(value) && json_is_string(json_object_get(value, "file"))) {
        json_object_del(value, "file");
        json_object_set_new(value, "upload",
                            json_string("sha256:00000000000000000000000000000000000000000000000000"
                                        "00000000000000"));
    }
    json_object_foreach(value, key, member)
    {
        upload_files(member);
    }
    json_array_foreach(value, i, member)
    {
        upload_files(member);
    }
}

static void check_fits(const char *name, json_t *scene)
{
    char why[JSON_SCHEMA_WHY];
    upload_files(scene);
    ck_assert_msg(json_schema_fits(schema, schema, scene, why), "%s: %s", name, why);
}

START_TEST(good_scenes_fit)
{
    ck_assert_int_ge(each_scene("scenes_good", check_fits), 10);
    ck_assert_int_ge(each_scene("../../clients/scenes", check_fits), 20);
}
END_TEST

/* Rejected for reasons beyond any schema: unknown names, sums, orders, combined sizes. */
/* clang-format off */
static const char *const beyond[] = {
    "box_too_many_cells.json",
    "contact_unsupported.json",
    "expect_contact.json",
    "expect_vertices.json",
    "inline_no_tets.json",
    "material_constants_of_another.json",
    "material_constants_wrong.json",
    "material_left_out.json",
    "material_splines_of_another.json",
    "material_unknown.json",
    "pin_body_left_out.json",
    "pin_names.json",
    "plane_far.json",
    "time_too_many.json",
    "upload_one_tetgen.json",
    "upload_two_gmsh.json",
};
/* clang-format on */

static void check_refused(const char *name, json_t *scene)
{
    char why[JSON_SCHEMA_WHY];
    bool listed = false;
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++)
        listed |= strcmp(beyond[i], name) == 0;
    bool good = json_schema_fits(schema, schema, scene, why);
    ck_assert_msg(good == listed, "%s %s", name, good ? "fits" : why);
}

START_TEST(bad_scenes_do_not)
{
    ck_assert_int_ge(each_scene("scenes_bad", check_refused), 70);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("schema");
    tcase_add_checked_fixture(tests, start, stop);
    tcase_add_test(tests, good_scenes_fit);
    tcase_add_test(tests, bad_scenes_do_not);
    return run_cases("protocol/schema", tests);
}
