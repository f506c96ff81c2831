/* batch_pilot_folder.c - a pilot's folder: its file names, and reading and writing its files. */
#include "server/run/batch_pilots.h"

#include "protocol/log/small_file.h"
#include "server/base/logger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABOUT  "about" /* cores, memory, user and group */
#define CLOSED "closed"

enum { TEXT_MAX = 8192 };

static const char *const endings[] = {
    [PL_PILOT_TODO] = ".todo", [PL_PILOT_RUN] = ".run", [PL_PILOT_DONE] = ".done"};

/* ---- the folder ---- */

static void name_of(const pl_batch_entry *e, char out[PL_PILOT_ENTRY_MAX])
{
    snprintf(out, PL_PILOT_ENTRY_MAX, "%s-%lld", e->session->id, (long long)e->attempt);
}

static bool add_file(pl_batch_pilot *p, const char *name)
{
    const char *dot = strrchr(name, '.');
    int place = PL_PILOT_DONE;
    while (dot && place >= PL_PILOT_TODO && strcmp(dot, endings[place]) != 0) {
        place--;
    }
    if (!dot || place < PL_PILOT_TODO || dot - name >= PL_PILOT_ENTRY_MAX) {
        return true;
    }
    if (p->file_count == p->file_room) {
        size_t room = p->file_room ? 2 * p->file_room : 64;
        pl_pilot_file *more = realloc(p->files, room * sizeof *more);
        if (!more) {
            return false;
        }
        p->files = more;
        p->file_room = room;
    }
    pl_pilot_file *f = &p->files[p->file_count++];
    snprintf(f->name, sizeof f->name, "%.*s", (int)(dot - name), name);
    f->place = (pl_pilot_place)place;
    return true;
}

/* If an assignment was moved meanwhile and has two files, the later one sorts first. */
static int by_name(const void *a, const void *b)
{
    const pl_pilot_file *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (int)y->place - (int)x->place;
}

