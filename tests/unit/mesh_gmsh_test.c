/* Gmsh files: from public projects, and Pliant's own in both versions, forms and byte orders. */
#include "tests/unit/mesh_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

/* ---- a writer of all eight kinds ---- */

typedef struct writer {
    char *data;
    size_t size, room;
    int version, binary, swap, width;
} writer;

static void put(writer *w, const void *bytes, size_t n, int swap)
{
    if (w->size + n > w->room) {
        w->room = 2 * (w->size + n);
        w->data = realloc(w->data, w->room);
        ck_assert(w->data != NULL);
    }
    for (size_t i = 0; i < n; i++)
        w->data[w->size + i] = ((const char *)bytes)[swap ? n - 1 - i : i];
    w->size += n;
}

__attribute__((format(printf, 2, 3))) static void line(writer *w, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(w, text, (size_t)n, 0);
}

static void put_int(writer *w, int32_t v)
{
    if (w->binary)
        put(w, &v, sizeof v, w->swap);
    else
        line(w, "%" PRId32 " ", v);
}

static void put_size(writer *w, int64_t v)
{
    int32_t narrow = (int32_t)v;
    if (!w->binary)
        line(w, "%" PRId64 " ", v);
    else if (w->width == 4)
        put(w, &narrow, sizeof narrow, w->swap);
    else
        put(w, &v, sizeof v, w->swap);
}

static void put_real(writer *w, double v)
{
    if (w->binary)
        put(w, &v, sizeof v, w->swap);
    else
        line(w, "%.17g ", v);
}

static void end_record(writer *w)
{
    if (!w->binary)
        line(w, "\r\n");
}

/* ---- one mesh ---- */

/* Two tetrahedra in two volumes, four physical groups, an unused node; tags far apart. */
static const int64_t node_tags[6] = {700000001, 3, 90, 44, 1000000009, 12};
static const double positions[6][3] = {{0, 0, 0},      {1, 0, 0},      {0, 1, 0},
                                       {0, 0, 0.3125}, {0, 0, -1.125}, {9, 9, 9}};
static const int tet_nodes[2][4] = {{0, 1, 2, 3}, {0, 2, 1, 4}};
static const int face_nodes[3][3] = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};

static void write_head(writer *w)
{
    line(w, "$Comments\nby hand, $EndNodes is no mark here\n$EndComments\n");
    line(w, "$MeshFormat\n%s %d %d\n", w->version == 2 ? "2.2" : "4.1", w->binary, w->width);
    if (w->binary) {
        put_int(w, 1);
        line(w, "\n");
    }
    line(w, "$EndMeshFormat\n$PhysicalNames\n5\n0 5 \"peg\"\n1 2 \"rim\"\n2 7 \"skin of it\"\n"
            "3 41 \"upper\"\n3 42 \"lo\"wer\"\n$EndPhysicalNames\n$Unknown\n1 2 3\n$EndUnknown\n");
}

static void write_2(writer *w)
{
    w->width = 8;
    write_head(w);
    line(w, "$Nodes\n6\n");
    for (int i = 0; i < 6; i++) {
        put_int(w, (int32_t)node_tags[i]);
        for (int a = 0; a < 3; a++)
            put_real(w, positions[i][a]);
        end_record(w);
    }
    line(w, "\n$EndNodes\n$Elements\n7\n");
    static const struct {
        int type, tag, nodes, corner[4];
    } elements[7] = {{15, 5, 1, {3}},         {1, 2, 2, {0, 1}},    {2, 7, 3, {0, 1, 2}},
                     {2, 7, 3, {0, 1, 3}},    {2, 0, 3, {0, 1, 4}}, {4, 41, 4, {0, 1, 2, 3}},
                     {4, 42, 4, {0, 2, 1, 4}}};
    for (int e = 0; e < 7; e++) {
        if (w->binary) {
            put_int(w, elements[e].type);
            put_int(w, 1);
            put_int(w, 2);
            put_int(w, e + 1);
        } else {
            put_int(w, e + 1);
            put_int(w, elements[e].type);
            put_int(w, 2);
        }
        put_int(w, elements[e].tag);
        put_int(w, 77);
        for (int k = 0; k < elements[e].nodes; k++)
            put_int(w, (int32_t)node_tags[elements[e].corner[k]]);
        end_record(w);
    }
    line(w, "\n$EndElements\n");
}

