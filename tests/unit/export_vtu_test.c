/* A .vtu's blocks are at the offsets in its header, and the .pvd lists the files. */
#include "protocol/export/vtu.h"

#include "tests/support/sink_memory.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>

static const float positions[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const float displacement[12] = {[4] = 0.25f};
static const int32_t body[4] = {0, 0, 0, 0}, tet[4] = {0, 1, 2, 3};

/* The block of the array `name`: its size, checked against what lies there. */
static const unsigned char *block(const char *text, const unsigned char *raw, const char *name,
                                  uint32_t expected)
{
    char key[64];
    long offset;
    snprintf(key, sizeof key, "Name=\"%s\"", name);
    const char *at = strstr(text, key);
    ck_assert_msg(at != NULL, "no array %s", name);
    at = strstr(at, "offset=\"");
    ck_assert_int_eq(sscanf(at, "offset=\"%ld\"", &offset), 1);
    uint32_t size;
    memcpy(&size, raw + offset, 4);
    ck_assert_uint_eq(size, expected);
    return raw + offset + 4;
}

static pl_text file_of(const pl_vtu_mesh *mesh, const pl_vtu_frame *frame)
{
    pl_text kept = {0};
    pl_vtu v;
    pl_vtu_file file = {.count = 0};
    ck_assert_int_eq(pl_vtu_open(&v, mesh), PL_OK);
    ck_assert_int_eq(pl_vtu_build(&v, frame, &file), PL_OK);
    ck_assert_int_eq(pl_vtu_build(&v, frame, &file), PL_OK); /* it can be used again */
    for (int i = 0; i < file.count; i++)
        sink_memory_write(&kept, file.spans[i].data, file.spans[i].size);
    pl_vtu_file_clear(&file);
    pl_vtu_clear(&v);
    return kept;
}

START_TEST(blocks_lie_where_the_header_says)
{
    static const float ratio[] = {1.5f};
    pl_text file = file_of(
        &(pl_vtu_mesh){.vertices = 4, .body = body, .tets = 1, .tet = tet},
        &(pl_vtu_frame){.time = 0.5,
                        .positions = positions,
                        .points = {{"displacement", 3, displacement}, {"velocity", 3, NULL}},
                        .cells = {{"volume_ratio", 1, ratio}}});
    const char *text = file.text;
    const char *mark = strstr(text, "<AppendedData encoding=\"raw\">");
    ck_assert_ptr_nonnull(mark);
    ck_assert_ptr_nonnull(strstr(text, "header_type=\"UInt32\""));
    ck_assert_ptr_nonnull(strstr(text, "NumberOfPoints=\"4\" NumberOfCells=\"1\""));
    ck_assert_ptr_null(strstr(text, "velocity"));
    const unsigned char *raw = (const unsigned char *)strchr(mark, '_') + 1;
    ck_assert_int_eq(memcmp(block(text, raw, "Points", 48), positions, 48), 0);
    ck_assert_int_eq(memcmp(block(text, raw, "displacement", 48), displacement, 48), 0);
    ck_assert_int_eq(memcmp(block(text, raw, "volume_ratio", 4), ratio, 4), 0);
    ck_assert_int_eq(memcmp(block(text, raw, "connectivity", 16), tet, 16), 0);
    ck_assert_int_eq(block(text, raw, "offsets", 4)[0], 4);
    ck_assert_int_eq(block(text, raw, "types", 1)[0], 10);
    block(text, raw, "body", 16);
    ck_assert_ptr_nonnull(strstr(text + file.length - 12, "</VTKFile>\n"));
    free(file.text);
}
END_TEST

/* All kinds of cells in one file, tetrahedra, triangles, lines: VTK's types 10, 5 and 3. */
START_TEST(kinds_of_cells_follow_each_other)
{
    static const int32_t triangle[] = {0, 1, 2, 1, 2, 3}, edge[] = {2, 3};
    static const int32_t corners[] = {0, 1, 2, 3, 0, 1, 2, 1, 2, 3, 2, 3}, ends[] = {4, 7, 10, 12};
    pl_text file = file_of(&(pl_vtu_mesh){.vertices = 4,
                                          .body = body,
                                          .tets = 1,
                                          .tet = tet,
                                          .triangles = 2,
                                          .triangle = triangle,
                                          .edges = 1,
                                          .edge = edge},
                           &(pl_vtu_frame){.positions = positions});
    const char *text = file.text;
    const unsigned char *raw = (const unsigned char *)strchr(strstr(text, "<AppendedData"), '_') +
                               1;
    ck_assert_ptr_nonnull(strstr(text, "NumberOfCells=\"4\""));
    ck_assert_mem_eq(block(text, raw, "connectivity", sizeof corners), corners, sizeof corners);
    ck_assert_mem_eq(block(text, raw, "offsets", sizeof ends), ends, sizeof ends);
    ck_assert_mem_eq(block(text, raw, "types", 4), "\x0a\x05\x05\x03", 4);
    free(file.text);
}
END_TEST

START_TEST(series_lists_files_and_times)
{
    pl_text list = {0};
    pl_pvd_write(&list, "a<b", (const int64_t[]){0, 4}, (const double[]){0, 0.5}, 2);
    const char *text = list.text;
    ck_assert_ptr_nonnull(strstr(text, "timestep=\"0\" part=\"0\" file=\"a&lt;b_000000.vtu\""));
    ck_assert_ptr_nonnull(strstr(text, "timestep=\"0.5\" part=\"0\" file=\"a&lt;b_000004.vtu\""));
    free(list.text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("export_vtu");
    TCase *t = tcase_create("vtu");
    tcase_add_test(t, blocks_lie_where_the_header_says);
    tcase_add_test(t, kinds_of_cells_follow_each_other);
    tcase_add_test(t, series_lists_files_and_times);
    suite_add_tcase(s, t);
    return run_suite(s);
}
