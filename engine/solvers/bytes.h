/* bytes.h - a growing byte buffer for saving, and a bounded one for restoring. The same build or a later one, on a
 * machine of the same byte order, can read saved bytes; doubles keep their bits, NaNs included. */
#ifndef PLIANT_ENGINE_SOLVERS_BYTES_H
#define PLIANT_ENGINE_SOLVERS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; free(data) when done. Running out of memory sets `failed` and drops data that do not fit, so one
 * check at the end is enough. */
typedef struct pl_bytes_out {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} pl_bytes_out;

/* Reserves `size` more bytes, to be filled at once; NULL if out of memory. */
void *pl_bytes_grow(pl_bytes_out *out, size_t size);
void pl_bytes_put(pl_bytes_out *out, const void *from, size_t size);
void pl_bytes_put_i64(pl_bytes_out *out, int64_t value);
void pl_bytes_put_f64(pl_bytes_out *out, double value);

/* The unread rest. A read past the end sets `failed` and gives zeros. */
typedef struct pl_bytes_in {
    const unsigned char *at;
    size_t left;
    bool failed;
} pl_bytes_in;

/* Returns the next `size` bytes in place (not aligned), or NULL. */
const void *pl_bytes_take(pl_bytes_in *in, size_t size);
void pl_bytes_get(pl_bytes_in *in, void *to, size_t size);
int64_t pl_bytes_get_i64(pl_bytes_in *in);
double pl_bytes_get_f64(pl_bytes_in *in);

#endif
