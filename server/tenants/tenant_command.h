/* tenant_command.h - `pliantd user|group|token ...`: manages the daemon's users, with or without a running daemon. */
#ifndef PLIANT_SERVER_TENANTS_TENANT_COMMAND_H
#define PLIANT_SERVER_TENANTS_TENANT_COMMAND_H

#include <stdbool.h>

/* True if the word is one of these commands. */
bool pl_tenant_command_is(const char *word);
/* Run it; argv[0] is the word. Returns the exit status. */
int pl_tenant_command(int argc, char **argv);

#endif
