/* target.h - which daemon is meant, and the token for it, in the order of clients/README.md. */
#ifndef PLIANT_CLIENTS_CLI_NET_TARGET_H
#define PLIANT_CLIENTS_CLI_NET_TARGET_H

#include "clients/cli/base/command.h"

typedef struct pl_target {
    char *url;
    char *token; /* NULL: none found, which a daemon without tokens does not mind */
    bool
        from_state; /* url is of the state directory, or the default: a new daemon may listen elsewhere */
} pl_target;

/* An exit status after saying what is wrong. */
int pl_target_find(const pl_cli *cli, pl_target *out);
void pl_target_clear(pl_target *target);

/* Path of `name` below the state directory that --state or the environment names; malloc'ed, NULL
 * where there is none or when out of memory. */
char *pl_target_state_path(const pl_cli *cli, const char *name);

#endif
