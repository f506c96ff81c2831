#include "clients/cli/session/sweep_file.h"

#include "protocol/text/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lifetime: one reading. */
typedef struct reading {
    char *folder;
    pl_scene_files *out;
    pl_faults *faults;
    char **failed;
} reading;

/* Read a file beside the document, like pl_scene_files_text. */
static pl_status read_beside(const reading *r, const char *name, char **text, size_t *length,
                             char **folder)
{
    char *path = NULL;
    if ((*name == '/' ? asprintf(&path, "%s", name) : asprintf(&path, "%s/%s", r->folder, name)) <
        0)
        return PL_NO_MEMORY;
    pl_status status = pl_scene_files_text(path, text, length, folder);
    if (status == PL_IO)
        *r->failed = path;
    else
        free(path);
    return status;
}

/* Write the scene with its file names replaced to `out`, which holds its text temporarily. */
static pl_status read_scene(const reading *r, const pl_json *scene)
{
    const char *name = pl_json_string(scene, "", NULL);
    char *text = NULL, *folder = NULL;
    size_t length = 0;
    pl_status status = PL_OK;
    if (name) {
        status = read_beside(r, name, &text, &length, &folder);
    } else {
        text = pl_json_dump(scene, false);
        length = text ? strlen(text) : 0;
        status = text ? PL_OK : PL_NO_MEMORY;
    }
    if (status == PL_OK)
        status = pl_scene_files_rewrite(text, length, folder ? folder : r->folder, r->out,
                                        r->faults);
    free(text);
    free(folder);
    return status;
}

static pl_status put_csv(const reading *r, pl_json_writer *w, const pl_json *csv)
{
    const char *name = pl_json_string(csv, "file", NULL);
    char *text = NULL, *folder = NULL;
    size_t length = 0;
    pl_status status = PL_OK;
    if (name)
        status = read_beside(r, name, &text, &length, &folder);
    else
        text = pl_json_dump(csv, false);
    char *ended = name && status == PL_OK ? strndup(text, length) : NULL;
    if (status == PL_OK && (!text || (name && !ended)))
        status = PL_NO_MEMORY;
    if (status == PL_OK && name)
        pl_json_set_string(w, "csv", ended);
    else if (status == PL_OK)
        pl_json_set_raw(w, "csv", text);
    free(ended);
    free(text);
    free(folder);
    return status;
}

/* Write an object's members, with the contents of its csv file in place of the path. */
static pl_status put_with_csv(const reading *r, pl_json_writer *w, const pl_json *object)
{
    pl_status status = PL_OK;
    pl_json_begin_object(w);
    for (size_t i = 0; status == PL_OK && i < pl_json_count(object); i++) {
        const pl_json *value;
        const char *key = pl_json_member(object, i, &value);
        char *text = strcmp(key, "csv") == 0 ? NULL : pl_json_dump(value, false);
        if (text)
            pl_json_set_raw(w, key, text);
        else
            status = strcmp(key, "csv") == 0 ? put_csv(r, w, value) : PL_NO_MEMORY;
        free(text);
    }
    pl_json_end_object(w);
    return status;
}

static pl_status put_raw(pl_json_writer *w, const char *key, const pl_json *value)
{
    char *text = pl_json_dump(value, false);
    if (text)
        pl_json_set_raw(w, key, text);
    free(text);
    return text ? PL_OK : PL_NO_MEMORY;
}

static pl_status put_measured(const reading *r, pl_json_writer *w, const pl_json *list)
{
    pl_status status = PL_OK;
    pl_json_key(w, "measured");
    pl_json_begin_array(w);
    for (size_t i = 0; status == PL_OK && i < pl_json_count(list); i++)
        status = put_with_csv(r, w, pl_json_item(list, i));
    pl_json_end_array(w);
    return status;
}

/* True for a non-empty list of objects. Anything else is left to the daemon to reject. */
static bool are_objects(const pl_json *list)
{
    bool all = pl_json_item(list, 0);
    for (size_t i = 0; i < pl_json_count(list); i++)
        all = all && pl_json_is_object(pl_json_item(list, i));
    return all;
}

static pl_status put_fit(const reading *r, pl_json_writer *w, const pl_json *fit)
{
    pl_status status = PL_OK;
    pl_json_key(w, "fit");
    pl_json_begin_object(w);
    for (size_t i = 0; status == PL_OK && i < pl_json_count(fit); i++) {
        const pl_json *value;
        const char *key = pl_json_member(fit, i, &value);
        bool series = strcmp(key, "measured") == 0 && are_objects(value);
        status = series ? put_measured(r, w, value) : put_raw(w, key, value);
    }
    pl_json_end_object(w);
    return status;
}

static pl_status put_member(const reading *r, pl_json_writer *w, const char *key,
                            const pl_json *value)
{
    if (strcmp(key, "scene") == 0) {
        pl_status status = read_scene(r, value);
        if (status == PL_OK)
            pl_json_set_raw(w, key, r->out->text);
        return status;
    }
    if (strcmp(key, "csv") == 0)
        return put_csv(r, w, value);
    bool fit = strcmp(key, "fit") == 0 && pl_json_is_object(value);
    return fit ? put_fit(r, w, value) : put_raw(w, key, value);
}

static pl_status put_document(const reading *r, const pl_json *document)
{
    pl_json_writer w = {0};
    pl_status status = PL_OK;
    pl_json_begin_object(&w);
    for (size_t i = 0; status == PL_OK && i < pl_json_count(document); i++) {
        const pl_json *value;
        const char *key = pl_json_member(document, i, &value);
        status = put_member(r, &w, key, value);
    }
    pl_json_end_object(&w);
    free(r->out->text);
    r->out->text = pl_json_finish(&w, &r->out->length);
    return status == PL_OK && !r->out->text ? PL_NO_MEMORY : status;
}

pl_status pl_sweep_file_read(const char *path, pl_scene_files *out, pl_faults *faults,
                             char **failed)
{
    reading r = {.out = out, .faults = faults, .failed = failed};
    char *text = NULL, error[160] = "";
    size_t length;
    *out = (pl_scene_files){0};
    *failed = NULL;
    pl_status status = pl_scene_files_text(path, &text, &length, &r.folder);
    if (status == PL_IO)
        *failed = strdup(path);
    pl_json *document = status == PL_OK ? pl_json_parse(text, length, error) : NULL;
    if (status == PL_OK && !pl_json_is_object(document)) {
        pl_faults_add(faults, "", "bad_json", *error ? error : "no object", "a JSON object", "");
        status = PL_INVALID;
    }
    if (status == PL_OK)
        status = put_document(&r, document);
    int error_number = errno;
    pl_json_free(document);
    free(text);
    free(r.folder);
    if (status != PL_OK)
        pl_scene_files_clear(out);
    errno = error_number;
    return status;
}
