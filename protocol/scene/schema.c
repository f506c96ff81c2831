#include "protocol/scene/schema.h"

#include "protocol/scene/params.h"

#include <stdio.h>
#include <string.h>

/* ---- rules that code, not tables, defines ---- */

#define HASH "{\"type\": \"string\", \"pattern\": \"^sha256:[0-9a-fA-F]{64}$\"}"
#define PAIRS(most)                                                                                \
    "\"type\": \"array\", \"minItems\": 2, \"maxItems\": " most ", \"items\": {\"type\": "         \
    "\"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": {\"type\": \"number\"}}"
#define PAIR_LIST(most) "{" PAIRS(most) "}"
#define INDEX           "{\"type\": \"integer\", \"minimum\": 0}"
#define ROWS_OF(item, width)                                                                       \
    "\"type\": \"array\", \"minItems\": 1, \"anyOf\": [{\"items\": " item                          \
    "}, {\"items\": {\"type\": \"array\", \"minItems\": " width ", \"maxItems\": " width           \
    ", \"items\": " item "}}]"

/* Members of the schema of a value with its own decoder. */
static const char *const customs[PL_CUSTOM_COUNT] = {
    [PL_CUSTOM_VERSION] = "\"const\": 1",
    [PL_CUSTOM_METADATA] = "\"type\": \"object\"",
    [PL_CUSTOM_LABELS] = "\"type\": \"object\", \"maxProperties\": 64, \"propertyNames\": "
                         "{\"minLength\": 1, \"maxLength\": 127}, \"additionalProperties\": "
                         "{\"type\": \"string\", \"maxLength\": 255}",
    [PL_CUSTOM_PRIORITY] = "\"type\": \"integer\"",
    [PL_CUSTOM_WEBHOOK] =
        "\"type\": \"object\", \"required\": [\"url\"], \"additionalProperties\": "
        "false, \"properties\": {\"url\": {\"type\": \"string\", \"maxLength\": "
        "2000, \"pattern\": \"^https?://[^/@]+\"}}",
    [PL_CUSTOM_SCALE] = "\"anyOf\": [{\"type\": \"number\"}, {\"type\": \"array\", \"minItems\": "
                        "3, \"maxItems\": 3, \"items\": {\"type\": \"number\"}}]",
    [PL_CUSTOM_UPLOAD] = "\"anyOf\": [" HASH
                         ", {\"type\": \"object\", \"required\": [\"node\", \"ele\"], "
                         "\"additionalProperties\": false, \"properties\": {\"node\": " HASH
                         ", \"ele\": " HASH "}}]",
    [PL_CUSTOM_VERTICES] = ROWS_OF("{\"type\": \"number\"}", "3"),
    [PL_CUSTOM_TETS] = ROWS_OF(INDEX, "4"),
    [PL_CUSTOM_TRIANGLES] = ROWS_OF(INDEX, "3"),
    [PL_CUSTOM_EDGES] = ROWS_OF(INDEX, "2"),
    [PL_CUSTOM_SIDE] = "\"enum\": [\"-x\", \"+x\", \"-y\", \"+y\", \"-z\", \"+z\"]",
    [PL_CUSTOM_INDICES] = "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 1000000, "
                          "\"items\": " INDEX,
    [PL_CUSTOM_TAG] = "\"anyOf\": [{\"type\": \"integer\"}, {\"type\": \"string\", "
                      "\"minLength\": 1, \"maxLength\": 127}]",
    [PL_CUSTOM_AT] = "\"anyOf\": [{\"type\": \"number\", \"minimum\": 0}, {\"enum\": [\"end\", "
                     "\"start\", \"every\", \"some\", \"mean\"]}]",
    [PL_CUSTOM_AXES] = "\"type\": \"array\", \"minItems\": 1, \"uniqueItems\": true, \"items\": "
                       "{\"enum\": [\"x\", \"y\", \"z\"]}",
    [PL_CUSTOM_BY_TAG] = "\"type\": \"object\", \"maxProperties\": 256, \"additionalProperties\": "
                         "{\"type\": \"string\"}",
    [PL_CUSTOM_HEIGHTS] = "\"type\": \"array\", \"minItems\": 2, \"items\": {\"type\": \"array\", "
                          "\"minItems\": 2, \"items\": {\"type\": \"number\"}}",
    [PL_CUSTOM_SPLINES] =
        "\"anyOf\": [{\"enum\": [\"A\", \"B\"]}, {\"type\": \"object\", \"minProperties\": 1, "
        "\"additionalProperties\": false, \"properties\": {\"a\": " PAIR_LIST(
            "16") ", \"b\": " PAIR_LIST("16") ", \"c\": " PAIR_LIST("16") "}}]",
    [PL_CUSTOM_CURVE] = PAIRS("64"),
    [PL_CUSTOM_POINTS] = PAIRS("16"),
    [PL_CUSTOM_BETWEEN] = "\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": "
                          "{\"type\": \"string\"}",
    [PL_CUSTOM_CORES] = "\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1, \"maximum\": 256}, "
                        "{\"type\": \"string\", \"pattern\": \"^[0-9]+-[0-9]+$\"}]",
    [PL_CUSTOM_AFTER] = "\"type\": \"array\", \"maxItems\": 16, \"items\": {\"type\": "
                        "\"string\", \"pattern\": \"^[0-9a-f]{32}$\"}",
};

/* Rules over several keys of one object: one more member of its schema. */
static const struct {
    const char *table, *text;
} rules[] = {
    {"time", "\"not\": {\"required\": [\"steps\", \"duration\"]}"},
    {"motion",
     "\"dependentSchemas\": {\"keyframes\": {\"properties\": {\"velocity\": false, \"axis\": "
     "false, \"degrees_per_second\": false}}}"},
    {"material",
     "\"dependentSchemas\": {\"lame\": {\"properties\": {\"young\": false, \"poisson\": false, "
     "\"constants\": false}}, \"constants\": {\"properties\": {\"young\": false, \"poisson\": "
     "false}}, \"curve\": {\"properties\": {\"young\": false, \"poisson\": false, \"splines\": "
     "false}}}"},
    {"expect", "\"anyOf\": [{\"required\": [\"min\"]}, {\"required\": [\"max\"]}, {\"required\": "
               "[\"equals\"]}], \"dependentRequired\": {\"tolerance\": [\"equals\"]}, "
               "\"dependentSchemas\": {\"equals\": {\"properties\": {\"min\": false, \"max\": "
               "false}}}"},
};

/* ---- one parameter ---- */

/* Inserts a JSON text's members at the current place. */
static void put_members(pl_json_writer *w, const char *members)
{
    pl_json_put_raw(w, members);
}

static void set_reference(pl_json_writer *w, const pl_param_table *table)
{
    char text[96];
    snprintf(text, sizeof text, "#/$defs/%s", table->name);
    pl_json_set_string(w, "$ref", text);
}

static void set_limits(pl_json_writer *w, const pl_param *p)
{
    if (p->maximum <= p->minimum)
        return;
    pl_json_set_number(w, p->above_minimum ? "exclusiveMinimum" : "minimum", p->minimum);
    pl_json_set_number(w, "maximum", p->maximum);
}

static void set_words(pl_json_writer *w, const char *const *words)
{
    pl_json_key(w, "enum");
    pl_json_begin_array(w);
    for (; *words; words++)
        pl_json_put_string(w, *words);
    pl_json_end_array(w);
}

static void set_row(pl_json_writer *w, const pl_param *p, const char *type)
{
    int n = pl_param_components(p);
    pl_json_set_string(w, "type", "array");
    pl_json_set_integer(w, "minItems", n);
    pl_json_set_integer(w, "maxItems", n);
    pl_json_key(w, "items");
    pl_json_begin_object(w);
    pl_json_set_string(w, "type", type);
    set_limits(w, p);
    pl_json_end_object(w);
}

/* An object, or one of the words that stand for a form of it. */
static void set_object(pl_json_writer *w, const pl_param *p)
{
    if (!p->choices) {
        set_reference(w, p->table);
        return;
    }
    pl_json_key(w, "anyOf");
    pl_json_begin_array(w);
    pl_json_begin_object(w);
    set_reference(w, p->table);
    pl_json_end_object(w);
    pl_json_begin_object(w);
    set_words(w, p->choices);
    pl_json_end_object(w);
    pl_json_end_array(w);
}

static void set_many(pl_json_writer *w, const pl_param *p)
{
    bool map = p->kind == PL_PARAM_MAP;
    pl_json_set_string(w, "type", map ? "object" : "array");
    pl_json_key(w, map ? "additionalProperties" : "items");
    pl_json_begin_object(w);
    set_reference(w, p->table);
    pl_json_end_object(w);
    if (map)
        pl_json_set_raw(w, "propertyNames", "{\"minLength\": 1, \"maxLength\": 127}");
    else
        pl_json_set_integer(w, "minItems", (int64_t)p->minimum);
    pl_json_set_integer(w, map ? "maxProperties" : "maxItems", (int64_t)p->maximum);
}

static void set_boolean(pl_json_writer *w, const pl_param *p)
{
    if (!p->choices) {
        pl_json_set_string(w, "type", "boolean");
        return;
    }
    pl_json_key(w, "enum");
    pl_json_begin_array(w);
    pl_json_put_boolean(w, false);
    pl_json_put_boolean(w, true);
    for (const char *const *word = p->choices; *word; word++)
        pl_json_put_string(w, *word);
    pl_json_end_array(w);
}

static void set_type(pl_json_writer *w, const pl_param *p)
{
    switch (p->kind) {
    case PL_PARAM_NUMBER:
    case PL_PARAM_INTEGER:
        pl_json_set_string(w, "type", p->kind == PL_PARAM_NUMBER ? "number" : "integer");
        set_limits(w, p);
        break;
    case PL_PARAM_BOOLEAN:
        set_boolean(w, p);
        break;
    case PL_PARAM_STRING: /* limit in bytes: at least the number of characters */
        pl_json_set_string(w, "type", "string");
        pl_json_set_integer(w, "minLength", p->minimum > 0);
        pl_json_set_integer(w, "maxLength", (int64_t)p->maximum);
        break;
    case PL_PARAM_CHOICE:
        set_words(w, p->choices);
        break;
    case PL_PARAM_VECTOR:
    case PL_PARAM_COUNTS:
        set_row(w, p, p->kind == PL_PARAM_VECTOR ? "number" : "integer");
        break;
    case PL_PARAM_OBJECT:
        set_object(w, p);
        break;
    case PL_PARAM_LIST:
    case PL_PARAM_MAP:
        set_many(w, p);
        break;
    case PL_PARAM_REFERENCE:
        pl_json_set_string(w, "type", "string");
        break;
    case PL_PARAM_CUSTOM:
        if (customs[p->custom])
            put_members(w, customs[p->custom]);
        if (p->custom == PL_CUSTOM_PRIORITY)
            set_limits(w, p);
        break;
    }
}

static void set_default(pl_json_writer *w, const pl_param *p)
{
    if (p->required || p->standard_text)
        return;
    if (p->kind == PL_PARAM_NUMBER)
        pl_json_set_number(w, "default", p->standard[0]);
    else if (p->kind == PL_PARAM_INTEGER)
        pl_json_set_integer(w, "default", (int64_t)p->standard[0]);
    else if (p->kind == PL_PARAM_BOOLEAN && p->choices)
        pl_json_set_string(w, "default", p->choices[0]);
    else if (p->kind == PL_PARAM_BOOLEAN)
        pl_json_set_boolean(w, "default", p->standard[0] != 0);
    else if (p->kind == PL_PARAM_CHOICE)
        pl_json_set_string(w, "default", p->choices[(size_t)p->standard[0]]);
    else if (p->kind == PL_PARAM_VECTOR || p->kind == PL_PARAM_COUNTS) {
        pl_json_key(w, "default");
        pl_json_begin_array(w);
        for (int i = 0; i < pl_param_components(p); i++)
            pl_json_put_number(w, p->standard[i], 17);
        pl_json_end_array(w);
    }
}

static void set_description(pl_json_writer *w, const pl_param *p)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", p->doc, p->unit ? " In " : "",
             p->unit ? p->unit : "", p->unit ? "." : "", p->standard_text ? " Default: " : "",
             p->standard_text ? p->standard_text : "");
    pl_json_set_string(w, "description", text);
}

