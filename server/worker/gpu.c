#include "server/worker/gpu.h"

#include "engine/backends/plugin.h"
#include "protocol/text/json.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPUS_MAX = 32 };
static const char standard_plugin[] = "libpliant_cuda.so";

/* Lifetime: the process. The mutex guards the members after `plugin`, until a device is taken; then they are
 * constant. */
static struct {
    pthread_mutex_t mutex;
    const pl_plugin *plugin; /* NULL: see `why` */
    char why[512];
    char uuid[48]; /* wanted, or "auto" */
    pl_gpu device; /* valid if `taken` */
    bool taken;
} gpu = {.mutex = PTHREAD_MUTEX_INITIALIZER,
         .why = "no device, because the worker was started without --gpu"};

/* For the thread's session. */
static _Thread_local bool has_taken, is_single;

/* ---- the plug-in ---- */

/* Find a file beside the program. */
static bool find_standard(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return false;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    int wrote = snprintf(path, size, "%.*s/%s", (int)(slash ? slash - self : 0), self,
                         standard_plugin);
    return wrote > 0 && (size_t)wrote < size;
}

/* Load a plug-in; NULL with the reason. It is never unloaded. */
static const pl_plugin *load(const char *file, char *why, size_t why_size)
{
    char path[PATH_MAX];
    if (!file && !find_standard(path, sizeof path)) {
        snprintf(why, why_size, "no device, because the program's folder cannot be found");
        return NULL;
    }
    file = file ? file : path;
    if (access(file, R_OK) != 0) {
        snprintf(
            why, why_size,
            "no device, because the plug-in is missing (it is built if nvcc is installed): %.300s",
            file);
        return NULL;
    }
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    pl_plugin_entry entry = NULL;
    if (library)
        *(void **)&entry = dlsym(library, "pliant_plugin");
    if (!entry) {
        const char *error = dlerror();
        snprintf(why, why_size, "no device, because the plug-in cannot be loaded: %.300s",
                 error ? error : "it is not a plug-in");
        return NULL;
    }
    const pl_plugin *plugin = entry();
    char unfit[160];
    if (pl_plugin_fits(plugin, unfit, sizeof unfit))
        return plugin;
    snprintf(why, why_size, "no device, because the plug-in does not fit: %s: %.300s", unfit, file);
    return NULL;
}

void pl_worker_gpu_open(const char *uuid, const char *plugin, bool several)
{
    snprintf(gpu.uuid, sizeof gpu.uuid, "%s", uuid);
    gpu.plugin = load(plugin, gpu.why, sizeof gpu.why);
    if (gpu.plugin)
        gpu.plugin->share(several);
}

/* ---- the device ---- */

static const pl_gpu *choose(const pl_gpu *found, int32_t count)
{
    bool any = strcmp(gpu.uuid, "auto") == 0;
    const pl_gpu *best = NULL;
    for (int32_t i = 0; i < count; i++) {
        if (!any && strcmp(found[i].uuid, gpu.uuid) != 0)
            continue;
        if (!best || found[i].unused > best->unused)
            best = &found[i];
    }
    return best;
}

/* Select the wanted device, once. False: gpu.why. */
static bool take_device(void)
{
    if (gpu.taken || !gpu.plugin)
        return gpu.taken;
    pl_gpu found[GPUS_MAX];
    int32_t count = gpu.plugin->find(found, GPUS_MAX, gpu.why, sizeof gpu.why);
    if (count < 1)
        return false;
    const pl_gpu *device = choose(found, count);
    if (!device) {
        snprintf(gpu.why, sizeof gpu.why,
                 "no device, because none of the %d devices is %s; the first is %s", (int)count,
                 gpu.uuid, found[0].uuid);
        return false;
    }
    char error[256] = "";
    if (!gpu.plugin->select(device->uuid, error, sizeof error)) {
        snprintf(gpu.why, sizeof gpu.why, "no device, because %s cannot be used: %s", device->uuid,
                 error);
        return false;
    }
    gpu.device = *device;
    gpu.taken = true;
    return true;
}

bool pl_worker_gpu_take(const pl_solver_settings *solver, char *why, size_t why_size)
{
    if (solver->device == PL_DEVICE_CPU)
        return true;
    pthread_mutex_lock(&gpu.mutex);
    has_taken = take_device();
    if (!has_taken)
        snprintf(why, why_size, "%s", gpu.why);
    pthread_mutex_unlock(&gpu.mutex);
    if (!has_taken)
        return false;
    is_single = pl_solver_is_single(solver);
    pl_backend_register(is_single ? gpu.plugin->f32 : gpu.plugin->f64);
    return true;
}

const char *pl_worker_gpu_fault(void)
{
    return gpu.plugin ? gpu.plugin->fault() : NULL;
}

const char *pl_worker_gpu_refuses(const pl_model *model)
{
    return pl_backend_refuses(pl_backend_find(model->solver.device), model);
}

const char *pl_worker_precision(void)
{
    return has_taken && is_single ? "single" : "double";
}

const char *pl_worker_class(void)
{
    /* Fits a checkpoint's field. */
    static _Thread_local char text[96];
    if (!has_taken)
        return pl_engine_class();
    snprintf(text, sizeof text, "%.44s, %s on %.24s %d.%d", pl_engine_class(),
             pl_worker_precision(), gpu.device.name, (int)gpu.device.major, (int)gpu.device.minor);
    return text;
}

/* ---- listing ---- */

static void put_device(pl_json_writer *w, const pl_gpu *g)
{
    char capability[32];
    snprintf(capability, sizeof capability, "%d.%d", (int)g->major, (int)g->minor);
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", g->name);
    pl_json_set_string(w, "uuid", g->uuid);
    pl_json_set_integer(w, "memory", g->memory);
    pl_json_set_integer(w, "unused", g->unused);
    pl_json_set_string(w, "capability", capability);
    pl_json_end_object(w);
}

bool pl_worker_gpu_list(const char *file)
{
    pl_gpu found[GPUS_MAX];
    char why[512] = "";
    const pl_plugin *plugin = load(file, why, sizeof why);
    int32_t count = plugin ? plugin->find(found, GPUS_MAX, why, sizeof why) : 0;
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "devices");
    pl_json_begin_array(&w);
    for (int32_t i = 0; i < count; i++)
        put_device(&w, &found[i]);
    pl_json_end_array(&w);
    if (count > 0)
        pl_json_set_null(&w, "reason");
    else
        pl_json_set_string(&w, "reason", why);
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    bool written = text && puts(text) >= 0 && fflush(stdout) == 0;
    free(text);
    return written;
}
