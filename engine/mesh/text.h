/* text.h - numbers written as text, read from a range of bytes.
 *
 * A mesh file is not NUL-terminated and the process locale is not ours, so neither strtod nor strtoll can be used
 * on it. A token is a run of bytes between separators; these functions parse a whole token. Decimal to double is
 * correctly rounded: the short exact case here, the long one by the C library in the "C" locale.
 */
#ifndef PLIANT_ENGINE_MESH_TEXT_H
#define PLIANT_ENGINE_MESH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pl_text_outcome {
    PL_TEXT_FINE,
    PL_TEXT_NOT_A_NUMBER, /* or not an integer where one is expected */
    PL_TEXT_OUT_OF_RANGE, /* does not fit int64_t, or longer than PL_TEXT_NUMBER_MAX characters */
    PL_TEXT_NOT_FINITE,   /* nan, inf, or a magnitude above DBL_MAX */
} pl_text_outcome;

enum { PL_TEXT_NUMBER_MAX = 400, PL_TEXT_QUOTE_MAX = 32 };

/* True for space, tab, carriage return, vertical tab, form feed. A newline is not a blank. */
static inline bool pl_text_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool pl_text_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Parses the token [token, token + length). *value is set only if PL_TEXT_FINE. */
pl_text_outcome pl_text_integer(const char *token, size_t length, int64_t *value);
pl_text_outcome pl_text_real(const char *token, size_t length, double *value);

/* `token` in a printable form: printable ASCII, cut with "..", in quotes. Returns `out`. */
const char *pl_text_quote(const char *token, size_t length, char out[PL_TEXT_QUOTE_MAX]);

/* Copies at most `room` bytes of a name as valid UTF-8 without control characters, with '?' for invalid ones; `out`
 * has room + 1 bytes. A name is cut between characters. */
void pl_text_copy_name(const char *name, size_t length, char *out, size_t room);

/* 1 + the newlines in [base, at). */
int64_t pl_text_line(const char *base, const char *at);

#endif