/* ---- one table ---- */

static void set_required(pl_json_writer *w, const pl_param_table *table)
{
    pl_json_key(w, "required");
    pl_json_begin_array(w);
    for (size_t i = 0; i < table->count; i++)
        if (table->params[i].required)
            pl_json_put_string(w, table->params[i].key);
    pl_json_end_array(w);
}

/* The key that selects a variant, if only one does. */
static const char *maker_of(const pl_param_table *table, int variant)
{
    const char *maker = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        if (p->variant != variant || p->accompanies)
            continue;
        if (maker)
            return NULL;
        maker = p->key;
    }
    return maker;
}

/* Exactly one key that selects a variant, and accompanying keys only beside their own. */
static void set_variants(pl_json_writer *w, const pl_param_table *table)
{
    pl_json_key(w, "oneOf");
    pl_json_begin_array(w);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        if (!p->variant || p->accompanies)
            continue;
        pl_json_begin_object(w);
        pl_json_key(w, "required");
        pl_json_begin_array(w);
        pl_json_put_string(w, p->key);
        pl_json_end_array(w);
        pl_json_end_object(w);
    }
    pl_json_end_array(w);
    pl_json_key(w, "dependentRequired");
    pl_json_begin_object(w);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        const char *maker = p->accompanies ? maker_of(table, p->variant) : NULL;
        if (!maker)
            continue;
        pl_json_key(w, p->key);
        pl_json_begin_array(w);
        pl_json_put_string(w, maker);
        pl_json_end_array(w);
    }
    pl_json_end_object(w);
}

