/* Mesh files that a scene names, and records that arrive in pieces. */
#include "clients/cli/net/record_stream.h"
#include "clients/cli/session/scene_files.h"

#include "protocol/text/json.h"
#include "protocol/text/sha256.h"

#include "tests/unit/cli_files.h"
#include "tests/support/suite.h"

static pl_status rewrite(const char *text, pl_scene_files *out, pl_faults *faults)
{
    *faults = (pl_faults){0};
    return pl_scene_files_rewrite(text, strlen(text), cli_folder, out, faults);
}

START_TEST(files_become_uploads)
{
    pl_scene_files s;
    pl_faults faults;
    char hash[65], expected[80];
    cli_write("bunny.msh", "$MeshFormat");
    cli_write("a.node", "node");
    cli_write("a.ele", "ele");
    cli_write("rock.obj", "v 0 0 0");
    ck_assert_int_eq(
        rewrite(
            "{\"pliant\": 1, \"x\": 0.1, \"bodies\": ["
            "{\"name\": \"b\", \"mesh\": {\"file\": \"bunny.msh\", \"orientation\": \"refuse\"}},"
            "{\"mesh\": {\"file\": \"a.node\"}}, {\"mesh\": {\"file\": \"a.ele\"}},"
            "{\"mesh\": {\"box\": {\"size\": [1, 1, 1]}}}, {\"mesh\": {\"file\": \"bunny.msh\", "
            "\"format\": \"medit\"}}], \"obstacles\": [{\"plane\": {}}, {\"friction\": 0.5, "
            "\"mesh\": {\"file\": \"rock.obj\", \"inside\": true}}]}",
            &s, &faults),
        PL_OK);
    ck_assert_int_eq(s.count, 4); /* each file once */
    pl_json *scene = pl_json_parse(s.text, s.length, NULL);
    ck_assert_ptr_nonnull(scene);
    pl_sha256_hex("$MeshFormat", 11, hash);
    snprintf(expected, sizeof expected, "sha256:%s", hash);
    ck_assert_str_eq(pl_json_string(scene, "bodies/0/mesh/upload", ""), expected);
    ck_assert_str_eq(pl_json_string(scene, "bodies/0/mesh/format", ""), "gmsh");
    ck_assert_str_eq(pl_json_string(scene, "bodies/0/mesh/orientation", ""), "refuse");
    ck_assert_ptr_null(pl_json_at(scene, "bodies/0/mesh/file"));
    ck_assert_str_eq(pl_json_string(scene, "bodies/0/name", ""), "b");
    ck_assert_str_eq(pl_json_string(scene, "bodies/4/mesh/format", ""), "medit");
    ck_assert_double_eq(pl_json_number(scene, "x", 0), 0.1);
    ck_assert_int_eq(pl_json_count(pl_json_at(scene, "bodies/3/mesh/box/size")), 3);
    pl_sha256_hex("v 0 0 0", 7, hash);
    snprintf(expected, sizeof expected, "sha256:%s", hash);
    ck_assert_str_eq(pl_json_string(scene, "obstacles/1/mesh/upload", ""), expected);
    ck_assert_str_eq(pl_json_string(scene, "obstacles/1/mesh/format", ""), "obj");
    ck_assert(pl_json_boolean(scene, "obstacles/1/mesh/inside", false));
    ck_assert_double_eq(pl_json_number(scene, "obstacles/1/friction", 0), 0.5);
    ck_assert_ptr_nonnull(pl_json_at(scene, "obstacles/0/plane"));
    for (int b = 1; b <= 2; b++) {
        char path[64];
        snprintf(path, sizeof path, "bodies/%d/mesh/upload/ele", b);
        pl_sha256_hex("ele", 3, hash);
        snprintf(expected, sizeof expected, "sha256:%s", hash);
        ck_assert_str_eq(pl_json_string(scene, path, ""), expected);
        snprintf(path, sizeof path, "bodies/%d/mesh/format", b);
        ck_assert_str_eq(pl_json_string(scene, path, ""), "tetgen");
    }
    pl_json_free(scene);
    pl_scene_files_clear(&s);
}
END_TEST

START_TEST(every_bad_file_is_a_fault)
{
    pl_scene_files s;
    pl_faults faults;
    ck_assert_int_eq(rewrite("{\"bodies\": [{\"mesh\": {\"file\": \"none.msh\"}}, "
                             "{\"mesh\": {\"file\": \"x.step\"}}], \"obstacles\": [{\"mesh\": "
                             "{\"file\": \"none.obj\"}}]}",
                             &s, &faults),
                     PL_INVALID);
    ck_assert_uint_eq(faults.count, 3);
    ck_assert_str_eq(faults.items[2].pointer, "/obstacles/0/mesh/file");
    ck_assert_str_eq(faults.items[0].pointer, "/bodies/0/mesh/file");
    ck_assert_str_eq(faults.items[0].code, "file_unreadable");
    ck_assert_str_eq(faults.items[1].pointer, "/bodies/1/mesh/file");
    ck_assert_str_eq(faults.items[1].code, "unknown_format");
    ck_assert_ptr_null(s.text);
    pl_faults_clear(&faults);
}
END_TEST

