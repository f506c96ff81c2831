/* seeds DIR: writes inputs made by the real writers to DIR/TARGET/, for the targets whose formats
 * carry checksums. To be run again when a format has changed, then merged into the corpus. */
#include "protocol/log/checkpoint.h"
#include "protocol/log/log.h"
#include "protocol/log/sealed.h"
#include "protocol/log/session_dir.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[] = "/tmp/pliant-seeds-XXXXXX";
static int scratch_fd;

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    return remove(path);
}

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

/* One part of an input: the operation, the length, the bytes. */
static void put_part(FILE *out, int op, const void *bytes, size_t size)
{
    unsigned char head[4] = {(unsigned char)op, (unsigned char)size, (unsigned char)(size >> 8),
                             (unsigned char)(size >> 16)};
    fwrite(head, 1, sizeof head, out);
    fwrite(bytes, 1, size, out);
}

static void put_file(FILE *out, int op, const char *name)
{
    char *bytes;
    size_t size;
    if (pl_file_read(scratch_fd, name, 1 << 20, &bytes, &size) != PL_OK)
        give_up(name);
    put_part(out, op, bytes, size);
    free(bytes);
}

static FILE *open_seed(const char *directory, const char *target, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, target);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/%s/%s", directory, target, name);
    FILE *out = fopen(path, "wb");
    if (!out)
        give_up(path);
    return out;
}

/* ---- log: see the operations in log_fuzz.c ---- */

enum { LOG_HEAD = 0, LOG_LOOK = 1, LOG_REINDEX = 2, LOG_FILE = 4 };

static pl_log_writer *open_log(int attempt, int64_t first)
{
    pl_log_writer *w = NULL;
    if (pl_log_writer_open(scratch_fd, attempt, first, "{\"class\":\"none\"}", &w) != PL_OK)
        give_up("log");
    return w;
}

static void append_frames(pl_log_writer *w, int64_t from, int64_t to)
{
    static const char metrics[] = "{\"frame\":0}";
    const pl_frame_header header = {
        .dtype = PL_DTYPE_F32, .fields = PL_FIELD_POSITION, .count = 2, .time = 0.5, .step = 1};
    const float values[6] = {0, 1, 2, 3, 4, 5};
    for (int64_t k = from; k < to; k++)
        if (pl_log_append(w, k, &header, values, metrics, sizeof metrics - 1) != PL_OK)
            give_up("frame");
}

static void write_log_seeds(const char *directory)
{
    pl_log_writer *w = open_log(1, 0);
    append_frames(w, 0, 3);
    FILE *out = open_seed(directory, "log", "open");
    put_file(out, LOG_HEAD, "head.json");
    put_file(out, LOG_FILE, "log/0001-0000.seg");
    put_part(out, LOG_LOOK, "", 0);
    put_file(out, LOG_FILE + 1, "log/0001-0000.idx");
    fclose(out);
    pl_log_writer_close(w);
    out = open_seed(directory, "log", "sealed");
    put_file(out, LOG_HEAD, "head.json");
    put_file(out, LOG_FILE, "log/0001-0000.seg");
    put_file(out, LOG_FILE + 1, "log/0001-0000.idx");
    put_part(out, LOG_REINDEX, "", 0);
    fclose(out);
    w = open_log(2, 2);
    append_frames(w, 2, 5);
    out = open_seed(directory, "log", "second-attempt");
    put_file(out, LOG_HEAD, "head.json");
    put_file(out, LOG_FILE, "log/0001-0000.seg");
    put_file(out, LOG_FILE + 1, "log/0001-0000.idx");
    put_file(out, LOG_FILE + 6, "log/0002-0000.seg");
    put_part(out, LOG_LOOK, "", 0);
    put_file(out, LOG_FILE + 7, "log/0002-0000.idx");
    fclose(out);
    pl_log_writer_close(w);
}

/* ---- control: operations of control_fuzz.c ---- */

