/* listing.h - a list from the database as {"items": [...], "next": ...}, by keyset cursor. */
#ifndef PLIANT_SERVER_STORE_LISTING_H
#define PLIANT_SERVER_STORE_LISTING_H

#include "protocol/text/json.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* One row as a JSON value. */
typedef void (*pl_listing_view)(pl_json_writer *w, const char *const *columns);

/* Replies the rows of a statement whose first column is the key that it is sorted by, and whose last two ?s are
 * the key to go on after (`first` at the beginning) and how many rows there may be; takes both from the
 * query's `cursor` and `limit`. statement->values has the others. */
void pl_listing_reply(pl_request *r, pl_store *store, pl_statement *statement, const char *first,
                      pl_listing_view view);

#endif
