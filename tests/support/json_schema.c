#include "tests/support/json_schema.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

typedef struct check {
    const json_t *root;
    char pointer[300];
    char *why;
} check;

static bool fits(check *c, const json_t *schema, const json_t *value);

static bool misfit(check *c, const char *keyword, const json_t *wanted, const json_t *value)
{
    char *want = json_dumps(wanted, JSON_COMPACT | JSON_ENCODE_ANY);
    char *got = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(c->why, JSON_SCHEMA_WHY, "at '%.150s': %s %.200s, and there is %.150s", c->pointer,
             keyword, want ? want : "", got ? got : "nothing");
    free(want);
    free(got);
    return false;
}

/* The same check one level deeper, said in words if it fails. */
static bool fits_below(check *c, const char *name, const json_t *schema, const json_t *value)
{
    size_t length = strlen(c->pointer);
    snprintf(c->pointer + length, sizeof c->pointer - length, "/%.80s", name);
    bool good = fits(c, schema, value);
    c->pointer[length] = 0;
    return good;
}

/* Without a word about why not. */
static bool fits_quietly(check *c, const json_t *schema, const json_t *value)
{
    char unused[JSON_SCHEMA_WHY];
    check quiet = *c;
    quiet.why = unused;
    return fits(&quiet, schema, value);
}

/* ---- kinds ---- */

static bool is_type(const json_t *value, const char *type)
{
    double number = json_number_value(value);
    return (strcmp(type, "object") == 0 && json_is_object(value)) ||
           (strcmp(type, "array") == 0 && json_is_array(value)) ||
           (strcmp(type, "string") == 0 && json_is_string(value)) ||
           (strcmp(type, "number") == 0 && json_is_number(value)) ||
           (strcmp(type, "integer") == 0 && json_is_number(value) && number == floor(number)) ||
           (strcmp(type, "boolean") == 0 && json_is_boolean(value)) ||
           (strcmp(type, "null") == 0 && json_is_null(value));
}

static bool type_fits(check *c, const json_t *wanted, const json_t *value)
{
    bool good = json_is_string(wanted) && is_type(value, json_string_value(wanted));
    for (size_t i = 0; i < json_array_size(wanted); i++)
        good |= is_type(value, json_string_value(json_array_get(wanted, i)));
    return good || misfit(c, "type", wanted, value);
}

static bool same(const json_t *a, const json_t *b)
{
    return json_equal(a, b) ||
           (json_is_number(a) && json_is_number(b) && json_number_value(a) == json_number_value(b));
}

static bool enum_fits(check *c, const json_t *wanted, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(wanted); i++)
        if (same(json_array_get(wanted, i), value))
            return true;
    return misfit(c, "enum", wanted, value);
}

/* ---- combinations ---- */

static bool some_fit(check *c, const char *keyword, const json_t *list, const json_t *value)
{
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += fits_quietly(c, json_array_get(list, i), value);
    bool good = strcmp(keyword, "oneOf") == 0   ? count == 1
                : strcmp(keyword, "anyOf") == 0 ? count > 0
                                                : count == json_array_size(list);
    return good || misfit(c, keyword, list, value);
}

static bool reference_fits(check *c, const json_t *wanted, const json_t *value)
{
    const char *at = json_string_value(wanted);
    const json_t *schema = c->root;
    if (!at || strncmp(at, "#/", 2) != 0)
        return misfit(c, "$ref", wanted, value);
    for (at += 2; schema && *at;) {
        char key[128];
        size_t n = strcspn(at, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, at);
        schema = json_object_get(schema, key);
        at += n + (at[n] == '/');
    }
    return schema ? fits(c, schema, value) : misfit(c, "$ref to nothing", wanted, value);
}

/* ---- objects and arrays ---- */

static bool members_fit(check *c, const json_t *schema, const json_t *value)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *more = json_object_get(schema, "additionalProperties");
    const json_t *names = json_object_get(schema, "propertyNames");
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)value, key, member)
    {
        const json_t *known = json_object_get(properties, key);
        json_t *name = json_string(key);
        bool good = !names || fits_below(c, key, names, name);
        json_decref(name);
        if (known ? !fits_below(c, key, known, member) : more && !fits_below(c, key, more, member))
            return false;
        if (!good)
            return false;
    }
    return true;
}

static bool all_there(check *c, const json_t *keys, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(keys); i++)
        if (!json_object_get(value, json_string_value(json_array_get(keys, i))))
            return misfit(c, "required", json_array_get(keys, i), value);
    return true;
}

static bool dependents_fit(check *c, const json_t *schema, const json_t *value)
{
    const char *key;
    json_t *needed;
    json_object_foreach(json_object_get(schema, "dependentRequired"), key, needed)
    {
        if (json_object_get(value, key) && !all_there(c, needed, value))
            return false;
    }
    json_object_foreach(json_object_get(schema, "dependentSchemas"), key, needed)
    {
        if (json_object_get(value, key) && !fits(c, needed, value))
            return false;
    }
    return true;
}

static bool object_fits(check *c, const json_t *schema, const json_t *value)
{
    const json_t *least = json_object_get(schema, "minProperties");
    const json_t *most = json_object_get(schema, "maxProperties");
    if (least && json_object_size(value) < (size_t)json_integer_value(least))
        return misfit(c, "minProperties", least, value);
    if (most && json_object_size(value) > (size_t)json_integer_value(most))
        return misfit(c, "maxProperties", most, value);
    return all_there(c, json_object_get(schema, "required"), value) &&
           members_fit(c, schema, value) && dependents_fit(c, schema, value);
}

