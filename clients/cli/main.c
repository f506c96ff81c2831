/* pliant - the command line. Reads the global options, finds the command in the table of
 * commands.c, reads its options and runs it. */

#include "clients/cli/commands/commands.h"
#include "clients/cli/net/http_client.h"
#include "protocol/text/problem.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Judge one option word; `value` is what stands after '=', `next` the following word. Returns how
 * many words it took, or -1 after saying what is wrong. */
static int take_option(pl_cli *cli, const char *name, const char *value, const char *next)
{
    const char *known[PL_OPTIONS_MAX + 8];
    size_t known_count = 0;
    const char **slot = NULL;
    const pl_option *found = NULL;
    const char **globals[8] = {&cli->server, &cli->token, &cli->state};
    for (int i = 0; cli->command && i < PL_OPTIONS_MAX && cli->command->options[i].name; i++) {
        known[known_count++] = cli->command->options[i].name;
        if (strcmp(name, cli->command->options[i].name) == 0) {
            found = &cli->command->options[i];
            slot = &cli->values[i];
        }
    }
    for (int i = 0; pl_global_options[i].name; i++) {
        known[known_count++] = pl_global_options[i].name;
        if (!found && strcmp(name, pl_global_options[i].name) == 0) {
            found = &pl_global_options[i];
            slot = globals[i];
        }
    }
    if (!found) {
        const char *nearest = pl_nearest(name, known, known_count);
        pl_cli_fail(cli, 0, "no option %s%s%s%s", name, nearest ? ": did you mean " : "",
                    nearest ? nearest : "", nearest ? "?" : "; see --help");
        return -1;
    }
    if (!found->value && value) {
        pl_cli_fail(cli, 0, "%s takes no value", name);
        return -1;
    }
    if (found->value && !value && !next) {
        pl_cli_fail(cli, 0, "%s needs a value: %s", name, found->value);
        return -1;
    }
    if (!slot)
        cli->json = true;
    else
        *slot = !found->value ? "" : value ? value : next;
    return found->value && !value ? 2 : 1;
}

static const pl_verb *find_verb(const pl_cli *cli, const char *name)
{
    enum { KNOWN_MAX = 16 };
    const char *known[KNOWN_MAX];
    size_t count = 0;
    for (const pl_verb *v = cli->command->verbs; v->name; v++) {
        if (strcmp(v->name, name) == 0)
            return v;
        if (count < KNOWN_MAX)
            known[count++] = v->name;
    }
    const char *nearest = pl_nearest(name, known, count);
    pl_cli_fail(cli, 0, "%s has no '%s'%s%s%s", cli->command->name, name,
                nearest ? ": did you mean " : "; see --help", nearest ? nearest : "",
                nearest ? "?" : "");
    return NULL;
}

/* "token revoke ID", as it should have been; static. */
static const char *usage_of(const pl_cli *cli)
{
    static char text[320];
    const pl_command *c = cli->command;
    if (cli->verb)
        snprintf(text, sizeof text, "%s %s %s", c->name, cli->verb->name, cli->verb->arguments);
    else
        snprintf(text, sizeof text, "%s %s", c->name,
                 c->verbs ? "VERB ...; see --help" : c->arguments);
    return text;
}

static bool take_argument(pl_cli *cli, const char *word)
{
    if (!cli->command) {
        cli->command = pl_command_find(cli, word);
        return cli->command != NULL;
    }
    const pl_command *c = cli->command;
    if (c->verbs && !cli->verb) {
        cli->verb = find_verb(cli, word);
        return cli->verb != NULL;
    }
    if (cli->argument_count >= (cli->verb ? cli->verb->most : c->most)) {
        pl_cli_fail(cli, 0, "'%s' is one argument too many; usage: pliant %s", word, usage_of(cli));
        return false;
    }
    cli->arguments[cli->argument_count++] = word;
    return true;
}

/* True if the word is "--last" in place of an ID. In a command with its own --last, such as edit, it is an option. */
static bool is_last(const pl_cli *cli, const char *word)
{
    const pl_command *c = cli->command;
    if (!c || strcmp(word, "--last") != 0)
        return false;
    for (int i = 0; i < PL_OPTIONS_MAX && c->options[i].name; i++)
        if (strcmp(c->options[i].name, word) == 0)
            return false;
    const char *arguments = cli->verb ? cli->verb->arguments : c->arguments;
    return arguments && strstr(arguments, "ID");
}

/* An exit status where the words end the program, else -1. */
static int read_words(pl_cli *cli, int argc, char **argv)
{
    bool options_end = false;
    for (int i = 1; i < argc;) {
        char *word = argv[i];
        if (options_end || word[0] != '-' || strcmp(word, "-") == 0 || is_last(cli, word)) {
            if (!take_argument(cli, word))
                return PL_EXIT_USAGE;
            i++;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_end = true;
            i++;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            if (cli->command)
                pl_help_print_command(cli->command);
            else
                pl_help_print();
            return PL_EXIT_OK;
        }
        if (strcmp(word, "--man") == 0) {
            pl_help_print_manual();
            return PL_EXIT_OK;
        }
        if (strcmp(word, "--version") == 0) {
            printf("pliant %s\n", PLIANT_VERSION);
            return PL_EXIT_OK;
        }
        char *equals = strchr(word, '=');
        if (equals)
            *equals = '\0';
        int took = take_option(cli, word, equals ? equals + 1 : NULL,
                               i + 1 < argc ? argv[i + 1] : NULL);
        if (took < 0)
            return PL_EXIT_USAGE;
        i += took;
    }
    return -1;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    pl_cli cli = {0};
    pl_terminal_init(&cli.out, stdout);
    pl_terminal_init(&cli.err, stderr);
    int status = read_words(&cli, argc, argv);
    if (status >= 0)
        return status;
    if (!cli.command) {
        pl_help_print();
        return PL_EXIT_USAGE;
    }
    if (cli.command->verbs && !cli.verb && strcmp(cli.command->verbs->name, "list") == 0)
        cli.verb = cli.command->verbs;
    bool missing = cli.verb             ? cli.argument_count < cli.verb->least
                   : cli.command->verbs ? true
                                        : cli.argument_count < cli.command->least;
    if (missing)
        return pl_cli_fail(&cli, PL_EXIT_USAGE, "an argument is missing; usage: pliant %s",
                           usage_of(&cli));
    pl_interrupt_catch();
    status = cli.verb ? cli.verb->run(&cli) : cli.command->run(&cli);
    if (fflush(stdout) != 0 && status == PL_EXIT_OK)
        status = pl_cli_fail(&cli, PL_EXIT_FILE, "standard output: %s", strerror(errno));
    pl_http_client_destroy(cli.client);
    free(cli.server_url);
    return status;
}
