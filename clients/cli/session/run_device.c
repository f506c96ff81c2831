#include "clients/cli/session/run_device.h"

#include "clients/cli/session/run_session.h"

#include "protocol/text/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool has(const pl_json *devices, const char *uuid)
{
    if (strcmp(uuid, "auto") == 0)
        return pl_json_count(devices) > 0;
    for (size_t i = 0; i < pl_json_count(devices); i++)
        if (strcmp(pl_json_string(pl_json_item(devices, i), "uuid", ""), uuid) == 0)
            return true;
    return false;
}

pl_status pl_run_device_find(const char *uuid, const char *plugin, pl_faults *faults)
{
    char text[16384], why[600] = "";
    const char *const arguments[] = {"--devices", plugin ? "--gpu-plugin" : NULL, plugin, NULL};
    pl_json *reply = NULL;
    if (pl_run_session_ask("pliant-worker", arguments, text, sizeof text) != PL_OK)
        snprintf(why, sizeof why, "no device, because pliant-worker cannot be run: %s",
                 strerror(errno));
    else if (!(reply = pl_json_parse(text, strlen(text), NULL)))
        snprintf(why, sizeof why, "no device, because pliant-worker gave no result");
    else if (!has(pl_json_at(reply, "devices"), uuid))
        snprintf(why, sizeof why, "%s",
                 pl_json_string(reply, "reason", "no device, because none has that UUID"));
    pl_json_free(reply);
    if (!*why)
        return PL_OK;
    pl_faults_add(faults, "/solver/device", "no_gpu", why, "a GPU in this machine",
                  "use \"device\": \"cpu\"");
    return PL_INVALID;
}
