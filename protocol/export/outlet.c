#include "protocol/export/outlet.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hand_on(pl_outlet *o, const void *data, size_t size)
{
    if (size > 0 && !o->stopped && !o->write(o->context, data, size))
        o->stopped = true;
}

bool pl_outlet_flush(pl_outlet *o)
{
    size_t filled = o->filled;
    o->filled = 0;
    hand_on(o, o->buffer, filled);
    return !o->stopped;
}

void pl_outlet_put(pl_outlet *o, const void *data, size_t size)
{
    o->position += size;
    if (size > sizeof o->buffer - o->filled)
        pl_outlet_flush(o);
    if (size > sizeof o->buffer / 2) {
        pl_outlet_flush(o);
        hand_on(o, data, size);
    } else if (size > 0) {
        memcpy(o->buffer + o->filled, data, size);
        o->filled += size;
    }
}

void *pl_outlet_room(pl_outlet *o, size_t size)
{
    if (size > sizeof o->buffer - o->filled)
        pl_outlet_flush(o);
    void *room = o->buffer + o->filled;
    o->position += size;
    o->filled += size;
    return room;
}

void pl_outlet_csv_text(pl_outlet *o, const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n");
    if (quoted)
        pl_outlet_put(o, "\"", 1);
    for (; *text; text++)
        pl_outlet_put(o, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    if (quoted)
        pl_outlet_put(o, "\"", 1);
}

char *pl_text_room(pl_text *t, size_t more)
{
    if (more <= t->capacity - t->length)
        return t->text + t->length;
    size_t capacity = 2 * t->capacity > t->length + more ? 2 * t->capacity : t->length + more;
    char *grown = realloc(t->text, capacity);
    if (!grown) {
        t->failed = true;
        return NULL;
    }
    t->text = grown;
    t->capacity = capacity;
    return grown + t->length;
}

void pl_text_put(pl_text *t, const char *text)
{
    size_t length = strlen(text);
    char *at = pl_text_room(t, length + 1);
    if (at) {
        memcpy(at, text, length + 1);
        t->length += length;
    }
}

void pl_text_printf(pl_text *t, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *at = length < 0 ? NULL : pl_text_room(t, (size_t)length + 1);
    if (at)
        t->length += (size_t)vsnprintf(at, (size_t)length + 1, format, again);
    t->failed |= !at;
    va_end(again);
    va_end(arguments);
}
