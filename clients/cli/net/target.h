/* target.h - finds the daemon to talk to and the token for it, in the order given in clients/README.md. */
#ifndef PLIANT_CLIENTS_CLI_NET_TARGET_H
#define PLIANT_CLIENTS_CLI_NET_TARGET_H

#include "clients/cli/base/command.h"

typedef struct pl_target {
    char *url;
    char *token; /* NULL: none found, which is fine for a daemon without tokens */
    bool
        /* url is from the state directory, or the default: a new daemon may listen elsewhere */
        from_state;
} pl_target;

/* Returns an exit status, after printing what is wrong. */
int pl_target_find(const pl_cli *cli, pl_target *out);
void pl_target_clear(pl_target *target);

/* Path of `name` below the state directory that --state or the environment names; malloc'ed. NULL if none is named, or
 * out of memory. */
char *pl_target_state_path(const pl_cli *cli, const char *name);

#endif
