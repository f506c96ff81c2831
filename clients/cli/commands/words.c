#include "clients/cli/commands/words.h"

#include "clients/cli/commands/commands.h"
#include "clients/cli/net/api.h"
#include "protocol/text/problem.h"

#include <ctype.h>
#include <string.h>

/* ---- values ---- */

const char *pl_option_words(const pl_option *o)
{
    if (!o->value)
        return NULL;
    if (strcmp(o->value, "STATE") == 0)
        return PL_STATE_WORDS;
    return islower((unsigned char)*o->value) && strchr(o->value, '|') ? o->value : NULL;
}

/* True if the value is one of the option's words, or the option takes any. */
static bool check_value(const pl_cli *cli, const pl_option *o, const char *value)
{
    enum { WORDS_MAX = 24, LIST_ROOM = 256 };
    char list[LIST_ROOM], *rest = list;
    const char *known[WORDS_MAX], *words = pl_option_words(o);
    size_t count = 0;
    if (!words)
        return true;
    snprintf(list, sizeof list, "%s", words);
    for (char *word; count < WORDS_MAX && (word = strsep(&rest, "|"));) {
        if (strcmp(word, value) == 0)
            return true;
        known[count++] = word;
    }
    pl_cli_fail_value(cli, o->name, value, known, count);
    return false;
}

/* ---- options ---- */

/* Parse one option word; `value` is the part after '=', `next` the following word. Returns the number of words
 * consumed, or -1 after printing what is wrong. */
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
    const char *taken = !found->value ? "" : value ? value : next;
    if (found->value && !check_value(cli, found, taken))
        return -1;
    if (!slot)
        cli->json = true;
    else
        *slot = taken;
    return found->value && !value ? 2 : 1;
}

/* ---- commands and arguments ---- */

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

/* "token revoke ID", the correct usage; static. */
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

bool pl_words_take_last(const pl_command *c, const pl_verb *verb)
{
    for (int i = 0; i < PL_OPTIONS_MAX && c->options[i].name; i++)
        if (strcmp(c->options[i].name, PL_LAST) == 0)
            return false; /* one of its own options */
    const char *arguments = verb ? verb->arguments : c->arguments;
    return arguments && strstr(arguments, "ID");
}

/* An exit status if the words end the program, else -1. */
static int take_words(pl_cli *cli, int argc, char **argv)
{
    bool options_end = false;
    for (int i = 1; i < argc;) {
        char *word = argv[i];
        bool last = cli->command && strcmp(word, PL_LAST) == 0 &&
                    pl_words_take_last(cli->command, cli->verb);
        if (options_end || word[0] != '-' || strcmp(word, "-") == 0 || last) {
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

int pl_words_read(pl_cli *cli, int argc, char **argv)
{
    int status = take_words(cli, argc, argv);
    if (status >= 0)
        return status;
    if (!cli->command) {
        pl_help_print();
        return PL_EXIT_USAGE;
    }
    if (cli->command->verbs && !cli->verb && strcmp(cli->command->verbs->name, "list") == 0)
        cli->verb = cli->command->verbs;
    bool missing = cli->verb             ? cli->argument_count < cli->verb->least
                   : cli->command->verbs ? true
                                         : cli->argument_count < cli->command->least;
    if (missing)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "an argument is missing; usage: pliant %s",
                           usage_of(cli));
    return -1;
}
