/* decoder.h - reads a sweep's document: numbers, words and texts by their keys, with a fault for each invalid one;
 * private to protocol/sweep.
 */
#ifndef PLIANT_PROTOCOL_SWEEP_DECODER_H
#define PLIANT_PROTOCOL_SWEEP_DECODER_H

#include "protocol/sweep/sweep.h"

#include <jansson.h>

typedef struct pl_sweep_decoder {
    pl_sweep *sweep;
    json_t *document, *scene;
    pl_faults *faults;
    bool no_memory;
} pl_sweep_decoder;

/* A value as JSON; a number with the fewest digits that read back as the same value. malloc'ed, or NULL if out of
 * memory. */
char *pl_sweep_value_text(const json_t *value);
/* Adds a fault; `got` may be NULL (missing). The format makes its JSON pointer. */
__attribute__((format(printf, 5, 6))) void pl_sweep_fault(pl_sweep_decoder *d, const json_t *got,
                                                          const char *code, const char *expected,
                                                          const char *format, ...);
char *pl_sweep_copy(pl_sweep_decoder *d, const char *text);
void pl_sweep_check_keys(pl_sweep_decoder *d, json_t *object, const char *const *keys,
                         const char *where);

/* A number, or `fallback` if the key is missing; a fault if the value is not a number. */
double pl_sweep_number_at(pl_sweep_decoder *d, json_t *object, const char *key, double fallback,
                          const char *where);
int64_t pl_sweep_whole_at(pl_sweep_decoder *d, json_t *object, const char *key, int64_t least,
                          int64_t most, int64_t fallback, const char *where);
/* A text of at most `most` bytes; NULL if the key is missing, or after a fault. */
const char *pl_sweep_text_at(pl_sweep_decoder *d, json_t *object, const char *key, size_t most,
                             const char *where);
/* The index of a word in a list; `fallback` if the key is missing, or after a fault. */
int pl_sweep_word_at(pl_sweep_decoder *d, json_t *object, const char *key, const char *const *words,
                     int fallback, const char *where);

/* Reads "probe" or "metric", exactly one; a probe must be in the scene. */
void pl_sweep_read_quantity(pl_sweep_decoder *d, pl_fit_quantity *q, json_t *object,
                            const char *where);
/* The member "fit", after the parameters (fit_decode.c). */
void pl_sweep_read_fit(pl_sweep_decoder *d, json_t *object);

#endif
