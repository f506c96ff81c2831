/* clock.h - the daemon's clocks, and times as texts. */
#ifndef PLIANT_SERVER_BASE_CLOCK_H
#define PLIANT_SERVER_BASE_CLOCK_H

#include <stdint.h>

/* Since some moment of the past; never goes back. For waits and deadlines. */
int64_t pl_monotonic_ms(void);
int64_t pl_monotonic_us(void);
/* Since 1970; may be set. For what people and other machines are told. */
int64_t pl_clock_us(void);
/* Seconds since 1970 as "2026-01-01T00:00:00Z". */
void pl_time_view(int64_t seconds, char out[32]);

#endif
