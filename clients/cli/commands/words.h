/* words.h - parses the words of a command line by the table of commands, and knows the values that options take. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_WORDS_H
#define PLIANT_CLIENTS_CLI_COMMANDS_WORDS_H

#include "clients/cli/base/command.h"

/* Take the words after the program's name. Returns -1 with command, verb, options and arguments in *cli, or the exit
 * status of a command line that is wrong (printed) or that only asks for help. Words like "--out=box" are cut apart in
 * place. */
int pl_words_read(pl_cli *cli, int argc, char **argv);

/* The values of an option that takes one of a few words, as "f32|f64|u16"; NULL: any value. */
const char *pl_option_words(const pl_option *option);
/* True if the command takes --last in place of an ID; `verb` may be NULL. */
bool pl_words_take_last(const pl_command *command, const pl_verb *verb);

#endif
