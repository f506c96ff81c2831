/* control.log: bytes appended in pieces, the worker's reader polling after each. */
#include "tests/fuzz/fuzz.h"

#include "server/worker/control.h"
#include "server/worker/worker_log.h"

#include <stdarg.h>
#include <stdio.h>

/* In place of the worker's: formatted, and dropped. */
void pl_worker_say(const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
}

enum { OP_APPEND, OP_POLL, OP_COUNT };

static bool poll_again(pl_control *control)
{
    bool cancelled = pl_control_poll(control);
    FUZZ_REQUIRE(control->offset <= control->seen, "read %llu of %llu bytes",
                 (unsigned long long)control->offset, (unsigned long long)control->seen);
    FUZZ_REQUIRE(pl_control_poll(control) == cancelled, "another answer with nothing new");
    return cancelled;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_part parts[FUZZ_PARTS_MAX];
    pl_control control;
    bool cancelled = false;
    fuzz_clean();
    pl_control_init(&control, fuzz_directory());
    size_t count = fuzz_parts(data, size, parts);
    for (size_t i = 0; i < count; i++) {
        fuzz_append("control.log", parts[i].bytes, parts[i].size);
        if (parts[i].op % OP_COUNT == OP_POLL) {
            bool now = poll_again(&control);
            FUZZ_REQUIRE(now || !cancelled, "a cancel was taken back");
            cancelled = now;
        }
    }
    cancelled |= poll_again(&control);
    pl_control_clear(&control);
    /* A reader that comes later, as the next attempt's does, must find what this one found. */
    pl_control_init(&control, fuzz_directory());
    FUZZ_REQUIRE(poll_again(&control) || !cancelled, "a later reader does not find the cancel");
    pl_control_clear(&control);
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
