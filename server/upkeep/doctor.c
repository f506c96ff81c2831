#include "server/upkeep/doctor.h"

#include "protocol/text/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[] = {"ok", "warning", "error"};

void pl_doctor_say(pl_doctor *d, const char *check, pl_finding_level level, const char *advice,
                   const char *format, ...)
{
    if (d->count == PL_FINDINGS_MAX) {
        return;
    }
    pl_finding *f = &d->findings[d->count++];
    *f = (pl_finding){.check = check, .level = level, .advice = advice};
    va_list args;
    va_start(args, format);
    vsnprintf(f->message, sizeof f->message, format, args);
    va_end(args);
}

void pl_doctor_run(pl_doctor *d, const pl_options *options)
{
    *d = (pl_doctor){.options = options};
    pl_doctor_machine(d);
    pl_doctor_state(d);
}

int pl_doctor_errors(const pl_doctor *d)
{
    int errors = 0;
    for (int i = 0; i < d->count; i++) {
        errors += d->findings[i].level == PL_FINDING_ERROR;
    }
    return errors;
}

char *pl_doctor_json(const pl_doctor *d)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_boolean(&w, "healthy", pl_doctor_errors(d) == 0);
    pl_json_set_string(&w, "version", PLIANT_VERSION);
    pl_json_set_string(&w, "state", d->options->state);
    pl_json_set_boolean(&w, "running", d->running);
    pl_json_key(&w, "checks");
    pl_json_begin_array(&w);
    for (int i = 0; i < d->count; i++) {
        const pl_finding *f = &d->findings[i];
        pl_json_begin_object(&w);
        pl_json_set_string(&w, "check", f->check);
        pl_json_set_string(&w, "level", level_names[f->level]);
        pl_json_set_string(&w, "message", f->message);
        pl_json_set_string(&w, "advice", f->advice);
        pl_json_end_object(&w);
    }
    pl_json_end_array(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

static void print(const pl_doctor *d)
{
    int warnings = 0;
    for (int i = 0; i < d->count; i++) {
        const pl_finding *f = &d->findings[i];
        warnings += f->level == PL_FINDING_WARNING;
        printf("%-8s %-10s %s\n", level_names[f->level], f->check, f->message);
        if (f->advice) {
            printf("%19s -> %s\n", "", f->advice);
        }
    }
    printf("%d checks: %d errors, %d warnings\n", d->count, pl_doctor_errors(d), warnings);
}

static const char help[] =
    "usage: pliantd doctor [--json] [--config FILE | --state DIR] [OPTIONS OF pliantd]\n"
    "\n"
    "Checks the machine, the state directory, its database and the options that a daemon would\n"
    "start with; prints each problem and its fix. Run it as the daemon's user, with or without a\n"
    "running daemon. It changes nothing.\n"
    "\n"
    "Exit status: 0 without errors, 1 with errors, 2 if the options are wrong.\n";

/* Removes a word from argv, which keeps the daemon's options. */
static int take_out(int argc, char **argv, const char *word, bool *found)
{
    int kept = 0;
    for (int i = 0; i < argc; i++) {
        bool is = i > 0 && strcmp(argv[i], word) == 0;
        *found = *found || is;
        argv[kept] = argv[i];
        kept += !is;
    }
    return kept;
}

int pl_doctor_command(int argc, char **argv)
{
    static pl_options options;
    static pl_doctor d;
    bool json = false, asked = false;
    argc = take_out(argc, argv, "--json", &json);
    argc = take_out(argc, argv, "--help", &asked);
    if (asked) {
        fputs(help, stdout);
        return 0;
    }
    if (pl_options_parse(argc, argv, &options) != PL_OPTIONS_RUN) {
        return 2;
    }
    pl_logf_level(PL_LEVEL_ERROR);
    pl_doctor_run(&d, &options);
    char *text = json ? pl_doctor_json(&d) : NULL;
    if (text) {
        puts(text);
    } else {
        print(&d);
    }
    free(text);
    pl_options_clear(&options);
    return pl_doctor_errors(&d) ? 1 : 0;
}
