/* libpliant_emulated.so: a plug-in whose only device is the host. PLIANT_EMULATED in the environment changes it:
 * "absent" finds no device, "other build" is built with other headers, "other layout" has a different table. With
 * "fault V L" the device fails after L launches by a backend of a model with V vertices, and with "linger MS" a process
 * takes that long to end. With "closed", and in the long form, its memory is closed between launches, so that a host
 * that reads it crashes; that is the slowest part. A file beside it, NAME.taken, has two numbers: the
 * bytes that other programs have taken, and the total; by default 0 and 1 GiB. */
#include "engine/backends/plugin.h"

#include "engine/backends/device/device.h"
#include "engine/backends/device/device_backend.h"
#include "engine/backends/device/phases.h"
#include "tests/support/long_form.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char uuid[] = "GPU-emulated";

static bool is(const char *how)
{
    const char *said = getenv("PLIANT_EMULATED");
    return said && strcmp(said, how) == 0;
}

static void ask_memory(pl_gpu *gpu)
{
    Dl_info self;
    char path[PATH_MAX];
    long long taken = 0, whole = 1 << 30;
    if (dladdr(uuid, &self)) {
        snprintf(path, sizeof path, "%s.taken", self.dli_fname);
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%lld %lld", &taken, &whole) != 2)
            fprintf(stderr, "%s: not two numbers\n", path);
        if (file)
            fclose(file);
    }
    gpu->memory = whole;
    gpu->unused = whole - taken;
}

static int32_t find(pl_gpu *out, int32_t room, char *why, size_t why_size)
{
    if (room < 1 || is("absent")) {
        snprintf(why, why_size, "no device, because this one is emulated as absent");
        return 0;
    }
    *out = (pl_gpu){.name = "emulated"};
    ask_memory(out);
    memcpy(out->uuid, uuid, sizeof uuid);
    return 1;
}

static bool choose(const char *wanted, char *why, size_t why_size)
{
    if (strcmp(wanted, uuid) == 0)
        return true;
    snprintf(why, why_size, "there is no %s", wanted);
    return false;
}

/* As a driver that takes its time to let go of a context. */
__attribute__((destructor)) static void linger(void)
{
    const char *how = getenv("PLIANT_EMULATED");
    long ms;
    if (how && sscanf(how, "linger %ld", &ms) == 1)
        nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* The tables, but that a backend may be one that fails. */
static pl_backend_ops f32, f64;

static pl_status create(const pl_backend_ops *ops, const pl_model *model, int32_t threads,
                        pl_backend *beside, pl_backend **out)
{
    const char *how = getenv("PLIANT_EMULATED");
    long long vertices, launches;
    pl_status status = ops->create(model, threads, beside, out);
    if (status == PL_OK && how && sscanf(how, "fault %lld %lld", &vertices, &launches) == 2 &&
        model->vertices == vertices)
        pl_device_fail_after(pl_device_of(*out)->queue, launches);
    return status;
}

static pl_status create_f32(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_backend **out)
{
    return create(&pl_backend_device_f32, model, threads, beside, out);
}

static pl_status create_f64(const pl_model *model, int32_t threads, pl_backend *beside,
                            pl_backend **out)
{
    return create(&pl_backend_device_f64, model, threads, beside, out);
}

const pl_plugin *pliant_plugin(void);

const pl_plugin *pliant_plugin(void)
{
    f32 = pl_backend_device_f32;
    f32.create = create_f32;
    f64 = pl_backend_device_f64;
    f64.create = create_f64;
    static pl_plugin plugin = {
        .layout = PL_PLUGIN_LAYOUT,
        .version = PLIANT_VERSION,
        .find = find,
        .select = choose,
        .f32 = &f32,
        .f64 = &f64,
        .share = pl_device_share,
        .shared = pl_device_shared,
        .recording_error = pl_device_recording_error,
        .fault = pl_device_fault,
    };
    plugin.engine_abi = is("other build") ? "0123456789abcdef" : pl_engine_abi();
    if (!is("closed") && !is_long_form())
        pl_device_leave_open();
    if (is("other layout"))
        plugin.layout = PL_PLUGIN_LAYOUT + 1;
    return &plugin;
}
