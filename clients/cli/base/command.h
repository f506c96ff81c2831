/* command.h - how a command is described, and the context that each command gets. */
#ifndef PLIANT_CLIENTS_CLI_BASE_COMMAND_H
#define PLIANT_CLIENTS_CLI_BASE_COMMAND_H

#include "clients/cli/base/terminal.h"

#include "engine/scene/fault.h"
#include "protocol/log/warnings.h"
#include "protocol/text/json.h"
#include "protocol/text/manual.h"

#include <stdint.h>

/* Exit statuses, documented in `pliant --help`. */
enum {
    PL_EXIT_OK = 0,
    PL_EXIT_FAILED = 1,       /* the session failed, or the request was rejected */
    PL_EXIT_USAGE = 2,        /* the command line is wrong */
    PL_EXIT_UNREACHABLE = 3,  /* no daemon answers */
    PL_EXIT_UNAUTHORISED = 4, /* no token, or an invalid one */
    PL_EXIT_NOT_FOUND = 5,    /* no such session */
    PL_EXIT_CANCELLED = 6,    /* the session was cancelled or deleted */
    PL_EXIT_FILE = 7,         /* a file here could not be read or written */
    PL_EXIT_INTERRUPTED = 130 /* Ctrl-C; the session keeps running */
};

enum { PL_OPTIONS_MAX = 18, PL_ARGUMENTS_MAX = 1024 };

typedef struct pl_cli pl_cli;
typedef struct pl_http_client pl_http_client; /* net/http_client.h */
/* One verb of a command, as in "pliant token revoke ID". Its arguments follow its name. */
typedef struct pl_verb {
    const char *name, *arguments, *summary;
    int least, most;
    int (*run)(pl_cli *cli);
} pl_verb;

typedef struct pl_command {
    const char *name, *arguments, *summary;
    const char *alias; /* another name, or NULL */
    int least, most;   /* positional arguments */
    const char *notes; /* more help, or NULL */
    pl_option options[PL_OPTIONS_MAX];
    const pl_verb *verbs; /* ends with a NULL name; NULL: the command has no verbs */
    int (*run)(pl_cli *cli);
} pl_command;

struct pl_cli {
    const pl_command *command;
    const pl_verb *verb;                /* the verb in use, if the command has verbs */
    const char *server, *token, *state; /* as given, or NULL */
    bool json;
    const char *values[PL_OPTIONS_MAX]; /* of the command's options; "" for a flag that is set */
    const char *arguments[PL_ARGUMENTS_MAX];
    int argument_count;
    pl_terminal out, err;   /* standard output, standard error */
    pl_http_client *client; /* made when first needed */
    char *server_url;       /* set together with client */
    bool server_moves;      /* the server was found in a state directory */
};

/* The value of an option of the running command; NULL if it was not given. */
const char *pl_cli_option(const pl_cli *cli, const char *name);
bool pl_cli_flag(const pl_cli *cli, const char *name);
/* Read an option as a whole number. False after printing what is wrong. */
bool pl_cli_integer(const pl_cli *cli, const char *name, int64_t minimum, int64_t maximum,
                    int64_t fallback, int64_t *out);
bool pl_cli_number(const pl_cli *cli, const char *name, double minimum, double maximum,
                   double fallback, double *out);

/* One line on standard error: "pliant: ...". Returns `status`, for `return pl_cli_fail(...)`. */
__attribute__((format(printf, 3, 4))) int pl_cli_fail(const pl_cli *cli, int status,
                                                      const char *format, ...);
/* The same for an option's value, with the values that it accepts. Returns PL_EXIT_USAGE. */
int pl_cli_fail_value(const pl_cli *cli, const char *option, const char *value,
                      const char *const *known, size_t count);
/* One line on standard error that is not an error: "note: ..."; nothing with --json. */
void pl_cli_note(const pl_cli *cli, const char *text);
/* Print each warning of a list, or of a session's "warnings", as a line: "warning: unconverged: ..."; nothing with
 * --json. */
void pl_cli_warn(const pl_cli *cli, const pl_warnings *list);
void pl_cli_warn_of(const pl_cli *cli, const pl_json *list);
/* Print a list of faults, one block each: where, found, expected, remedy. */
void pl_cli_print_faults(const pl_cli *cli, const pl_faults *faults);
/* Print on standard error that a scene was rejected, with its faults; with --json, print a problem on standard output.
 * `detail` may be NULL. Returns PL_EXIT_FAILED. */
int pl_cli_refuse(const pl_cli *cli, const char *detail, const pl_faults *faults);

#endif
