#include "protocol/text/manual.h"

#include <ctype.h>
#include <string.h>

/* ---- help ---- */

void pl_help_option(FILE *out, const pl_option *o, int left, int columns)
{
    int at = fprintf(out, "  %s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    at += fprintf(out, "%*s", at < left ? left - at : 2, "");
    int begin = at;
    for (const char *word = o->help + strspn(o->help, " \n"); *word;) {
        int length = (int)strcspn(word, " \n");
        if (at > begin && at + 1 + length > columns) {
            fprintf(out, "\n%*s", left, "");
            at = begin = left;
        }
        at += fprintf(out, "%s%.*s", at > begin ? " " : "", length, word);
        word += length;
        word += strspn(word, " \n");
    }
    fputc('\n', out);
}

/* ---- the page ---- */

/* Escapes what troff would interpret: a backslash, a hyphen that is a minus, a line's first dot or quote. */
static void put_text(FILE *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        bool first = i == 0 || text[i - 1] == '\n';
        if (first && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else if (text[i] == '~')
            fputs("\\(ti", out);
        else if (text[i] == '^')
            fputs("\\(ha", out);
        else
            fputc(text[i], out);
    }
}

static void put_line(FILE *out, const char *text)
{
    put_text(out, text, strlen(text));
    fputc('\n', out);
}

void pl_manual_begin(FILE *out, const char *name, const char *summary, const char *version)
{
    fputs(".TH ", out);
    for (const char *at = name; *at; at++)
        fputc(toupper((unsigned char)*at), out);
    fprintf(out, " 1 \"\" \"Pliant %s\" \"User Commands\"\n.SH NAME\n%s \\- ", version, name);
    put_line(out, summary);
}

void pl_manual_section(FILE *out, const char *title)
{
    fprintf(out, ".SH ");
    put_line(out, title);
}

void pl_manual_subsection(FILE *out, const char *title)
{
    fprintf(out, ".SS \"");
    put_text(out, title, strlen(title));
    fputs("\"\n", out);
}

void pl_manual_text(FILE *out, const char *text, bool as_is)
{
    fputs(as_is ? ".PP\n.nf\n" : ".PP\n", out);
    put_line(out, text);
    if (as_is)
        fputs(".fi\n", out);
}

void pl_manual_item(FILE *out, const char *term, const char *rest, const char *text)
{
    fputs(".TP\n\\fB", out);
    put_text(out, term, strlen(term));
    fputs("\\fR", out);
    if (rest && *rest) {
        fputs(" \\fI", out);
        put_text(out, rest, strlen(rest));
        fputs("\\fR", out);
    }
    fputc('\n', out);
    put_line(out, text);
}

void pl_manual_option(FILE *out, const pl_option *option)
{
    pl_manual_item(out, option->name, option->value, option->help);
}
