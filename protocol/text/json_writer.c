/* json_writer.c - the writing half of json.h. Commas are written before a value where needed, so the state is one
 * flag at any depth. */
#include "protocol/text/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(pl_json_writer *w, size_t more)
{
    if (w->failed)
        return false;
    if (w->capacity - w->length > more)
        return true;
    size_t capacity = w->capacity ? w->capacity : 256;
    while (capacity - w->length <= more)
        capacity *= 2;
    char *text = realloc(w->text, capacity);
    if (!text) {
        w->failed = true;
        return false;
    }
    w->text = text;
    w->capacity = capacity;
    return true;
}

static void append(pl_json_writer *w, const char *text, size_t length)
{
    if (!reserve(w, length))
        return;
    memcpy(w->text + w->length, text, length);
    w->length += length;
}

static void comma(pl_json_writer *w)
{
    if (w->need_comma)
        append(w, ",", 1);
    w->need_comma = true;
}

static void open_bracket(pl_json_writer *w, const char *bracket)
{
    comma(w);
    append(w, bracket, 1);
    w->need_comma = false;
}

static void close_bracket(pl_json_writer *w, const char *bracket)
{
    append(w, bracket, 1);
    w->need_comma = true;
}

void pl_json_begin_object(pl_json_writer *w)
{
    open_bracket(w, "{");
}
void pl_json_end_object(pl_json_writer *w)
{
    close_bracket(w, "}");
}
void pl_json_begin_array(pl_json_writer *w)
{
    open_bracket(w, "[");
}
void pl_json_end_array(pl_json_writer *w)
{
    close_bracket(w, "]");
}

/* Length of the well-formed UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates), or 0. Reads no
 * further than the terminating NUL. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4)
        return 0;
    size_t n = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))
        return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

static void append_escape(pl_json_writer *w, unsigned char c)
{
    char text[8];
    switch (c) {
    case '"':
    case '\\':
        snprintf(text, sizeof text, "\\%c", c);
        break;
    case '\n':
        strcpy(text, "\\n");
        break;
    case '\t':
        strcpy(text, "\\t");
        break;
    default:
        snprintf(text, sizeof text, "\\u%04x", c);
    }
    append(w, text, strlen(text));
}

/* The number of bytes at s that stand for themselves in a JSON string: printable ASCII but quotes and backslashes. */
static size_t plain_length(const unsigned char *s)
{
    size_t n = 0;
    while (s[n] >= 0x20 && s[n] < 0x7F && s[n] != '"' && s[n] != '\\')
        n++;
    return n;
}

/* Quotes and escapes; bytes that are not UTF-8 become U+FFFD one by one. */
static void append_quoted(pl_json_writer *w, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    append(w, "\"", 1);
    for (size_t n; *s; s += n) {
        n = *s < 0x80 ? plain_length(s) : utf8_length(s);
        if (n > 0)
            append(w, (const char *)s, n);
        else if (*s < 0x80)
            append_escape(w, *s);
        else
            append(w, "\xEF\xBF\xBD", 3);
        n += n == 0;
    }
    append(w, "\"", 1);
}

void pl_json_key(pl_json_writer *w, const char *key)
{
    comma(w);
    append_quoted(w, key);
    append(w, ":", 1);
    w->need_comma = false;
}

void pl_json_put_raw(pl_json_writer *w, const char *json)
{
    comma(w);
    append(w, json, strlen(json));
}

void pl_json_put_string(pl_json_writer *w, const char *text)
{
    if (!text) {
        pl_json_put_null(w);
        return;
    }
    comma(w);
    append_quoted(w, text);
}

void pl_json_put_integer(pl_json_writer *w, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    pl_json_put_raw(w, text);
}

/* With 17 digits requested, the shortest of 15, 16 or 17 that reads back as the same number. */
void pl_json_put_number(pl_json_writer *w, double value, int digits)
{
    char text[40];
    if (!isfinite(value)) {
        pl_json_put_null(w);
        return;
    }
    if (digits > 17)
        digits = 17;
    for (int d = digits == 17 ? 15 : digits; d <= digits; d++) {
        snprintf(text, sizeof text, "%.*g", d, value);
        if (d < digits && strtod(text, NULL) == value)
            break;
    }
    char *point = strchr(text, ','); /* a program may have set a locale */
    if (point)
        *point = '.';
    pl_json_put_raw(w, text);
}

void pl_json_put_boolean(pl_json_writer *w, bool value)
{
    pl_json_put_raw(w, value ? "true" : "false");
}

void pl_json_put_null(pl_json_writer *w)
{
    pl_json_put_raw(w, "null");
}

void pl_json_set_string(pl_json_writer *w, const char *key, const char *text)
{
    pl_json_key(w, key);
    pl_json_put_string(w, text);
}

void pl_json_set_integer(pl_json_writer *w, const char *key, int64_t value)
{
    pl_json_key(w, key);
    pl_json_put_integer(w, value);
}

void pl_json_set_number(pl_json_writer *w, const char *key, double value)
{
    pl_json_key(w, key);
    pl_json_put_number(w, value, 17);
}

void pl_json_set_boolean(pl_json_writer *w, const char *key, bool value)
{
    pl_json_key(w, key);
    pl_json_put_boolean(w, value);
}

void pl_json_set_null(pl_json_writer *w, const char *key)
{
    pl_json_key(w, key);
    pl_json_put_null(w);
}

void pl_json_set_known(pl_json_writer *w, const char *key, int64_t value)
{
    if (value < 0)
        pl_json_set_null(w, key);
    else
        pl_json_set_integer(w, key, value);
}

void pl_json_set_raw(pl_json_writer *w, const char *key, const char *json)
{
    pl_json_key(w, key);
    pl_json_put_raw(w, json);
}

char *pl_json_finish(pl_json_writer *w, size_t *length)
{
    char *text = NULL;
    if (reserve(w, 1)) {
        text = w->text;
        text[w->length] = 0;
        if (length)
            *length = w->length;
    } else {
        free(w->text);
    }
    *w = (pl_json_writer){0};
    return text;
}
