/* outlet.h - buffered output of bytes, to a file or over HTTP. Small pieces are gathered. It cannot seek back, so
 * output of any length needs constant memory.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_OUTLET_H
#define PLIANT_PROTOCOL_EXPORT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_OUTLET_BUFFER = 1 << 16 };

typedef struct pl_outlet {
    /* Takes the next bytes; false: it accepts no more. */
    bool (*write)(void *context, const void *data, size_t size);
    void *context;
    uint64_t position; /* number of bytes so far */
    bool stopped;      /* write has returned false: all further bytes are dropped */
    size_t filled;
    _Alignas(16) char buffer[PL_OUTLET_BUFFER];
} pl_outlet;

void pl_outlet_put(pl_outlet *o, const void *data, size_t size);
/* Memory for the next bytes, PL_OUTLET_BUFFER at most, to be filled before the next call; aligned to 4 if all
 * earlier output came in pieces of 4. */
void *pl_outlet_room(pl_outlet *o, size_t size);
/* Writes a text as a field of a CSV file: in quotes if it contains a comma, a quote or a line end (RFC 4180). */
void pl_outlet_csv_text(pl_outlet *o, const char *text);
/* Flushes; false if the bytes are not accepted. */
bool pl_outlet_flush(pl_outlet *o);

/* A text that grows. Zero-initialise, free(text). */
typedef struct pl_text {
    char *text;
    size_t length, capacity;
    bool failed; /* out of memory: the text is incomplete */
} pl_text;
/* Memory for `more` bytes after the text, or NULL. Add the number of bytes written to `length`. */
char *pl_text_room(pl_text *t, size_t more);
void pl_text_put(pl_text *t, const char *text);
__attribute__((format(printf, 2, 3))) void pl_text_printf(pl_text *t, const char *format, ...);

#endif
