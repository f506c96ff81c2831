#include "protocol/scene/decode.h"

#include "protocol/text/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_MAX = 512, KEYS_MAX = 32 };

static void refuse(pl_decoder *d, json_t *value, const pl_param *p, const char *code)
{
    char expected[EXPECTED_MAX];
    pl_param_expected(p, expected, sizeof expected);
    pl_decode_refuse(d, value, code, expected, "");
}

/* ---- numbers ---- */

static bool in_range(const pl_param *p, double value)
{
    return (p->above_minimum ? value > p->minimum : value >= p->minimum) && value <= p->maximum;
}

bool pl_decode_number(pl_decoder *d, json_t *value, const pl_param *p, double *out)
{
    if (!json_is_number(value)) {
        refuse(d, value, p, "wrong_type");
        return false;
    }
    double number = json_number_value(value);
    if (!isfinite(number) || !in_range(p, number)) {
        refuse(d, value, p, "out_of_range");
        return false;
    }
    *out = number == 0 ? 0 : number; /* -0 is 0 */
    return true;
}

bool pl_decode_integer(pl_decoder *d, json_t *value, const pl_param *p, int64_t *out)
{
    double real = json_number_value(value);
    bool whole = json_is_integer(value) ||
                 (json_is_real(value) && real == floor(real) && fabs(real) <= 9007199254740992.0);
    if (!whole) {
        refuse(d, value, p, "wrong_type");
        return false;
    }
    int64_t integer = json_is_integer(value) ? json_integer_value(value) : (int64_t)real;
    if (!in_range(p, (double)integer)) {
        refuse(d, value, p, "out_of_range");
        return false;
    }
    *out = integer;
    return true;
}

/* Normalises a vector, unless it already has unit length: decoding an encoded vector then changes no bit. False for
 * a vector that is zero or nearly so. Divides by the largest component first, for the squares. */
static bool normalise(double v[3])
{
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (largest < 1e-9)
        return false;
    double x = v[0] / largest, y = v[1] / largest, z = v[2] / largest;
    double length = sqrt(x * x + y * y + z * z);
    if (fabs(largest * length - 1) <= 1e-15)
        return true;
    v[0] = x / length;
    v[1] = y / length;
    v[2] = z / length;
    return true;
}

bool pl_decode_vector(pl_decoder *d, json_t *value, const pl_param *p, double *out)
{
    double v[3] = {0};
    bool good = true;
    size_t n = (size_t)pl_param_components(p);
    if (!json_is_array(value) || json_array_size(value) != n) {
        refuse(d, value, p, "wrong_type");
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        pl_param item = *p;
        item.kind = PL_PARAM_NUMBER;
        size_t mark = pl_decode_enter_item(d, i);
        good &= pl_decode_number(d, json_array_get(value, i), &item, &v[i]);
        pl_decode_leave(d, mark);
    }
    if (good && p->direction && !normalise(v)) {
        char expected[EXPECTED_MAX];
        pl_param_expected(p, expected, sizeof expected);
        pl_decode_fault(d, "zero_vector", "a vector of no length", expected, "");
        good = false;
    }
    if (good)
        memcpy(out, v, n * sizeof *v);
    return good;
}

static void decode_counts(pl_decoder *d, json_t *value, const pl_param *p, int32_t *out)
{
    size_t n = (size_t)pl_param_components(p);
    if (!json_is_array(value) || json_array_size(value) != n) {
        refuse(d, value, p, "wrong_type");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        pl_param item = *p;
        int64_t count = 0;
        item.kind = PL_PARAM_INTEGER;
        size_t mark = pl_decode_enter_item(d, i);
        if (pl_decode_integer(d, json_array_get(value, i), &item, &count))
            out[i] = (int32_t)count;
        pl_decode_leave(d, mark);
    }
}

/* ---- words ---- */

static size_t count_words(const char *const *words)
{
    size_t n = 0;
    while (words[n])
        n++;
    return n;
}

static const pl_absent *find_absent(const pl_absent *absent, const char *name)
{
    for (; absent && absent->name; absent++)
        if (strcmp(absent->name, name) == 0)
            return absent;
    return NULL;
}

