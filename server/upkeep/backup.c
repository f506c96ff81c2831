#include "server/upkeep/backup.h"

#include "protocol/log/session_dir.h"
#include "protocol/log/small_file.h"
#include "protocol/text/json.h"
#include "server/sessions/removal.h"
#include "server/store/database_copy.h"
#include "server/store/store.h"
#include "server/store/usage_backup.h"
#include "server/tenants/tenant_backup.h"
#include "server/upkeep/backup_folder.h"
#include "server/upkeep/backup_rows.h"
#include "server/upkeep/session_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct backup {
    const pl_backup_request *request;
    int state_fd, folder_fd;
    char name[PL_BACKUP_NAME], partial[PL_BACKUP_NAME + 16], path[PATH_MAX];
    char before[PL_BACKUP_NAME]; /* "": none */
    pl_manifest before_files;
    pl_copier copier;
    pl_counters counters;
    pl_store *store; /* the copied database */
    pl_backup_facts facts;
} backup;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "pliantd: %s: %s\n", what, why);
    return false;
}

/* ---- before ---- */

static void open_before(backup *b)
{
    pl_backup_facts facts;
    b->copier.before_fd = -1;
    if (!pl_backup_newest(b->folder_fd, b->before)) {
        return;
    }
    int fd = openat(b->folder_fd, b->before, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && pl_backup_facts_read(fd, &facts) &&
        pl_manifest_read(&b->before_files, fd, facts.files_crc)) {
        b->copier.before_fd = fd;
        b->copier.before = &b->before_files;
        return;
    }
    fail(b->before, "is damaged; no files are shared with it");
    *b->before = 0;
    if (fd >= 0) {
        close(fd);
    }
}

