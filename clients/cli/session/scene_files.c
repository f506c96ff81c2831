#include "clients/cli/session/scene_files.h"

#include "protocol/text/json.h"
#include "protocol/text/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCENE_MAX ((size_t)64 << 20)

typedef struct rewriter {
    const char *folder;
    pl_scene_files *out;
    pl_faults *faults;
    pl_json_writer writer;
    bool no_memory;
} rewriter;

/* ---- files ---- */

static bool hash_file(const char *path, char hash[65], uint64_t *size)
{
    struct stat st;
    FILE *f = fopen(path, "rbe");
    if (!f)
        return false;
    if (fstat(fileno(f), &st) != 0 || !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        fclose(f);
        return false;
    }
    pl_sha256 *s = pl_sha256_create();
    char *buffer = malloc(1 << 18);
    size_t n;
    *size = 0;
    while (s && buffer && (n = fread(buffer, 1, 1 << 18, f)) > 0) {
        pl_sha256_update(s, buffer, n);
        *size += n;
    }
    bool good = s && buffer && !ferror(f);
    if (s)
        pl_sha256_finish(s, hash);
    free(buffer);
    fclose(f);
    return good;
}

/* The file's entry, hashed when it is first named; NULL after adding a fault. */
static const pl_scene_file *add_file(rewriter *w, const char *name, const char *kind,
                                     const char *pointer)
{
    pl_scene_file file = {.kind = kind};
    int length = name[0] == '/' ? asprintf(&file.path, "%s", name)
                                : asprintf(&file.path, "%s/%s", w->folder, name);
    if (length < 0) {
        w->no_memory = true;
        return NULL;
    }
    for (int32_t i = 0; i < w->out->count; i++)
        if (strcmp(w->out->files[i].path, file.path) == 0) {
            free(file.path);
            return &w->out->files[i];
        }
    if (!hash_file(file.path, file.hash, &file.size)) {
        pl_faults_addf(w->faults, pointer, "file_unreadable", "a readable mesh file",
                       "paths are relative to the scene file's folder", "%s: %s", file.path,
                       strerror(errno));
        free(file.path);
        return NULL;
    }
    pl_scene_file *grown = realloc(w->out->files, ((size_t)w->out->count + 1) * sizeof *grown);
    if (!grown) {
        free(file.path);
        w->no_memory = true;
        return NULL;
    }
    w->out->files = grown;
    grown[w->out->count] = file;
    return &grown[w->out->count++];
}

/* ---- formats ---- */

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcasecmp(name + n - m, ending) == 0;
}

const char *pl_mesh_format_of(const char *name)
{
    static const char *const formats[][2] = {
        {".msh", "gmsh"},   {".mesh", "medit"}, {".obj", "obj"}, {".node", "tetgen"},
        {".ele", "tetgen"}, {".vtk", "vtk"},    {".vtu", "vtu"}, {".veg", "vega"},
        {".inp", "abaqus"}, {".stl", "stl"},    {".ply", "ply"}};
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (ends_with(name, formats[k][0]))
            return formats[k][1];
    return NULL;
}

/* `name` with its ending replaced. */
static char *with_ending(const char *name, const char *ending)
{
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - name) : strlen(name);
    char *other = NULL;
    return asprintf(&other, "%.*s%s", (int)stem, name, ending) < 0 ? NULL : other;
}

/* ---- rewriting ---- */

static void put_hash(pl_json_writer *w, const pl_scene_file *file)
{
    char text[80];
    snprintf(text, sizeof text, "sha256:%s", file->hash);
    pl_json_put_string(w, text);
}

