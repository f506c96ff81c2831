/* listing.h - replies with a list from the database as {"items": [...], "next": ...}, paged by keyset cursor. */
#ifndef PLIANT_SERVER_STORE_LISTING_H
#define PLIANT_SERVER_STORE_LISTING_H

#include "protocol/text/json.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* Write one row as a JSON value. */
typedef void (*pl_listing_view)(pl_json_writer *w, const char *const *columns);

/* Reply with the rows of a statement. Its first column is the key that it is sorted by; its last two ?s are the key to
 * continue after (`first` at the beginning) and the most rows, both taken from the query's `cursor` and `limit`.
 * statement->values has the other parameters. */
void pl_listing_reply(pl_request *r, pl_store *store, pl_statement *statement, const char *first,
                      pl_listing_view view);

#endif
