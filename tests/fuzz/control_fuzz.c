/* control.log: bytes appended in pieces, the worker's reader polling after each. */
#include "tests/fuzz/fuzz.h"

#include "server/worker/control_reader.h"
#include "server/worker/worker_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

static int said;

/* In place of the worker's: formatted, counted, and dropped. */
void pl_worker_logf(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    said++;
}

enum { OP_APPEND, OP_POLL, OP_COUNT };

static void look(pl_control_reader *control)
{
    bool cancelled = control->cancelled;
    pl_control_reader_poll(control);
    FUZZ_REQUIRE(control->cancelled || !cancelled, "a cancel was taken back");
    struct stat file = {0};
    FUZZ_REQUIRE(control->fd < 0 || fstat(control->fd, &file) == 0, "control.log is gone");
    FUZZ_REQUIRE(control->offset <= (uint64_t)file.st_size, "read %llu of %lld bytes",
                 (unsigned long long)control->offset, (long long)file.st_size);
    pl_control_reader before = *control;
    pl_control_reader_poll(control);
    FUZZ_REQUIRE(control->cancelled == before.cancelled && control->paused == before.paused &&
                     control->offset == before.offset,
                 "another answer with nothing new");
}

/* A later reader, such as the next attempt's, must find the same commands; except if bytes were skipped: bytes that
 * looked damaged while half-written may be whole now. */
static void check_later(const pl_control_reader *first)
{
    pl_control_reader later;
    pl_control_reader_init(&later, fuzz_directory());
    look(&later);
    FUZZ_REQUIRE(said || (later.cancelled == first->cancelled && later.paused == first->paused &&
                          later.offset == first->offset),
                 "a later reader finds something else");
    pl_control_reader_clear(&later);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    pl_control_reader control;
    fuzz_clean();
    said = 0;
    pl_control_reader_init(&control, fuzz_directory());
    size_t count = fuzz_parts(data, size, parts);
    for (size_t i = 0; i < count; i++) {
        fuzz_append("control.log", parts[i].bytes, parts[i].size);
        if (parts[i].op % OP_COUNT == OP_POLL)
            look(&control);
    }
    look(&control);
    check_later(&control);
    pl_control_reader_clear(&control);
    return 0;
}

static size_t mend(uint8_t op, uint8_t *bytes, size_t size, size_t room)
{
    return fuzz_mend_records(bytes, size);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return fuzz_mutate_parts(data, size, max_size, seed, OP_COUNT, mend);
}
