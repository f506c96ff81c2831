/* plugin.h - what a plug-in with a device's backends and who loads it agree on. The plug-in exports one
 * symbol, `pliant_plugin`, a function of no arguments that gives its pl_plugin, and is asked for
 * nothing else before that was found to fit.
 *
 * A machine without a device is a normal answer: `find` says why there is none. */
#ifndef PLIANT_ENGINE_BACKENDS_PLUGIN_H
#define PLIANT_ENGINE_BACKENDS_PLUGIN_H

#include "engine/backends/backend.h"
#include "engine/backends/shared_launches.h"

/* Counts changes of meaning that sizes do not show. */
enum { PL_PLUGIN_ABI = 5 };

typedef struct pl_gpu {
    char name[128];
    char uuid[48];          /* "GPU-...", as the driver's tools print it */
    int64_t memory, unused; /* bytes: all of it, and what nobody had taken when it was asked for */
    int32_t major, minor;   /* compute capability */
} pl_gpu;

typedef struct pl_plugin {
    uint32_t abi;
    uint32_t model_size, group_size, ops_size; /* of the structs that it reads and fills */
    const char *version;                       /* of the project */
    /* The devices there are, at most `room`; where none, 0 and in `why` what is missing. */
    int32_t (*find)(pl_gpu *out, int32_t room, char *why, size_t why_size);
    /* Work on one of them from now on; false, and why. */
    bool (*select)(const char *uuid, char *why, size_t why_size);
    const pl_backend_ops *f32, *f64; /* by precision */
    /* Whether backends that are made from now on launch together, where they can, and what came of that (device.h). */
    void (*share)(bool together);
    pl_shared_launches (*shared)(void);
    /* Why launches are made one by one and not recorded (device.h); NULL: nothing has hindered it. */
    const char *(*plain_because)(void);
    /* What went wrong with the device, as every backend tells it (backend.h), whether there is one or not. */
    const char *(*fault)(void);
} pl_plugin;

typedef const pl_plugin *(*pl_plugin_entry)(void);

/* Why a plug-in does not fit this build, or NULL where it does. */
static inline const char *pl_plugin_unfit(const pl_plugin *p)
{
    if (p->abi != PL_PLUGIN_ABI || p->model_size != sizeof(pl_model) ||
        p->group_size != sizeof(pl_group) || p->ops_size != sizeof(pl_backend_ops))
        return "it is of another build";
    return NULL;
}

#endif
