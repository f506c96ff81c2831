/* run_device.h - checks, with pliant-worker, that this machine has the GPU that a scene asks for. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_RUN_DEVICE_H
#define PLIANT_CLIENTS_CLI_SESSION_RUN_DEVICE_H

#include "engine/scene/fault.h"

/* Look for the GPU `uuid`, or for any GPU if that is "auto", through a plug-in (NULL: the standard one). PL_INVALID
 * with a fault at /solver/device, "no device, because ...", if missing. */
pl_status pl_run_device_find(const char *uuid, const char *plugin, pl_faults *faults);

#endif
