#include "server/run/gpus.h"

#include "engine/deadline.h"
#include "protocol/text/json.h"
#include "server/base/logger.h"
#include "server/base/spawn.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a query may take, and how often it is repeated while a session has a GPU or waits for one. */
enum { LOOK_MS = 20000, AGAIN_S = 30, AGAIN_WAITING_S = 5, ANSWER_MAX = 1 << 16 };

struct pl_gpus {
    pl_gpu_source source;
    int count;
    char reason[512];
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t wake;
    bool stopping, waiting; /* waiting: a session found no room */
    pl_gpu_load gpus[PL_GPUS_MAX];
};

/* ---- looking ---- */

/* The output of `pliant-worker --devices`; malloc'ed, or NULL with the reason. */
static char *ask(const pl_gpu_source *from, char *why, size_t why_size)
{
    char program[PATH_MAX + 32];
    snprintf(program, sizeof program, "%s/pliant-worker", from->programs);
    char *plugin = (char *)from->options->gpu_plugin;
    char *argv[] = {program, "--devices", plugin ? "--gpu-plugin" : NULL, plugin, NULL};
    int fd = memfd_create("devices", MFD_CLOEXEC), status = -1;
    pl_child child;
    int error = fd < 0 ? errno : pl_spawn(argv, fd, fd, "/", &child);
    char *text = NULL;
    if (error) {
        snprintf(why, why_size, "pliant-worker could not be started: %s", strerror(error));
    } else if (pl_child_wait(&child, LOOK_MS, from->stop_fd, &status) != PL_WAIT_ENDED) {
        pl_child_kill(&child);
        snprintf(why, why_size, "the driver did not answer within %d s", LOOK_MS / 1000);
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        snprintf(why, why_size, "pliant-worker --devices failed");
    } else {
        text = calloc(1, ANSWER_MAX + 1);
        ssize_t n = text ? pread(fd, text, ANSWER_MAX, 0) : -1;
        if (n <= 0) {
            snprintf(why, why_size, "pliant-worker --devices printed nothing");
            free(text);
            text = NULL;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

/* True if --gpus LIST contains the device, by its index among those found or its UUID. */
static bool wanted(const char *list, size_t index, const char *uuid)
{
    if (strcmp(list, "auto") == 0) {
        return true;
    }
    char place[24];
    snprintf(place, sizeof place, "%zu", index);
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ",");
        if ((n == strlen(place) && strncmp(at, place, n) == 0) ||
            (n == strlen(uuid) && strncmp(at, uuid, n) == 0)) {
            return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}

static pl_gpu_load *find(pl_gpus *g, const char *uuid)
{
    for (int i = 0; uuid && i < g->count; i++) {
        if (strcmp(g->gpus[i].uuid, uuid) == 0) {
            return &g->gpus[i];
        }
    }
    return NULL;
}

static void list(pl_gpus *g, const pl_json *devices)
{
    for (size_t i = 0; i < pl_json_count(devices) && g->count < PL_GPUS_MAX; i++) {
        const pl_json *device = pl_json_item(devices, i);
        const char *uuid = pl_json_string(device, "uuid", "");
        if (!*uuid || !wanted(g->source.options->gpus, i, uuid)) {
            continue;
        }
        pl_gpu_load *to = &g->gpus[g->count++];
        snprintf(to->uuid, sizeof to->uuid, "%s", uuid);
        snprintf(to->name, sizeof to->name, "%s", pl_json_string(device, "name", ""));
        snprintf(to->capability, sizeof to->capability, "%s",
                 pl_json_string(device, "capability", ""));
    }
}

/* Update the numbers of the list's devices; the mutex is held. True if one has more room than before. */
static bool measure(pl_gpus *g, const pl_json *devices)
{
    bool more = false;
    for (int i = 0; i < g->count; i++) {
        pl_gpu_load *to = &g->gpus[i];
        double before = to->others;
        to->lost = true;
        for (size_t k = 0; k < pl_json_count(devices); k++) {
            const pl_json *device = pl_json_item(devices, k);
            if (strcmp(pl_json_string(device, "uuid", ""), to->uuid) != 0) {
                continue;
            }
            to->lost = false;
            to->memory = pl_json_number(device, "memory", 0);
            /* Memory promised since the last query may not be allocated yet. It counts as other programs' until the
             * next query, so that it is not promised twice. */
            double taken = to->memory - pl_json_number(device, "unused", 0);
            to->others = taken > to->settled ? taken - to->settled : 0;
            to->settled = to->used;
        }
        more = more || to->others < before;
    }
    return more;
}

static bool look(pl_gpus *g, bool first)
{
    char why[512] = "";
    char *text = ask(&g->source, why, sizeof why);
    pl_json *document = text ? pl_json_parse(text, strlen(text), NULL) : NULL;
    const pl_json *devices = pl_json_at(document, "devices");
    pthread_mutex_lock(&g->mutex);
    if (first) {
        list(g, devices);
        snprintf(g->reason, sizeof g->reason, "%s",
                 g->count                 ? ""
                 : pl_json_count(devices) ? "--gpus names none of the existing GPUs"
                 : document ? pl_json_string(document, "reason", "the driver finds no GPU")
                            : why);
    }
    bool more = measure(g, devices);
    pthread_mutex_unlock(&g->mutex);
    pl_json_free(document);
    free(text);
    return more;
}

static bool busy(const pl_gpus *g)
{
    bool any = g->waiting;
    for (int i = 0; i < g->count; i++) {
        any = any || g->gpus[i].sessions > 0;
    }
    return any;
}

/* Wait until the next query is due, which is earlier while a session waits. */
static void await_next(pl_gpus *g)
{
    int64_t now_us = pl_monotonic_us();
    for (bool due = false; !g->stopping && !due;) {
        int64_t seconds = g->waiting ? AGAIN_WAITING_S : AGAIN_S;
        due = !pl_condition_wait_until(&g->wake, &g->mutex, now_us + 1000000 * seconds);
    }
}

static void *keep_looking(void *context)
{
    pl_gpus *g = context;
    pthread_mutex_lock(&g->mutex);
    while (!g->stopping) {
        while (!g->stopping && !busy(g)) {
            pthread_cond_wait(&g->wake, &g->mutex);
        }
        await_next(g);
        if (g->stopping) {
            break;
        }
        /* A session that still waits sets this again at its next placement. */
        bool waited = g->waiting;
        g->waiting = false;
        pthread_mutex_unlock(&g->mutex);
        if (look(g, false) || waited) {
            g->source.freed(g->source.context);
        }
        pthread_mutex_lock(&g->mutex);
    }
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* ---- the table ---- */

pl_gpus *pl_gpus_create(const pl_gpu_source *source)
{
    pl_gpus *g = calloc(1, sizeof *g);
    if (!g || !pl_condition_init(&g->wake)) {
        free(g);
        return NULL;
    }
    pthread_mutex_init(&g->mutex, NULL);
    g->source = *source;
    if (strcmp(source->options->gpus, "none") == 0) {
        snprintf(g->reason, sizeof g->reason, "the daemon was started with --gpus none");
        return g;
    }
    look(g, true);
    for (int i = 0; i < g->count; i++) {
        pl_logf(PL_LEVEL_INFO, "GPU %s, %s, %.1f GB of %.1f GB unused", g->gpus[i].uuid,
                g->gpus[i].name, (g->gpus[i].memory - g->gpus[i].others) / 1e9,
                g->gpus[i].memory / 1e9);
    }
    if (g->count == 0) {
        pl_logf(PL_LEVEL_INFO, "no GPU: %s", g->reason);
    }
    g->started = g->count > 0 && pthread_create(&g->thread, NULL, keep_looking, g) == 0;
    if (g->started) {
        pthread_setname_np(g->thread, "gpus");
    }
    return g;
}

void pl_gpus_stop(pl_gpus *g)
{
    if (!g || !g->started) {
        return;
    }
    pthread_mutex_lock(&g->mutex);
    g->stopping = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->mutex);
    pthread_join(g->thread, NULL);
    g->started = false;
}

void pl_gpus_destroy(pl_gpus *g)
{
    if (g) {
        pthread_cond_destroy(&g->wake);
        pthread_mutex_destroy(&g->mutex);
    }
    free(g);
}

int pl_gpus_count(const pl_gpus *g)
{
    return g->count;
}

const char *pl_gpus_reason(const pl_gpus *g)
{
    return g->reason;
}

pl_gpu_load pl_gpus_load(pl_gpus *g, int i)
{
    pthread_mutex_lock(&g->mutex);
    pl_gpu_load load = g->gpus[i];
    pthread_mutex_unlock(&g->mutex);
    return load;
}

double pl_gpus_largest(pl_gpus *g)
{
    double most = 0;
    for (int i = 0; i < g->count; i++) {
        double memory = pl_gpus_load(g, i).memory;
        most = memory > most ? memory : most;
    }
    return most;
}

/* ---- promises ---- */

static double room_on(const pl_gpu_load *gpu)
{
    return gpu->draining || gpu->lost ? 0 : gpu->memory - gpu->others - gpu->used;
}

static pl_gpu_load *roomiest(pl_gpus *g)
{
    pl_gpu_load *best = NULL;
    for (int i = 0; i < g->count; i++) {
        if (!best || room_on(&g->gpus[i]) > room_on(best)) {
            best = &g->gpus[i];
        }
    }
    return best;
}

double pl_gpus_free(pl_gpus *g)
{
    pthread_mutex_lock(&g->mutex);
    const pl_gpu_load *best = roomiest(g);
    double room = best ? room_on(best) : 0;
    pthread_mutex_unlock(&g->mutex);
    return room > 0 ? room : 0;
}

void pl_gpus_await(pl_gpus *g)
{
    pthread_mutex_lock(&g->mutex);
    g->waiting = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->mutex);
}

bool pl_gpus_place_on(pl_gpus *g, const char *uuid, double bytes)
{
    pthread_mutex_lock(&g->mutex);
    pl_gpu_load *gpu = find(g, uuid);
    bool placed = gpu && room_on(gpu) >= bytes;
    if (placed) {
        gpu->used += bytes;
        gpu->sessions++;
        pthread_cond_signal(&g->wake);
    }
    pthread_mutex_unlock(&g->mutex);
    return placed;
}

void pl_gpus_take(pl_gpus *g, const char *uuid, double bytes)
{
    pthread_mutex_lock(&g->mutex);
    pl_gpu_load *gpu = find(g, uuid);
    if (gpu) {
        gpu->used += bytes;
        gpu->settled += bytes;
        gpu->sessions++;
        /* It allocated its memory before the first query, which attributed it to other programs. */
        gpu->others = gpu->others > bytes ? gpu->others - bytes : 0;
        pthread_cond_signal(&g->wake);
    }
    pthread_mutex_unlock(&g->mutex);
}

static void give(pl_gpus *g, const char *uuid, double bytes, int sessions)
{
    pthread_mutex_lock(&g->mutex);
    pl_gpu_load *gpu = find(g, uuid);
    if (gpu) {
        gpu->used -= bytes;
        gpu->settled = gpu->settled < gpu->used ? gpu->settled : gpu->used;
        gpu->sessions -= sessions;
    }
    pthread_mutex_unlock(&g->mutex);
}

void pl_gpus_give(pl_gpus *g, const char *uuid, double bytes)
{
    give(g, uuid, bytes, 1);
}

void pl_gpus_give_context(pl_gpus *g, const char *uuid)
{
    give(g, uuid, PL_GPU_CONTEXT, 0);
}

bool pl_gpus_drain(pl_gpus *g, const char *uuid, bool draining)
{
    pthread_mutex_lock(&g->mutex);
    pl_gpu_load *gpu = find(g, uuid);
    if (gpu) {
        gpu->draining = draining;
    }
    pthread_mutex_unlock(&g->mutex);
    return gpu;
}

void pl_gpus_view(pl_gpus *g, pl_json_writer *w)
{
    for (int i = 0; i < g->count; i++) {
        pl_gpu_load gpu = pl_gpus_load(g, i);
        pl_json_begin_object(w);
        pl_json_set_string(w, "device", gpu.uuid);
        pl_json_set_string(w, "name", gpu.name);
        pl_json_set_string(w, "capability", gpu.capability);
        pl_json_set_integer(w, "memory", (int64_t)gpu.memory);
        pl_json_set_integer(w, "memory_used", (int64_t)gpu.used);
        pl_json_set_integer(w, "memory_others", (int64_t)gpu.others);
        pl_json_set_integer(w, "sessions", gpu.sessions);
        pl_json_set_boolean(w, "draining", gpu.draining);
        pl_json_set_boolean(w, "lost", gpu.lost);
        pl_json_end_object(w);
    }
}
