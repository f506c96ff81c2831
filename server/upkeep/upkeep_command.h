/* upkeep_command.h - `pliantd backup`, `restore`, `doctor` and `support-bundle`: commands for a state directory, with a
 * running daemon or without.
 */
#ifndef PLIANT_SERVER_UPKEEP_UPKEEP_COMMAND_H
#define PLIANT_SERVER_UPKEEP_UPKEEP_COMMAND_H

#include <stdbool.h>

bool pl_upkeep_command_is(const char *word);
/* Run a command; argv[0] is its name. Returns the exit status. */
int pl_upkeep_command(int argc, char **argv);

#endif
