/* The one symbol of libpliant_cuda.so. */
#include "engine/backends/plugin.h"

#include "engine/backends/device/device.h"
#include "engine/backends/device/phases.h"

/* memory_cuda.cu */
int32_t pl_cuda_find(pl_gpu *out, int32_t room, char *why, size_t why_size);
bool pl_cuda_select(const char *uuid, char *why, size_t why_size);

const pl_plugin *pliant_plugin(void);

__attribute__((visibility("default"))) const pl_plugin *pliant_plugin(void)
{
    static pl_plugin plugin = {
        .layout = PL_PLUGIN_LAYOUT,
        .version = PLIANT_VERSION,
        .find = pl_cuda_find,
        .select = pl_cuda_select,
        .f32 = &pl_backend_device_f32,
        .f64 = &pl_backend_device_f64,
        .share = pl_device_share,
        .shared = pl_device_shared,
        .recording_error = pl_device_recording_error,
        .fault = pl_device_fault,
    };
    plugin.engine_abi = pl_engine_abi();
    return &plugin;
}
