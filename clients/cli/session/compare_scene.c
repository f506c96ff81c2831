#include "clients/cli/session/compare_scene.h"

#include "clients/cli/session/merge_patch.h"
#include "clients/cli/session/session_source.h"

#include "protocol/scene/params.h"
#include "protocol/scene/scene_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int no_memory(const pl_cli *cli)
{
    return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
}

static const char *const *method_names(void)
{
    return pl_table_param(pl_table_named("solver"), "method")->choices;
}

/* ---- the source of the scene ---- */

/* Mesh files of a session directory are in meshes/HASH. */
static int name_meshes(pl_cli *cli, const char *directory, const pl_outline *outline,
                       pl_scene_files *out)
{
    out->files = calloc((size_t)outline->upload_count + 1, sizeof *out->files);
    if (!out->files)
        return no_memory(cli);
    for (int32_t i = 0; i < outline->upload_count; i++) {
        pl_scene_file *file = &out->files[out->count];
        snprintf(file->hash, sizeof file->hash, "%s", outline->uploads[i].hash);
        if (asprintf(&file->path, "%s/meshes/%s", directory, file->hash) < 0) {
            file->path = NULL;
            return no_memory(cli);
        }
        out->count++;
    }
    return PL_EXIT_OK;
}

static int from_session(pl_cli *cli, const char *where, pl_scene_files *out)
{
    pl_session_source source;
    pl_outline outline;
    pl_faults faults = {0};
    int status = pl_session_source_open(cli, where, &source);
    if (status != PL_EXIT_OK)
        return status;
    status = pl_session_source_document(&source, PL_FILE_SCENE, "/v1/sessions/%s/scene?form=posted",
                                        NULL, &out->text, &out->length);
    bool here = source.dir_fd >= 0;
    pl_session_source_close(&source);
    if (status != PL_EXIT_OK)
        return status;
    if (pl_scene_outline(out->text, out->length, &outline, &faults) == PL_DECODE_OK) {
        if (here)
            status = name_meshes(cli, where, &outline, out);
        else if (outline.upload_count > 0)
            status = pl_cli_fail(cli, PL_EXIT_USAGE,
                                 "session %s has mesh files, which the daemon holds: give its "
                                 "scene file or its session directory",
                                 where);
        pl_outline_clear(&outline);
    }
    pl_faults_clear(&faults);
    return status;
}

static int from_file(pl_cli *cli, const char *where, pl_scene_files *out)
{
    pl_faults faults = {0};
    pl_status read = pl_scene_files_read(where, out, &faults);
    int status = PL_EXIT_OK;
    if (read == PL_IO)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", where, strerror(errno));
    else if (read == PL_NO_MEMORY)
        status = no_memory(cli);
    else if (read != PL_OK) {
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "the scene's mesh files cannot be read");
        pl_cli_print_faults(cli, &faults);
    }
    pl_faults_clear(&faults);
    return status;
}

static int read_base(pl_cli *cli, const char *where, pl_scene_files *out)
{
    struct stat st;
    bool file = strcmp(where, "-") == 0 || (stat(where, &st) == 0 && !S_ISDIR(st.st_mode));
    bool ending = strlen(where) > 5 && strcmp(where + strlen(where) - 5, ".json") == 0;
    return file || ending ? from_file(cli, where, out) : from_session(cli, where, out);
}

/* ---- methods ---- */

/* Write a number, true or false as such; anything else as a string. */
static void put_value(pl_json_writer *w, const char *text)
{
    pl_json *value = NULL;
    char wrapped[80];
    snprintf(wrapped, sizeof wrapped, "[%.70s]", text);
    if (strpbrk(text, "[]{},\"") == NULL)
        value = pl_json_parse(wrapped, strlen(wrapped), NULL);
    if (value)
        pl_json_put_raw(w, text);
    else
        pl_json_put_string(w, text);
    pl_json_free(value);
}

