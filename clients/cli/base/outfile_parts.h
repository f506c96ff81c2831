/* outfile_parts.h - several files in a directory that show the same thing. */
#ifndef PLIANT_CLIENTS_CLI_BASE_OUTFILE_PARTS_H
#define PLIANT_CLIENTS_CLI_BASE_OUTFILE_PARTS_H

#include "clients/cli/base/command.h"
#include "clients/cli/base/outfile.h"

/* One of them: written whole at the path, as pl_outfile_commit has
 * it. */
typedef struct pl_outfile_part {
    const char *name;
    pl_status (*write)(const char *path, const void *context);
} pl_outfile_part;
/* Every part in the directory, which is made; an exit status, after saying what went wrong. */
int pl_outfile_parts_write(const pl_cli *cli, const char *directory, const pl_outfile_part *parts,
                           int count, const void *context);

#endif
