/* Pruned parts of a log: removed, reported as such, and nothing else with them. */
#include "protocol/log/log_prune.h"

#include "tests/unit/protocol_log_files.h"
#include "tests/support/suite.h"

#include <dirent.h>
#include <fcntl.h>

static int files_in_log(void)
{
    int n = 0;
    DIR *log = fdopendir(openat(t.fd, "log", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ck_assert_ptr_nonnull(log);
    for (struct dirent *e; (e = readdir(log));)
        n += e->d_name[0] != '.';
    closedir(log);
    return n;
}

static pl_log_outcome part_of(pl_log_reader *r, int64_t k, pl_log_part part)
{
    pl_log_range range;
    return pl_log_find(r, k, part, &range);
}

/* Only the last frames are kept, and a quarter more; an earlier reader and a later attempt continue. */
START_TEST(prune_last)
{
    enum { LAST = 100, FRAMES = 1000 };
    const pl_log_keep keep = {.last = LAST};
    pl_log_writer *w = open_writer(1, 0);
    pl_log_writer_keep(w, &keep);
    write_frames(w, 0, 10);
    pl_log_reader *early = open_reader();
    ck_assert_int_eq(read_frame(early, 3), PL_LOG_OK);
    write_frames(w, 10, FRAMES);
    pl_log_reader *r = open_reader();
    for (int later = 0; later < 2; later++) {
        int64_t first = pl_log_reader_first(r);
        ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES);
        ck_assert(first <= FRAMES - LAST && first >= FRAMES - LAST - 2 * (LAST / 4));
        for (int64_t k = 0; k < FRAMES; k++)
            ck_assert_int_eq(read_frame(r, k), k < first ? PL_LOG_PRUNED : PL_LOG_OK);
        ck_assert_int_le(files_in_log(), 2 * 8);
        if (later)
            break;
        ck_assert_int_eq(read_frame(early, 4), PL_LOG_OK); /* it has the file open */
        ck_assert_int_eq(pl_log_reader_refresh(early), FRAMES);
        ck_assert_int_eq(read_frame(early, 4), PL_LOG_PRUNED);
        ck_assert_int_eq(read_frame(early, FRAMES - 1), PL_LOG_OK);
        assert_epoch(r, FRAMES - 1, "{\"epoch\":true}");
        ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    }
    w = open_writer(2, PL_LOG_CONTINUE);
    ck_assert_int_eq(pl_log_writer_next(w), FRAMES);
    pl_log_writer_keep(w, &keep);
    write_frames(w, FRAMES, FRAMES + 300);
    ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES + 300);
    ck_assert_int_gt(pl_log_reader_first(r), FRAMES);
    ck_assert_int_eq(read_frame(r, FRAMES + 299), PL_LOG_OK);
    assert_epoch(r, FRAMES + 299, "{\"epoch\":true}");
    pl_log_reader_close(r);
    pl_log_reader_close(early);
    pl_log_writer_close(w);
}
END_TEST

/* Records of a type in the first segment's file; their frames' numbers must be multiples of `every`. */
static int records_on_disk(int type, int64_t every)
{
    size_t size, at = 0;
    unsigned char *seg = (unsigned char *)take_file(t.fd, seg_name, &size);
    pl_record r;
    int n = 0;
    for (; at < size; at += pl_record_size(r.length)) {
        ck_assert_int_eq(pl_record_decode(seg + at, size - at, &r), PL_RECORD_GOOD);
        n += r.type == type;
        ck_assert(r.type != type || (int64_t)r.frame % every == 0);
    }
    free(seg);
    return n;
}

