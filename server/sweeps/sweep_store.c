#include "server/sweeps/sweep_store.h"

#include "protocol/log/directory_sync.h"
#include "protocol/log/sealed.h"
#include "protocol/log/session_dir.h"
#include "server/base/logger.h"
#include "server/sessions/removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 1, LIMIT = 256 << 20 };

static const char *const halts[] = {"", "cancelled", "stopped"};

/* ---- writing ---- */

static bool write_document(int dir_fd, const pl_sweep_run *s, const char *text)
{
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "format", FORMAT);
    pl_json_set_string(&w, "id", s->id);
    pl_json_set_string(&w, "owner", s->owner);
    pl_json_set_string(&w, "group", s->group);
    pl_json_set_boolean(&w, "admin", s->admin);
    pl_json_set_integer(&w, "created_us", s->created_us);
    pl_json_set_raw(&w, "document", text);
    return pl_sealed_put(dir_fd, "sweep.json", &w) == PL_OK;
}

static bool make_directory(const pl_sweep_store *t, const pl_sweep_run *s, const char *path,
                           const char *text)
{
    if (mkdirat(t->state_fd, path, 0700) != 0) {
        return false;
    }
    int fd = openat(t->state_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && write_document(fd, s, text);
    pl_close_fd(fd);
    return good;
}

/* In one transaction with the reply to keep (or NULL). */
static bool insert(const pl_sweep_store *t, const pl_sweep_run *s, const pl_kept_reply *kept)
{
    pl_store_digits created = pl_store_number(s->created_us),
                    now = pl_store_number(s->created_us / 1000000),
                    status = pl_store_number(kept ? kept->status : 0);
    /* Only for an existing user and group: otherwise the next one of that name would inherit it. */
    pl_statement put[2] = {{"INSERT INTO sweeps SELECT ?1,?2,?3,?4,?5,'' WHERE"
                            " (?2='" PL_DEFAULT_OWNER
                            "' OR EXISTS(SELECT 1 FROM users WHERE name=?2))"
                            " AND (?3 IS NULL OR EXISTS(SELECT 1 FROM user_groups WHERE name=?3))",
                            {s->id, s->owner, s->group, s->admin ? "1" : "0", created.text},
                            5}};
    if (kept) {
        put[1] = (pl_statement){"INSERT OR REPLACE INTO keys SELECT ?1,?2,?3,?4,?5,?6,?7,?8"
                                " WHERE EXISTS(SELECT 1 FROM sweeps WHERE id=?9)",
                                {kept->owner, kept->route, kept->key, kept->body_hash, status.text,
                                 kept->reply, kept->location, now.text, s->id},
                                9};
    }
    errno = EIO;
    return pl_store_change(t->store, put, kept ? 2 : 1) == 1;
}

static bool forget(const pl_sweep_store *t, const char *id)
{
    const pl_statement all[] = {{"DELETE FROM sweeps WHERE id=?", {id}, 1},
                                {"DELETE FROM sweep_rows WHERE sweep=?", {id}, 1}};
    return pl_store_change(t->store, all, 2) >= 0;
}

/* Remove its rows and its key, so that a request with that key makes a new sweep. */
static void undo(const pl_sweep_store *t, const char *id)
{
    char location[64];
    snprintf(location, sizeof location, "/v1/sweeps/%s", id);
    pl_statement drop = {"DELETE FROM keys WHERE location=?", {location}, 1};
    pl_store_change(t->store, &drop, 1);
    forget(t, id);
}

bool pl_sweep_store_add(const pl_sweep_store *t, const pl_sweep_run *s, const char *text,
                        const pl_kept_reply *kept)
{
    char incoming[64], path[64];
    snprintf(incoming, sizeof incoming, "incoming/%s", s->id);
    snprintf(path, sizeof path, "sweeps/%s", s->id);
    bool made = make_directory(t, s, incoming, text), stored = made && insert(t, s, kept);
    if (stored && renameat(t->state_fd, incoming, t->state_fd, path) == 0 &&
        pl_directory_sync(t->state_fd, path) == PL_OK) {
        return true;
    }
    int error = errno;
    pl_logf(PL_LEVEL_ERROR, "a sweep could not be stored: %s", strerror(error));
    pl_remove_tree(t->state_fd, incoming);
    pl_remove_tree(t->state_fd, path);
    if (stored) {
        undo(t, s->id);
    }
    errno = error;
    return false;
}

bool pl_sweep_store_remove(const pl_sweep_store *t, const pl_sweep_run *s)
{
    char incoming[64], path[64];
    snprintf(incoming, sizeof incoming, "incoming/%s", s->id);
    snprintf(path, sizeof path, "sweeps/%s", s->id);
    /* Moved first: the next start would take over a directory without a row. */
    renameat(t->state_fd, path, t->state_fd, incoming);
    if (!forget(t, s->id)) {
        renameat(t->state_fd, incoming, t->state_fd, path);
        return false;
    }
    pl_remove_tree(t->state_fd, incoming);
    return true;
}

static void note(const pl_sweep_store *t, const pl_statement *statement)
{
    if (!pl_store_note(t->store, statement)) {
        pl_logf(PL_LEVEL_WARN, "a sweep's progress was not stored: the database is behind");
    }
}

void pl_sweep_store_halt(const pl_sweep_store *t, const pl_sweep_run *s)
{
    note(t, &(pl_statement){"UPDATE sweeps SET halt=?2 WHERE id=?1", {s->id, halts[s->halt]}, 2});
}

static void put_results(pl_json_writer *w, const pl_sweep_run *s, const double *results)
{
    pl_json_begin_array(w);
    for (int32_t k = 0; k < s->plan.result_count; k++) {
        pl_json_put_number(w, results ? results[k] : NAN, 17);
    }
    pl_json_end_array(w);
}

/* For a fit, includes the values, which are stored nowhere else: {"values": [...], "results": [...]}. */
static char *results_text(const pl_sweep_run *s, int64_t row)
{
    const double *results = s->rows[row].outcome.results;
    pl_json_writer w = {0};
    if (!results && !s->plan.fit) {
        return NULL;
    }
    if (!s->plan.fit) {
        put_results(&w, s, results);
        return pl_json_finish(&w, NULL);
    }
    pl_json_begin_object(&w);
    pl_json_key(&w, "values");
    pl_json_begin_array(&w);
    for (int32_t j = 0; j < s->plan.parameter_count; j++) {
        pl_json_put_raw(&w, pl_sweep_value(&s->plan, row, j));
    }
    pl_json_end_array(&w);
    if (results) {
        pl_json_key(&w, "results");
        put_results(&w, s, results);
    }
    pl_json_end_object(&w);
    return pl_json_finish(&w, NULL);
}

void pl_sweep_store_row(const pl_sweep_store *t, const pl_sweep_run *s, int64_t row)
{
    const pl_sweep_row *r = &s->rows[row];
    pl_store_digits number = pl_store_number(row), tries = pl_store_number(r->tries),
                    since = pl_store_number(r->since_us);
    char *results = results_text(s, row);
    note(t,
         &(pl_statement){"INSERT OR REPLACE INTO sweep_rows(sweep, row, session, state, tries,"
                         " since_us, message, results, warnings)"
                         " SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9"
                         " WHERE EXISTS(SELECT 1 FROM sweeps WHERE id=?1)",
                         {s->id, number.text, r->session, pl_sweep_row_state_name(r->state),
                          tries.text, since.text, r->outcome.message, results, r->outcome.warnings},
                         9});
    free(results);
}

/* ---- loading ---- */

/* Lifetime: the start. */
typedef struct loading {
    const pl_sweep_store *store;
    void (*take)(void *context, pl_sweep_run *s);
    void *context;
    pl_sweep_run **all;
    size_t count;
    char (*stale)[33]; /* rows of the database without a directory */
    size_t stale_count;
    bool failed;
} loading;

static bool grow(loading *l, void **list, size_t count, size_t size)
{
    void *grown = realloc(*list, (count + 1) * size);
    l->failed |= !grown;
    *list = grown ? grown : *list;
    return grown;
}

static pl_sweep_run *decode(const pl_json *sealed, const char *id)
{
    char *text = pl_json_dump(pl_json_at(sealed, "document"), false);
    pl_sweep plan;
    pl_faults faults = {0};
    pl_status status = text ? pl_sweep_decode(text, strlen(text), &plan, &faults) : PL_NO_MEMORY;
    size_t length = text ? strlen(text) : 0;
    pl_faults_clear(&faults);
    free(text);
    pl_sweep_run *s = status == PL_OK ? pl_sweep_run_create(id, pl_json_string(sealed, "owner", ""),
                                                            pl_json_string(sealed, "group", NULL),
                                                            &plan, length)
                                      : NULL;
    if (s) {
        s->admin = pl_json_boolean(sealed, "admin", false);
        s->created_us = pl_json_integer(sealed, "created_us", 0);
    }
    return s;
}

static pl_sweep_run *read_sweep(const pl_sweep_store *t, const char *id)
{
    char path[64];
    snprintf(path, sizeof path, "sweeps/%.32s", id);
    int fd = openat(t->state_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    pl_json *sealed = NULL;
    pl_sweep_run *s = NULL;
    if (fd >= 0 && pl_sealed_read(fd, "sweep.json", LIMIT, FORMAT, &sealed) == PL_OK &&
        strcmp(pl_json_string(sealed, "id", ""), id) == 0) {
        s = decode(sealed, id);
    }
    pl_json_free(sealed);
    pl_close_fd(fd);
    return s;
}

static pl_sweep_run *find(const loading *l, const char *id)
{
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->all[i]->id, id) == 0) {
            return l->all[i];
        }
    }
    return NULL;
}