static const char *nearest_hint(const char *name, const char *const *known, size_t count, char *out,
                                size_t size)
{
    const char *nearest = pl_nearest(name, known, count);
    out[0] = 0;
    if (nearest)
        snprintf(out, size, "did you mean \"%s\"?", nearest);
    return out;
}

/* Rejects a name that is not known: one that this version does not support, or one close to another. */
static void refuse_name(pl_decoder *d, const char *name, const char *code, const char *const *known,
                        size_t count, const pl_absent *absent)
{
    char expected[EXPECTED_MAX], list[EXPECTED_MAX - 16], hint[192];
    if (pl_decode_full(d)) {
        d->faults->total++;
        return;
    }
    pl_join_words(known, list, sizeof list);
    snprintf(expected, sizeof expected, "one of: %s", list);
    const pl_absent *lacking = find_absent(absent, name);
    if (lacking) {
        snprintf(hint, sizeof hint, "%s", lacking->hint ? lacking->hint : "not in this version");
        pl_decode_fault(d, "unsupported", name, expected, hint);
        return;
    }
    pl_decode_fault(d, code, name, expected, nearest_hint(name, known, count, hint, sizeof hint));
}

int pl_decode_word(pl_decoder *d, json_t *value, const char *const *words, const pl_absent *absent)
{
    if (!json_is_string(value)) {
        char expected[EXPECTED_MAX], list[EXPECTED_MAX - 16];
        pl_join_words(words, list, sizeof list);
        snprintf(expected, sizeof expected, "one of: %s", list);
        pl_decode_refuse(d, value, "wrong_type", expected, "");
        return -1;
    }
    const char *text = json_string_value(value);
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    refuse_name(d, text, "unknown_value", words, count_words(words), absent);
    return -1;
}

static bool name_good(const char *text, size_t length, const pl_param *p)
{
    if (length < (size_t)p->minimum || length > (size_t)p->maximum)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return false;
    return true;
}

bool pl_decode_name(pl_decoder *d, json_t *value, const pl_param *p, char **out)
{
    if (!json_is_string(value)) {
        refuse(d, value, p, "wrong_type");
        return false;
    }
    if (!name_good(json_string_value(value), json_string_length(value), p)) {
        refuse(d, value, p, "out_of_range");
        return false;
    }
    *out = strdup(json_string_value(value));
    d->no_memory |= !*out;
    return *out != NULL;
}

/* ---- objects ---- */

static void decode_param(pl_decoder *d, json_t *value, const pl_param *p, void *base);

static size_t table_keys(const pl_param_table *table, const char *keys[KEYS_MAX + 1])
{
    size_t n = table->count < KEYS_MAX ? table->count : KEYS_MAX;
    for (size_t i = 0; i < n; i++)
        keys[i] = table->params[i].key;
    keys[n] = NULL;
    return n;
}

static void refuse_unknown_keys(pl_decoder *d, json_t *object, const pl_param_table *table)
{
    const char *key, *keys[KEYS_MAX + 1];
    json_t *value;
    size_t count = table_keys(table, keys);
    json_object_foreach(object, key, value)
    {
        if (pl_table_param(table, key))
            continue;
        size_t mark = pl_decode_enter(d, key);
        refuse_name(d, key, "unknown_key", keys, count, table->absent);
        pl_decode_leave(d, mark);
    }
}

/* The keys that select a variant, joined by " or ". */
static void join_variants(const pl_param_table *table, char *out, size_t size)
{
    size_t at = 0;
    out[0] = 0;
    for (size_t i = 0; i < table->count && at < size; i++) {
        const pl_param *p = &table->params[i];
        if (!p->variant || p->accompanies)
            continue;
        int n = snprintf(out + at, size - at, "%s%s", at ? ", " : "exactly one of: ", p->key);
        at += n > 0 ? (size_t)n : 0;
    }
}

