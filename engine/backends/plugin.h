/* plugin.h - the interface between a plug-in with a device's backends and its loader. The plug-in exports one
 * symbol, `pliant_plugin`, a function without arguments that returns its pl_plugin. The loader calls nothing else
 * before it has checked that the plug-in fits.
 *
 * A machine without a device is a normal answer: `find` gives the reason. */
#ifndef PLIANT_ENGINE_BACKENDS_PLUGIN_H
#define PLIANT_ENGINE_BACKENDS_PLUGIN_H

#include "engine/backends/backend.h"
#include "engine/backends/shared_launches.h"

/* Version of pl_plugin itself: needed to read `engine_abi`. */
enum { PL_PLUGIN_LAYOUT = 6 };

typedef struct pl_gpu {
    char name[128];
    char uuid[48];          /* "GPU-...", as the driver's tools print it */
    int64_t memory, unused; /* bytes: total, and free when queried */
    int32_t major, minor;   /* compute capability */
} pl_gpu;

typedef struct pl_plugin {
    uint32_t layout;
    const char *engine_abi; /* pl_engine_abi() of its build */
    const char *version;    /* version of the project */
    /* Lists the available devices, at most `room`; if none, returns 0 and writes what is missing to `why`. */
    int32_t (*find)(pl_gpu *out, int32_t room, char *why, size_t why_size);
    /* Selects one of them to work on from now on; false, with the reason. */
    bool (*select)(const char *uuid, char *why, size_t why_size);
    const pl_backend_ops *f32, *f64; /* by precision */
    /* Sets whether backends created from now on launch together where they can, and returns the statistics of that
     * (device.h). */
    void (*share)(bool together);
    pl_shared_launches (*shared)(void);
    /* The reason why launches are made one by one and not recorded (device.h); NULL: none. */
    const char *(*recording_error)(void);
    /* The device's fault, as every backend reports it (backend.h), whether or not a backend exists. */
    const char *(*fault)(void);
} pl_plugin;

typedef const pl_plugin *(*pl_plugin_entry)(void);

/* A hash of all the engine's headers, computed by make: the plug-in and its caller exchange models, groups and
 * their data, so both must have the same structs. */
const char *pl_engine_abi(void);

/* True if a plug-in fits this build; false, with the reason as a clause to follow a colon. */
bool pl_plugin_fits(const pl_plugin *p, char *why, size_t why_size);

#endif