/* Of older frames every seventh stays; all metrics stay; damaged frames are not mistaken for pruned ones. */
START_TEST(prune_every)
{
    enum { LAST = 64, FRAMES = 500, EVERY = 7 };
    const pl_log_keep keep = {.last = LAST, .every = EVERY};
    pl_log_writer *w = open_writer(1, 0);
    pl_log_writer_keep(w, &keep);
    write_frames(w, 0, FRAMES);
    pl_log_reader *r = open_reader();
    int pruned = 0;
    ck_assert_int_eq(pl_log_reader_refresh(r), FRAMES);
    ck_assert_int_eq(pl_log_reader_first(r), 0);
    for (int64_t k = 0; k < FRAMES; k++) {
        pl_log_outcome v = part_of(r, k, PL_LOG_FRAME);
        ck_assert_int_eq(part_of(r, k, PL_LOG_METRICS), PL_LOG_OK);
        ck_assert(v == PL_LOG_OK || (v == PL_LOG_PRUNED && k % EVERY != 0 && k < FRAMES - LAST));
        ck_assert(v == PL_LOG_PRUNED || read_frame(r, k) == PL_LOG_OK);
        pruned += v == PL_LOG_PRUNED;
    }
    ck_assert_int_ge(pruned, (FRAMES - LAST - 2 * (LAST / 4)) * (EVERY - 1) / EVERY);
    pl_log_reader_close(r);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(records_on_disk(PL_RECORD_FRAME, EVERY), (LAST / 4 + EVERY - 1) / EVERY);
    ck_assert_int_eq(records_on_disk(PL_RECORD_METRICS, 1), LAST / 4);
    /* The index is only a witness, also of a thinned segment. */
    ck_assert_int_eq(pl_log_reindex(t.fd), FRAMES);
    r = open_reader();
    for (int64_t k = 0; k < 100; k++)
        ck_assert_int_eq(part_of(r, k, PL_LOG_FRAME), k % EVERY ? PL_LOG_PRUNED : PL_LOG_OK);
    pl_log_reader_close(r);
    size_t size;
    char *seg = take_file(t.fd, seg_name, &size);
    seg[PL_RECORD_HEADER + 16 + 41] ^= 1; /* the header of frame 0, after the epoch */
    put_file(t.fd, seg_name, seg, size);
    r = open_reader();
    ck_assert_int_eq(part_of(r, 0, PL_LOG_FRAME), PL_LOG_CORRUPT);
    ck_assert_int_eq(part_of(r, 1, PL_LOG_FRAME), PL_LOG_PRUNED);
    ck_assert_int_eq(read_frame(r, 7), PL_LOG_OK);
    pl_log_reader_close(r);
    free(seg);
}
END_TEST

/* A lost head is rebuilt from the segments; nothing is invented. */
START_TEST(prune_then_lose_head)
{
    const pl_log_keep keep = {.last = 64};
    pl_log_writer *w = open_writer(1, 0);
    pl_log_writer_keep(w, &keep);
    write_frames(w, 0, 300);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
    ck_assert_int_eq(unlinkat(t.fd, "head.json", 0), 0);
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(pl_log_reader_refresh(r), 300);
    ck_assert(pl_log_reader_recovered(r));
    ck_assert_int_eq(read_frame(r, 0), PL_LOG_CORRUPT);
    for (int64_t k = 300 - 64; k < 300; k++)
        ck_assert_int_eq(read_frame(r, k), PL_LOG_OK);
    pl_log_reader_close(r);
}
END_TEST

/* Pruning that fails without disk space loses nothing; a later roll repeats it. */
START_TEST(prune_fails)
{
    const pl_log_keep keep = {.last = 64, .every = 5};
    pl_log_writer *w = open_writer(1, 0);
    pl_log_writer_keep(w, &keep);
    write_frames(w, 0, 20);
    ck_assert_int_eq(mkdirat(t.fd, "log/0001-0000.seg.tmp", 0700),
                     0); /* no file can be made there */
    write_frames(w, 20, 200);
    assert_readable(200);
    ck_assert_int_eq(unlinkat(t.fd, "log/0001-0000.seg.tmp", AT_REMOVEDIR), 0);
    write_frames(w, 200, 300);
    pl_log_reader *r = open_reader();
    ck_assert_int_eq(part_of(r, 1, PL_LOG_FRAME), PL_LOG_PRUNED);
    ck_assert_int_eq(part_of(r, 5, PL_LOG_FRAME), PL_LOG_OK);
    pl_log_reader_close(r);
    ck_assert_int_eq(pl_log_writer_close(w), PL_OK);
}
END_TEST

int main(void)
{
    TCase *tcase = tcase_create("log_prune");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, prune_last);
    tcase_add_test(tcase, prune_every);
    tcase_add_test(tcase, prune_then_lose_head);
    tcase_add_test(tcase, prune_fails);
    return run_cases("protocol/log_prune", tcase);
}
