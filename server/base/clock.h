/* clock.h - the time of day, and times as texts; the monotonic clock is engine/clock.h's. */
#ifndef PLIANT_SERVER_BASE_CLOCK_H
#define PLIANT_SERVER_BASE_CLOCK_H

#include "engine/clock.h"

#include <stdint.h>

/* Since 1970; may be set. For what people and other machines are told. */
int64_t pl_clock_us(void);
/* Seconds since 1970 as "2026-01-01T00:00:00Z". */
void pl_time_view(int64_t seconds, char out[32]);

#endif