/* `within`: objects of other tables are inline, not below "$defs". */
static void put_table(pl_json_writer *w, const pl_param_table *table, bool within)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", table->doc);
    pl_json_set_string(w, "type", "object");
    pl_json_set_boolean(w, "additionalProperties", false);
    set_required(w, table);
    pl_json_key(w, "properties");
    pl_json_begin_object(w);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        pl_json_key(w, p->key);
        if (within && p->kind == PL_PARAM_OBJECT) {
            put_table(w, p->table, true);
            continue;
        }
        pl_json_begin_object(w);
        set_description(w, p);
        set_type(w, p);
        set_default(w, p);
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
    if (table->one_of)
        set_variants(w, table);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].table, table->name) == 0)
            put_members(w, rules[i].text);
    pl_json_end_object(w);
}

void pl_table_schema_put(pl_json_writer *w, const char *table)
{
    put_table(w, pl_table_named(table), true);
}

char *pl_scene_schema_encode(void)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    pl_json_set_string(&w, "$id", "/v1/schema/scene");
    pl_json_set_string(&w, "title", "A Pliant scene, version 1");
    set_reference(&w, &pl_scene_table);
    pl_json_key(&w, "$defs");
    pl_json_begin_object(&w);
    for (const pl_param_table *const *t = pl_param_tables(); *t; t++) {
        if (strcmp((*t)->name, "notes") == 0)
            continue; /* of PATCH, not of scenes */
        pl_json_key(&w, (*t)->name);
        put_table(&w, *t, false);
    }
    pl_json_end_object(&w);
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}