static void write_entity(writer *w, int dimension, int tag, int groups, int first, int second)
{
    put_int(w, tag);
    for (int i = 0; i < (dimension ? 6 : 3); i++)
        put_real(w, 0.5);
    put_size(w, groups);
    if (groups > 0)
        put_int(w, first);
    if (groups > 1)
        put_int(w, second);
    if (dimension > 0) {
        put_size(w, 2);
        put_int(w, 1);
        put_int(w, -2);
    }
    end_record(w);
}

static void write_block(writer *w, int dimension, int entity, int third, int64_t count)
{
    put_int(w, dimension);
    put_int(w, entity);
    put_int(w, third);
    put_size(w, count);
    end_record(w);
}

static void write_nodes_4(writer *w)
{
    line(w, "$Nodes\n");
    const int64_t head[4] = {3, 6, 3, 1000000009};
    for (int i = 0; i < 4; i++)
        put_size(w, head[i]);
    end_record(w);
    /* Four nodes in a volume, none on a curve, two with parameters on a surface. */
    static const int dimension[3] = {3, 1, 2}, parametric[3] = {0, 0, 1}, from[4] = {0, 4, 4, 6};
    for (int b = 0; b < 3; b++) {
        write_block(w, dimension[b], 1, parametric[b], from[b + 1] - from[b]);
        for (int i = from[b]; i < from[b + 1]; i++) {
            put_size(w, node_tags[i]);
            end_record(w);
        }
        for (int i = from[b]; i < from[b + 1]; i++) {
            for (int a = 0; a < 3; a++)
                put_real(w, positions[i][a]);
            for (int a = 0; a < (parametric[b] ? dimension[b] : 0); a++)
                put_real(w, 0.25);
            end_record(w);
        }
    }
    line(w, "\n$EndNodes\n");
}

static void write_cell(writer *w, int64_t tag, const int *nodes, int count)
{
    put_size(w, tag);
    for (int k = 0; k < count; k++)
        put_size(w, node_tags[nodes[k]]);
    end_record(w);
}

static void write_4(writer *w)
{
    write_head(w);
    line(w, "$Entities\n");
    const int64_t entities[4] = {1, 1, 2, 2};
    for (int i = 0; i < 4; i++)
        put_size(w, entities[i]);
    end_record(w);
    write_entity(w, 0, 9, 1, 5, 0);
    write_entity(w, 1, 1, 1, 2, 0);
    write_entity(w, 2, 8, 2, -7, 70);
    write_entity(w, 2, 1, 0, 0, 0);
    write_entity(w, 3, 1, 1, 41, 0);
    write_entity(w, 3, 2, 1, 42, 0);
    line(w, "\n$EndEntities\n");
    write_nodes_4(w);
    line(w, "$Elements\n");
    const int64_t head[4] = {6, 7, 1, 7};
    for (int i = 0; i < 4; i++)
        put_size(w, head[i]);
    end_record(w);
    const int point = 3;
    write_block(w, 0, 9, 15, 1);
    write_cell(w, 1, &point, 1);
    write_block(w, 1, 1, 1, 1);
    write_cell(w, 2, face_nodes[0], 2);
    write_block(w, 2, 8, 2, 2);
    write_cell(w, 3, face_nodes[0], 3);
    write_cell(w, 4, face_nodes[1], 3);
    write_block(w, 2, 1, 2, 1);
    write_cell(w, 5, face_nodes[2], 3);
    write_block(w, 3, 1, 4, 1);
    write_cell(w, 6, tet_nodes[0], 4);
    write_block(w, 3, 2, 4, 1);
    write_cell(w, 7, tet_nodes[1], 4);
    line(w, "\n$EndElements\n$NodeData\n1 2 3\n$EndNodeData\n");
}

static pl_status read_writer(writer *w, pl_mesh *mesh, pl_faults *faults)
{
    pl_blob blob = exact(w->data, w->size);
    pl_status status = read_blobs(PL_MESH_GMSH, &blob, mesh, faults);
    free((void *)blob.data);
    return status;
}

