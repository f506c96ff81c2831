/* outfile.h - an output file that appears whole or not at all: it is written under a temporary name in the same folder
 * and renamed when complete.
 */
#ifndef PLIANT_CLIENTS_CLI_BASE_OUTFILE_H
#define PLIANT_CLIENTS_CLI_BASE_OUTFILE_H

#include "engine/scene/fault.h"

#include <stdint.h>
#include <stdio.h>

typedef struct pl_outfile {
    FILE *file;
    char *path, *temporary;
    uint64_t position; /* bytes written by pl_outfile_write */
    int error;         /* errno of the first failure, 0: none so far */
} pl_outfile;

/* PL_IO with errno, or PL_NO_MEMORY. */
pl_status pl_outfile_open(pl_outfile *f, const char *path);
/* Failures are kept in f->error and reported by pl_outfile_commit. */
void pl_outfile_write(pl_outfile *f, const void *data, size_t size);
__attribute__((format(printf, 2, 3))) void pl_outfile_printf(pl_outfile *f, const char *format,
                                                             ...);
/* Write a text as a field of a CSV file: quoted if it contains a comma, a quote or a line end (RFC 4180). */
void pl_outfile_csv_text(pl_outfile *f, const char *text);
/* Close and rename into place. PL_IO with errno if anything failed; then no file is left. */
pl_status pl_outfile_commit(pl_outfile *f);
void pl_outfile_abandon(pl_outfile *f);

/* mkdir -p. */
pl_status pl_make_directories(const char *path);

#endif
