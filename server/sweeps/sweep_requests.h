/* sweep_requests.h - sweeps over HTTP. */
#ifndef PLIANT_SERVER_SWEEPS_SWEEP_REQUESTS_H
#define PLIANT_SERVER_SWEEPS_SWEEP_REQUESTS_H

#include "server/http/http.h"

void pl_handle_sweep_create(pl_request *r);
void pl_handle_sweeps(pl_request *r);
void pl_handle_sweep(pl_request *r);
void pl_handle_sweep_delete(pl_request *r);
void pl_handle_sweep_results(pl_request *r);
void pl_handle_sweep_residuals(pl_request *r);
void pl_handle_sweep_cancel(pl_request *r);
void pl_handle_sweep_retry(pl_request *r);

#endif
