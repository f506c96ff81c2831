/* decode.h - JSON values into structs as the tables of params.h say; private to protocol/.
 *
 * One walker for every table. It never stops at a fault: what is wrong is appended to the list with
 * its place, the struct keeps the default there, and the walk goes on.
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

/* Called after an object's members are decoded, for what binds several of them together. `clean`:
 * no fault was found in the object. */
typedef void (*pl_decode_check)(pl_decoder *d, json_t *object, void *out, bool clean);
typedef struct pl_decode_rule {
    const char *table;
    pl_decode_check check;
} pl_decode_rule;

struct pl_decoder {
    pl_faults *faults;
    bool no_memory;
    void *root; /* struct of the root table, where references look their lists up */
    const pl_param_table *root_table;
    const pl_decode_custom *customs; /* [PL_CUSTOM_COUNT] */
    const pl_decode_rule *rules;     /* ends with table NULL */
    char pointer[640];               /* of the value being decoded */
    size_t depth_length;             /* of pointer */
};

/* Decode a whole document into *out, which is zeroed and filled with defaults first. What it
 * allocates belongs to *out whatever the faults. */
void pl_decode_root(pl_decoder *d, json_t *document, void *out);

/* Decode a document of another table, whose references look their lists up in the root that d->root
 * and d->root_table name already; otherwise as pl_decode_root. */
void pl_decode_beside(pl_decoder *d, json_t *document, const pl_param_table *table, void *out);

/* Descend into a member or an item; the mark returned goes to pl_decode_leave. */
size_t pl_decode_enter(pl_decoder *d, const char *key);
size_t pl_decode_enter_item(pl_decoder *d, size_t index);
void pl_decode_leave(pl_decoder *d, size_t mark);

/* A fault at the present place. */
void pl_decode_fault(pl_decoder *d, const char *code, const char *got, const char *expected,
                     const char *hint);
/* The same, with what was found there described: `string "abc"`, `number 12.5`, .... */
void pl_decode_refuse(pl_decoder *d, json_t *value, const char *code, const char *expected,
                      const char *hint);
/* The fault of a member that has no place beside something. */
void pl_decode_conflict(pl_decoder *d, const char *key, const char *beside, const char *expected);
/* The fault of a member that is not there. */
void pl_decode_missing(pl_decoder *d, const char *key, const char *expected, const char *hint);
/* True once further faults are only counted: building their texts would be for nothing. */
bool pl_decode_full(const pl_decoder *d);

/* Numbers within the bounds of p, called `what` in the fault. False where they were refused. */
bool pl_decode_number(pl_decoder *d, json_t *value, const pl_param *p, double *out);
bool pl_decode_integer(pl_decoder *d, json_t *value, const pl_param *p, int64_t *out);
bool pl_decode_vector(pl_decoder *d, json_t *value, const pl_param *p, double *out);
/* A string that names something: 1 to PL_SCENE_NAME_MAX bytes without control characters. Copies
 * it. */
bool pl_decode_name(pl_decoder *d, json_t *value, const pl_param *p, char **out);
/* The index of the member that a value names, in the root's list that p refers to; false where it
 * was refused. */
bool pl_decode_reference(pl_decoder *d, json_t *value, const pl_param *p, int32_t *out);
/* A word out of a NULL-terminated list, as its index; -1 where it was refused. `absent` may be
 * NULL. */
int pl_decode_word(pl_decoder *d, json_t *value, const char *const *words, const pl_absent *absent);

/* What is decoded and bound together in scenes, and in what refers to one. */
extern const pl_decode_custom pl_scene_customs[PL_CUSTOM_COUNT];
extern const pl_decode_rule pl_scene_rules[];
/* The fault of a text that pl_json_load has just refused (errno is read); PL_DECODE_SYNTAX or PL_DECODE_NO_MEMORY. */
pl_decode_outcome pl_decode_refuse_syntax(const json_error_t *error, pl_faults *faults);

/* Say what a parameter takes: "number in Pa, > 0 and <= 1e15". */
void pl_param_expected(const pl_param *p, char *out, size_t size);
/* Words joined by commas, cut at the buffer's end. */
void pl_join_words(const char *const *words, char *out, size_t size);

#endif
