/* ops.h - requests for operators: health, Prometheus metrics, version, capabilities. None takes a lock that is held
 * during work.
 */
#ifndef PLIANT_SERVER_API_OPS_H
#define PLIANT_SERVER_API_OPS_H

#include "server/base/options.h"
#include "server/http/http.h"
#include "server/run/gpus.h"

void pl_handle_health(pl_request *r); /* the process answers */
/* sessions are loaded, and the daemon is not draining: it accepts new sessions */
void pl_handle_ready(pl_request *r);
void pl_handle_metrics_page(pl_request *r);
void pl_handle_version(pl_request *r);
void pl_handle_capabilities(pl_request *r);

/* Build the body of /v1/capabilities, once at start, for a machine with this much memory in bytes; malloc'ed. */
char *pl_capabilities_build(const pl_options *options, double memory, pl_gpus *gpus);

#endif
