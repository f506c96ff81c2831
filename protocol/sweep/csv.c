#include "protocol/sweep/csv.h"

#include <stdlib.h>
#include <string.h>

/* Decodes a field at `at` into out, which has room for the rest of the text; returns the rest, or NULL if a quote
 * is not closed. */
static const char *read_field(const char *at, char *out, bool *quoted)
{
    *quoted = *at == '"';
    if (*quoted) {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            at += *at == '"';
            *out++ = *at;
        }
        if (*at++ != '"')
            return NULL;
    }
    while (*at && !strchr(",\r\n", *at))
        *out++ = *at++;
    *out = 0;
    return at;
}

bool pl_csv_read(const char *text, pl_csv_see see, void *context, bool *no_memory)
{
    char *field = malloc(strlen(text) + 1);
    size_t line = 0, column = 0;
    bool good = field, more = good;
    *no_memory = !field;
    text += strspn(text, "\r\n");
    while (more && *text) {
        bool quoted;
        const char *after = read_field(text, field, &quoted);
        good = after;
        more = after && see(context, line, column, field, quoted);
        if (!more)
            break;
        column++;
        text = after + (*after == ',');
        if (*after != ',') {
            text += strspn(text, "\r\n");
            line++;
            column = 0;
        } else if (!*text) { /* an empty field at the text's end */
            more = see(context, line, column, "", false);
        }
    }
    free(field);
    return good;
}
