/* fuzz.h - shared by the fuzz targets: requirements, a scratch directory, inputs that are lists of parts, and the
 * repair of checksums after a mutation, so that the fuzzer gets past them.
 *
 * A target is one file NAME_fuzz.c with LLVMFuzzerTestOneInput (libFuzzer). An input of several parts is bytes: an
 * operation (u8), a length (u24, little-endian, cut to the available bytes), as many bytes, and so on; each target
 * defines its operations.
 */
#ifndef PLIANT_TESTS_FUZZ_FUZZ_H
#define PLIANT_TESTS_FUZZ_FUZZ_H

#include "engine/scene/fault.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* What must hold for every input; otherwise the message and an abort, which the fuzzer reports. */
#define FUZZ_REQUIRE(condition, ...) ((condition) ? (void)0 : fuzz_fail(__VA_ARGS__))
__attribute__((noreturn, format(printf, 1, 2))) void fuzz_fail(const char *format, ...);

/* Requires faults that make a valid problem report. */
void fuzz_check_faults(const pl_faults *faults);

/* A copy of exactly that size, so that a read past its end is seen. */
void *fuzz_exact(const void *bytes, size_t size);

/* ---- a directory in memory ---- */

/* Descriptor of a directory of this process below $TMPDIR, or /dev/shm. */
int fuzz_directory(void);
void fuzz_write(const char *name, const void *bytes, size_t size);
void fuzz_append(const char *name, const void *bytes, size_t size);
/* Remove every file in the directory and its folder log/. */
void fuzz_clean(void);

/* ---- parts ---- */

enum { FUZZ_PARTS_MAX = 64, FUZZ_PART_HEADER = 4 };
typedef struct fuzz_part {
    uint8_t op;
    const uint8_t *bytes;
    size_t size;
} fuzz_part;
/* Fills parts[FUZZ_PARTS_MAX]; how many there are. */
size_t fuzz_parts(const uint8_t *data, size_t size, fuzz_part *parts);

/* Repairs a mutated part in place; returns its new size, at most `room`. */
typedef size_t (*fuzz_mend)(uint8_t op, uint8_t *bytes, size_t size, size_t room);
/* A custom mutator for inputs of parts: changes, copies, drops and swaps parts and their operations (below op_count),
 * then repairs the changed parts, except one time in eight. */
size_t fuzz_mutate_parts(uint8_t *data, size_t size, size_t max_size, unsigned int seed,
                         unsigned int op_count, fuzz_mend mend);

/* ---- mending ---- */

/* Both CRCs of whatever carries a record's magic at a multiple of 8. */
size_t fuzz_mend_records(uint8_t *bytes, size_t size);
/* The CRC of each 48 bytes. */
size_t fuzz_mend_index(uint8_t *bytes, size_t size);
/* The seal of a JSON document, added if missing. */
size_t fuzz_mend_seal(uint8_t *bytes, size_t size, size_t room);

#endif