static bool array_fits(check *c, const json_t *schema, const json_t *value)
{
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    const json_t *items = json_object_get(schema, "items");
    size_t n = json_array_size(value);
    if (least && n < (size_t)json_integer_value(least))
        return misfit(c, "minItems", least, value);
    if (most && n > (size_t)json_integer_value(most))
        return misfit(c, "maxItems", most, value);
    for (size_t i = 0; items && i < n; i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        if (!fits_below(c, index, items, json_array_get(value, i)))
            return false;
    }
    bool unique = json_is_true(json_object_get(schema, "uniqueItems"));
    for (size_t i = 0; unique && i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (same(json_array_get(value, i), json_array_get(value, k)))
                return misfit(c, "uniqueItems", json_true(), value);
    return true;
}

/* ---- numbers and strings ---- */

static bool number_fits(check *c, const json_t *schema, const json_t *value)
{
    const json_t *least = json_object_get(schema, "minimum");
    const json_t *above = json_object_get(schema, "exclusiveMinimum");
    const json_t *most = json_object_get(schema, "maximum");
    double number = json_number_value(value);
    if (least && number < json_number_value(least))
        return misfit(c, "minimum", least, value);
    if (above && number <= json_number_value(above))
        return misfit(c, "exclusiveMinimum", above, value);
    return !most || number <= json_number_value(most) || misfit(c, "maximum", most, value);
}

static bool string_fits(check *c, const json_t *schema, const json_t *value)
{
    const json_t *least = json_object_get(schema, "minLength");
    const json_t *most = json_object_get(schema, "maxLength");
    const json_t *pattern = json_object_get(schema, "pattern");
    const char *text = json_string_value(value);
    size_t characters = 0;
    for (const char *at = text; *at; at++)
        characters += (*at & 0xC0) != 0x80;
    if (least && characters < (size_t)json_integer_value(least))
        return misfit(c, "minLength", least, value);
    if (most && characters > (size_t)json_integer_value(most))
        return misfit(c, "maxLength", most, value);
    if (pattern) {
        regex_t compiled;
        if (regcomp(&compiled, json_string_value(pattern), REG_EXTENDED | REG_NOSUB) != 0)
            return misfit(c, "pattern", pattern, value);
        bool good = regexec(&compiled, text, 0, NULL, 0) == 0;
        regfree(&compiled);
        if (!good)
            return misfit(c, "pattern", pattern, value);
    }
    return true;
}

/* ---- a schema ---- */

static bool is_known(const char *keyword)
{
    static const char *const known[] = {"$schema",       "$id",
                                        "$defs",         "$ref",
                                        "title",         "default",
                                        "description",   "examples",
                                        "format",        "type",
                                        "enum",          "const",
                                        "anyOf",         "oneOf",
                                        "allOf",         "not",
                                        "properties",    "required",
                                        "propertyNames", "additionalProperties",
                                        "items",         "minItems",
                                        "maxItems",      "uniqueItems",
                                        "minimum",       "maximum",
                                        "minProperties", "exclusiveMinimum",
                                        "minLength",     "maxLength",
                                        "maxProperties", "dependentRequired",
                                        "pattern",       "dependentSchemas"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], keyword) == 0)
            return true;
    return false;
}

static bool keyword_fits(check *c, const char *keyword, const json_t *wanted, const json_t *value)
{
    if (!is_known(keyword))
        return misfit(c, "an unknown keyword", wanted, value);
    if (strcmp(keyword, "$ref") == 0)
        return reference_fits(c, wanted, value);
    if (strcmp(keyword, "type") == 0)
        return type_fits(c, wanted, value);
    if (strcmp(keyword, "enum") == 0)
        return enum_fits(c, wanted, value);
    if (strcmp(keyword, "const") == 0)
        return same(wanted, value) || misfit(c, "const", wanted, value);
    if (strcmp(keyword, "not") == 0)
        return !fits_quietly(c, wanted, value) || misfit(c, "not", wanted, value);
    if (strcmp(keyword, "anyOf") == 0 || strcmp(keyword, "oneOf") == 0 ||
        strcmp(keyword, "allOf") == 0)
        return some_fit(c, keyword, wanted, value);
    return true; /* a text for people, or looked at below */
}

static bool fits(check *c, const json_t *schema, const json_t *value)
{
    const char *keyword;
    json_t *wanted;
    if (json_is_boolean(schema))
        return json_is_true(schema) || misfit(c, "not there:", schema, value);
    json_object_foreach((json_t *)schema, keyword, wanted)
    {
        if (!keyword_fits(c, keyword, wanted, value))
            return false;
    }
    if (json_is_object(value))
        return object_fits(c, schema, value);
    if (json_is_array(value))
        return array_fits(c, schema, value);
    if (json_is_number(value))
        return number_fits(c, schema, value);
    return !json_is_string(value) || string_fits(c, schema, value);
}

bool json_schema_fits(const json_t *root, const json_t *schema, const json_t *value,
                      char why[JSON_SCHEMA_WHY])
{
    check c = {.root = root, .why = why};
    why[0] = 0;
    return fits(&c, schema, value);
}
