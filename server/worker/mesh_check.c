#include "server/worker/mesh_check.h"

#include "engine/mesh/mesh.h"
#include "engine/mesh/shapes.h"
#include "protocol/text/problem.h"
#include "protocol/text/json.h"
#include "protocol/log/session_dir.h"
#include "server/worker/mesh_quality.h"
#include "server/worker/mesh_write.h"
#include "server/worker/sandbox.h"
#include "server/worker/session_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MEMORY_BYTES ((uint64_t)2 << 30)
enum { CPU_SECONDS = 60, TAGS_MAX = 256 };

/* FORMATS: unknown. */
typedef enum file_format {
    GMSH,
    TETGEN_NODE,
    TETGEN_ELE,
    TETGEN, /* both */
    MEDIT,
    OBJ,
    VTK,
    VTU,
    VEGA,
    ABAQUS,
    STL,
    PLY,
    FORMATS
} file_format;
static const char *const format_names[FORMATS + 1] = {
    "gmsh", "tetgen_node", "tetgen_ele", "tetgen", "medit", "obj", "vtk",
    "vtu",  "vega",        "abaqus",     "stl",    "ply",   NULL};

typedef struct mesh_check {
    file_format format;
    pl_blob file, ele;
    pl_mesh mesh;
    pl_mesh_quality quality;
    pl_shapes shapes;
    bool measured, with_shapes, shaped;
    pl_faults faults;
} mesh_check;

/* ---- which format ---- */

/* The next line at or after `text` with any text, after its leading blanks. */
static const char *next_line(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            return text;
        text += strcspn(text, "\n");
    }
}

/* The second number of the first line that is not a comment: 3 in a .node file (its dimension), 4 or 10 in an .ele file
 * (corners of a tetrahedron). -1 if the file does not start with numbers. */
static long second_number(const char *text)
{
    text = next_line(text);
    char *end;
    (void)strtoll(text, &end, 10);
    if (end == text)
        return -1;
    text = end + strspn(end, " \t");
    long value = strtol(text, &end, 10);
    return end == text ? -1 : value;
}

/* True if the first line is a keyword of .obj files and a blank. */
static bool begins_like_obj(const char *text)
{
    static const char *const words[] = {"v", "vn", "vt", "o", "g", "s", "f", "mtllib", "usemtl"};
    text = next_line(text);
    size_t length = strcspn(text, " \t\r\n");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(text, words[i], length) == 0)
            return text[length] != 0;
    return false;
}

/* 80 bytes, a count, and 50 bytes per facet. */
static bool is_binary_stl(const pl_blob *file)
{
    uint32_t facets;
    if (file->size < 84)
        return false;
    memcpy(&facets, (const char *)file->data + 80, sizeof facets);
    return file->size == 84 + 50 * (size_t)facets;
}

/* Formats that the first bytes reveal. FORMATS: unknown. */
static file_format told_by_head(const pl_blob *file)
{
    const char *text = file->data;
    size_t head = file->size < 4096 ? file->size : 4096;
    if (memmem(text, head, "$MeshFormat", 11))
        return GMSH;
    if (memmem(text, head, "MeshVersionFormatted", 20))
        return MEDIT;
    if (memmem(text, head, "# vtk DataFile", 14) == text)
        return VTK;
    if (memmem(text, head, "<VTKFile", 8))
        return VTU;
    if (memmem(text, head, "ply", 3) == text && head > 3 && (text[3] == '\n' || text[3] == '\r'))
        return PLY;
    if (is_binary_stl(file) || strncasecmp(next_line(text), "solid", 5) == 0)
        return STL;
    return FORMATS;
}

static bool guess_format(const pl_blob *file, file_format *out)
{
    const char *text = file->data;
    *out = told_by_head(file);
    if (*out != FORMATS)
        return true;
    if (*next_line(text) == '*')
        *out = strncasecmp(next_line(text), "*VERTICES", 9) == 0 ? VEGA : ABAQUS;
    else if (begins_like_obj(text))
        *out = OBJ;
    else {
        long second = second_number(text);
        if (second != 2 && second != 3 && second != 4 && second != 10)
            return false;
        *out = second <= 3 ? TETGEN_NODE : TETGEN_ELE;
    }
    return true;
}

/* ---- one half of a TetGen mesh ---- */

/* The number of the first node of a .node file. */
static long long first_node(const char *text)
{
    text = next_line(text);
    text += strcspn(text, "\n");
    return strtoll(next_line(text), NULL, 10);
}