static void see_sweep(void *context, const char *const *columns)
{
    loading *l = context;
    pl_sweep_run *s = strlen(columns[0]) == 32 ? read_sweep(l->store, columns[0]) : NULL;
    if (!s) {
        char path[64];
        snprintf(path, sizeof path, "sweeps/%.32s", columns[0]);
        bool lost = faccessat(l->store->state_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        pl_logf(PL_LEVEL_WARN, "sweep %s: its directory is %s", columns[0],
                lost ? "missing: the sweep is dropped" : "damaged: it is skipped");
        if (lost && grow(l, (void **)&l->stale, l->stale_count, sizeof *l->stale)) {
            snprintf(l->stale[l->stale_count++], sizeof *l->stale, "%s", columns[0]);
        }
        return;
    }
    for (int k = 1; k < 3; k++) {
        s->halt = columns[1] && strcmp(columns[1], halts[k]) == 0 ? (pl_sweep_halt)k : s->halt;
    }
    if (grow(l, (void **)&l->all, l->count, sizeof *l->all)) {
        l->all[l->count++] = s;
    }
}

static double *read_results(const pl_sweep_run *s, const pl_json *stored)
{
    const pl_json *list = s->plan.fit ? pl_json_at(stored, "results") : stored;
    double *results = list ? calloc((size_t)s->plan.result_count + 1, sizeof *results) : NULL;
    for (int32_t k = 0; results && k < s->plan.result_count; k++) {
        results[k] = pl_json_number(pl_json_item(list, (size_t)k), "", NAN);
    }
    return results;
}

/* True if the sweep has the row; adds the next row of a fit. Rows come in order. The search requests rows beyond a gap
 * again. */
static bool has_row(pl_sweep_run *s, int64_t row, const pl_json *stored)
{
    const pl_json *values = pl_json_at(stored, "values");
    if (row == s->plan.row_count && s->plan.fit && row < s->plan.row_room &&
        pl_json_count(values) == (size_t)s->plan.parameter_count) {
        return pl_sweep_append_values(&s->plan, values);
    }
    return row >= 0 && row < s->plan.row_count;
}

/* sweep, row, session, state, tries, since_us, message, results, warnings */
static void see_row(void *context, const char *const *columns)
{
    loading *l = context;
    pl_sweep_run *s = columns[0] ? find(l, columns[0]) : NULL;
    int64_t row = columns[1] ? strtoll(columns[1], NULL, 10) : -1;
    pl_json *stored = columns[7] ? pl_json_parse(columns[7], strlen(columns[7]), NULL) : NULL;
    if (!s || !columns[3] || !has_row(s, row, stored)) {
        pl_json_free(stored);
        return;
    }
    pl_sweep_row *r = &s->rows[row];
    snprintf(r->session, sizeof r->session, "%s", columns[2] ? columns[2] : "");
    for (int k = 0; k < PL_ROW_STATES; k++) {
        if (strcmp(columns[3], pl_sweep_row_state_name((pl_sweep_row_state)k)) == 0) {
            r->state = (pl_sweep_row_state)k;
        }
    }
    r->tries = columns[4] ? (int32_t)strtol(columns[4], NULL, 10) : 0;
    r->since_us = columns[5] ? strtoll(columns[5], NULL, 10) : 0;
    r->outcome = (pl_sweep_outcome){
        .message = columns[6] ? strdup(columns[6]) : NULL,
        .warnings = columns[8] ? strdup(columns[8]) : NULL,
        .results = read_results(s, stored),
    };
    pl_json_free(stored);
}

/* Adopt a session created before the row was stored, or all of them if the database is a new one. */
static void adopt(const loading *l, const pl_row *session)
{
    if (!session->labels || !strstr(session->labels, "\"sweep\"")) {
        return;
    }
    pl_json *labels = pl_json_parse(session->labels, strlen(session->labels), NULL);
    pl_sweep_run *s = find(l, pl_json_string(labels, "sweep", ""));
    char *end;
    const char *text = pl_json_string(labels, "row", "");
    int64_t row = strtoll(text, &end, 10);
    if (s && *text && !*end && row >= 0 && row < s->plan.row_room &&
        strcmp(s->owner, session->owner) == 0) {
        pl_sweep_row *r = &s->rows[row];
        bool fresh = session->created_us > r->since_us && strcmp(r->session, session->id) != 0;
        if (fresh && (r->state == PL_ROW_WAITING || r->adopted)) {
            memcpy(r->session, session->id, sizeof r->session);
            r->since_us = session->created_us;
            r->tries += !r->adopted;
            r->adopted = true;
            r->state = PL_ROW_LIVE;
        }
    }
    pl_json_free(labels);
}

static void adopt_all(const loading *l, pl_sessions *sessions)
{
    size_t count;
    pl_session **all = pl_sessions_all(sessions, &count);
    for (size_t i = 0; all && i < count; i++) {
        if (l->count) {
            pl_row row = pl_session_row(sessions, all[i]);
            adopt(l, &row);
            pl_row_clear(&row);
        }
        pl_session_release(all[i]);
    }
    free(all);
}

/* Take over directories without a row, after the database was rebuilt. */
static void take_up_strangers(loading *l)
{
    int fd = openat(l->store->state_fd, "sweeps", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        pl_sweep_run *s = NULL;
        if (strlen(e->d_name) != 32 || find(l, e->d_name) ||
            !(s = read_sweep(l->store, e->d_name))) {
            continue;
        }
        bool stored = insert(l->store, s, NULL);
        pl_logf(PL_LEVEL_WARN, "sweep %s: %s", s->id,
                stored ? "its row in the database is made again from its directory"
                       : "it has no row in the database, and none can be made");
        if (stored && grow(l, (void **)&l->all, l->count, sizeof *l->all)) {
            l->all[l->count++] = s;
        } else {
            pl_sweep_release(s);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

bool pl_sweep_store_load(const pl_sweep_store *t, pl_sessions *sessions,
                         void (*take)(void *context, pl_sweep_run *s), void *context)
{
    loading l = {.store = t, .take = take, .context = context};
    pl_statement sweeps = {"SELECT id, halt FROM sweeps", {NULL}, 0};
    pl_statement rows = {"SELECT sweep, row, session, state, tries, since_us, message, results,"
                         " warnings"
                         " FROM sweep_rows ORDER BY sweep, row",
                         {NULL},
                         0};
    bool good = pl_store_read(t->store, &sweeps, see_sweep, &l) && !l.failed;
    for (size_t i = 0; good && i < l.stale_count; i++) {
        undo(t, l.stale[i]);
    }
    if (good) {
        take_up_strangers(&l);
    }
    good = good && pl_store_read(t->store, &rows, see_row, &l) && !l.failed;
    if (good) {
        adopt_all(&l, sessions);
    }
    for (size_t i = 0; i < l.count; i++) {
        if (good) {
            take(context, l.all[i]);
        } else {
            pl_sweep_release(l.all[i]);
        }
    }
    free(l.all);
    free(l.stale);
    return good;
}