/* "quasi_newton:window=16:stiffness=fit" as a merge patch of a scene; NULL after saying why not. */
static char *patch_of(pl_cli *cli, const char *entry, int64_t iterations)
{
    char words[256], *rest = words;
    pl_json_writer w = {0};
    snprintf(words, sizeof words, "%s", entry);
    const char *method = strsep(&rest, ":"), *const *known = method_names();
    size_t count = 0;
    bool found = false;
    for (; known[count]; count++)
        found |= strcmp(known[count], method) == 0;
    if (!found) {
        pl_cli_fail_value(cli, "--methods", method, known, count);
        return NULL;
    }
    pl_json_begin_object(&w);
    pl_json_set_raw(&w, "expect", "null");
    pl_json_set_raw(&w, "output", "{\"every\": 1, \"metrics\": \"iteration\"}");
    pl_json_key(&w, "solver");
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "method", method);
    pl_json_set_string(&w, "on_not_converged", "continue");
    bool given[2] = {false, false};
    while (rest && *rest) {
        char *value = strsep(&rest, ":"), *key = strsep(&value, "=");
        if (!value || !*key) {
            pl_cli_fail(cli, 0, "--methods: '%s' in '%s' is not key=value", key, entry);
            free(pl_json_finish(&w, NULL));
            return NULL;
        }
        given[0] |= strcmp(key, "iterations") == 0;
        given[1] |= strcmp(key, "tolerance") == 0;
        pl_json_key(&w, key);
        put_value(&w, value);
    }
    if (!given[0])
        pl_json_set_integer(&w, "iterations", iterations);
    if (!given[1])
        pl_json_set_integer(&w, "tolerance", 0);
    pl_json_end_object(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

static int add_entry(pl_cli *cli, pl_compare_scene *s, const char *entry, int64_t iterations)
{
    size_t length;
    char *patch = patch_of(cli, entry, iterations);
    if (!patch)
        return PL_EXIT_USAGE;
    char *text = pl_merge_patch_texts(s->base.text, s->base.length, patch, &length);
    char *label = strdup(entry);
    free(patch);
    if (!text || !label) {
        free(text);
        free(label);
        return no_memory(cli);
    }
    s->text[s->entries] = text;
    s->label[s->entries++] = label;
    return PL_EXIT_OK;
}

static int add_methods(pl_cli *cli, pl_compare_scene *s, const char *methods, int64_t iterations)
{
    char *copy = methods ? strdup(methods) : NULL, *rest = copy;
    int status = PL_EXIT_OK;
    const char *const *known = method_names();
    for (int i = 0; status == PL_EXIT_OK && (methods ? rest != NULL : known[i] != NULL); i++) {
        const char *entry = methods ? strsep(&rest, ",") : known[i];
        if (s->entries == PL_COMPARE_METHODS)
            status = pl_cli_fail(cli, PL_EXIT_USAGE, "--methods: at most %d", PL_COMPARE_METHODS);
        else
            status = add_entry(cli, s, entry, iterations);
    }
    free(copy);
    s->methods = s->entries;
    return status;
}

/* References run on the CPU, wherever the scene runs. */
static int add_reference(pl_cli *cli, pl_compare_scene *s, const char *entry)
{
    char words[128];
    snprintf(words, sizeof words, "%s:device=cpu:precision=auto", entry);
    int status = add_entry(cli, s, words, 1);
    if (status == PL_EXIT_OK)
        s->label[s->entries - 1][strlen(entry)] = '\0';
    return status;
}

/* Add the references: the last objective of the first that supports the scene counts as the minimum. */
static int add_references(pl_cli *cli, pl_compare_scene *s)
{
    static const char *const references[PL_COMPARE_REFERENCES] = {
        "newton:iterations=200:tolerance=1e-12",
        "quasi_newton:iterations=5000:tolerance=1e-13:window=16",
        "admm:iterations=10000:tolerance=1e-12"};
    const char *const *known = method_names();
    int status = PL_EXIT_OK;
    for (int i = 0; status == PL_EXIT_OK && i < PL_COMPARE_REFERENCES; i++)
        for (int k = 0; known[k] && status == PL_EXIT_OK; k++)
            if (strncmp(references[i], known[k], strlen(known[k])) == 0 &&
                references[i][strlen(known[k])] == ':')
                status = add_reference(cli, s, references[i]);
    return status;
}

/* ---- all together ---- */

static int check_scene(pl_cli *cli, pl_compare_scene *s, int64_t frame)
{
    pl_outline outline;
    pl_faults faults = {0};
    int status = PL_EXIT_OK;
    if (pl_scene_outline(s->base.text, s->base.length, &outline, &faults) != PL_DECODE_OK) {
        status = pl_cli_fail(cli, PL_EXIT_FAILED, "the scene has %zu faults", faults.total);
        pl_cli_print_faults(cli, &faults);
    } else {
        if (frame > outline.frames)
            status = pl_cli_fail(cli, PL_EXIT_USAGE, "--frame: the scene has frames 1 to %" PRId64,
                                 outline.frames);
        pl_outline_clear(&outline);
    }
    pl_faults_clear(&faults);
    return status;
}

static int read_scene(pl_cli *cli, pl_compare_scene *s, int64_t frame)
{
    size_t length;
    pl_json *scene = pl_json_parse(s->base.text, s->base.length, NULL);
    snprintf(s->name, sizeof s->name, "%s", pl_json_string(scene, "name", ""));
    s->step = frame * pl_json_integer(scene, "output/every", 1);
    s->hard = pl_json_count(pl_json_at(scene, "obstacles")) > 0 &&
              strcmp(pl_json_string(scene, "solver/obstacles", ""), "energy") != 0;
    s->bodies = pl_json_count(pl_json_at(scene, "bodies"));
    /* the last frame may have fewer steps */
    int64_t steps = pl_json_integer(scene, "time/steps", 0);
    s->step = steps > 0 && s->step > steps ? steps : s->step;
    pl_json_free(scene);
    s->approach = pl_merge_patch_texts(s->base.text, s->base.length,
                                       "{\"output\": {\"every\": 1, \"metrics\": \"frame\"},"
                                       " \"expect\": null}",
                                       &length);
    return s->approach ? PL_EXIT_OK : no_memory(cli);
}

int pl_compare_scene_open(pl_cli *cli, const char *where, const char *methods, int64_t frame,
                          int64_t iterations, pl_compare_scene *out)
{
    *out = (pl_compare_scene){0};
    int status = read_base(cli, where, &out->base);
    if (status == PL_EXIT_OK)
        status = check_scene(cli, out, frame);
    if (status == PL_EXIT_OK)
        status = read_scene(cli, out, frame);
    if (status == PL_EXIT_OK)
        status = add_methods(cli, out, methods, iterations);
    if (status == PL_EXIT_OK)
        status = add_references(cli, out);
    if (status != PL_EXIT_OK)
        pl_compare_scene_close(out);
    return status;
}

void pl_compare_scene_close(pl_compare_scene *s)
{
    for (int32_t k = 0; k < s->entries; k++) {
        free(s->label[k]);
        free(s->text[k]);
    }
    free(s->approach);
    pl_scene_files_clear(&s->base);
    *s = (pl_compare_scene){0};
}
