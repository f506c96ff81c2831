/* decode.h - decoding of JSON values into structs by the tables of params.h; private to protocol/.
 *
 * One walker serves every table. It never stops at a fault: it appends the fault with its place to the list, the
 * struct keeps the default there, and the walk continues.
 */
#ifndef PLIANT_PROTOCOL_SCENE_DECODE_H
#define PLIANT_PROTOCOL_SCENE_DECODE_H

#include "engine/scene/fault.h"
#include "protocol/scene/params.h"
#include "protocol/scene/scene_json.h"

#include <jansson.h>

typedef struct pl_decoder pl_decoder;

/* Decodes a PL_PARAM_CUSTOM value into the struct of its table. */
typedef void (*pl_decode_custom)(pl_decoder *d, json_t *value, const pl_param *p, void *out);

/* Called after an object's members are decoded, for rules over several of them. `clean`: no fault was found in the
 * object. */
typedef void (*pl_decode_check)(pl_decoder *d, json_t *object, void *out, bool clean);
typedef struct pl_decode_rule {
    const char *table;
    pl_decode_check check;
} pl_decode_rule;

struct pl_decoder {
    pl_faults *faults;
    bool no_memory;
    void *root; /* struct of the root table, which has the lists that references refer to */
    const pl_param_table *root_table;
    const pl_decode_custom *customs; /* [PL_CUSTOM_COUNT] */
    const pl_decode_rule *rules;     /* ends with table NULL */
    char pointer[640];               /* of the value being decoded */
    size_t depth_length;             /* of pointer */
};

/* Decodes a whole document into *out, which is first zeroed and filled with defaults. The caller owns what it
 * allocates, whatever the faults. */
void pl_decode_root(pl_decoder *d, json_t *document, void *out);

/* Decodes a document of another table, whose references refer to lists of the root that d->root and d->root_table
 * already name; otherwise as pl_decode_root. */
void pl_decode_beside(pl_decoder *d, json_t *document, const pl_param_table *table, void *out);

/* Descends into a member or an item; pass the returned mark to pl_decode_leave. */
size_t pl_decode_enter(pl_decoder *d, const char *key);
size_t pl_decode_enter_item(pl_decoder *d, size_t index);
void pl_decode_leave(pl_decoder *d, size_t mark);

/* Adds a fault at the present place. */
void pl_decode_fault(pl_decoder *d, const char *code, const char *got, const char *expected,
                     const char *hint);
/* The same, with a description of the value found: `string "abc"`, `number 12.5`, .... */
void pl_decode_refuse(pl_decoder *d, json_t *value, const char *code, const char *expected,
                      const char *hint);
/* Adds the fault of a member that excludes another. */
void pl_decode_conflict(pl_decoder *d, const char *key, const char *beside, const char *expected);
/* Adds the fault of a missing member. */
void pl_decode_missing(pl_decoder *d, const char *key, const char *expected, const char *hint);
/* True once further faults are only counted: their texts need not be built. */
bool pl_decode_full(const pl_decoder *d);

/* Numbers within the bounds of p, called `what` in the fault. False if they were rejected. */
bool pl_decode_number(pl_decoder *d, json_t *value, const pl_param *p, double *out);
bool pl_decode_integer(pl_decoder *d, json_t *value, const pl_param *p, int64_t *out);
bool pl_decode_vector(pl_decoder *d, json_t *value, const pl_param *p, double *out);
/* A name: a string of 1 to PL_SCENE_NAME_MAX bytes without control characters. Copies it. */
bool pl_decode_name(pl_decoder *d, json_t *value, const pl_param *p, char **out);
/* The index of the named member in the root's list that p refers to; false if it was rejected. */
bool pl_decode_reference(pl_decoder *d, json_t *value, const pl_param *p, int32_t *out);
/* The index of a word in a NULL-terminated list; -1 if it was rejected. `absent` may be NULL. */
int pl_decode_word(pl_decoder *d, json_t *value, const char *const *words, const pl_absent *absent);

/* Decoding and rules shared by scenes and by documents that refer to one. */
extern const pl_decode_custom pl_scene_customs[PL_CUSTOM_COUNT];
extern const pl_decode_rule pl_scene_rules[];
/* Adds the fault of a text that pl_json_load has just rejected (reads errno); PL_DECODE_SYNTAX or
 * PL_DECODE_NO_MEMORY. */
pl_decode_outcome pl_decode_refuse_syntax(const json_error_t *error, pl_faults *faults);

/* Describes the values of a parameter: "number in Pa, > 0 and <= 1e15". */
void pl_param_expected(const pl_param *p, char *out, size_t size);
/* Words joined by commas, cut at the buffer's end. */
void pl_join_words(const char *const *words, char *out, size_t size);

#endif
