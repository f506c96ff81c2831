/* listing.h - prints the daemon's lists, page by page. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_LISTING_H
#define PLIANT_CLIENTS_CLI_COMMANDS_LISTING_H

#include "clients/cli/net/api.h"

#define PL_LISTING_ALL INT64_MAX

/* Print up to `most` items of the list at `path`, which may have a query: each as a row or, with --json, all as
 * {"items": [...], "next": cursor or null}. Prints a note on standard error if there are more. */
int pl_listing_print(pl_cli *cli, const char *path, int64_t most,
                     void (*row)(const pl_cli *cli, const pl_json *item));

#endif
