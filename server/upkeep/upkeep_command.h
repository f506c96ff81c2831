/* upkeep_command.h - `pliantd backup`, `restore`, `doctor` and `support-bundle`: what an administrator does with a state directory, with a
 * daemon on it or without.
 */
#ifndef PLIANT_SERVER_UPKEEP_UPKEEP_COMMAND_H
#define PLIANT_SERVER_UPKEEP_UPKEEP_COMMAND_H

#include <stdbool.h>

bool pl_upkeep_command_is(const char *word);
/* argv[0] is that word; the exit status. */
int pl_upkeep_command(int argc, char **argv);

#endif
