/* numbers.h - the numbers of binary mesh files: integers and floats of a width and a byte order.
 */
#ifndef PLIANT_ENGINE_MESH_NUMBERS_H
#define PLIANT_ENGINE_MESH_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_number_type {
    PL_NUMBER_I8,
    PL_NUMBER_U8,
    PL_NUMBER_I16,
    PL_NUMBER_U16,
    PL_NUMBER_I32,
    PL_NUMBER_U32,
    PL_NUMBER_I64,
    PL_NUMBER_U64,
    PL_NUMBER_F32,
    PL_NUMBER_F64,
    PL_NUMBER_NONE,
} pl_number_type;

/* Size in bytes. */
int pl_number_bytes(pl_number_type type);
static inline bool pl_number_is_float(pl_number_type type)
{
    return type == PL_NUMBER_F32 || type == PL_NUMBER_F64;
}

/* The number at `at`, byte-swapped with `swap`. As an integer, a float is -1 if it is not whole, and an unsigned
 * number is -1 above INT64_MAX: neither is an index. */
double pl_number_real(const char *at, pl_number_type type, bool swap);
int64_t pl_number_integer(const char *at, pl_number_type type, bool swap);

#endif
