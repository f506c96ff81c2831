#include "server/base/options.h"

#include "server/base/options_table.h"

#include <stdio.h>

enum { LEFT = 27, COLUMNS = 100 };

static const char summary[] = "simulate deformable bodies for clients over HTTP";
static const char usage[] = "pliantd --state DIR [options]\n"
                            "pliantd --config FILE [options]\n"
                            "pliantd user|group|token --help\n"
                            "pliantd backup|restore|doctor|support-bundle --help";
static const char more[] =
    "The daemon prints its base URL and keeps it in DIR/url while it runs; the token is in\n"
    "DIR/token. SIGTERM stops it: streams end with reason shutdown. Running sessions continue "
    "(see\n"
    "--on-exit), and the next daemon on the same state adopts them.";

void pl_options_help(void)
{
    printf("pliantd - %s\n\nusage: pliantd --state DIR [options]\n"
           "       pliantd --config FILE [options]\n"
           "       pliantd user|group|token --help    manage access\n"
           "       pliantd backup|restore --help      back up and restore a state directory\n"
           "       pliantd doctor --help              check machine, state and options\n\n",
           summary);
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        pl_help_option(stdout, &o->shown, LEFT, COLUMNS);
    }
    printf("\n%s\n", more);
}

void pl_options_manual(void)
{
    pl_manual_begin(stdout, "pliantd", summary, PLIANT_VERSION);
    pl_manual_section(stdout, "SYNOPSIS");
    pl_manual_text(stdout, usage, true);
    pl_manual_section(stdout, "DESCRIPTION");
    pl_manual_text(stdout, more, false);
    pl_manual_section(stdout, "OPTIONS");
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        pl_manual_option(stdout, &o->shown);
    }
    pl_manual_section(stdout, "SEE ALSO");
    pl_manual_text(stdout, "pliant(1)", false);
}