static void judge(const pl_mesh *m, int version)
{
    ck_assert_int_eq(m->vertex_count, 5);
    ck_assert_int_eq(m->unused, 1);
    ck_assert_mem_eq(m->vertices, positions, 5 * sizeof *positions);
    ck_assert_int_eq(m->tet_count, 2);
    ck_assert_mem_eq(m->tets, tet_nodes, sizeof tet_nodes);
    ck_assert(m->tet_tags != NULL && m->tet_tags[0] == 41 && m->tet_tags[1] == 42);
    ck_assert_int_eq(m->point_count, 1);
    ck_assert(m->points[0] == 3 && m->point_tags[0] == 5);
    /* In version 4 each triangle of surface 8 is in two groups. */
    static const int32_t tags_2[] = {7, 7}, tags_4[] = {7, 70, 7, 70};
    ck_assert_int_eq(m->face_count, version == 2 ? 2 : 4);
    ck_assert_mem_eq(m->face_tags, version == 2 ? tags_2 : tags_4,
                     (size_t)m->face_count * sizeof(int32_t));
    ck_assert_mem_eq(m->faces + 3 * (m->face_count - 1), face_nodes[1], 3 * sizeof(int32_t));
    ck_assert_int_eq(m->group_count, 4);
    static const struct {
        const char *name;
        int tag, dimension;
    } groups[4] = {{"peg", 5, 0}, {"skin of it", 7, 2}, {"upper", 41, 3}, {"lo\"wer", 42, 3}};
    for (int g = 0; g < 4; g++) {
        ck_assert_str_eq(m->groups[g].name, groups[g].name);
        ck_assert_int_eq(m->groups[g].tag, groups[g].tag);
        ck_assert_int_eq(m->groups[g].dimension, groups[g].dimension);
    }
}

START_TEST(every_version_form_and_byte_order)
{
    for (int version = 2; version <= 4; version += 2)
        for (int form = 0; form < 5; form++) {
            writer w = {.version = version,
                        .binary = form > 0,
                        .swap = form == 2 || form == 4,
                        .width = form > 2 ? 4 : 8};
            if (version == 2)
                write_2(&w);
            else
                write_4(&w);
            pl_mesh mesh;
            pl_faults faults = {0};
            pl_status status = read_writer(&w, &mesh, &faults);
            ck_assert_no_faults(&faults);
            ck_assert_int_eq(status, PL_OK);
            judge(&mesh, version);
            pl_mesh_clear(&mesh);
            /* A file cut anywhere is rejected, except after the elements. */
            for (size_t cut = 0; cut < w.size; cut++) {
                writer shorter = w;
                shorter.size = cut;
                status = read_writer(&shorter, &mesh, &faults);
                ck_assert(status == PL_INVALID || cut >= w.size - 40);
                ck_assert((status == PL_OK) == (faults.total == 0));
                pl_faults_clear(&faults);
                pl_mesh_clear(&mesh);
            }
            free(w.data);
        }
}
END_TEST

/* ---- fields ---- */

/* Section $ElementData: `values` of `components` numbers, for the elements of these numbers. */
static void write_field(writer *w, const char *name, int step, int components, int count,
                        const int *element, const double *values)
{
    line(w, "$ElementData\n2\n\"%s\"\n\"scheme\"\n1\n%g\n4\n%d\n%d\n%d\n0\n", name, 0.5 * step,
         step, components, count);
    for (int i = 0; i < count; i++) {
        put_int(w, element[i]);
        for (int c = 0; c < components; c++)
            put_real(w, values[i * components + c]);
        end_record(w);
    }
    line(w, "\n$EndElementData\n");
}

/* Tetrahedra are elements 6 and 7 of the file, triangles 3 to 5. */
static void write_fields(writer *w)
{
    static const double stiffness[] = {3, 2.5, 9}, along[] = {0, 0, 1}, tensor[9] = {1};
    write_field(w, "stiff\"ness", 0, 1, 3, (int[]){7, 6, 1234567}, stiffness);
    write_field(w, "stiff\"ness", 1, 1, 1, (int[]){7}, (double[]){77});
    write_field(w, "along", 0, 3, 1, (int[]){7}, along);
    write_field(w, "stress", 0, 9, 1, (int[]){6}, tensor);
    write_field(w, "of triangles", 0, 1, 1, (int[]){4}, stiffness);
}

