/* doctor.h - `pliantd doctor`: checks the machine and the state directory with the daemon's options, and prints
 * problems with advice. It changes nothing, and works beside a running daemon.
 */
#ifndef PLIANT_SERVER_UPKEEP_DOCTOR_H
#define PLIANT_SERVER_UPKEEP_DOCTOR_H

#include "server/base/options.h"

#include <stdbool.h>

typedef enum pl_finding_level {
    PL_FINDING_OK,
    PL_FINDING_WARNING, /* a daemon starts, with a limit or a risk */
    PL_FINDING_ERROR    /* a daemon does not start, or fails sessions or requests */
} pl_finding_level;

typedef struct pl_finding {
    const char *check; /* "disk"; constant */
    pl_finding_level level;
    char message[400];
    const char *advice; /* constant; NULL: none needed */
} pl_finding;

enum { PL_FINDINGS_MAX = 64 };
typedef struct pl_doctor {
    const pl_options *options;
    bool running; /* a daemon runs on the state */
    int count;
    pl_finding findings[PL_FINDINGS_MAX];
} pl_doctor;

__attribute__((format(printf, 5, 6))) void pl_doctor_say(pl_doctor *d, const char *check,
                                                         pl_finding_level level, const char *advice,
                                                         const char *format, ...);
/* Run all checks, in order. */
void pl_doctor_run(pl_doctor *d, const pl_options *options);
int pl_doctor_errors(const pl_doctor *d);
/* {"healthy": true, "checks": [{"check", "level", "message", "advice"}]}, malloc'ed. */
char *pl_doctor_json(const pl_doctor *d);

/* Run the command; argv[0] is "doctor", then --json and the daemon's options. Returns the exit status: 0, 1 with an
 * error. */
int pl_doctor_command(int argc, char **argv);

/* Parts of pl_doctor_run. */
void pl_doctor_machine(pl_doctor *d); /* cores, memory, groups, limits, clock, sandbox, GPUs */
void pl_doctor_state(pl_doctor *d);   /* state directory, disk, database, secrets, ports */

#endif