void pl_pilot_look(pl_batch_pilot *p)
{
    int fd = openat(p->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    p->known = dir || errno == ENOENT;
    p->file_count = 0;
    p->closed = false;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        p->closed = p->closed || strcmp(d->d_name, CLOSED) == 0;
        p->known = add_file(p, d->d_name) && p->known;
    }
    if (p->file_count > 1) {
        qsort(p->files, p->file_count, sizeof *p->files, by_name);
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

size_t pl_pilot_find_file(const pl_batch_pilot *p, const char *name)
{
    size_t low = 0, high = p->file_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strcmp(p->files[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

pl_pilot_place pl_pilot_place_of(const pl_batch_entry *e)
{
    char name[PL_PILOT_ENTRY_MAX];
    const pl_batch_pilot *p = e->pilot;
    name_of(e, name);
    size_t at = pl_pilot_find_file(p, name);
    if (at < p->file_count && strcmp(p->files[at].name, name) == 0) {
        return p->files[at].place;
    }
    return p->known ? PL_PILOT_NOWHERE : PL_PILOT_UNKNOWN;
}

/* ---- as a whole ---- */

void pl_pilot_release(pl_batch_pilot *p)
{
    close(p->dir_fd);
    free(p->directory);
    free(p->files);
    free(p);
}

pl_batch_pilot *pl_pilot_open(const pl_batch *b, const char *id)
{
    pl_batch_pilot *p = calloc(1, sizeof *p);
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/" PL_PILOTS "/%s", b->setup.state, id);
    if (p && (p->directory = strdup(path))) {
        snprintf(p->id, sizeof p->id, "%.32s", id);
        p->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (p->dir_fd >= 0) {
            return p;
        }
    }
    free(p ? p->directory : NULL);
    free(p);
    return NULL;
}

void pl_pilot_remove(pl_batch_pilot *p)
{
    int fd = dup(p->dir_fd);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        unlinkat(p->dir_fd, d->d_name, 0);
    }
    if (dir) {
        closedir(dir);
    }
    if (rmdir(p->directory) != 0) {
        pl_logf(PL_LEVEL_WARN, "%s: %s", p->directory, strerror(errno));
    }
    pl_pilot_release(p);
}

bool pl_pilot_read_about(pl_batch_pilot *p)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    if (pl_file_read(p->dir_fd, ABOUT, TEXT_MAX, &text, &size) != PL_OK) {
        return false;
    }
    const char *numbers = strtok_r(text, "\n", &rest);
    const char *user = strtok_r(NULL, "\n", &rest), *group = strtok_r(NULL, "\n", &rest);
    bool good = group && sscanf(numbers, "%ld %ld", &p->cores, &p->memory_mb) == 2;
    if (good) { /* the first letter preserves an empty name's place */
        snprintf(p->user, sizeof p->user, "%s", user + 1);
        snprintf(p->group, sizeof p->group, "%s", group + 1);
    }
    free(text);
    return good;
}

bool pl_pilot_write_about(const pl_batch_pilot *p)
{
    char text[2 * PL_NAME_MAX + 80];
    int n = snprintf(text, sizeof text, "%ld %ld\n=%s\n=%s\n", p->cores, p->memory_mb, p->user,
                     p->group);
    return pl_file_put_text(p->dir_fd, ABOUT, text, (size_t)n) == PL_OK;
}

/* ---- assignments ---- */

bool pl_pilot_put(const pl_batch *b, const pl_batch_entry *e, const pl_batch_pilot *p)
{
    char name[PL_PILOT_ENTRY_MAX], file[PL_PILOT_ENTRY_MAX + 8], *text = NULL;
    size_t size = 0;
    pl_batch_words words;
    FILE *out = open_memstream(&text, &size);
    pl_batch_worker_words(b, e, &words);
    if (!out) {
        return false;
    }
    fprintf(out, "%s%c%.0f%c", words.cores, 0, pl_batch_memory_mb(e->session), 0);
    for (size_t i = 1; words.words[i]; i++) {
        fprintf(out, "%s%c", words.words[i], 0);
    }
    name_of(e, name);
    snprintf(file, sizeof file, "%s.todo", name);
    bool good = fclose(out) == 0 && pl_file_put_text(p->dir_fd, file, text, size) == PL_OK;
    free(text);
    return good;
}

/* False if there is no such file. */
static bool remove_file(const pl_batch_entry *e, const char *ending)
{
    char name[PL_PILOT_ENTRY_MAX], file[PL_PILOT_ENTRY_MAX + 8];
    name_of(e, name);
    snprintf(file, sizeof file, "%s%s", name, ending);
    return unlinkat(e->pilot->dir_fd, file, 0) == 0;
}

bool pl_pilot_withdraw(pl_batch_entry *e)
{
    if (!remove_file(e, ".todo")) {
        return false;
    }
    e->pilot->waiting -= e->pilot->waiting > 0;
    e->pilot = NULL;
    *e->job = 0;
    return true;
}

void pl_pilot_end_worker(const pl_batch_entry *e)
{
    char name[PL_PILOT_ENTRY_MAX], file[PL_PILOT_ENTRY_MAX + 8];
    name_of(e, name);
    snprintf(file, sizeof file, "%s.kill", name);
    if (pl_file_put_text(e->pilot->dir_fd, file, "", 0) != PL_OK) {
        pl_logf(PL_LEVEL_WARN, "%s/%s: %s", e->pilot->directory, file, strerror(errno));
    }
}

bool pl_pilot_status(const pl_batch_entry *e, int *status)
{
    char name[PL_PILOT_ENTRY_MAX], file[PL_PILOT_ENTRY_MAX + 8], *text = NULL;
    size_t size = 0;
    name_of(e, name);
    snprintf(file, sizeof file, "%s.done", name);
    bool known = pl_file_read(e->pilot->dir_fd, file, TEXT_MAX, &text, &size) == PL_OK &&
                 sscanf(text, "%d", status) == 1;
    free(text);
    return known;
}

void pl_pilot_forget(pl_batch_entry *e)
{
    static const char *const all[] = {".todo", ".run", ".done", ".kill"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        remove_file(e, all[i]);
    }
    e->pilot = NULL;
}