/* In a union, exactly one key selects the variant, and keys that accompany another are rejected. */
static void choose_variant(pl_decoder *d, json_t *object, const pl_param_table *table, char *base)
{
    const pl_param *chosen = NULL;
    char expected[EXPECTED_MAX];
    join_variants(table, expected, sizeof expected);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        if (!p->variant || p->accompanies || !json_object_get(object, p->key))
            continue;
        if (chosen) {
            char got[128];
            snprintf(got, sizeof got, "%s and %s", chosen->key, p->key);
            pl_decode_fault(d, "conflict", got, expected, "");
            return;
        }
        chosen = p;
    }
    if (!chosen) {
        /* An unsupported form was already rejected by its own key. */
        bool lacking = false;
        for (const pl_absent *a = table->absent; a && a->name; a++)
            lacking |= json_object_get(object, a->name) != NULL;
        if (!lacking)
            pl_decode_fault(d, "missing_key", "none of them", expected, "");
        return;
    }
    int kind = chosen->variant - 1;
    memcpy(base + table->kind_offset, &kind, sizeof kind);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        if (!p->accompanies || p->variant == chosen->variant || !json_object_get(object, p->key))
            continue;
        pl_decode_conflict(d, p->key, chosen->key, "no such key here");
    }
}

static void decode_members(pl_decoder *d, json_t *object, const pl_param_table *table, char *base)
{
    size_t before = d->faults->total;
    refuse_unknown_keys(d, object, table);
    if (table->one_of)
        choose_variant(d, object, table, base);
    for (size_t i = 0; i < table->count; i++) {
        const pl_param *p = &table->params[i];
        json_t *value = json_object_get(object, p->key);
        bool makes_default = (p->kind == PL_PARAM_REFERENCE && !p->flagged) ||
                             p->kind == PL_PARAM_MAP;
        size_t mark = pl_decode_enter(d, p->key);
        if (value || (makes_default && !p->required)) {
            decode_param(d, value, p, base);
            if (value && p->flagged)
                *(bool *)(base + p->flag_offset) = true;
        } else if (p->required) {
            char expected[EXPECTED_MAX];
            pl_param_expected(p, expected, sizeof expected);
            pl_decode_fault(d, "missing_key", "nothing", expected, p->doc);
        }
        pl_decode_leave(d, mark);
    }
    for (const pl_decode_rule *rule = d->rules; rule->table; rule++)
        if (strcmp(rule->table, table->name) == 0)
            rule->check(d, object, base, d->faults->total == before);
}

static void decode_object(pl_decoder *d, json_t *value, const pl_param *p, char *at)
{
    if (json_is_object(value)) {
        decode_members(d, value, p->table, at);
    } else if (p->choices && json_is_string(value)) {
        const char *text = json_string_value(value);
        const pl_param *variant = pl_table_param(p->table, text);
        int kind;
        if (variant && variant->variant) {
            char hint[128];
            snprintf(hint, sizeof hint, "write it as an object: {\"%s\": ...}", text);
            pl_decode_refuse(d, value, "wrong_type", "an object for this form", hint);
        } else if ((kind = pl_decode_word(d, value, p->choices, NULL)) >= 0) {
            memcpy(at + p->table->kind_offset, &kind, sizeof kind);
        }
    } else {
        refuse(d, value, p, "wrong_type");
    }
}

/* ---- lists, maps and references ---- */

static char **list_at(const pl_param *p, void *base)
{
    return (char **)((char *)base + p->offset);
}

static int32_t *list_count(const pl_param *p, void *base)
{
    return (int32_t *)((char *)base + p->count_offset);
}

/* The name of a list's or map's i-th member: members begin with it. */
static char **member_name(const pl_param *p, void *base, int32_t i)
{
    return (char **)(*list_at(p, base) + (size_t)i * p->size);
}

/* Allocates n members with their defaults. */
static bool make_members(pl_decoder *d, const pl_param *p, void *base, size_t n)
{
    char *members = calloc(n ? n : 1, p->size);
    if (!members) {
        d->no_memory = true;
        return false;
    }
    *list_at(p, base) = members;
    *list_count(p, base) = (int32_t)n;
    for (size_t i = 0; i < n; i++)
        pl_table_defaults(p->table, members + i * p->size);
    return true;
}

/* Members without a name get one, from their place in the list; no two may share one. At most 4096 members cause 8
 * million comparisons of names, most of which differ early. */
