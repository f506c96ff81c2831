#include "server/store/usage_backup.h"

#include "protocol/log/sealed.h"
#include "server/base/logger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FORMAT = 1, LIMIT = 256 << 20 };
static const char file_name[] = "usage.json";

/* Each as one array of arrays. Runs come first: their trigger adds them to the days, which the days' own sums then
 * replace. */
static const struct {
    const char *name, *read, *write;
} tables[] = {
    {"runs",
     "SELECT json_group_array(json_array(session, user, grp, from_ms, to_ms, cores, gpu, runs))"
     " FROM usage_spans",
     "INSERT OR IGNORE INTO usage_spans(session, user, grp, from_ms, to_ms, cores, gpu, runs)"
     " SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, "
     "'$[2]'),"
     " json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),"
     " json_extract(value, '$[6]'), json_extract(value, '$[7]') FROM json_each(?1)"},
    {"days",
     "SELECT json_group_array(json_array(day, user, grp, core_ms, gpu_ms, runs, bytes))"
     " FROM usage_days",
     "INSERT OR REPLACE INTO usage_days(day, user, grp, core_ms, gpu_ms, runs, bytes)"
     " SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, "
     "'$[2]'),"
     " json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]'),"
     " json_extract(value, '$[6]') FROM json_each(?1)"},
    {"run_times", "SELECT json_group_array(json_array(kind, log_ratio, runs)) FROM run_times",
     "INSERT OR REPLACE INTO run_times(kind, log_ratio, runs) SELECT json_extract(value, '$[0]'),"
     " json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?1)"},
};
enum { TABLES = sizeof tables / sizeof *tables };

static void see_text(void *context, const char *const *columns)
{
    char **text = context;
    *text = columns[0] ? strdup(columns[0]) : NULL;
}

void pl_usage_backup_write(pl_store *store, int state_fd)
{
    pl_json_writer w = {0};
    bool good = pl_store_flush(store);
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    for (int t = 0; t < TABLES && good; t++) {
        char *rows = NULL;
        good = pl_store_read(store, &(pl_statement){.sql = tables[t].read}, see_text, &rows) &&
               rows;
        pl_json_set_raw(&w, tables[t].name, good ? rows : "[]");
        free(rows);
    }
    if (!good) {
        pl_json_end_object(&w);
        free(pl_json_finish(&w, NULL));
        pl_logf(PL_LEVEL_WARN, "usage could not be read from the database for %s", file_name);
    } else if (pl_sealed_write(state_fd, file_name, &w, true) != PL_OK) {
        pl_logf(PL_LEVEL_WARN, "usage could not be written to %s: %s", file_name, strerror(errno));
    }
}

int64_t pl_usage_backup_restore(pl_store *store, int state_fd)
{
    pl_json *document;
    if (pl_sealed_read(state_fd, file_name, LIMIT, FORMAT, &document) != PL_OK) {
        return errno == ENOENT ? 0 : -1;
    }
    pl_statement all[TABLES];
    char *texts[TABLES];
    bool good = true;
    for (int t = 0; t < TABLES; t++) {
        const pl_json *rows = pl_json_at(document, tables[t].name);
        texts[t] = rows ? pl_json_dump(rows, false) : strdup("[]");
        good = good && texts[t];
        all[t] = (pl_statement){tables[t].write, {texts[t]}, 1};
    }
    int64_t days = (int64_t)pl_json_count(pl_json_at(document, "days"));
    pl_json_free(document);
    good = good && pl_store_change(store, all, TABLES) >= 0;
    for (int t = 0; t < TABLES; t++) {
        free(texts[t]);
    }
    return good ? days : -1;
}
