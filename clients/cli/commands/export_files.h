/* export_files.h - the output of `pliant export`: a file, or a series of files in a folder. Each file appears whole or
 * not at all.
 */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_EXPORT_FILES_H
#define PLIANT_CLIENTS_CLI_COMMANDS_EXPORT_FILES_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"

typedef struct pl_export_files {
    const pl_cli *cli;
    const char *path, *ending; /* as given to open */
    char *folder, *prefix;     /* of a series: files are FOLDER/PREFIX... */
    bool open;
    pl_outfile file; /* while it is open */
    char *name;      /* its path */
    int status;      /* PL_EXIT_OK, or the status of the error that was printed */
    /* Files written so far (not counting the lists of a series, which are rewritten repeatedly), and all bytes. */
    int64_t count, bytes;
    char *first; /* name of the first file */
} pl_export_files;

/* For a series, PREFIX is the last part of the path without `ending` (".pvd"), and its folder is created; for a single
 * file `ending` is NULL. Returns an exit status. */
int pl_export_files_open(pl_export_files *f, const pl_cli *cli, const char *path,
                         const char *ending);
/* Begin a file; in a series, by its name. False once an error has been printed. */
bool pl_export_files_begin(pl_export_files *f, const char *name);
bool pl_export_files_write(pl_export_files *f, const void *data, size_t size);
bool pl_export_files_end(pl_export_files *f);
/* Report the files written and their sizes: a line on standard error, or with --json an object on standard output. */
void pl_export_files_report(const pl_export_files *f);
/* Discard an incomplete file. */
void pl_export_files_close(pl_export_files *f);

#endif
