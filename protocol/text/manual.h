/* manual.h - the help and the manual page of a program, both from its table of options, so that they always match.
 * The page uses the man macros of troff.
 */
#ifndef PLIANT_PROTOCOL_TEXT_MANUAL_H
#define PLIANT_PROTOCOL_TEXT_MANUAL_H

#include <stdbool.h>
#include <stdio.h>

typedef struct pl_option {
    const char *name; /* "--out" */
    const char *
        value; /* its name in the help, NULL: a flag; FILE, DIR and PATH are files, a|b|c all that there are */
    const char *help; /* one paragraph */
} pl_option;

/* "  --out DIR    the directory"; text that does not fit into `columns` continues below. `left` is the column of
 * the help text. */
void pl_help_option(FILE *out, const pl_option *option, int left, int columns);

/* The head of a page: "PLIANT(1)", its name and description. */
void pl_manual_begin(FILE *out, const char *name, const char *summary, const char *version);
void pl_manual_section(FILE *out, const char *title);
void pl_manual_subsection(FILE *out, const char *title);
/* Text as one paragraph or, with `as_is`, with its line breaks. */
void pl_manual_text(FILE *out, const char *text, bool as_is);
/* A term in bold, the rest of it plain, and its description. */
void pl_manual_item(FILE *out, const char *term, const char *rest, const char *text);
void pl_manual_option(FILE *out, const pl_option *option);

#endif
