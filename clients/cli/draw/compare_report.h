/* compare_report.h - a comparison of methods as a table, a plot in the terminal, and files. */
#ifndef PLIANT_CLIENTS_CLI_DRAW_COMPARE_REPORT_H
#define PLIANT_CLIENTS_CLI_DRAW_COMPARE_REPORT_H

#include "clients/cli/base/command.h"
#include "clients/cli/session/compare_result.h"

typedef struct pl_compare_report {
    const char *scene; /* its name */
    int64_t frame;
    bool hard; /* constraints that the objective does not contain */
} pl_compare_report;

/* Print table and plot on standard output, or with --json the same document as compare.json. */
int pl_compare_report_print(pl_cli *cli, const pl_compare_report *about,
                            const pl_compare_result *result);
/* Write DIR/compare.svg, .csv and .json. */
int pl_compare_report_write(pl_cli *cli, const pl_compare_report *about,
                            const pl_compare_result *result, const char *directory);

#endif
