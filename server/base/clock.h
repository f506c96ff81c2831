/* clock.h - the wall clock, and its times as text; engine/clock.h has the monotonic clock. */
#ifndef PLIANT_SERVER_BASE_CLOCK_H
#define PLIANT_SERVER_BASE_CLOCK_H

#include "engine/clock.h"

#include <stdint.h>

/* Microseconds since 1970; the clock may be set back. For times shown to people and other machines. */
int64_t pl_clock_us(void);
/* Seconds since 1970 as "2026-01-01T00:00:00Z". */
void pl_time_view(int64_t seconds, char out[32]);

#endif
