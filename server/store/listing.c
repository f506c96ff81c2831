#include "server/store/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct listing {
    pl_json_writer w;
    pl_listing_view view;
    int64_t limit, seen;
    char last[80];
} listing;

static void see(void *context, const char *const *columns)
{
    listing *l = context;
    if (l->seen++ < l->limit) {
        snprintf(l->last, sizeof l->last, "%s", columns[0] ? columns[0] : "");
        l->view(&l->w, columns);
    }
}

void pl_listing_reply(pl_request *r, pl_store *store, pl_statement *s, const char *first,
                      pl_listing_view view)
{
    listing l = {.view = view};
    char one_more[24];
    const char *cursor = pl_request_query(r, "cursor");
    if (!pl_request_integer(r, "limit", 1, 500, 50, &l.limit)) {
        return;
    }
    snprintf(one_more, sizeof one_more, "%lld", (long long)l.limit + 1);
    s->values[s->count++] = cursor ? cursor : first;
    s->values[s->count++] = one_more;
    pl_json_begin_object(&l.w);
    pl_json_key(&l.w, "items");
    pl_json_begin_array(&l.w);
    bool good = pl_store_read(store, s, see, &l);
    pl_json_end_array(&l.w);
    pl_json_set_string(&l.w, "next", l.seen > l.limit ? l.last : NULL);
    pl_json_end_object(&l.w);
    char *text = pl_json_finish(&l.w, NULL);
    if (good) {
        pl_reply_json(r, 200, text);
        pl_reply_header(r, "Cache-Control", "no-store");
    } else {
        free(text);
        pl_reply_problem(r, 500, "internal", "Internal error", "the database failed", NULL);
    }
}
