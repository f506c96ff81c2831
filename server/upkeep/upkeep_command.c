#include "server/upkeep/upkeep_command.h"

#include "server/upkeep/backup.h"
#include "server/upkeep/bundle.h"
#include "server/upkeep/doctor.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: pliantd backup FOLDER --state DIR [--keep N] [--with-secrets] [--json]\n"
    "       pliantd restore BACKUP --state DIR\n"
    "\n"
    "backup copies a state directory into a new directory FOLDER/TIME, even while a daemon and\n"
    "its sessions run. Files already in the newest backup in FOLDER become hard links to it.\n"
    "Every file is read back from the disk and compared before the backup is complete.\n"
    "restore copies such a directory into a state directory that is missing or empty, and checks\n"
    "each file. Sessions that ran continue from their checkpoints when a daemon starts.\n"
    "\n"
    "  --state DIR       state directory\n"
    "  --keep N          remove all but the newest N backups of FOLDER afterwards (default: keep "
    "all)\n"
    "  --with-secrets    also copy the owner's token and the key of webhooks. Without it the "
    "restored\n"
    "                    daemon makes new ones. The hashes of users' tokens are always included\n"
    "  --json            print JSON\n"
    "\n"
    "Exit status: 0, or 1 if the backup or the restored directory is incomplete; 2 for wrong "
    "usage.\n";

typedef struct command {
    const char *verb, *place, *state;
    pl_backup_request backup;
} command;

static int wrong(const char *what, const char *got)
{
    fprintf(stderr, "pliantd: %s '%s'; see pliantd backup --help\n", what, got ? got : "");
    return 2;
}

enum { OPT_STATE = 256, OPT_KEEP, OPT_SECRETS };

static const struct option long_options[] = {
    {"state", required_argument, NULL, OPT_STATE},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"with-secrets", no_argument, NULL, OPT_SECRETS},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Handles an option. Returns -1 to continue, or the exit status. */
static int take(command *c, int option, const char *text)
{
    char *end;
    switch (option) {
    case 'h':
        fputs(help, stdout);
        return 0;
    case OPT_STATE:
        c->state = text;
        return -1;
    case OPT_KEEP:
        c->backup.keep = (int)strtol(text, &end, 10);
        return *text && !*end && c->backup.keep > 0 ? -1 : wrong("--keep cannot be", text);
    case OPT_SECRETS:
        c->backup.secrets = true;
        return -1;
    case 'j':
        c->backup.json = true;
        return -1;
    default:
        fputs("see pliantd backup --help\n", stderr);
        return 2;
    }
}

static int parse(command *c, int argc, char **argv)
{
    *c = (command){.verb = argv[0]};
    for (int o; (o = getopt_long(argc, argv, "", long_options, NULL)) != -1;) {
        int status = take(c, o, optarg);
        if (status >= 0) {
            return status;
        }
    }
    if (argc - optind != 1) {
        return wrong(argc - optind ? "too many arguments for" : "a directory is missing for",
                     c->verb);
    }
    c->place = argv[optind];
    return c->state ? -1 : wrong("--state DIR is missing for", c->verb);
}

bool pl_upkeep_command_is(const char *word)
{
    return strcmp(word, "backup") == 0 || strcmp(word, "restore") == 0 ||
           strcmp(word, "doctor") == 0 || strcmp(word, "support-bundle") == 0;
}

int pl_upkeep_command(int argc, char **argv)
{
    command c;
    if (strcmp(argv[0], "doctor") == 0) {
        return pl_doctor_command(argc, argv);
    }
    if (strcmp(argv[0], "support-bundle") == 0) {
        return pl_bundle_command(argc, argv);
    }
    int status = parse(&c, argc, argv);
    if (status >= 0) {
        return status;
    }
    umask(077);
    if (strcmp(c.verb, "restore") == 0) {
        return pl_restore(c.place, c.state);
    }
    c.backup.state = c.state;
    c.backup.folder = c.place;
    return pl_backup(&c.backup);
}
