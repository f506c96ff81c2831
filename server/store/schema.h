/* schema.h - the tables of the database, and bringing one of an older format up to date.
 */
#ifndef PLIANT_SERVER_STORE_SCHEMA_H
#define PLIANT_SERVER_STORE_SCHEMA_H

#include <stdbool.h>

struct sqlite3;

/* Whether SQLite finds its pages in order; false with a line in the log that says what to do. What lies in a row
 * is guarded by its checksum. `path` is for the log. */
bool pl_schema_sound(struct sqlite3 *db, const char *path);
/* Tables, columns and checksums of this version, in one transaction; false with a line in the log. */
bool pl_schema_update(struct sqlite3 *db, const char *path);

#endif