START_TEST(other_texts_stay_as_they_are)
{
    static const char *const texts[] = {"",
                                        "{",
                                        "[1, 2]",
                                        "{\"bodies\": 3}",
                                        "{\"bodies\":   []}",
                                        "{\"a\": 1, \"a\": 2}",
                                        "{\"bodies\": [{\"mesh\": {\"file\": 3}}, 4]}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        pl_scene_files s;
        pl_faults faults;
        ck_assert_int_eq(rewrite(texts[i], &s, &faults), PL_OK);
        ck_assert_str_eq(s.text, texts[i]);
        pl_scene_files_clear(&s);
    }
}
END_TEST

/* ---- records in pieces ---- */

typedef struct taken {
    int count, stop_after;
    uint64_t frames;
    uint64_t bytes;
} taken;

static bool take(void *context, const pl_record *record, const unsigned char *payload)
{
    taken *t = context;
    t->frames = t->frames * 10 + record->frame;
    for (uint64_t i = 0; i < record->length; i++)
        ck_assert_int_eq(payload[i], (unsigned char)(record->frame + i));
    t->bytes += record->length;
    return ++t->count != t->stop_after;
}

/* Records of frames 1 .. count with payloads of 0, 7, 14, .. bytes; returns the size. */
static size_t make_records(unsigned char *out, int count)
{
    size_t at = 0;
    for (int k = 1; k <= count; k++) {
        unsigned char payload[64];
        uint64_t length = 7 * (uint64_t)(k - 1);
        for (uint64_t i = 0; i < length; i++)
            payload[i] = (unsigned char)((uint64_t)k + i);
        pl_record r = {.type = PL_RECORD_FRAME,
                       .seq = (uint64_t)k,
                       .frame = (uint64_t)k,
                       .length = length,
                       .payload_crc = pl_crc32c(0, payload, (size_t)length)};
        memset(out + at, 0, (size_t)pl_record_size(length));
        pl_record_encode(&r, out + at);
        memcpy(out + at + PL_RECORD_HEADER, payload, (size_t)length);
        at += (size_t)pl_record_size(length);
    }
    return at;
}

START_TEST(records_come_whole_from_pieces_of_any_size)
{
    unsigned char bytes[2048];
    size_t size = make_records(bytes, 5);
    for (size_t piece = 1; piece <= size; piece++) {
        taken t = {0};
        pl_record_stream s = {.take = take, .context = &t};
        for (size_t at = 0; at < size; at += piece)
            ck_assert(pl_record_stream_feed(&s, (char *)bytes + at,
                                            at + piece < size ? piece : size - at));
        ck_assert_int_eq(t.count, 5);
        ck_assert_uint_eq(t.frames, 12345);
        ck_assert_uint_eq(t.bytes, 7 * 10);
        pl_record_stream_clear(&s);
    }
}
END_TEST

START_TEST(damage_is_noticed)
{
    unsigned char bytes[2048];
    size_t size = make_records(bytes, 5);
    for (size_t at = 0; at < size; at++) {
        taken t = {0};
        pl_record_stream s = {.take = take, .context = &t};
        bytes[at] ^= 1;
        bool fed = pl_record_stream_feed(&s, (char *)bytes, size);
        bytes[at] ^= 1;
        /* Only the zero bytes after a payload are under no check sum. */
        ck_assert(!fed || t.count == 5);
        ck_assert(fed == !s.broken);
        if (at < PL_RECORD_HEADER)
            ck_assert(s.broken);
        pl_record_stream_clear(&s);
    }
}
END_TEST

START_TEST(taker_can_stop)
{
    unsigned char bytes[2048];
    size_t size = make_records(bytes, 5);
    taken t = {.stop_after = 2};
    pl_record_stream s = {.take = take, .context = &t};
    ck_assert(!pl_record_stream_feed(&s, (char *)bytes, size));
    ck_assert_int_eq(t.count, 2);
    ck_assert(!s.broken);
    pl_record_stream_clear(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cli_scene_files");
    TCase *t = tcase_create("files");
    tcase_add_checked_fixture(t, cli_folder_make, cli_folder_remove);
    tcase_add_test(t, files_become_uploads);
    tcase_add_test(t, every_bad_file_is_a_fault);
    tcase_add_test(t, other_texts_stay_as_they_are);
    suite_add_tcase(s, t);
    t = tcase_create("records");
    tcase_add_test(t, records_come_whole_from_pieces_of_any_size);
    tcase_add_test(t, damage_is_noticed);
    tcase_add_test(t, taker_can_stop);
    suite_add_tcase(s, t);
    return run_suite(s);
}
