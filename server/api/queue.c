#include "server/api/queue.h"

#include "protocol/text/json.h"
#include "server/base/daemon.h"
#include "server/run/dispatcher.h"
#include "server/run/executor.h"
#include "server/run/gpus.h"
#include "server/base/logger.h"
#include "server/sessions/sessions.h"

#include <stdio.h>
#include <string.h>

void pl_handle_queue(pl_request *r)
{
    pl_sessions *t = pl_request_daemon(r)->sessions;
    pl_json_writer w = {0};
    int64_t limit;
    const char *after = pl_request_query(r, "cursor");
    char next[33];
    if (!pl_request_integer(r, "limit", 1, 500, 50, &limit)) {
        return;
    }
    if (after && (strlen(after) != 32 || strspn(after, "0123456789abcdef") != 32)) {
        pl_reply_bad_query(r, "cursor", after, "the value of \"next\" of the previous page");
        return;
    }
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "running", pl_sessions_count(t, PL_STATE_RUNNING));
    pl_json_set_integer(&w, "queued", pl_sessions_count(t, PL_STATE_QUEUED));
    pl_json_set_integer(&w, "checking", pl_sessions_count(t, PL_STATE_CHECKING));
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    pl_dispatcher_queue_view(pl_request_daemon(r)->dispatcher, pl_request_principal(r), after,
                             limit, &w, next);
    pl_json_end_array(&w);
    pl_json_set_string(&w, "next", *next ? next : NULL);
    pl_json_end_object(&w);
    pl_reply_json(r, 200, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

/* ---- devices ---- */

/* "model name : ..." of the first processor; read once. */
static const char *processor_name(void)
{
    static char name[128];
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    FILE *file = *name ? NULL : fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && !*name && fgets(line, sizeof line, file)) {
        const char *colon = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (colon) {
            colon += 1 + strspn(colon + 1, " \t");
            snprintf(name, sizeof name, "%.*s", (int)strcspn(colon, "\n"), colon);
        }
    }
    if (file) {
        fclose(file);
    }
    if (!*name) {
        snprintf(name, sizeof name, "processor");
    }
    pthread_mutex_unlock(&mutex);
    return name;
}

static void reply_devices(pl_request *r, int status)
{
    pl_sessions *t = pl_request_daemon(r)->sessions;
    pl_load load = pl_dispatcher_load(pl_request_daemon(r)->dispatcher);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    pl_json_begin_object(&w);
    pl_json_set_string(&w, "device", "cpu");
    pl_json_set_string(&w, "name", processor_name());
    pl_json_set_integer(&w, "cores", load.cores);
    pl_json_set_integer(&w, "cores_used", load.cores_used);
    pl_json_set_integer(&w, "memory", (int64_t)load.memory);
    pl_json_set_integer(&w, "memory_used", (int64_t)load.memory_used);
    pl_json_set_integer(&w, "sessions", pl_sessions_count(t, PL_STATE_RUNNING));
    pl_json_set_boolean(&w, "draining", load.draining);
    pl_json_end_object(&w);
    pl_gpus_view(pl_request_daemon(r)->gpus, &w);
    pl_json_end_array(&w);
    pl_json_set_null(&w, "next");
    pl_json_end_object(&w);
    pl_reply_json(r, status, pl_json_finish(&w, NULL));
    pl_reply_header(r, "Cache-Control", "no-store");
}

void pl_handle_devices(pl_request *r)
{
    reply_devices(r, 200);
}

static void set_draining(pl_request *r, bool draining)
{
    pl_daemon *d = pl_request_daemon(r);
    const char *device = pl_request_param(r, 0);
    if (strcmp(device, "cpu") == 0) {
        pl_dispatcher_drain(d->dispatcher, draining);
    } else if (pl_gpus_drain(d->gpus, device, draining)) {
        pl_executor_kick(d->executor);
    } else {
        pl_reply_problem(r, 404, "no_such_device", "No such device",
                         "devices are cpu and the UUIDs that GET /v1/devices lists", NULL);
        return;
    }
    pl_logf(PL_LEVEL_INFO,
            draining ? "%s drained by request: no session is started there"
                     : "%s: no longer drained, sessions are started there again",
            device);
    reply_devices(r, 202);
}

void pl_handle_drain(pl_request *r)
{
    set_draining(r, true);
}

void pl_handle_undrain(pl_request *r)
{
    set_draining(r, false);
}
