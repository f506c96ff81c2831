#include "clients/cli/commands/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 500 }; /* as many as the daemon returns at once */

/* malloc'ed, or NULL. */
static char *page_path(const char *path, int64_t limit, const char *cursor)
{
    char *whole = NULL;
    int n = asprintf(&whole, "%s%climit=%" PRId64 "%s%s", path, strchr(path, '?') ? '&' : '?',
                     limit, cursor ? "&cursor=" : "", cursor ? cursor : "");
    return n < 0 ? NULL : whole;
}

/* A page's "next", a text or a number; malloc'ed, NULL on the last page. */
static char *cursor_of(const pl_json *page)
{
    const char *text = pl_json_string(page, "next", NULL);
    int64_t number = pl_json_integer(page, "next", -1);
    char *cursor = NULL;
    if (text)
        return strdup(text);
    return number >= 0 && asprintf(&cursor, "%" PRId64, number) > 0 ? cursor : NULL;
}

static void put_item(pl_json_writer *w, const pl_json *item)
{
    char *text = pl_json_dump(item, false);
    pl_json_put_raw(w, text ? text : "null");
    free(text);
}

int pl_listing_print(pl_cli *cli, const char *path, int64_t most,
                     void (*row)(const pl_cli *cli, const pl_json *item))
{
    pl_json_writer w = {0};
    int64_t shown = 0;
    int status = PL_EXIT_OK;
    char *cursor = NULL;
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    do {
        pl_json *page = NULL;
        char *where = page_path(path, most - shown < PAGE ? most - shown : PAGE, cursor);
        status = pl_api_get(cli, where, &page);
        free(where);
        const pl_json *items = pl_json_at(page, "items");
        size_t count = pl_json_count(items);
        for (size_t i = 0; i < count; i++) {
            if (cli->json)
                put_item(&w, pl_json_item(items, i));
            else
                row(cli, pl_json_item(items, i));
        }
        shown += (int64_t)count;
        free(cursor);
        cursor = count > 0 ? cursor_of(page) : NULL;
        pl_json_free(page);
    } while (status == PL_EXIT_OK && cursor && shown < most);
    pl_json_end_array(&w);
    pl_json_set_string(&w, "next", cursor);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (status == PL_EXIT_OK && cli->json && text)
        puts(text);
    else if (status == PL_EXIT_OK && cursor)
        fprintf(stderr, "there are more: --limit N\n");
    free(text);
    free(cursor);
    return status;
}
