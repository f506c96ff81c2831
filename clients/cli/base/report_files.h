/* report_files.h - several files in one directory that show the same data. */
#ifndef PLIANT_CLIENTS_CLI_BASE_REPORT_FILES_H
#define PLIANT_CLIENTS_CLI_BASE_REPORT_FILES_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"

/* One of the files. It appears whole or not at all, by pl_outfile_commit. */
typedef struct pl_report_file {
    const char *name;
    pl_status (*write)(const char *path, const void *context);
} pl_report_file;
/* Write every part to the directory, which is created. Returns an exit status, after printing any error. */
int pl_report_files_write(const pl_cli *cli, const char *directory, const pl_report_file *parts,
                          int count, const void *context);

#endif
