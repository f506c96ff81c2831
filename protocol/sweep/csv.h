/* csv.h - a table of comma-separated values (RFC 4180); private to protocol/sweep. */
#ifndef PLIANT_PROTOCOL_SWEEP_CSV_H
#define PLIANT_PROTOCOL_SWEEP_CSV_H

#include <stdbool.h>
#include <stddef.h>

/* Passes fields one by one, without quotes, until `see` returns false. Empty lines are skipped. Line and column
 * count from 0. False if a quote is not closed, or if out of memory (*no_memory). */
typedef bool (*pl_csv_see)(void *context, size_t line, size_t column, const char *field,
                           bool quoted);
bool pl_csv_read(const char *text, pl_csv_see see, void *context, bool *no_memory);

#endif
