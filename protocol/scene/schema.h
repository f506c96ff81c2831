/* schema.h - the parameter tables as JSON Schema (2020-12), for editors, clients and the API's description. It
 * includes the rules over several keys that a schema can express. The rest (names that must exist, sizes of inline
 * meshes) only a decoder checks. So a document that fits the schema may still be rejected, and one that does not
 * fit always is.
 */
#ifndef PLIANT_PROTOCOL_SCENE_SCHEMA_H
#define PLIANT_PROTOCOL_SCENE_SCHEMA_H

#include "protocol/text/json.h"

/* The schema of a scene with every table below "$defs". malloc'ed, or NULL. */
char *pl_scene_schema_encode(void);
/* Writes the schema of one table as the next value, with its objects inline. */
void pl_table_schema_put(pl_json_writer *w, const char *table);

#endif