static void settle_names(pl_decoder *d, const pl_param *p, void *base)
{
    int32_t count = *list_count(p, base);
    for (int32_t i = 0; i < count; i++) {
        char **name = member_name(p, base, i);
        if (!*name && asprintf(name, "%s-%d", p->table->name, i) < 0) {
            *name = NULL;
            d->no_memory = true;
            return;
        }
        for (int32_t j = 0; j < i; j++) {
            if (strcmp(*name, *member_name(p, base, j)) != 0)
                continue;
            char hint[96];
            size_t item = pl_decode_enter_item(d, (size_t)i);
            size_t mark = pl_decode_enter(d, "name");
            snprintf(hint, sizeof hint, "member %d already has this name", j);
            pl_decode_fault(d, "duplicate_name", *name, "a unique name", hint);
            pl_decode_leave(d, mark);
            pl_decode_leave(d, item);
            break;
        }
    }
}

static void decode_list(pl_decoder *d, json_t *value, const pl_param *p, void *base)
{
    size_t n = json_array_size(value);
    if (!json_is_array(value)) {
        refuse(d, value, p, "wrong_type");
        return;
    }
    if (n < (size_t)p->minimum || n > (size_t)p->maximum) {
        refuse(d, value, p, "out_of_range");
        return;
    }
    if (!make_members(d, p, base, n))
        return;
    for (size_t i = 0; i < n && !d->no_memory; i++) {
        pl_param item = {.key = p->key, .kind = PL_PARAM_OBJECT, .table = p->table};
        size_t mark = pl_decode_enter_item(d, i);
        decode_object(d, json_array_get(value, i), &item, *list_at(p, base) + i * p->size);
        pl_decode_leave(d, mark);
    }
    const pl_param *name = pl_table_param(p->table, "name");
    if (name && name->kind == PL_PARAM_STRING)
        settle_names(d, p, base);
}

static void decode_map_members(pl_decoder *d, json_t *object, const pl_param *p, void *base)
{
    static const pl_param name_param = {
        .kind = PL_PARAM_STRING, .minimum = 1, .maximum = PL_SCENE_NAME_MAX};
    const char *key;
    json_t *member;
    int32_t i = 0;
    json_object_foreach(object, key, member)
    {
        pl_param item = {.key = key, .kind = PL_PARAM_OBJECT, .table = p->table};
        size_t mark = pl_decode_enter(d, key);
        if (!name_good(key, strlen(key), &name_param)) {
            char expected[EXPECTED_MAX];
            pl_param_expected(&name_param, expected, sizeof expected);
            pl_decode_fault(d, "out_of_range", *key ? key : "an empty key", expected,
                            "the key is the name");
        }
        decode_object(d, member, &item, *list_at(p, base) + (size_t)i * p->size);
        pl_decode_leave(d, mark);
        char **name = member_name(p, base, i++);
        *name = strdup(key);
        d->no_memory |= !*name;
    }
}

static void decode_map(pl_decoder *d, json_t *value, const pl_param *p, void *base)
{
    size_t n = json_object_size(value);
    if (value && !json_is_object(value)) {
        refuse(d, value, p, "wrong_type");
    } else if (n > (size_t)p->maximum) {
        refuse(d, value, p, "out_of_range");
    } else if (n > 0) {
        if (make_members(d, p, base, n))
            decode_map_members(d, value, p, base);
    } else if (make_members(d, p, base, 1)) {
        *member_name(p, base, 0) = strdup(p->standard_text);
        d->no_memory |= !*member_name(p, base, 0);
    }
}

/* Rejects a name that the list does not have; the fault lists the first few that it has. */
static void refuse_reference(pl_decoder *d, json_t *value, const pl_param *list)
{
    const char *known[1025];
    int32_t count = *list_count(list, d->root), n = 0;
    for (int32_t i = 0; i < count && n < 1024; i++)
        if (*member_name(list, d->root, i))
            known[n++] = *member_name(list, d->root, i);
    known[n] = NULL;
    refuse_name(d, json_string_value(value), "unknown_name", known, (size_t)n, NULL);
}