static void put_tetgen(rewriter *w, const char *name, const char *ele, const char *pointer)
{
    char ele_pointer[128];
    char *node = with_ending(name, ".node"),
         *beside = ele ? strdup(ele) : with_ending(name, ".ele");
    snprintf(ele_pointer, sizeof ele_pointer, "%.*s/%s", (int)(strrchr(pointer, '/') - pointer),
             pointer, ele ? "ele" : "file");
    w->no_memory = w->no_memory || !node || !beside;
    /* Use the file's address at once: it may change when the next file is added. */
    pl_json_begin_object(&w->writer);
    for (int i = 0; i < 2 && !w->no_memory; i++) {
        const pl_scene_file *file =
            add_file(w, i == 0 ? (ends_with(name, ".ele") ? node : name) : beside,
                     i == 0 ? "tetgen_node" : "tetgen_ele", i == 0 ? pointer : ele_pointer);
        pl_json_key(&w->writer, i == 0 ? "node" : "ele");
        if (file)
            put_hash(&w->writer, file);
        else
            pl_json_put_null(&w->writer);
    }
    pl_json_end_object(&w->writer);
    free(node);
    free(beside);
}

static void put_raw(rewriter *w, const char *key, const pl_json *value)
{
    char *text = pl_json_dump(value, false);
    if (text)
        pl_json_set_raw(&w->writer, key, text);
    w->no_memory = w->no_memory || !text;
    free(text);
}

/* `list`: bodies or obstacles. */
static void put_mesh(rewriter *w, const pl_json *mesh, const char *list, size_t item)
{
    const char *name = pl_json_string(mesh, "file", NULL);
    const char *format = pl_json_string(mesh, "format", NULL);
    format = format ? format : pl_mesh_format_of(name);
    char pointer[64];
    snprintf(pointer, sizeof pointer, "/%s/%zu/mesh/file", list, item);
    pl_json_begin_object(&w->writer);
    pl_json_key(&w->writer, "upload");
    if (!format) {
        pl_faults_add(
            w->faults, pointer, "unknown_format", name,
            "a name ending in .msh, .mesh, .obj, .vtk, .vtu, .veg, .inp, .stl, .ply, .node or .ele",
            "or give \"format\": \"gmsh\", \"medit\", \"obj\", \"vtk\", \"vtu\", \"vega\", "
            "\"abaqus\", \"stl\", \"ply\" or \"tetgen\"");
        pl_json_put_null(&w->writer);
    } else if (strcmp(format, "tetgen") == 0) {
        put_tetgen(w, name, pl_json_string(mesh, "ele", NULL), pointer);
    } else {
        const pl_scene_file *file = add_file(w, name, format, pointer);
        if (file)
            put_hash(&w->writer, file);
        else
            pl_json_put_null(&w->writer);
    }
    if (format)
        pl_json_set_string(&w->writer, "format", format);
    const pl_json *value;
    for (size_t i = 0; i < pl_json_count(mesh); i++) {
        const char *key = pl_json_member(mesh, i, &value);
        if (strcmp(key, "file") != 0 && strcmp(key, "format") != 0 && strcmp(key, "ele") != 0)
            put_raw(w, key, value);
    }
    pl_json_end_object(&w->writer);
}

static void put_member(rewriter *w, const pl_json *member, const char *list, size_t item)
{
    const pl_json *value;
    pl_json_begin_object(&w->writer);
    for (size_t i = 0; i < pl_json_count(member); i++) {
        const char *key = pl_json_member(member, i, &value);
        if (strcmp(key, "mesh") == 0 && pl_json_string(value, "file", NULL)) {
            pl_json_key(&w->writer, key);
            put_mesh(w, value, list, item);
        } else {
            put_raw(w, key, value);
        }
    }
    pl_json_end_object(&w->writer);
}

/* The lists whose members have meshes. */
static const char *const lists[] = {"bodies", "obstacles"};
enum { LISTS = sizeof lists / sizeof *lists };

static bool names_files(const pl_json *scene)
{
    for (int k = 0; k < LISTS; k++) {
        const pl_json *list = pl_json_at(scene, lists[k]);
        for (size_t i = 0; i < pl_json_count(list); i++)
            if (pl_json_string(pl_json_item(list, i), "mesh/file", NULL))
                return true;
    }
    return false;
}

