/* schema.h - the parameter tables as JSON Schema (2020-12), for editors, clients and the API's
 * description. What binds several keys together and can be said in a schema is said; the rest (names
 * that must exist, sizes of inline meshes) only a decoder knows, so that what fits the schema may
 * still be refused, and what does not fit always is.
 */
#ifndef PLIANT_PROTOCOL_SCENE_SCHEMA_H
#define PLIANT_PROTOCOL_SCENE_SCHEMA_H

#include "protocol/text/json.h"

/* The schema of a scene with every table below "$defs". malloc'ed, or NULL. */
char *pl_scene_schema_encode(void);
/* That of one table as a value where the writer stands, with the objects in it in their places. */
void pl_table_schema_put(pl_json_writer *w, const char *table);

#endif
