/* schema.h - the tables of the database, and the upgrade from older formats. */
#ifndef PLIANT_SERVER_STORE_SCHEMA_H
#define PLIANT_SERVER_STORE_SCHEMA_H

#include <stdbool.h>

struct sqlite3;

/* True if SQLite finds the database's pages intact; false with a line in the log that says what to do. Row contents are
 * protected by the rows' checksums. `path` is for the log. */
bool pl_schema_sound(struct sqlite3 *db, const char *path);
/* Create this version's tables, columns and checksums, in one transaction; false with a line in the log. */
bool pl_schema_update(struct sqlite3 *db, const char *path);

#endif
