/* plugin.h - what a plug-in with a device's backends and who loads it agree on. The plug-in exports one
 * symbol, `pliant_plugin`, a function of no arguments that gives its pl_plugin, and is asked for
 * nothing else before that was found to fit.
 *
 * A machine without a device is a normal answer: `find` says why there is none. */
#ifndef PLIANT_ENGINE_BACKENDS_PLUGIN_H
#define PLIANT_ENGINE_BACKENDS_PLUGIN_H

#include "engine/backends/backend.h"
#include "engine/backends/shared_launches.h"

/* Of pl_plugin itself: what is needed to read `engine_abi`. */
enum { PL_PLUGIN_LAYOUT = 6 };

typedef struct pl_gpu {
    char name[128];
    char uuid[48];          /* "GPU-...", as the driver's tools print it */
    int64_t memory, unused; /* bytes: all of it, and what nobody had taken when it was asked for */
    int32_t major, minor;   /* compute capability */
} pl_gpu;

typedef struct pl_plugin {
    uint32_t layout;
    const char *engine_abi; /* pl_engine_abi() of the build that it is of */
    const char *version;    /* of the project */
    /* The devices there are, at most `room`; where none, 0 and in `why` what is missing. */
    int32_t (*find)(pl_gpu *out, int32_t room, char *why, size_t why_size);
    /* Work on one of them from now on; false, and why. */
    bool (*select)(const char *uuid, char *why, size_t why_size);
    const pl_backend_ops *f32, *f64; /* by precision */
    /* Whether backends that are made from now on launch together, where they can, and what came of that (device.h). */
    void (*share)(bool together);
    pl_shared_launches (*shared)(void);
    /* Why launches are made one by one and not recorded (device.h); NULL: nothing has hindered it. */
    const char *(*recording_error)(void);
    /* What went wrong with the device, as every backend tells it (backend.h), whether there is one or not. */
    const char *(*fault)(void);
} pl_plugin;

typedef const pl_plugin *(*pl_plugin_entry)(void);

/* A hash of all the engine's headers, which make computes: the plug-in and its caller hand each other
 * models, groups and their data, so both must have the same structs. */
const char *pl_engine_abi(void);

/* Whether a plug-in fits this build; false, and why: a clause to follow on a colon. */
bool pl_plugin_fits(const pl_plugin *p, char *why, size_t why_size);

#endif
