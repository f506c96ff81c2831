#include "clients/cli/session/curve_scene.h"

#include "protocol/scene/params.h"
#include "protocol/text/problem.h"
#include "protocol/log/session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 32 << 20 };

static int add(pl_cli *cli, const char *label, char *json, pl_curve_material *list, int32_t *count)
{
    if (!json)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (*count == PL_CURVES_MAX) {
        free(json);
        return pl_cli_fail(cli, PL_EXIT_USAGE, "at most %d materials in one plot", PL_CURVES_MAX);
    }
    pl_curve_material *m = &list[(*count)++];
    snprintf(m->label, sizeof m->label, "%s", label);
    m->json = json;
    return PL_EXIT_OK;
}

static int add_scene_materials(pl_cli *cli, const char *path, const char *name,
                               const pl_json *materials, pl_curve_material *list, int32_t *count)
{
    bool found = false;
    for (size_t i = 0; i < pl_json_count(materials); i++) {
        const pl_json *value;
        const char *key = pl_json_member(materials, i, &value);
        if (!key || (name && strcmp(name, key) != 0))
            continue;
        found = true;
        int status = add(cli, key, pl_json_dump(value, false), list, count);
        if (status != PL_EXIT_OK)
            return status;
    }
    if (!found && name)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "%s has no material '%s'", path, name);
    return found ? PL_EXIT_OK : pl_cli_fail(cli, PL_EXIT_USAGE, "%s has no materials", path);
}

static int from_file(pl_cli *cli, const char *path, const char *name, pl_curve_material *list,
                     int32_t *count)
{
    char *text, error[160];
    size_t size;
    if (pl_file_read(AT_FDCWD, path, FILE_MAX, &text, &size) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    pl_json *document = pl_json_parse(text, size, error);
    free(text);
    if (!document)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "%s: %s", path, error);
    int status;
    if (pl_json_at(document, "bodies") || pl_json_at(document, "materials"))
        status = add_scene_materials(cli, path, name, pl_json_at(document, "materials"), list,
                                     count);
    else if (name)
        status = pl_cli_fail(cli, PL_EXIT_USAGE, "%s is not a scene: it has no materials by name",
                             path);
    else
        status = add(cli, pl_json_string(document, "model", path), pl_json_dump(document, false),
                     list, count);
    pl_json_free(document);
    return status;
}

int pl_curve_materials_read(pl_cli *cli, const char *word, pl_curve_material list[PL_CURVES_MAX],
                            int32_t *count)
{
    const char *const *models = pl_table_param(pl_table_named("material"), "model")->choices;
    size_t known = 0;
    for (; models[known]; known++) {
        char *json = NULL;
        if (strcmp(models[known], word) != 0)
            continue;
        if (asprintf(&json, "{\"model\": \"%s\"}", word) < 0)
            json = NULL;
        return add(cli, word, json, list, count);
    }
    const char *ending = strstr(word, ".json:");
    if (!ending && strstr(word, ".json"))
        return from_file(cli, word, NULL, list, count);
    if (!ending) {
        const char *near = pl_nearest(word, models, known);
        return pl_cli_fail(cli, PL_EXIT_USAGE, "'%s' is neither a model nor a .json file%s%s%s",
                           word, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    char *path = strndup(word, (size_t)(ending - word) + strlen(".json"));
    if (!path)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    int status = from_file(cli, path, ending + strlen(".json:"), list, count);
    free(path);
    return status;
}

void pl_curve_materials_clear(pl_curve_material *list, int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        free(list[k].json);
}

char *pl_curve_scene(const pl_curve_material *material, double stretch, int64_t steps)
{
    char *text = NULL;
    int length = asprintf(
        &text,
        "{\"pliant\": 1, \"name\": \"curve\", \"gravity\": [0, 0, 0],\n"
        " \"contact\": {\"enabled\": false},\n"
        " \"time\": {\"step\": %.17g, \"steps\": %lld, \"integrator\": \"quasi_static\"},\n"
        " \"solver\": {\"method\": \"newton\", \"iterations\": 100, \"tolerance\": 1e-10},\n"
        " \"materials\": {\"material\": %s},\n"
        " \"bodies\": [{\"name\": \"cube\", \"mesh\": {\"box\": {\"size\": [1, 1, 1], \"cells\": "
        "[1, 1, 1]}}, \"material\": \"material\", \"transform\": {\"translate\": [0.5, 0.5, "
        "0.5]}}],\n"
        " \"pins\": [\n"
        "  {\"name\": \"hold\", \"select\": {\"side\": \"-x\"}, \"axes\": [\"x\"]},\n"
        "  {\"name\": \"pull\", \"select\": {\"side\": \"+x\"}, \"axes\": [\"x\"],\n"
        "   \"motion\": {\"keyframes\": [{\"time\": 1, \"translate\": [%.17g, 0, 0]}]}},\n"
        "  {\"name\": \"floor\", \"select\": {\"side\": \"-y\"}, \"axes\": [\"y\"]},\n"
        "  {\"name\": \"wall\", \"select\": {\"side\": \"-z\"}, \"axes\": [\"z\"]}]}\n",
        1.0 / (double)steps, (long long)steps, material->json, stretch - 1);
    return length < 0 ? NULL : text;
}