static void check_fields(const pl_mesh *m)
{
    ck_assert_int_eq(m->field_count, 2);
    const pl_mesh_field *stiffness = pl_mesh_find_field(m, "stiff\"ness");
    const pl_mesh_field *along = pl_mesh_find_field(m, "along");
    ck_assert(stiffness && along && !pl_mesh_find_field(m, "stress"));
    ck_assert(stiffness->components == 1 && stiffness->values[0] == 2.5 &&
              stiffness->values[1] == 3);
    ck_assert(along->components == 3 && isnan(along->values[0]) && isnan(along->values[2]));
    ck_assert(along->values[3] == 0 && along->values[4] == 0 && along->values[5] == 1);
}

/* The first `size` bytes end with a section. */
static bool ends_with_section(const char *data, size_t size)
{
    while (size > 0 && (data[size - 1] == '\n' || data[size - 1] == '\r'))
        size--;
    static const char *const marks[] = {"$EndElements", "$EndElementData", "$EndNodeData"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t n = strlen(marks[i]);
        if (size >= n && memcmp(data + size - n, marks[i], n) == 0)
            return true;
    }
    return false;
}

START_TEST(fields_of_every_version_form_and_byte_order)
{
    for (int version = 2; version <= 4; version += 2)
        for (int form = 0; form < 3; form++) {
            writer w = {.version = version, .binary = form > 0, .swap = form == 2, .width = 8};
            if (version == 2)
                write_2(&w);
            else
                write_4(&w);
            size_t elements_end = w.size;
            write_fields(&w);
            pl_mesh mesh;
            pl_faults faults = {0};
            pl_status whole = read_writer(&w, &mesh, &faults);
            ck_assert_no_faults(&faults);
            ck_assert_int_eq(whole, PL_OK);
            judge(&mesh, version);
            check_fields(&mesh);
            pl_mesh_clear(&mesh);
            for (size_t cut = elements_end; cut < w.size; cut++) {
                writer shorter = w;
                shorter.size = cut;
                pl_status status = read_writer(&shorter, &mesh, &faults);
                ck_assert((status == PL_OK) == ends_with_section(w.data, cut));
                ck_assert((status == PL_OK) == (faults.total == 0));
                pl_faults_clear(&faults);
                pl_mesh_clear(&mesh);
            }
            free(w.data);
        }
}
END_TEST

/* An error in a section is reported with its place. */
START_TEST(faults_of_fields)
{
    static const struct {
        const char *section, *code, *got;
    } bad[] = {
        {"0\n", "mesh_syntax", "line 18: 0 text tags"},
        {"1\nname\n", "mesh_syntax", "line 19: 'name'"},
        {"1\n\"a\"\n0\n2\n0\n1\n", "mesh_syntax", "line 21: 2 integer tags"},
        {"1\n\"a\"\n0\n3\n0\n1\n1\n1 nan\n", "mesh_number", "line 25: 'nan'"},
        {"1\n\"a\"\n0\n3\n0\n1\n1\n1 2 3\n", "mesh_syntax", "line 25: '3'"},
        {"1\n\"a\"\n0\n3\n0\n1\n2\n1 2\n", "mesh_count", "line 26: "},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n"
                 "4 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n\n\n"
                 "$ElementData\n%s$EndElementData\n",
                 bad[i].section);
        pl_mesh mesh;
        pl_faults faults = {0};
        ck_assert_int_eq(read_texts(PL_MESH_GMSH, text, NULL, &mesh, &faults), PL_INVALID);
        ck_assert_msg(faults.count > 0, "%zu", i);
        ck_assert_fault(&faults, 0, bad[i].code, bad[i].got);
        pl_faults_clear(&faults);
    }
}
END_TEST

/* Sections of one name, such as time steps, count as one field; the first one with values for the elements is used.
 * More than eight names are too many. */
START_TEST(time_steps_are_one_field)
{
    for (int names = 8; names <= 9; names++) {
        writer w = {.version = 2, .width = 8};
        write_2(&w);
        write_field(&w, "0", 0, 1, 1, (int[]){4}, (double[]){-1}); /* of a triangle */
        for (int step = 1; step < 20; step++)
            write_field(&w, "0", step, 1, 1, (int[]){6}, (double[]){step});
        for (int k = 1; k < names; k++)
            write_field(&w, (char[]){(char)('0' + k), 0}, 0, 1, 1, (int[]){7}, (double[]){k});
        pl_mesh mesh;
        pl_faults faults = {0};
        pl_status status = read_writer(&w, &mesh, &faults);
        if (names == 8) {
            ck_assert_no_faults(&faults);
            ck_assert_int_eq(mesh.field_count, 8);
            ck_assert(pl_mesh_find_field(&mesh, "0")->values[0] == 1);
            ck_assert(pl_mesh_find_field(&mesh, "7")->values[1] == 7);
        } else {
            ck_assert_int_eq(status, PL_INVALID);
            ck_assert_int_eq(faults.total, 1);
            ck_assert_str_eq(faults.items[0].code, "mesh_limit");
            ck_assert_ptr_nonnull(strstr(faults.items[0].got, "another field, '8'"));
        }
        pl_faults_clear(&faults);
        pl_mesh_clear(&mesh);
        free(w.data);
    }
}
END_TEST