/* References are resolved in document order of the root table: the list comes before references to it. If the list
 * itself was rejected, the reference is not reported. */
bool pl_decode_reference(pl_decoder *d, json_t *value, const pl_param *p, int32_t *out)
{
    const pl_param *list = pl_table_param(d->root_table, p->refers);
    int32_t count = *list_count(list, d->root);
    pl_param reference = *p;
    reference.kind = PL_PARAM_REFERENCE;
    if (!json_is_string(value)) {
        refuse(d, value, &reference, "wrong_type");
        return false;
    }
    if (count == 0)
        return false;
    for (int32_t i = 0; i < count; i++) {
        const char *name = *member_name(list, d->root, i);
        if (name && strcmp(name, json_string_value(value)) == 0) {
            *out = i;
            return true;
        }
    }
    refuse_reference(d, value, list);
    return false;
}

static void decode_reference(pl_decoder *d, json_t *value, const pl_param *p, char *at)
{
    int32_t count = *list_count(pl_table_param(d->root_table, p->refers), d->root);
    if (value) {
        pl_decode_reference(d, value, p, (int32_t *)at);
        return;
    }
    if (p->flagged)
        return;
    if (count > 1) {
        char expected[EXPECTED_MAX];
        pl_param_expected(p, expected, sizeof expected);
        pl_decode_fault(d, "missing_key", "nothing", expected,
                        "it can be omitted only if there is just one");
    }
}

/* ---- the walker ---- */

/* The words besides false and true come first. */
static void decode_boolean(pl_decoder *d, json_t *value, const pl_param *p, char *at)
{
    int word = -1;
    if (json_is_boolean(value))
        word = (p->choices ? (int)count_words(p->choices) : 0) + json_is_true(value);
    else if (json_is_string(value) && p->choices)
        word = pl_decode_word(d, value, p->choices, p->absent);
    else
        refuse(d, value, p, "wrong_type");
    if (word >= 0)
        pl_param_store(p, at, word);
}

static void decode_param(pl_decoder *d, json_t *value, const pl_param *p, void *base)
{
    char *at = (char *)base + p->offset;
    int64_t integer;
    int word;
    switch (p->kind) {
    case PL_PARAM_NUMBER:
        pl_decode_number(d, value, p, (double *)at);
        break;
    case PL_PARAM_INTEGER:
        if (pl_decode_integer(d, value, p, &integer))
            pl_param_store(p, at, integer);
        break;
    case PL_PARAM_BOOLEAN:
        decode_boolean(d, value, p, at);
        break;
    case PL_PARAM_STRING:
        pl_decode_name(d, value, p, (char **)at);
        break;
    case PL_PARAM_CHOICE:
        word = pl_decode_word(d, value, p->choices, p->absent);
        if (word >= 0)
            pl_param_store(p, at, word);
        break;
    case PL_PARAM_VECTOR:
        pl_decode_vector(d, value, p, (double *)at);
        break;
    case PL_PARAM_COUNTS:
        decode_counts(d, value, p, (int32_t *)at);
        break;
    case PL_PARAM_OBJECT:
        decode_object(d, value, p, at);
        break;
    case PL_PARAM_LIST:
        decode_list(d, value, p, base);
        break;
    case PL_PARAM_MAP:
        decode_map(d, value, p, base);
        break;
    case PL_PARAM_REFERENCE:
        decode_reference(d, value, p, at);
        break;
    case PL_PARAM_CUSTOM:
        d->customs[p->custom](d, value, p, base);
        break;
    }
}

void pl_decode_root(pl_decoder *d, json_t *document, void *out)
{
    d->root = out;
    pl_decode_beside(d, document, d->root_table, out);
}

void pl_decode_beside(pl_decoder *d, json_t *document, const pl_param_table *table, void *out)
{
    char expected[EXPECTED_MAX];
    d->depth_length = 0;
    d->pointer[0] = 0;
    pl_table_defaults(table, out);
    if (json_is_object(document)) {
        decode_members(d, document, table, out);
        return;
    }
    snprintf(expected, sizeof expected, "an object: the %s", table->name);
    pl_decode_refuse(d, document, "wrong_type", expected, "");
}
