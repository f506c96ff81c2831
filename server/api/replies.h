/* replies.h - the JSON documents of replies, as tables: the API's description is generated from them, and the tests
 * check every reply against it.
 */
#ifndef PLIANT_SERVER_API_REPLIES_H
#define PLIANT_SERVER_API_REPLIES_H

#include "protocol/text/json.h"

/* `type` is one of: string integer number boolean object any; #Name for a document of its own; =a,b,c for one of these
 * words; []T for an array and {}T for an object of T by name. A '?' after the type means that it may be null; a '?'
 * after the key, that it may be missing. */
typedef struct pl_reply_field {
    const char *key, *type, *doc;
} pl_reply_field;

typedef struct pl_reply_table {
    const char *name, *doc;
    const pl_reply_field *fields; /* ends with a key of NULL; NULL: an object with arbitrary keys */
} pl_reply_table;

/* One set for each noun; it ends with a name of NULL. */
extern const pl_reply_table pl_replies_of_sessions[], pl_replies_of_sweeps[],
    pl_replies_of_tenants[], pl_replies_of_machine[], pl_replies_of_scenes[];
extern const pl_reply_table *const pl_reply_sets[]; /* all of them; ends with NULL */

/* Write the table as a JSON Schema, as the writer's next value. */
void pl_reply_schema_put(pl_json_writer *w, const pl_reply_table *table);
/* Write the schema of one type. */
void pl_reply_type_put(pl_json_writer *w, const char *type, const char *doc);

#endif