/* Groups of curves have their names where curves are the elements, and only there. */
START_TEST(groups_of_ropes_have_names)
{
    for (int solid = 0; solid < 2; solid++) {
        char text[512];
        snprintf(text, sizeof text,
                 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 5 \"thick\"\n0 6 "
                 "\"end\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                 "$EndNodes\n$Elements\n%d\n1 1 2 5 1 1 2\n2 1 2 5 1 2 3\n%s$EndElements\n",
                 2 + solid, solid ? "3 4 0 1 2 3 4\n" : "");
        pl_mesh mesh;
        pl_faults faults = {0};
        ck_assert_int_eq(read_texts(PL_MESH_GMSH, text, NULL, &mesh, &faults), PL_OK);
        ck_assert_int_eq(mesh.edge_count, solid ? 0 : 2);
        ck_assert_int_eq(mesh.group_count, solid ? 1 : 2);
        ck_assert_str_eq(mesh.groups[0].name, solid ? "end" : "thick");
        ck_assert(solid || (mesh.edge_tags[1] == 5 && mesh.groups[0].tag == 5));
        pl_mesh_clear(&mesh);
    }
}
END_TEST

/* ---- files of others ---- */

START_TEST(scans_are_read)
{
    if (!has_scans())
        skip_test("mesh_gmsh scans_are_read: no " SCANS);
    accepted(PL_MESH_GMSH, SCANS "bunny_19k.msh", NULL, 4670, 19379, -1);
    accepted(PL_MESH_GMSH, SCANS "armadillo_55k.msh", NULL, 13230, 54985, -1);
}
END_TEST

START_TEST(public_files_are_read)
{
    accepted(PL_MESH_GMSH, MESHES "cube_6tet.msh", NULL, 8, 6, 1);
    accepted(PL_MESH_GMSH, MESHES "bar_651.msh", NULL, 292, 651, 5);
    accepted(PL_MESH_GMSH, MESHES "bar_2523.msh", NULL, 886, 2523, 5);
    accepted(PL_MESH_GMSH, MESHES "bar_10x1x1_mixed_v41bin.msh", NULL, 1088, 3646, 10);
    accepted(PL_MESH_GMSH, FIXTURES "mj_cube_22_ascii_vol_gmshApp.msh", NULL, 14, 24, 1);
    accepted(PL_MESH_GMSH, FIXTURES "mj_cube_22_binary_vol_gmshApp.msh", NULL, 14, 24, 1);
    accepted(PL_MESH_GMSH, FIXTURES "mj_cube_41_ascii_vol_gmshApp.msh", NULL, 14, 24, 1);
    accepted(PL_MESH_GMSH, FIXTURES "mj_cube_41_binary_vol_gmshApp.msh", NULL, 14, 24, 1);
    accepted(PL_MESH_GMSH, FIXTURES "polyfem_5tet_v22bin.msh", NULL, 8, 5, 0.833333);
    accepted(PL_MESH_GMSH, FIXTURES "polyfem_5tet_v41bin.msh", NULL, 8, 5, 0.833333);
    accepted(PL_MESH_GMSH, FIXTURES "polyfem_physical_sides_v41.msh", NULL, 5, 2, 1 / 3.0);
}
END_TEST

