/* input.h - a cursor over the bytes of one mesh file.
 *
 * It reads numbers as text or as raw bytes of either byte order, so one function reads a format with a text and a
 * binary form. A read that fails leaves the cursor in place and stores the error; the reader of a record then calls
 * pl_input_fault once, which words the message. The cursor never passes the end of the file. The reader names the
 * record, as in "node 5 of 14".
 */
#ifndef PLIANT_ENGINE_MESH_INPUT_H
#define PLIANT_ENGINE_MESH_INPUT_H

#include "engine/mesh/draft.h"
#include "engine/mesh/text.h"

typedef enum pl_input_trouble {
    PL_INPUT_FINE,
    PL_INPUT_FILE_END,   /* the file ends inside a record */
    PL_INPUT_LINE_END,   /* the line ends inside a record */
    PL_INPUT_MARK,       /* a $Section mark or keyword instead of a record */
    PL_INPUT_WORD,       /* not a number, or not an integer */
    PL_INPUT_RANGE,      /* a number that does not fit */
    PL_INPUT_NOT_FINITE, /* nan or infinity */
    PL_INPUT_EXTRA,      /* more on the line than the record has */
} pl_input_trouble;

typedef struct pl_input {
    const char *at, *end;
    pl_place place;
    char comment;   /* text from here to the end of the line is skipped; 0: none */
    bool free_form; /* text: a newline counts as a blank */
    bool raw;       /* numbers are bytes, not text */
    bool swap;      /* raw: of the other byte order */
    int size_width; /* raw: bytes of a size, 4 or 8 */
    pl_input_trouble trouble;
    const char *trouble_at;
    const char *record_at; /* start of the current record */
    const char *ragged_at; /* free form: the first record that is not one line, or NULL */
} pl_input;

/* `part` precedes every fault ("in the .ele file, "); static. A UTF-8 mark is skipped. */
void pl_input_open(pl_input *in, const pl_blob *file, const char *part);

/* Start and end a record. In text, a record is one line (blank lines between are skipped); in free form, any run of
 * numbers. */
bool pl_input_begin(pl_input *in);
bool pl_input_finish(pl_input *in);

bool pl_input_int(pl_input *in, int32_t *value);
bool pl_input_size(pl_input *in, int64_t *value); /* 0 .. INT64_MAX */
bool pl_input_real(pl_input *in, double *value);  /* finite */
bool pl_input_reals(pl_input *in, int count, double *values);

/* True if the line has another number (text). */
bool pl_input_more(pl_input *in);
/* Skips one token of any kind (text), or raw bytes. */
bool pl_input_skip_token(pl_input *in);
bool pl_input_skip_bytes(pl_input *in, int64_t count);
/* Skips the rest of the line, including the newline. */
void pl_input_skip_line(pl_input *in);
/* Skips blanks, newlines and comments; false at the end of the file. */
bool pl_input_skip_space(pl_input *in);
/* Returns the token at the cursor, without moving it; 0 at a blank or the end. */
size_t pl_input_token(const pl_input *in);
/* The bytes from the cursor to the end of its line. */
size_t pl_input_rest(const pl_input *in);
/* True if the bytes [at, end) start with `word`. */
bool pl_input_starts(const pl_input *in, const char *word);

/* Adds a fault at the cursor's error: the text found there, in `record` number `k` (from 0) of `count`
 * (-1: the only one), and the `expected` one. True if the reader may continue with the next record: the error was
 * within one line of text, which the cursor has passed. */
bool pl_input_fault(pl_input *in, pl_draft *draft, const char *record, int64_t k, int64_t count,
                    const char *expected);

#endif
