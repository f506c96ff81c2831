#include "engine/scene/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 512 };

static char *copy_text(const char *text)
{
    static char nothing[1] = "";
    if (!text || !*text)
        return nothing;
    size_t n = strnlen(text, TEXT_MAX);
    /* Never cut inside a UTF-8 sequence: the report must stay valid JSON. */
    if (n == TEXT_MAX)
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    char *copy = malloc(n + 1);
    if (!copy)
        return nothing;
    memcpy(copy, text, n);
    copy[n] = 0;
    return copy;
}

static void free_text(char *text)
{
    if (text && *text)
        free(text);
}

void pl_faults_add(pl_faults *faults, const char *pointer, const char *code, const char *got,
                   const char *expected, const char *hint)
{
    faults->total++;
    if (faults->count >= PL_FAULTS_MAX)
        return;
    if (!faults->items) {
        faults->items = calloc(PL_FAULTS_MAX, sizeof *faults->items);
        if (!faults->items)
            return;
    }
    faults->items[faults->count++] = (pl_fault){
        .pointer = copy_text(pointer),
        .code = copy_text(code),
        .got = copy_text(got),
        .expected = copy_text(expected),
        .hint = copy_text(hint),
    };
}

void pl_faults_addf(pl_faults *faults, const char *pointer, const char *code, const char *expected,
                    const char *hint, const char *got_format, ...)
{
    char got[TEXT_MAX + 8];
    va_list args;
    va_start(args, got_format);
    vsnprintf(got, sizeof got, got_format, args);
    va_end(args);
    pl_faults_add(faults, pointer, code, got, expected, hint);
}

void pl_fault_escape(const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (; *name && used + 3 < size; name++) {
        if (*name == '~' || *name == '/')
            out[used++] = '~';
        out[used++] = *name == '~' ? '0' : *name == '/' ? '1' : *name;
    }
    out[used] = 0;
}

void pl_fault_at_material(const char *name, const char *key, char out[PL_POINTER_SIZE])
{
    char escaped[260];
    pl_fault_escape(name, escaped, sizeof escaped);
    snprintf(out, PL_POINTER_SIZE, "/materials/%s/%s", escaped, key);
}

void pl_faults_clear(pl_faults *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        pl_fault *f = &faults->items[i];
        free_text(f->pointer);
        free_text(f->code);
        free_text(f->got);
        free_text(f->expected);
        free_text(f->hint);
    }
    free(faults->items);
    *faults = (pl_faults){0};
}
