/* outlet.h - bytes on their way out: to a file, or to whoever reads them over HTTP. Small pieces are
 * gathered; it cannot go back, so that what comes out needs constant memory however long it is.
 */
#ifndef PLIANT_PROTOCOL_EXPORT_OUTLET_H
#define PLIANT_PROTOCOL_EXPORT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_OUTLET_BUFFER = 1 << 16 };

typedef struct pl_outlet {
    /* Takes the next bytes; false: it takes no more. */
    bool (*write)(void *context, const void *data, size_t size);
    void *context;
    uint64_t position; /* bytes put so far */
    bool stopped;      /* write has said false: all that follows is dropped */
    size_t filled;
    _Alignas(16) char buffer[PL_OUTLET_BUFFER];
} pl_outlet;

void pl_outlet_put(pl_outlet *o, const void *data, size_t size);
/* Room for the next bytes, PL_OUTLET_BUFFER at most, to be filled before the next call; aligned to 4 where
 * all that was put before is pieces of 4. */
void *pl_outlet_room(pl_outlet *o, size_t size);
/* A text as a field of a CSV file: in quotes where it holds a comma, a quote or a line's end
 * (RFC 4180). */
void pl_outlet_csv_text(pl_outlet *o, const char *text);
/* Hand on what was gathered; false where it is not taken. */
bool pl_outlet_flush(pl_outlet *o);

/* A text that grows. Zero-initialise, free(text). */
typedef struct pl_text {
    char *text;
    size_t length, capacity;
    bool failed; /* out of memory: the text is not whole */
} pl_text;
/* Room for `more` bytes behind the text, or NULL. What was written there is added by `length`. */
char *pl_text_room(pl_text *t, size_t more);
void pl_text_put(pl_text *t, const char *text);
__attribute__((format(printf, 2, 3))) void pl_text_printf(pl_text *t, const char *format, ...);

#endif
