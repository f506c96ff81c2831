/* export_files.h - where `pliant export` writes to: a file, or a series of files in a folder. Each
 * appears whole or not at all.
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
    int status;      /* PL_EXIT_OK, or what was said to be wrong */
    /* Files written so far, without the lists of a series, which are written again and again; and all bytes. */
    int64_t count, bytes;
    char *first; /* name of the first of them */
} pl_export_files;

/* A series' PREFIX is the path's last part without `ending` (".pvd"), and its folder is made; of a
 * single file `ending` is NULL. An exit status. */
int pl_export_files_open(pl_export_files *f, const pl_cli *cli, const char *path,
                         const char *ending);
/* One file: of a series by its name. False once something went wrong, which was said. */
bool pl_export_files_begin(pl_export_files *f, const char *name);
bool pl_export_files_write(pl_export_files *f, const void *data, size_t size);
bool pl_export_files_end(pl_export_files *f);
/* One line on standard error, or with --json an object on standard output: which files were written, how large. */
void pl_export_files_report(const pl_export_files *f);
/* Forgets a file that has not come to its end. */
void pl_export_files_close(pl_export_files *f);

#endif