static void put_list(rewriter *w, const char *name, const pl_json *list)
{
    pl_json_begin_array(&w->writer);
    for (size_t i = 0; i < pl_json_count(list); i++) {
        const pl_json *member = pl_json_item(list, i);
        char *text = NULL;
        if (pl_json_string(member, "mesh/file", NULL))
            put_member(w, member, name, i);
        else if ((text = pl_json_dump(member, false)))
            pl_json_put_raw(&w->writer, text);
        else
            w->no_memory = true;
        free(text);
    }
    pl_json_end_array(&w->writer);
}

static void put_scene(rewriter *w, const pl_json *scene)
{
    const pl_json *value;
    pl_json_begin_object(&w->writer);
    for (size_t i = 0; i < pl_json_count(scene); i++) {
        const char *key = pl_json_member(scene, i, &value), *list = NULL;
        for (int k = 0; k < LISTS; k++)
            if (strcmp(key, lists[k]) == 0 && pl_json_item(value, 0))
                list = lists[k];
        if (list) {
            pl_json_key(&w->writer, key);
            put_list(w, list, value);
        } else {
            put_raw(w, key, value);
        }
    }
    pl_json_end_object(&w->writer);
}

pl_status pl_scene_files_rewrite(const char *text, size_t length, const char *folder,
                                 pl_scene_files *out, pl_faults *faults)
{
    *out = (pl_scene_files){0};
    size_t faults_before = faults->total;
    pl_json *scene = pl_json_parse(text, length, NULL);
    rewriter w = {.folder = folder, .out = out, .faults = faults};
    if (scene && names_files(scene)) {
        put_scene(&w, scene);
        out->text = pl_json_finish(&w.writer, &out->length);
    } else {
        out->text = malloc(length + 1);
        if (out->text) {
            memcpy(out->text, text, length);
            out->text[length] = '\0';
        }
        out->length = length;
    }
    pl_json_free(scene);
    pl_status status = !out->text || w.no_memory       ? PL_NO_MEMORY
                       : faults->total > faults_before ? PL_INVALID
                                                       : PL_OK;
    if (status != PL_OK)
        pl_scene_files_clear(out);
    return status;
}

static char *read_whole(FILE *f, size_t *length)
{
    size_t size = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text) {
        size_t n = fread(text + size, 1, capacity - size, f);
        size += n;
        if (n == 0)
            break;
        if (size < capacity)
            continue;
        capacity *= 2;
        char *grown = capacity > SCENE_MAX ? NULL : realloc(text, capacity);
        if (!grown) {
            free(text);
            errno = capacity > SCENE_MAX ? EFBIG : ENOMEM;
            return NULL;
        }
        text = grown;
    }
    if (text && ferror(f)) {
        free(text);
        return NULL;
    }
    *length = size;
    return text;
}

pl_status pl_scene_files_text(const char *path, char **text, size_t *length, char **folder)
{
    bool standard_input = strcmp(path, "-") == 0;
    FILE *f = standard_input ? stdin : fopen(path, "rbe");
    if (!f)
        return PL_IO;
    *text = read_whole(f, length);
    int saved = errno;
    if (!standard_input)
        fclose(f);
    errno = saved;
    if (!*text)
        return PL_IO;
    const char *slash = strrchr(path, '/');
    *folder = slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");
    if (*folder)
        return PL_OK;
    free(*text);
    return PL_NO_MEMORY;
}

pl_status pl_scene_files_read(const char *path, pl_scene_files *out, pl_faults *faults)
{
    char *text, *folder;
    size_t length;
    *out = (pl_scene_files){0};
    pl_status status = pl_scene_files_text(path, &text, &length, &folder);
    if (status != PL_OK)
        return status;
    status = pl_scene_files_rewrite(text, length, folder, out, faults);
    free(folder);
    free(text);
    return status;
}

void pl_scene_files_clear(pl_scene_files *s)
{
    for (int32_t i = 0; i < s->count; i++)
        free(s->files[i].path);
    free(s->files);
    free(s->text);
    *s = (pl_scene_files){0};
}
