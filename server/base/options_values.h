/* options_values.h - parses the value of each kind of option. For the main thread only. On an error, each function
 * prints it with the place set below and returns PL_OPTIONS_WRONG.
 */
#ifndef PLIANT_SERVER_BASE_OPTIONS_VALUES_H
#define PLIANT_SERVER_BASE_OPTIONS_VALUES_H

#include "server/base/options.h"

/* Set the "FILE:LINE" of the next option; NULL: the command line. */
void pl_option_set_place(const char *where);
/* Print what was expected; returns PL_OPTIONS_WRONG. */
pl_options_outcome pl_option_wrong(const char *option, const char *got, const char *expected);
/* Parse a whole number from minimum to maximum, with nothing after it. Prints nothing. */
bool pl_option_parse_count(const char *text, int64_t minimum, int64_t maximum, int64_t *out);
pl_options_outcome pl_option_take_uids(const char *text, pl_options *o);
pl_options_outcome pl_option_take_listen(const char *text, pl_options *o);
pl_options_outcome pl_option_take_count(const char *option, const char *text, int64_t minimum,
                                        int64_t maximum, int64_t *out);
pl_options_outcome pl_option_take_gpus(const char *text, pl_options *o);
pl_options_outcome pl_option_take_delays(const char *text, pl_options *o);
pl_options_outcome pl_option_take_stalled(const char *text, pl_options *o);
pl_options_outcome pl_option_take_webhook_delays(const char *text, pl_options *o);
pl_options_outcome pl_option_take_on_exit(const char *text, pl_options *o);
pl_options_outcome pl_option_take_memory_groups(const char *text, pl_options *o);
/* Limits missing from the text are unlimited. Prints nothing. */
bool pl_option_take_limits(const char *text, pl_limits *limits);
pl_options_outcome pl_option_take_rates(const char *text, pl_options *o);

#endif
