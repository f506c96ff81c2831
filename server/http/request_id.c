#include "server/http/request_id.h"

#include "server/base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* True for so many lower-case hex digits, not all 0. */
static bool is_id(const char *text, size_t length)
{
    return strspn(text, "0123456789abcdef") >= length && strspn(text, "0") < length;
}

/* Version 00: "00-TRACE-PARENT-FLAGS". */
static bool is_traceparent(const char *text)
{
    return strlen(text) == 55 && strncmp(text, "00-", 3) == 0 && is_id(text + 3, 32) &&
           text[35] == '-' && is_id(text + 36, 16) && text[52] == '-' &&
           strspn(text + 53, "0123456789abcdef") == 2;
}

/* Random: a counter would reveal the number of other users' requests. */
void pl_request_id_make(const char *traceparent, char out[33])
{
    static _Atomic uint64_t last;
    uint64_t id[2];
    if (traceparent && is_traceparent(traceparent)) {
        memcpy(out, traceparent + 3, 32);
        out[32] = 0;
        return;
    }
    if (getrandom(id, sizeof id, GRND_NONBLOCK) != sizeof id) { /* the machine has just booted */
        id[0] = (uint64_t)pl_clock_us();
        id[1] = atomic_fetch_add(&last, 1);
    }
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)id[0], (unsigned long long)id[1]);
}
