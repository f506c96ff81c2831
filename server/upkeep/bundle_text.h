/* bundle_text.h - pieces of a support bundle as text. */
#ifndef PLIANT_SERVER_UPKEEP_BUNDLE_TEXT_H
#define PLIANT_SERVER_UPKEEP_BUNDLE_TEXT_H

#include "protocol/export/outlet.h"
#include "server/base/options.h"

/* Replace each run of 64 hex digits in place; the length stays. */
void pl_bundle_hide(char *text, size_t length);
/* Add the last bytes of a file, or the reason why it cannot be read. */
void pl_bundle_tail(pl_text *t, int dir_fd, const char *path, size_t most);
/* Add the given options, one a line. */
void pl_bundle_options(pl_text *t, const pl_options *options);
/* Add model, count and instruction sets of the processor. */
void pl_bundle_processor(pl_text *t);
/* Add a directory's entries with mode, owner, size and time. */
void pl_bundle_list(pl_text *t, int dir_fd, const char *path);

#endif