/* The largest corner index in an .ele file, for the nodes that replace its .node file. */
static int64_t largest_corner(const char *text, int64_t limit)
{
    int64_t largest = 0;
    text = next_line(text);
    text += strcspn(text, "\n");
    for (text = next_line(text); *text; text = next_line(text + strcspn(text, "\n"))) {
        const char *at = text;
        for (int column = 0; column < 5; column++) {
            char *end;
            long long value = strtoll(at, &end, 10);
            if (end == at)
                break;
            at = end;
            if (column > 0 && value > largest && value <= limit)
                largest = value;
        }
    }
    return largest;
}

/* A .node file with nodes 0 to `last`, all at the origin. */
static char *stand_in_nodes(int64_t last, size_t *size)
{
    FILE *out;
    char *text = NULL;
    out = open_memstream(&text, size);
    if (!out)
        return NULL;
    fprintf(out, "%" PRId64 " 3 0 0\n", last + 1);
    for (int64_t i = 0; i <= last; i++)
        fprintf(out, "%" PRId64 " 0 0 0\n", i);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static pl_status read_tetgen_half(mesh_check *c)
{
    const pl_mesh_limits *limits = &pl_worker_mesh_limits;
    if (c->format == TETGEN_NODE) {
        /* One tetrahedron replaces the .ele file; its quality is not checked here. */
        char element[128];
        long long v = first_node(c->file.data);
        const char *count = next_line(c->file.data);
        if (*count == '0' && strtoll(count, NULL, 10) == 0) {
            pl_faults_add(&c->faults, "", "mesh_empty", "line 1: 0 nodes", "at least four nodes",
                          "");
            return PL_INVALID;
        }
        int n = snprintf(element, sizeof element, "1 4 0\n1 %lld %lld %lld %lld\n", v, v, v, v);
        pl_blob blobs[2] = {c->file, {element, (size_t)n}};
        return pl_mesh_read(PL_MESH_TETGEN, blobs, limits, "", &c->mesh, &c->faults);
    }
    size_t size = 0;
    char *nodes = stand_in_nodes(largest_corner(c->file.data, limits->max_vertices - 1), &size);
    if (!nodes)
        return PL_NO_MEMORY;
    pl_blob blobs[2] = {{nodes, size}, c->file};
    pl_status status = pl_mesh_read(PL_MESH_TETGEN, blobs, limits, "", &c->mesh, &c->faults);
    free(nodes);
    return status;
}

static pl_status check(mesh_check *c)
{
    if (c->format == TETGEN_NODE || c->format == TETGEN_ELE)
        return read_tetgen_half(c);
    static const pl_mesh_format formats[FORMATS] = {
        [GMSH] = PL_MESH_GMSH,    [MEDIT] = PL_MESH_MEDIT, [OBJ] = PL_MESH_OBJ,
        [VTK] = PL_MESH_VTK,      [VTU] = PL_MESH_VTU,     [VEGA] = PL_MESH_VEGA,
        [STL] = PL_MESH_STL,      [PLY] = PL_MESH_PLY,     [ABAQUS] = PL_MESH_ABAQUS,
        [TETGEN] = PL_MESH_TETGEN};
    const pl_blob blobs[2] = {c->file, c->ele};
    pl_status status = pl_mesh_read(formats[c->format], blobs, &pl_worker_mesh_limits, "", &c->mesh,
                                    &c->faults);
    c->shaped = c->with_shapes && status == PL_OK;
    if (c->shaped)
        pl_mesh_shapes(&c->mesh, &c->shapes);
    if (status == PL_OK)
        status = pl_mesh_check(&c->mesh, PL_MESH_ORIENTATION_REPAIR, "", &c->faults);
    if (status == PL_OK)
        status = pl_mesh_measure(&c->mesh, &c->quality);
    c->measured = status == PL_OK;
    return status;
}

/* ---- the report ---- */

static void put_tag(pl_json_writer *w, int32_t tag, int32_t dimension, const char *name)
{
    pl_json_begin_object(w);
    pl_json_set_integer(w, "tag", tag);
    pl_json_set_integer(w, "dimension", dimension);
    pl_json_set_string(w, "name", name);
    pl_json_end_object(w);
}

static bool is_group(const pl_mesh *mesh, int32_t tag, int32_t dimension)
{
    for (int32_t g = 0; g < mesh->group_count; g++)
        if (mesh->groups[g].tag == tag && mesh->groups[g].dimension == dimension)
            return true;
    return false;
}

static int compare_tags(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* List tags in use without a named group: each once, ascending. */
static void put_unnamed_tags(pl_json_writer *w, const mesh_check *c, const int32_t *tags,
                             int64_t count, int32_t dimension)
{
    int32_t *sorted = tags && count ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted)
        return;
    memcpy(sorted, tags, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_tags);
    int put = 0;
    for (int64_t i = 0; i < count && put < TAGS_MAX; i++)
        if (sorted[i] && (i == 0 || sorted[i] != sorted[i - 1]) &&
            !is_group(&c->mesh, sorted[i], dimension)) {
            put_tag(w, sorted[i], dimension, NULL);
            put++;
        }
    free(sorted);
}

static void put_tags(pl_json_writer *w, const mesh_check *c)
{
    const pl_mesh *m = &c->mesh;
    pl_json_key(w, "tags");
    pl_json_begin_array(w);
    for (int32_t g = 0; g < m->group_count && g < TAGS_MAX; g++)
        put_tag(w, m->groups[g].tag, m->groups[g].dimension, m->groups[g].name);
    put_unnamed_tags(w, c, m->tet_tags, m->tet_count, 3);
    put_unnamed_tags(w, c, m->face_tags, m->face_count, 2);
    put_unnamed_tags(w, c, m->edge_tags, m->edge_count, 1);
    put_unnamed_tags(w, c, m->point_tags, m->point_count, 0);
    pl_json_end_array(w);
}

static void put_fields(pl_json_writer *w, const pl_mesh *m)
{
    pl_json_key(w, "fields");
    pl_json_begin_array(w);
    for (int32_t i = 0; i < m->field_count; i++) {
        pl_json_begin_object(w);
        pl_json_set_string(w, "name", m->fields[i].name);
        pl_json_set_integer(w, "components", m->fields[i].components);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
}

static void put_measures(pl_json_writer *w, const mesh_check *c)
{
    const pl_mesh_quality *q = &c->quality;
    if (!c->measured) {
        pl_json_set_null(w, "box");
        pl_json_set_null(w, "volume");
        pl_json_set_null(w, "quality");
        pl_json_set_null(w, "components");
        return;
    }
    pl_json_key(w, "box");
    pl_json_begin_array(w);
    for (int end = 0; end < 2; end++) {
        pl_json_begin_array(w);
        for (int k = 0; k < 3; k++)
            pl_json_put_number(w, end ? q->hi[k] : q->lo[k], 17);
        pl_json_end_array(w);
    }
    pl_json_end_array(w);
    pl_json_set_number(w, "volume", q->volume);
    pl_json_set_number(w, "area", q->area);
    pl_json_set_number(w, "length", q->length);
    pl_json_key(w, "quality");
    pl_json_begin_object(w);
    pl_json_set_number(w, "worst", q->worst_quality);
    pl_json_set_number(w, "mean", q->mean_quality);
    pl_json_end_object(w);
    pl_json_set_integer(w, "components", q->components);
}

static void put_faults(pl_json_writer *w, const pl_faults *faults)
{
    pl_json_key(w, "faults");
    pl_faults_encode(w, faults);
    pl_json_set_integer(w, "faults_total", (int64_t)faults->total);
}

static char *encode(const mesh_check *c)
{
    pl_json_writer w = {0};
    bool good = c->faults.total == 0;
    /* For half of a TetGen mesh, only what that half contains. Most nodes count as "unused" there, and the placeholder
     * nodes do not count. */
    int64_t vertices = c->format == TETGEN_NODE ? c->mesh.vertex_count + c->mesh.unused
                                                : c->mesh.vertex_count;
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "format", format_names[c->format]);
    if (good && c->format != TETGEN_ELE)
        pl_json_set_integer(&w, "vertices", vertices);
    else
        pl_json_set_null(&w, "vertices");
    if (good && c->format != TETGEN_NODE)
        pl_json_set_integer(&w, "tets", c->mesh.tet_count);
    else
        pl_json_set_null(&w, "tets");
    pl_json_set_integer(&w, "triangles", c->mesh.triangle_count);
    pl_json_set_integer(&w, "edges", c->mesh.edge_count);
    put_measures(&w, c);
    put_tags(&w, c);
    put_fields(&w, &c->mesh);
    pl_json_set_integer(&w, "repaired", c->mesh.repaired);
    pl_json_set_integer(&w, "unused",
                        c->format == TETGEN_NODE || c->format == TETGEN_ELE ? 0 : c->mesh.unused);
    if (c->shaped) {
        pl_json_key(&w, "shapes");
        pl_mesh_quality_put(&w, &c->shapes);
    }
    put_faults(&w, &c->faults);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

/* ---- one file ---- */

/* Read the file's bytes. It is opened through its folder, which is then closed, so that nothing else in it stays
 * reachable. */
static bool read_file(const char *path, pl_blob *out)
{
    char folder[4096], name[4096];
    snprintf(folder, sizeof folder, "%s", path);
    snprintf(name, sizeof name, "%s", path);
    int directory = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *data = NULL;
    pl_status status = PL_IO;
    if (directory >= 0) {
        status = pl_file_read(directory, basename(name), PL_MESH_FILE_MAX, &data, &out->size);
        int kept = errno;
        close(directory);
        errno = kept;
    }
    out->data = data;
    if (status != PL_OK)
        fprintf(stderr, "pliant-preflight: %s: %s\n", path,
                status == PL_NO_MEMORY ? "out of memory" : strerror(errno));
    return status == PL_OK;
}

/* Read the requested files and then give up access to everything else. */
static bool read_and_enter(const pl_mesh_check_request *request, mesh_check *c)
{
    if (!read_file(request->path, &c->file) || (request->ele && !read_file(request->ele, &c->ele)))
        return false;
    pl_sandbox_report applied;
    pl_sandbox sandbox = {.address_space = MEMORY_BYTES, .cpu_seconds = CPU_SECONDS};
    if (pl_sandbox_enter(&sandbox, &applied) == PL_OK)
        return true;
    fprintf(stderr, "pliant-preflight: the sandbox could not be entered: %s\n", strerror(errno));
    return false;
}

static bool choose_format(mesh_check *c, const char *format)
{
    for (int k = 0; k < FORMATS; k++)
        if (strcmp(format, format_names[k]) == 0) {
            c->format = (file_format)k;
            return true;
        }
    if (guess_format(&c->file, &c->format))
        return true;
    c->format = FORMATS;
    pl_faults_add(&c->faults, "", "mesh_format", "a file of no known format",
                  "a .msh, .mesh, .vtk, .vtu, .veg, .inp, .obj, .stl, .ply, .node or .ele file",
                  "Specify the format where the mesh is used.");
    return false;
}

static bool print_report(const mesh_check *c)
{
    char *line = encode(c);
    bool good = line && puts(line) != EOF && fflush(stdout) == 0;
    free(line);
    return good;
}

/* Half of a TetGen mesh cannot be written. */
static bool write_mesh(const mesh_check *c, const char *format)
{
    if (c->format == TETGEN_NODE || c->format == TETGEN_ELE) {
        fprintf(stderr, "pliant-preflight: one file of a TetGen mesh cannot be written\n");
        return false;
    }
    return pl_mesh_write(stdout, format, &c->mesh) == PL_OK && fflush(stdout) == 0 &&
           !ferror(stdout);
}

/* Check the request itself; prints what is wrong. */
static bool is_sound(const pl_mesh_check_request *request)
{
    bool known = strcmp(request->format, "auto") == 0;
    for (int k = 0; k < FORMATS; k++)
        known |= strcmp(request->format, format_names[k]) == 0;
    if (request->write && !pl_mesh_can_write(request->write))
        fprintf(stderr, "pliant-preflight: --write: '%s' is none of gmsh, medit, vtk, obj, stl\n",
                request->write);
    else if (!known)
        fprintf(stderr,
                "pliant-preflight: unknown mesh format '%s': gmsh, tetgen_node, tetgen_ele, "
                "tetgen, medit, obj, vtk, vtu, vega, abaqus, stl, ply or auto\n",
                request->format);
    else if (!request->ele != (strcmp(request->format, "tetgen") != 0))
        fprintf(stderr, "pliant-preflight: --ele requires --format tetgen\n");
    else
        return true;
    return false;
}

int pl_mesh_check_file(const pl_mesh_check_request *request)
{
    mesh_check c = {.with_shapes = request->shapes};
    int result = 2;
    if (!is_sound(request))
        return result;
    if (read_and_enter(request, &c)) {
        pl_status status = choose_format(&c, request->format) ? check(&c) : PL_INVALID;
        if (status == PL_NO_MEMORY)
            pl_faults_add(&c.faults, "", "too_large", "too large for 2 GiB of memory",
                          "a smaller mesh", "Use a coarser mesh.");
        bool good = c.faults.total == 0 && request->write ? write_mesh(&c, request->write)
                                                          : print_report(&c);
        if (good)
            result = c.faults.total ? 1 : 0;
    }
    pl_mesh_clear(&c.mesh);
    pl_faults_clear(&c.faults);
    free((void *)c.file.data);
    free((void *)c.ele.data);
    return result;
}
