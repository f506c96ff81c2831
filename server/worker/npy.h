/* npy.h - int32 tables as NumPy .npy files, written in one pass without holding them in memory.
 * Format 1.0: magic, header padded to a multiple of 64 bytes, little-endian rows.
 */
#ifndef PLIANT_SERVER_WORKER_NPY_H
#define PLIANT_SERVER_WORKER_NPY_H

#include "protocol/log/session_dir.h"

#include <stdint.h>

typedef struct pl_npy_writer pl_npy_writer;
/* Start `name` in the directory: int32, shape (rows, columns), C order. It appears whole, by
 * rename, when closed. PL_IO with errno. */
pl_status pl_npy_open(int directory, const char *name, int64_t rows, int32_t columns,
                      pl_npy_writer **out);
/* Append `rows` rows, `offset` added to every value. */
pl_status pl_npy_append(pl_npy_writer *w, const int32_t *values, int64_t rows, int32_t offset);
/* Flush and rename, without a sync; if keep is false, remove it instead. Always releases w (NULL is allowed).
 * PL_INVALID if the number of rows differs from the announced one: then nothing is kept. *sum: of the file's bytes as
 * they were written. */
pl_status pl_npy_close(pl_npy_writer *w, bool keep, pl_file_sum *sum);

#endif
