/* config.h - reads a file of options: one per line, NAME = VALUE, or NAME alone for a flag; lines that begin with # are
 * comments. Values are not quoted. All errors are printed, each with its line.
 */
#ifndef PLIANT_SERVER_BASE_CONFIG_H
#define PLIANT_SERVER_BASE_CONFIG_H

#include "server/base/options_table.h"

#include <stdbool.h>

enum { PL_CONFIG_PLACE_MAX = 300 };

/* Takes an option of the file; `place` is "FILE:LINE"; the value lives as long as the program, NULL for a flag. False
 * if the value is wrong; the function has then printed why. */
typedef bool (*pl_config_take)(void *context, const pl_option_row *option, const char *value,
                               const char *place);
/* False after printing what is wrong. */
bool pl_config_read(const char *path, pl_config_take take, void *context);

#endif