static void write_control_seed(const char *directory, const char *action)
{
    unsigned char bytes[128] = {0};
    char *json = (char *)bytes + PL_RECORD_HEADER;
    int length = snprintf(json, 64, "{\"action\":\"%s\"}", action);
    pl_record record = {.type = PL_RECORD_CONTROL,
                        .length = (uint64_t)length,
                        .payload_crc = pl_crc32c(0, json, (size_t)length)};
    pl_record_encode(&record, bytes);
    FILE *out = open_seed(directory, "control", action);
    put_part(out, 1, bytes, pl_record_size(record.length));
    put_part(out, 0, bytes, 20);
    put_part(out, 1, bytes + 20, pl_record_size(record.length) - 20);
    fclose(out);
}

/* ---- sealed: operations of sealed_fuzz.c ---- */

static void write_sealed_seeds(const char *directory)
{
    char remark[] = "a remark", *remarks[] = {remark}, detail[] = "a detail";
    pl_warning warnings[] = {{PL_WARNING_OVERLAP, detail, 2, 3}};
    const pl_run_totals totals = {.frame = 9,
                                  .unconverged = 3,
                                  .deepest = 0.02,
                                  .has_energy = true,
                                  .first_energy = 1.5,
                                  .most_kinetic = 0.7};
    pl_exit e = {.attempt = 1, .frames = 3, .seconds = 1.5};
    snprintf(e.state, sizeof e.state, "failed");
    e.failure = (pl_failure){.code = PL_FAILURE_NOT_FINITE, .step = 4, .element = 2};
    snprintf(e.failure.message, sizeof e.failure.message, "message");
    pl_preflight_body body = {.name = "b", .vertices = 4, .tets = 1};
    pl_preflight p = {.body_count = 1,
                      .bodies = &body,
                      .vertices = 4,
                      .tets = 1,
                      .memory_bytes = 1e6,
                      .warnings = {1, warnings},
                      .remark_count = 1,
                      .remarks = remarks};
    pl_faults_add(&p.faults, "/bodies/0", "mesh_syntax", "got", "expected", "hint");
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", 1);
    if (pl_exit_write(scratch_fd, &e) != PL_OK || pl_preflight_write(scratch_fd, &p) != PL_OK ||
        pl_sealed_write(scratch_fd, "document.json", &w, false) != PL_OK ||
        pl_run_warnings_write(scratch_fd, &totals, &p.warnings) != PL_OK)
        give_up("documents");
    static const char *const names[] = {"head.json", "exit.json", "preflight.json", "document.json",
                                        "warnings.json"};
    for (int op = 0; op < 5; op++) {
        FILE *out = open_seed(directory, "sealed", names[op]);
        put_file(out, op, names[op]);
        fclose(out);
    }
    pl_faults_clear(&p.faults);
}

/* ---- checkpoint: operations of checkpoint_fuzz.c ---- */

static void write_checkpoint_seed(const char *directory)
{
    static const char payload[24] = "a state";
    pl_checkpoint c = {.attempt = 1,
                       .frame = 5,
                       .segment_attempt = 1,
                       .segment_end = 4096,
                       .seconds = 1.5,
                       .numerics = "0.1.0 none",
                       .payload_size = sizeof payload};
    for (int slot = 0; slot < PL_CHECKPOINT_SLOTS; slot++, c.frame++)
        if (pl_checkpoint_write(scratch_fd, slot, &c, payload) != PL_OK)
            give_up("checkpoint");
    FILE *out = open_seed(directory, "checkpoint", "two");
    put_file(out, 0, pl_checkpoint_name(0));
    put_file(out, 1, pl_checkpoint_name(1));
    put_part(out, 2, "", 0);
    fclose(out);
}

int main(int argc, char **argv)
{
    if (argc != 2 || !mkdtemp(scratch))
        return 2;
    scratch_fd = open(scratch, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mkdirat(scratch_fd, "log", 0755);
    mkdir(argv[1], 0755);
    write_log_seeds(argv[1]);
    write_control_seed(argv[1], "cancel");
    write_control_seed(argv[1], "pause");
    write_control_seed(argv[1], "resume");
    write_sealed_seeds(argv[1]);
    write_checkpoint_seed(argv[1]);
    nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