START_TEST(physical_groups_of_a_public_file)
{
    pl_blob blob = load(FIXTURES "polyfem_physical_sides_v41.msh");
    pl_mesh m;
    pl_faults faults = {0};
    ck_assert_int_eq(read_blobs(PL_MESH_GMSH, &blob, &m, &faults), PL_OK);
    ck_assert(m.tet_tags[0] == 41 && m.tet_tags[1] == 42);
    ck_assert_int_eq(m.face_count, 3);
    ck_assert(m.face_tags[0] == 31 && m.face_tags[1] == 32 && m.face_tags[2] == 33);
    const int32_t first[] = {0, 1, 3};
    ck_assert_mem_eq(m.faces, first, sizeof first);
    ck_assert_int_eq(m.group_count, 5);
    ck_assert_str_eq(m.groups[2].name, "interface");
    pl_mesh_clear(&m);
    free((void *)blob.data);
}
END_TEST

static void refused_file(const char *path, const char *code, const char *got)
{
    pl_blob blob = load(path);
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_blobs(PL_MESH_GMSH, &blob, &mesh, &faults), PL_INVALID);
    ck_assert_fault(&faults, 0, code, got);
    ck_assert_uint_eq(faults.total, 1);
    pl_faults_clear(&faults);
    free((void *)blob.data);
}

START_TEST(malformed_public_files_are_located)
{
    refused_file(FIXTURES "mj_malformed_cube_22_ascii_missing_element.msh", "mesh_count",
                 "line 46: '$EndElements' stands where element 24 of 24 is expected");
    refused_file(FIXTURES "mj_malformed_cube_22_ascii_missing_num_nodes.msh", "mesh_syntax",
                 "line 5: '-0.5' follows the end of the number of nodes");
    refused_file(FIXTURES "polyfem_cube_hex.msh", "mesh_unsupported",
                 "line 17: 1 hexahedra (8 nodes each)");
    refused_file(FIXTURES "drake_one_negative_tetrahedron.vtk", "mesh_format",
                 "line 1: '# vtk DataFile Version 2.0'");
}
END_TEST

/* ---- faults ---- */

#define HEAD   "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define NODES  "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
#define TET    "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n"
#define HEAD4  "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES4 "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"
#define TET4   "$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n"

static void bad(const char *text, const char *code, const char *got)
{
    refused(PL_MESH_GMSH, text, NULL, code, got);
}

START_TEST(faults_of_the_frame)
{
    bad("", "mesh_truncated", "line 1: the file ends before $MeshFormat");
    bad("solid\n", "mesh_format", "line 1: 'solid'");
    bad("$MeshFormat\n1 0 8\n$EndMeshFormat\n", "mesh_unsupported", "line 2: MSH version 1");
    bad("$MeshFormat\n4 0 8\n$EndMeshFormat\n", "mesh_unsupported", "line 2: MSH version 4");
    bad("$MeshFormat\n2.2 3 8\n", "mesh_syntax", "line 2: file type 3");
    bad("$MeshFormat\n2.2 1 4\n", "mesh_unsupported", "line 2: data size 4");
    bad("$MeshFormat\n2.2 0\n", "mesh_syntax", "line 2: the line ends inside the format");
    bad("$MeshFormat\n2.2 1 8\n\2\0\0\0\n$EndMesh", "mesh_truncated", "byte 20: the file ends");
    bad(HEAD NODES, "mesh_empty", "line 1: the file has 4 nodes but no elements");
    bad(HEAD NODES "$Elements\n0\n$EndElements\n", "mesh_empty", "line 1: ");
    bad(HEAD NODES NODES TET, "mesh_syntax", "line 11: $Nodes is given again");
    bad(HEAD "stray\n" NODES TET, "mesh_syntax", "line 4: 'stray' stands outside every section");
    bad(HEAD NODES TET "$Open\n1\n", "mesh_truncated", "line 15: section $Open does not end");
    bad(HEAD4 NODES4 TET4 "$Entities\n0 0 0 0\n$EndEntities\n", "mesh_syntax",
        "line 21: $Entities comes after $Elements");
    bad(HEAD4 "$Entities\n0 0 0 0\n$EndEntities\n$Entities\n0 0 0 0\n$EndEntities\n" NODES4 TET4,
        "mesh_syntax", "line 7: $Entities is given again");
    bad(HEAD "$PhysicalNames\n1\n3 1 wet\n$EndPhysicalNames\n" NODES TET, "mesh_syntax",
        "line 6: 'wet' in physical name 1 of 1");
}
END_TEST

