#include "server/http/request_id.h"

#include "server/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t of_this_daemon;
static _Atomic uint64_t last;

static void begin(void)
{
    if (getrandom(&of_this_daemon, sizeof of_this_daemon, GRND_NONBLOCK) != sizeof of_this_daemon) {
        of_this_daemon = (uint64_t)pl_clock_us();
    }
}

/* So many hex digits in lower case, not all of them 0. */
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

void pl_request_id_make(const char *traceparent, char out[33])
{
    if (traceparent && is_traceparent(traceparent)) {
        memcpy(out, traceparent + 3, 32);
        out[32] = 0;
        return;
    }
    pthread_once(&once, begin);
    snprintf(out, 33, "%016llx%016llx", (unsigned long long)of_this_daemon,
             (unsigned long long)(atomic_fetch_add(&last, 1) + 1));
}
