/* row_sql.h - the SQL texts for the table of sessions, generated from its columns (row.h). Column i is parameter i + 1
 * in each; the checksum "crc" comes last.
 */
#ifndef PLIANT_SERVER_STORE_ROW_SQL_H
#define PLIANT_SERVER_STORE_ROW_SQL_H

#include "server/store/row.h"

enum { PL_SQL_MAX = 2048 };

void pl_row_sql_table(char out[PL_SQL_MAX]);                 /* CREATE TABLE IF NOT EXISTS */
void pl_row_sql_put(const char *verb, char out[PL_SQL_MAX]); /* "INSERT" or "INSERT OR REPLACE" */
/* all columns that may change, by id */
void pl_row_sql_update(char out[PL_SQL_MAX]);
void pl_row_sql_select(char out[PL_SQL_MAX]);                       /* all, oldest first */
void pl_row_sql_add(const pl_column *column, char out[PL_SQL_MAX]); /* ALTER TABLE ADD COLUMN */

#endif