START_TEST(faults_of_nodes)
{
    bad(HEAD "$Nodes\n-3\n$EndNodes\n" TET, "mesh_number",
        "line 5: '-3' in the number of nodes is out of range");
    bad(HEAD "$Nodes\n99999999999999999999\n$EndNodes\n", "mesh_number", "line 5: ");
    bad(HEAD "$Nodes\n2000000\n1 0 0 0\n", "mesh_limit", "line 5: 2000000 nodes");
    bad(HEAD "$Nodes\n2\n1 0 0 0\n2 0 0\n$EndNodes\n" TET, "mesh_syntax",
        "line 7: the line ends inside node 2 of 2");
    bad(HEAD "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", "mesh_number",
        "line 6: 'nan' in node 1 of 1 is not a finite number");
    bad(HEAD "$Nodes\n1\n1 0 1e999 0\n$EndNodes\n", "mesh_number", "line 6: '1e999'");
    bad(HEAD "$Nodes\n1\n1 0 1,5 0\n$EndNodes\n", "mesh_syntax", "line 6: '1,5' in node 1 of 1");
    bad(HEAD "$Nodes\n1\n1 0 0 0 0\n$EndNodes\n", "mesh_syntax", "line 6: '0' follows the end");
    bad(HEAD "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n", "mesh_count",
        "line 7: '2' where the section should end");
    bad(HEAD "$Nodes\n5\n1 0 0 0\n$EndNodes\n", "mesh_count",
        "line 7: '$EndNodes' stands where node 2 of 5 is expected");
    bad(HEAD "$Nodes\n5\n1 0 0 0\n", "mesh_truncated", "line 7: the file ends in node 2 of 5");
    bad(HEAD "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n2 0 1 0\n$EndNodes\n" TET,
        "mesh_duplicate", "line 10: node 2 is given again");
}
END_TEST

START_TEST(faults_of_elements)
{
    bad(HEAD NODES "$Elements\n1\n7 4 2 0 1 1 2 3 5\n$EndElements\n", "mesh_index",
        "line 13: tetrahedron 0 (counting from 0) has node 5");
    bad(HEAD NODES "$Elements\n1\n7 4 2 0 1 1 2 3 -2147483648\n$EndElements\n", "mesh_index",
        "line 13: ");
    bad(HEAD NODES "$Elements\n1\n7 4 -2 0 1 1 2 3 4\n$EndElements\n", "mesh_number",
        "line 13: '-2' in element 1 of 1");
    bad(HEAD NODES "$Elements\n1\n7 4 2147483647 0 1 1 2 3 4\n$EndElements\n", "mesh_syntax",
        "line 13: the line ends inside element 1 of 1");
    bad(HEAD NODES "$Elements\n1\n7 777 2 0 1 1 2 3 4\n$EndElements\n", "mesh_unsupported",
        "line 13: elements of type 777");
    bad(HEAD "$Elements\n1\n1 4 2 0 1 1 2 3 4\n$EndElements\n", "mesh_index", "line 6: ");
    bad(HEAD NODES "$Elements\n1\n1 11 2 0 1 1 2 3 4 1 2 3 4 1 2\n$EndElements\n",
        "mesh_unsupported", "line 13: 1 second-order tetrahedra (10 nodes each)");
    bad(HEAD4 NODES4 "$Elements\n1 2 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n", "mesh_count",
        "line 17: 1 elements in the blocks, the section declares 2");
    bad(HEAD4 NODES4 "$Elements\n1 1 1 1\n3 1 4 2\n1 1 2 3 4\n$EndElements\n", "mesh_count",
        "line 18: 2 elements in the blocks, the section declares 1");
    bad(HEAD4 NODES4 "$Elements\n1 9223372036854775807 1 1\n3 1 5 9223372036854775807\n"
                     "1 1 2 3 4 5 6 7 8\n$EndElements\n",
        "mesh_count", "line 20: '$EndElements' stands where element 2 of 9223372036854775807");
    bad(HEAD4 NODES4 "$Elements\n1 1 1 1\n7 1 4 1\n1 1 2 3 4\n$EndElements\n", "mesh_syntax",
        "line 18: a block of dimension 7");
}
END_TEST