static bool open_all(backup *b)
{
    const pl_backup_request *r = b->request;
    b->state_fd = open(r->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b->state_fd < 0 || faccessat(b->state_fd, "pliant.db", F_OK, 0) != 0) {
        return fail(r->state, b->state_fd < 0 ? strerror(errno) : "it has no pliant.db");
    }
    if (mkdir(r->folder, 0700) != 0 && errno != EEXIST) {
        return fail(r->folder, strerror(errno));
    }
    b->folder_fd = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (b->folder_fd < 0) {
        return fail(r->folder, strerror(errno));
    }
    open_before(b);
    pl_backup_name(b->folder_fd, b->name);
    snprintf(b->partial, sizeof b->partial, "%s.partial", b->name);
    snprintf(b->path, sizeof b->path, "%.3900s/%s", r->folder, b->partial);
    if (mkdirat(b->folder_fd, b->partial, 0700) != 0) {
        return fail(b->path, strerror(errno));
    }
    b->copier.from_fd = b->state_fd;
    b->copier.to_fd = openat(b->folder_fd, b->partial, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return b->copier.to_fd >= 0 || fail(b->path, strerror(errno));
}

/* ---- files that the database names ---- */

typedef struct name_list {
    size_t count, capacity;
    char (*names)[65];
    bool failed;
} name_list;

static void take_name(void *context, const char *const *columns)
{
    name_list *l = context;
    if (l->count == l->capacity) {
        size_t capacity = 2 * l->capacity + 64;
        void *grown = realloc(l->names, capacity * sizeof *l->names);
        if (!grown) {
            l->failed = true;
            return;
        }
        l->names = grown;
        l->capacity = capacity;
    }
    snprintf(l->names[l->count++], sizeof *l->names, "%s", columns[0] ? columns[0] : "");
}

static bool read_names(backup *b, const char *sql, name_list *l)
{
    return pl_store_read(b->store, &(pl_statement){.sql = sql}, take_name, l) && !l->failed;
}

/* Removes a mesh from the copied database that was swept away meanwhile: nothing needs it. */
static bool forget_mesh(backup *b, const char *hash)
{
    pl_statement all[] = {{"DELETE FROM grants WHERE hash=?", {hash}, 1},
                          {"DELETE FROM meshes WHERE hash=?", {hash}, 1}};
    return pl_store_change(b->store, all, 2) >= 0;
}

static bool copy_mesh(backup *b, const char *hash)
{
    char path[112];
    snprintf(path, sizeof path, "meshes/%.2s/%s", hash, hash);
    pl_copied mesh = pl_copy_file(&b->copier, path, false);
    strcat(path, ".json");
    pl_copied report = mesh == PL_COPIED ? pl_copy_file(&b->copier, path, false) : mesh;
    return report == PL_COPY_MISSING ? forget_mesh(b, hash) : report == PL_COPIED;
}

static bool copy_sweep(backup *b, const char *id)
{
    char path[80];
    snprintf(path, sizeof path, "sweeps/%s", id);
    return pl_copy_folder(&b->copier, path) != PL_COPY_FAILED; /* a daemon drops missing ones */
}

static bool copy_named(backup *b, const char *sql, bool (*copy)(backup *b, const char *name))
{
    name_list list = {0};
    bool good = read_names(b, sql, &list);
    for (size_t i = 0; good && i < list.count; i++) {
        good = copy(b, list.names[i]);
    }
    free(list.names);
    return good;
}

static bool copy_sessions(backup *b, pl_backup_rows *rows)
{
    bool good = true;
    for (size_t i = 0; good && i < rows->count; i++) {
        pl_row *row = &rows->rows[i];
        pl_copied outcome = pl_session_copy(&b->copier, row->id);
        good = outcome == PL_COPIED         ? pl_backup_row_mend(b->store, b->copier.to_fd, row)
               : outcome == PL_COPY_MISSING ? pl_store_delete(b->store, row->id)
                                            : false;
        b->facts.sessions += good && outcome == PL_COPIED;
    }
    return good;
}

static bool copy_secrets(backup *b)
{
    static const char *const secrets[] = {"token", "webhook-key"};
    bool good = true;
    for (size_t i = 0; good && b->request->secrets && i < sizeof secrets / sizeof *secrets; i++) {
        good = pl_copy_file(&b->copier, secrets[i], false) != PL_COPY_FAILED;
    }
    return good;
}

static bool copy_files(backup *b)
{
    pl_backup_rows rows = {0};
    bool good = pl_backup_rows_read(&rows, b->store) && copy_sessions(b, &rows) &&
                copy_named(b, "SELECT hash FROM meshes", copy_mesh) &&
                copy_named(b, "SELECT id FROM sweeps", copy_sweep) && copy_secrets(b);
    if (!good) {
        fail(b->request->state, rows.damaged ? "a row of a session is damaged: start the daemon, "
                                               "which rebuilds it, and back up again"
                                : *b->copier.failed ? b->copier.failed
                                                    : "the copy's database cannot be modified");
    }
    pl_backup_rows_clear(&rows);
    return good;
}

static bool copy_database(backup *b)
{
    char why[400];
    if (!pl_database_copy(b->request->state, b->path, why, sizeof why)) {
        return fail(b->request->state, why);
    }
    b->store = pl_store_open(b->path, false, &b->counters);
    return b->store;
}

/* Writes the files that mirror the database's contents. */
static bool finish_database(backup *b)
{
    static const char *const files[] = {"pliant.db", "usage.json", "tenants.json"};
    pl_usage_backup_write(b->store, b->copier.to_fd);
    bool good = pl_tenant_backup_write(b->store, b->copier.to_fd);
    pl_store_close(b->store);
    b->store = NULL;
    for (size_t i = 0; good && i < sizeof files / sizeof *files; i++) {
        good = pl_copy_enter(&b->copier, files[i]);
    }
    return good || fail(b->path, *b->copier.failed ? b->copier.failed : "tenants.json");
}

/* ---- after ---- */

/* Replaces a file that is damaged in the previous backup by a copy from the state, if it is unchanged there. */
static bool copy_again(backup *b, size_t index)
{
    pl_manifest *m = &b->copier.made;
    char path[PATH_MAX];
    pl_manifest_entry old = m->entries[index];
    snprintf(path, sizeof path, "%s", old.path);
    unlinkat(b->copier.to_fd, path, 0);
    pl_manifest_remove(m, index);
    pl_copier_share_nothing(&b->copier);
    bool good = *b->before && pl_copy_file(&b->copier, path, false) == PL_COPIED;
    const pl_manifest_entry *e = good ? &m->entries[m->count - 1] : NULL;
    good = good && e->inode == old.inode && e->modified_ns == old.modified_ns && e->crc == old.crc;
    return good ? !fail(path, "was damaged in the previous backup; it was copied again")
                : fail(path, "differs on the disk from what was written");
}

static bool verify(backup *b)
{
    pl_manifest *m = &b->copier.made;
    if (syncfs(b->copier.to_fd) != 0) {
        return fail(b->path, strerror(errno));
    }
    for (size_t i = 0; i < m->count; i++) {
        while (!pl_copy_verify(b->copier.to_fd, &m->entries[i])) {
            if (errno != EBADMSG) {
                return fail(m->entries[i].path, strerror(errno));
            }
            if (!copy_again(b, i)) {
                return false;
            }
        }
        b->facts.bytes += (int64_t)m->entries[i].bytes;
    }
    b->facts.files = (int64_t)m->count;
    b->facts.shared_bytes = b->copier.shared_bytes;
    b->facts.secrets = b->request->secrets;
    return true;
}

static bool finish(backup *b)
{
    if (syncfs(b->copier.to_fd) != 0 ||
        !pl_manifest_write(&b->copier.made, b->copier.to_fd, &b->facts.files_crc) ||
        !pl_backup_facts_write(b->copier.to_fd, &b->facts) ||
        renameat(b->folder_fd, b->partial, b->folder_fd, b->name) != 0 ||
        fsync(b->folder_fd) != 0) {
        return fail(b->path, strerror(errno));
    }
    return true;
}

static void report(const backup *b)
{
    const pl_backup_facts *f = &b->facts;
    if (b->request->json) {
        char *text = pl_backup_facts_text(f, b->name);
        puts(text ? text : "{}");
        free(text);
        return;
    }
    printf("%s/%s: %lld sessions, %lld files, %.1f MB", b->request->folder, b->name,
           (long long)f->sessions, (long long)f->files, (double)f->bytes / 1e6);
    if (*b->before) {
        printf(", of which %.1f MB are shared with %s", (double)f->shared_bytes / 1e6, b->before);
    }
    puts("; read back and verified");
    if (!f->secrets) {
        puts("The owner's token and the webhook key are not included: see --with-secrets.");
    }
}

static void release(backup *b, bool good)
{
    pl_store_close(b->store);
    if (b->copier.to_fd >= 0) {
        close(b->copier.to_fd);
        if (!good) {
            pl_remove_tree(b->folder_fd, b->partial);
        }
    }
    int fds[] = {b->copier.before_fd, b->state_fd, b->folder_fd};
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
    pl_copier_clear(&b->copier);
    pl_manifest_clear(&b->before_files);
}

int pl_backup(const pl_backup_request *request)
{
    backup b = {.request = request,
                .state_fd = -1,
                .folder_fd = -1,
                .copier = {.from_fd = -1, .to_fd = -1, .before_fd = -1}};
    bool good = open_all(&b) && copy_database(&b) && copy_files(&b) && finish_database(&b) &&
                verify(&b) && finish(&b);
    if (good) {
        report(&b);
        good = request->keep <= 0 || pl_backup_keep(b.folder_fd, request->keep);
    }
    release(&b, good);
    return good ? 0 : 1;
}
