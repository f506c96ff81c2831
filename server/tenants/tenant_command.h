/* tenant_command.h - `pliantd user|group|token ...`: who may use the daemon, changed beside a running daemon or
 * without one.
 */
#ifndef PLIANT_SERVER_TENANTS_TENANT_COMMAND_H
#define PLIANT_SERVER_TENANTS_TENANT_COMMAND_H

#include <stdbool.h>

/* Whether the word is one of these commands. */
bool pl_tenant_command_is(const char *word);
/* Run it; argv[0] is the word. The exit status. */
int pl_tenant_command(int argc, char **argv);

#endif
