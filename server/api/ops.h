/* ops.h - for those who run the daemon: health, Prometheus metrics, version, capabilities. None of
 * these takes a lock that work is done under.
 */
#ifndef PLIANT_SERVER_API_OPS_H
#define PLIANT_SERVER_API_OPS_H

#include "server/base/options.h"
#include "server/http/http.h"
#include "server/run/gpus.h"

void pl_handle_health(pl_request *r); /* the process answers */
void pl_handle_ready(pl_request *r);  /* it takes new sessions: loaded, and not draining */
void pl_handle_metrics_page(pl_request *r);
void pl_handle_version(pl_request *r);
void pl_handle_capabilities(pl_request *r);

/* The body of /v1/capabilities, made once at start, of a machine with so many bytes; malloc'ed. */
char *pl_capabilities_build(const pl_options *options, double memory, pl_gpus *gpus);

#endif