/* Lines that are wrong do not hide each other, and a file of nothing else costs little. */
START_TEST(all_faults_at_once)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(read_texts(PL_MESH_GMSH,
                                HEAD "$Nodes\n4\n1 0 0 x\n2 1 0 0\n3 0 inf 0\n4 0 0 1\n$EndNodes\n"
                                     "$Elements\n3\n1 4 2 0 1 1 2 3\n2 5 0 1 2 3 4 1 2 3 4\n"
                                     "3 3 0 1 2 3 4\n$EndElements\n",
                                NULL, &mesh, &faults),
                     PL_INVALID);
    ck_assert_uint_eq(faults.total, 5);
    ck_assert_fault(&faults, 0, "mesh_syntax", "line 6: 'x' in node 1 of 4");
    ck_assert_fault(&faults, 1, "mesh_number", "line 8: 'inf' in node 3 of 4");
    ck_assert_fault(&faults, 2, "mesh_syntax", "line 13: the line ends inside element 1 of 3");
    ck_assert_fault(&faults, 3, "mesh_unsupported", "line 15: 1 quadrangles");
    ck_assert_fault(&faults, 4, "mesh_unsupported", "line 14: 1 hexahedra");
    pl_faults_clear(&faults);

    writer w = {0};
    line(&w, HEAD "$Nodes\n100000\n");
    for (int i = 0; i < 100000; i++)
        line(&w, "oh\n");
    ck_assert_int_eq(read_writer(&w, &mesh, &faults), PL_INVALID);
    ck_assert_uint_eq(faults.total, 17);
    ck_assert_fault(&faults, 16, "mesh_faults", "line 21: 16 faults so far");
    pl_faults_clear(&faults);
    free(w.data);
}
END_TEST

START_TEST(limits_are_kept)
{
    const pl_mesh_limits few = {3, 10}, thin = {10, 0};
    pl_blob blob = exact(HEAD NODES TET, strlen(HEAD NODES TET));
    pl_mesh mesh;
    pl_faults faults = {0};
    ck_assert_int_eq(pl_mesh_read(PL_MESH_GMSH, &blob, &few, "/bodies/0/mesh", &mesh, &faults),
                     PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_limit", "line 5: 4 nodes");
    pl_faults_clear(&faults);
    ck_assert_int_eq(pl_mesh_read(PL_MESH_GMSH, &blob, &thin, "/bodies/0/mesh", &mesh, &faults),
                     PL_INVALID);
    ck_assert_fault(&faults, 0, "mesh_limit", "line 13: 1 tetrahedra");
    pl_faults_clear(&faults);
    ck_assert_int_eq(pl_mesh_read(PL_MESH_GMSH, &blob, NULL, "", &mesh, &faults), PL_OK);
    pl_mesh_clear(&mesh);
    free((void *)blob.data);
}
END_TEST

/* Ghost and partitioned entities carry the physical groups of a partitioned mesh. */
START_TEST(partitioned_entities_have_groups)
{
    pl_mesh mesh;
    pl_faults faults = {0};
    pl_status status =
        read_texts(PL_MESH_GMSH,
                   HEAD4 "$Entities\n0 0 0 0\n$EndEntities\n"
                         "$PartitionedEntities\n2\n1\n8 1\n0 0 0 1\n1 3 1 2 1 2 0 0 0 1 1 1 1 6 0\n"
                         "$EndPartitionedEntities\n" NODES4 TET4,
                   NULL, &mesh, &faults);
    ck_assert_no_faults(&faults);
    ck_assert_int_eq(status, PL_OK);
    ck_assert(mesh.tet_tags != NULL && mesh.tet_tags[0] == 6);
    pl_mesh_clear(&mesh);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("gmsh");
    tcase_add_test(cases, every_version_form_and_byte_order);
    tcase_add_test(cases, fields_of_every_version_form_and_byte_order);
    tcase_add_test(cases, faults_of_fields);
    tcase_add_test(cases, time_steps_are_one_field);
    tcase_add_test(cases, groups_of_ropes_have_names);
    tcase_add_test(cases, public_files_are_read);
    tcase_add_test(cases, scans_are_read);
    tcase_add_test(cases, physical_groups_of_a_public_file);
    tcase_add_test(cases, malformed_public_files_are_located);
    tcase_add_test(cases, faults_of_the_frame);
    tcase_add_test(cases, faults_of_nodes);
    tcase_add_test(cases, faults_of_elements);
    tcase_add_test(cases, all_faults_at_once);
    tcase_add_test(cases, limits_are_kept);
    tcase_add_test(cases, partitioned_entities_have_groups);
    return run_cases("mesh_gmsh", cases);
}
