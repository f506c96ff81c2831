#include "protocol/sweep/decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *pl_sweep_value_text(const json_t *value)
{
    char text[40];
    if (!json_is_real(value))
        return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, json_real_value(value));
        if (strtod(text, NULL) == json_real_value(value))
            break;
    }
    return strdup(text);
}

void pl_sweep_fault(pl_sweep_decoder *d, const json_t *got, const char *code, const char *expected,
                    const char *format, ...)
{
    char pointer[PL_SWEEP_PATH_MAX + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(pointer, sizeof pointer, format, args);
    va_end(args);
    char *text = got ? pl_sweep_value_text(got) : NULL;
    pl_faults_add(d->faults, pointer, code, text ? text : "nothing", expected, "");
    free(text);
}

char *pl_sweep_copy(pl_sweep_decoder *d, const char *text)
{
    char *out = strdup(text);
    d->no_memory |= !out;
    return out;
}

void pl_sweep_check_keys(pl_sweep_decoder *d, json_t *object, const char *const *keys,
                         const char *where)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int i = 0;
        while (keys[i] && strcmp(keys[i], key) != 0)
            i++;
        if (!keys[i]) {
            char list[200] = "", escaped[128];
            for (int k = 0; keys[k]; k++)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", k ? ", " : "",
                         keys[k]);
            pl_fault_escape(key, escaped, sizeof escaped);
            char pointer[400];
            snprintf(pointer, sizeof pointer, "%s/%s", where, escaped);
            pl_faults_add(d->faults, pointer, "unknown_key", key, list, "");
        }
    }
}

double pl_sweep_number_at(pl_sweep_decoder *d, json_t *object, const char *key, double fallback,
                          const char *where)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        return fallback;
    if (!json_is_number(value))
        pl_sweep_fault(d, value, "wrong_type", "a number", "%s/%s", where, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

int64_t pl_sweep_whole_at(pl_sweep_decoder *d, json_t *object, const char *key, int64_t least,
                          int64_t most, int64_t fallback, const char *where)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        return fallback;
    if (json_is_integer(value) && json_integer_value(value) >= least &&
        json_integer_value(value) <= most)
        return json_integer_value(value);
    char expected[80];
    snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)least,
             (long long)most);
    pl_sweep_fault(d, value, json_is_integer(value) ? "out_of_range" : "wrong_type", expected,
                   "%s/%s", where, key);
    return fallback;
}

const char *pl_sweep_text_at(pl_sweep_decoder *d, json_t *object, const char *key, size_t most,
                             const char *where)
{
    json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    if (!value || (text && *text && strlen(text) <= most))
        return text;
    char expected[80];
    snprintf(expected, sizeof expected, "a text of 1 to %zu bytes", most);
    pl_sweep_fault(d, value, text ? "out_of_range" : "wrong_type", expected, "%s/%s", where, key);
    return NULL;
}

int pl_sweep_word_at(pl_sweep_decoder *d, json_t *object, const char *key, const char *const *words,
                     int fallback, const char *where)
{
    json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    char list[120] = "";
    if (!value)
        return fallback;
    for (int i = 0; words[i]; i++) {
        if (text && strcmp(words[i], text) == 0)
            return i;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", words[i]);
    }
    pl_sweep_fault(d, value, "wrong_value", list, "%s/%s", where, key);
    return fallback;
}
