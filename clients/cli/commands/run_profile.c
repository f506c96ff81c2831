#include "clients/cli/commands/run_profile.h"

#include "protocol/log/small_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 16, CELL = 24 };

/* "12.34", or "-" for a null. */
static void number_text(const pl_json *of, const char *path, double scale, const char *format,
                        char out[CELL])
{
    double value = scale * pl_json_number(of, path, NAN);
    if (isnan(value))
        snprintf(out, CELL, "-");
    else
        snprintf(out, CELL, format, value);
}

/* Above a million, more threads are no limit. */
static void print_speedups(const pl_json *of)
{
    char path[32], text[CELL];
    size_t count = pl_json_count(pl_json_at(of, "speedup"));
    for (size_t k = 0; k < count; k++) {
        snprintf(path, sizeof path, "speedup/%zu", k);
        number_text(of, path, 1, pl_json_number(of, path, 0) < 99.5 ? "%.1f" : "%.0f", text);
        printf(" %6s", text);
    }
}

static void print_row(const pl_json *of, const char *name, double whole)
{
    char calls[CELL], one[CELL], two[CELL], work[CELL], share[CELL];
    number_text(of, "calls", 1, "%.1f", calls);
    number_text(of, "seconds/0", 1e3, "%.3f", one);
    number_text(of, "seconds/1", 1e3, "%.3f", two);
    number_text(of, "seconds/0", 100 / whole, "%.1f", share);
    number_text(of, "work", 1, "%.2g", work);
    printf("%-15s %7s %9s %9s %5s %8s %9s", name, calls, one, two, share, work,
           pl_json_string(of, "counting", ""));
    print_speedups(of);
    putchar('\n');
}

static void print_table(const pl_json *profile)
{
    const pl_json *phases = pl_json_at(profile, "phases"), *frame = pl_json_at(profile, "frame");
    double whole = pl_json_number(frame, "seconds/0", NAN);
    printf("profile: %" PRId64 " frames on 1 thread, %" PRId64
           " on 2; %.1f ms for the model before them\n",
           pl_json_integer(profile, "frames/0", 0), pl_json_integer(profile, "frames/1", 0),
           1e3 * pl_json_number(profile, "setup_seconds", NAN));
    printf("%-15s %7s %9s %9s %5s %8s %9s  at most so many times faster on\n", "per frame", "calls",
           "ms on 1", "ms on 2", "%", "work", "bound");
    printf("%-15s %7s %9s %9s %5s %8s %9s", "", "", "", "", "", "", "");
    for (size_t k = 0; k < pl_json_count(pl_json_at(profile, "threads")); k++) {
        char path[32], text[CELL];
        snprintf(path, sizeof path, "threads/%zu", k);
        number_text(profile, path, 1, "%.0f", text);
        printf(" %6s", strcmp(text, "-") == 0 ? "any" : text);
    }
    putchar('\n');
    for (size_t k = 0; k < pl_json_count(phases); k++) {
        const pl_json *phase = pl_json_item(phases, k);
        print_row(phase, pl_json_string(phase, "name", ""), whole);
    }
    print_row(frame, "whole frame", whole);
    puts("bound: counted (chunks, and the path of the solve's tree), serial (one thread), or\n"
         "measured (Amdahl's law from the times on 1 and 2 threads)");
}

static void print_event(const pl_json *profile)
{
    char *text = pl_json_dump(profile, false);
    if (text)
        printf("{\"event\": \"profile\", \"profile\": %s}\n", text);
    free(text);
}

int pl_run_profile_print(const pl_cli *cli, const char *path, int dir_fd)
{
    char *text;
    size_t length;
    if (pl_file_read(dir_fd, "profile.json", LIMIT, &text, &length) != PL_OK)
        return errno == ENOENT
                   ? pl_cli_fail(cli, PL_EXIT_FAILED,
                                 "no frame was computed, so there is no profile")
                   : pl_cli_fail(cli, PL_EXIT_FILE, "%s/profile.json: %s", path, strerror(errno));
    pl_json *profile = pl_json_parse(text, length, NULL);
    free(text);
    if (!profile)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s/profile.json is damaged", path);
    if (cli->json)
        print_event(profile);
    else
        print_table(profile);
    pl_json_free(profile);
    return PL_EXIT_OK;
}
