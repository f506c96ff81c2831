/* fault.h - the user's mistakes, as located values.
 *
 * A pl_fault describes one error in a user's input (a scene, a mesh file, a request): where it is (a JSON pointer,
 * RFC 6901), what was found, what was expected and what to do. Functions that check input append to a caller-owned
 * list and continue, so that one answer names every fault. The programmer's mistakes are assertions, and running
 * out of memory is a status; neither is a fault. This header is a leaf that any code may include.
 */
#ifndef PLIANT_ENGINE_SCENE_FAULT_H
#define PLIANT_ENGINE_SCENE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum pl_status {
    PL_OK = 0,
    PL_INVALID,     /* the user's mistake: the fault list has details */
    PL_NO_MEMORY,   /* an allocation failed */
    PL_IO,          /* a file could not be read or written: errno is kept */
    PL_UNSUPPORTED, /* requests something that this build or machine lacks: a fault has details */
    PL_FAILED,      /* a numerical failure: a pl_failure has details */
} pl_status;

/* One fault. The list owns every string; any except `pointer` and `code` may be empty. */
typedef struct pl_fault {
    char *pointer;  /* JSON pointer of the place, "" for the whole document */
    char *code;     /* snake_case, stable: "unknown_key", "out_of_range", "mesh_syntax", ... */
    char *got;      /* what was found there */
    char *expected; /* what would have been right */
    char *hint;     /* what to do about it */
} pl_fault;

/* A list of faults. Zero-initialise. Beyond PL_FAULTS_MAX, faults are only counted, so that a hostile document
 * costs bounded memory. */
enum { PL_FAULTS_MAX = 64 };
typedef struct pl_faults {
    pl_fault *items;
    size_t count; /* number kept, at most PL_FAULTS_MAX */
    size_t total; /* number found */
} pl_faults;

/* Appends a fault. All strings are copied; long ones are cut at 512 bytes; NULL counts as "". Out of memory drops
 * the text, but not the count. */
void pl_faults_add(pl_faults *faults, const char *pointer, const char *code, const char *got,
                   const char *expected, const char *hint);

/* The same with a printf format for `got`. */
__attribute__((format(printf, 6, 7))) void pl_faults_addf(pl_faults *faults, const char *pointer,
                                                          const char *code, const char *expected,
                                                          const char *hint, const char *got_format,
                                                          ...);

/* A name as one segment of a JSON pointer (RFC 6901): ~ becomes ~0, / becomes ~1; cut to `size` bytes. */
void pl_fault_escape(const char *name, char *out, size_t size);
/* "/materials/NAME/KEY"; KEY may have several segments. PL_POINTER_SIZE is enough for any. */
enum { PL_POINTER_SIZE = 320 };
void pl_fault_at_material(const char *name, const char *key, char out[PL_POINTER_SIZE]);

void pl_faults_clear(pl_faults *faults);

#endif
