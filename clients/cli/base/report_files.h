/* report_files.h - several files in a directory that show the same thing. */
#ifndef PLIANT_CLIENTS_CLI_BASE_REPORT_FILES_H
#define PLIANT_CLIENTS_CLI_BASE_REPORT_FILES_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"

/* One of them: written whole at the path, as pl_outfile_commit has
 * it. */
typedef struct pl_report_file {
    const char *name;
    pl_status (*write)(const char *path, const void *context);
} pl_report_file;
/* Every part in the directory, which is made; an exit status, after saying what went wrong. */
int pl_report_files_write(const pl_cli *cli, const char *directory, const pl_report_file *parts,
                          int count, const void *context);

#endif
