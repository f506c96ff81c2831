/* database_copy.h - a consistent copy of STATE/pliant.db while a daemon keeps writing. */
#ifndef PLIANT_SERVER_STORE_DATABASE_COPY_H
#define PLIANT_SERVER_STORE_DATABASE_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Writes TO/pliant.db, which must be missing. False with the reason as text. */
bool pl_database_copy(const char *state, const char *to, char *why, size_t size);

/* Query PRAGMA `name` of STATE/pliant.db, such as user_version or quick_check(1). False with the reason in `answer`. */
bool pl_database_ask(const char *state, const char *name, char *answer, size_t size);

#endif
