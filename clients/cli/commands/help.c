/* Finds commands in the table, and prints help and manual page, generated from the tables of commands and options. */

#include "clients/cli/commands/commands.h"
#include "protocol/text/problem.h"

#include <string.h>

enum { LEFT = 25, COLUMNS = 100, LEFT_MOST = 40 };

static const char summary[] = "simulate deformable bodies, here or on a daemon";

const pl_option pl_global_options[] = {
    {"--server", "URL|NAME", "the daemon ($PLIANT_SERVER, default of pliant server, STATE/url)"},
    {"--token", "T", "token (the named server's, $PLIANT_TOKEN, $PLIANT_TOKEN_FILE, STATE/token)"},
    {"--state", "DIR", "a daemon's state directory on this machine (~/.local/state/pliant)"},
    {"--json", NULL, "machine-readable output"},
    {"--help", NULL, "print this text; after a command, its options"},
    {"--man", NULL, "print the manual page: pliant --man | man -l -"},
    {"--version", NULL, "print the version of this program"},
    {NULL, NULL, NULL},
};

const char pl_help_end[] =
    "An ID may be shortened to any unique beginning. A session's name, or --last for your newest\n"
    "session, stands for its ID.\n"
    "\nexit status: 0 success, also of the session if one was followed;\n"
    "  1 failed or rejected; 2 wrong command line; 3 daemon not reached;\n"
    "  4 not authorised; 5 no such session; 6 the session was cancelled or deleted;\n"
    "  7 a local file could not be read or written; 130 interrupted (Ctrl-C)\n";

const pl_command *pl_command_find(const pl_cli *cli, const char *name)
{
    enum { KNOWN_MAX = 128 };
    const char *known[KNOWN_MAX];
    size_t count = 0;
    for (const pl_command *c = pl_commands; c->name; c++) {
        if (strcmp(c->name, name) == 0 || (c->alias && strcmp(c->alias, name) == 0))
            return c;
        if (count < KNOWN_MAX)
            known[count++] = c->name;
    }
    const char *nearest = pl_nearest(name, known, count);
    pl_cli_fail(cli, 0, "no command '%s'%s%s%s", name, nearest ? ": did you mean " : "; see --help",
                nearest ? nearest : "", nearest ? "?" : "");
    return NULL;
}

void pl_help_print(void)
{
    printf("pliant - %s\n\nusage: pliant [--server URL|NAME] [--token T] [--json] COMMAND ...\n\n",
           summary);
    for (const pl_command *c = pl_commands; c->name; c++)
        printf("  %-13s %s%s%s%s\n", c->name, c->summary, c->alias ? " (also: " : "",
               c->alias ? c->alias : "", c->alias ? ")" : "");
    printf("\noptions of every command:\n");
    for (const pl_option *o = pl_global_options; o->name; o++)
        pl_help_option(stdout, o, LEFT, COLUMNS);
    printf("\n%s", pl_help_end);
}

int pl_command_help(pl_cli *cli)
{
    const pl_command *c = cli->argument_count > 0 ? pl_command_find(cli, cli->arguments[0]) : NULL;
    if (cli->argument_count == 0)
        pl_help_print();
    else if (c)
        pl_help_print_command(c);
    return c || cli->argument_count == 0 ? PL_EXIT_OK : PL_EXIT_USAGE;
}

void pl_help_print_command(const pl_command *c)
{
    bool lists = c->verbs && strcmp(c->verbs->name, "list") == 0;
    const char *arguments = lists ? "[VERB ...]" : c->verbs ? "VERB ..." : c->arguments;
    printf("usage: pliant %s%s%s\n\n%s\n", c->name, *arguments ? " " : "", arguments, c->summary);
    for (const pl_verb *v = c->verbs; v && v->name; v++) {
        pl_option row = {v->name, *v->arguments ? v->arguments : NULL, v->summary};
        fputs(v == c->verbs ? "\n" : "", stdout);
        pl_help_option(stdout, &row, LEFT, COLUMNS);
    }
    if (c->alias)
        printf("\nalso: pliant %s\n", c->alias);
    if (c->notes)
        printf("\n%s\n", c->notes);
    const char *const *examples = pl_examples_of(c->name);
    for (int i = 0; examples && i < PL_EXAMPLES; i++)
        printf("%s  %s\n", i == 0 ? "\nexamples:\n" : "", examples[i]);
    printf("\noptions:\n");
    for (int i = 0; i < PL_OPTIONS_MAX && c->options[i].name; i++)
        pl_help_option(stdout, &c->options[i], LEFT, COLUMNS);
    for (const pl_option *o = pl_global_options; o->name; o++)
        pl_help_option(stdout, o, LEFT, COLUMNS);
}

static void print_command(const pl_command *c)
{
    char title[LEFT_MOST + 160];
    snprintf(title, sizeof title, "pliant %s %s", c->name, c->verbs ? "VERB ..." : c->arguments);
    pl_manual_subsection(stdout, title);
    pl_manual_text(stdout, c->summary, false);
    for (const pl_verb *v = c->verbs; v && v->name; v++)
        pl_manual_item(stdout, v->name, v->arguments, v->summary);
    if (c->alias)
        pl_manual_item(stdout, "also", NULL, c->alias);
    if (c->notes)
        pl_manual_text(stdout, c->notes, true);
    const char *const *examples = pl_examples_of(c->name);
    for (int i = 0; examples && i < PL_EXAMPLES; i++)
        pl_manual_text(stdout, examples[i], true);
    for (int i = 0; i < PL_OPTIONS_MAX && c->options[i].name; i++)
        pl_manual_option(stdout, &c->options[i]);
}

void pl_help_print_manual(void)
{
    static const char *const files[][2] = {
        {"~/.config/pliant/config",
         "names of daemons, written by pliant server; $PLIANT_CONFIG names another file"},
        {"~/.local/state/pliant",
         "state directory of a daemon, with its url and the owner's token"}};
    static const char *const variables[][2] = {{"PLIANT_SERVER", "address or name of the daemon"},
                                               {"PLIANT_TOKEN", "access token"},
                                               {"PLIANT_TOKEN_FILE", "file with the access token"},
                                               {"PLIANT_CONFIG", "file with the names of daemons"},
                                               {"NO_COLOR", "if set, no colours"}};
    pl_manual_begin(stdout, "pliant", summary, PLIANT_VERSION);
    pl_manual_section(stdout, "SYNOPSIS");
    pl_manual_text(stdout, "pliant [--server URL|NAME] [--token T] [--json] COMMAND ...", true);
    pl_manual_section(stdout, "COMMANDS");
    for (const pl_command *c = pl_commands; c->name; c++)
        print_command(c);
    pl_manual_section(stdout, "OPTIONS OF EVERY COMMAND");
    for (const pl_option *o = pl_global_options; o->name; o++)
        pl_manual_option(stdout, o);
    pl_manual_section(stdout, "EXIT STATUS");
    pl_manual_text(stdout, pl_help_end, true);
    pl_manual_section(stdout, "ENVIRONMENT");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        pl_manual_item(stdout, variables[i][0], NULL, variables[i][1]);
    pl_manual_section(stdout, "FILES");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        pl_manual_item(stdout, files[i][0], NULL, files[i][1]);
    pl_manual_section(stdout, "SEE ALSO");
    pl_manual_text(stdout, "pliantd(1)", false);
}
