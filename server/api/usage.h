/* usage.h - GET /v1/usage: a user's limits and usage; with ?by= the machine's usage by user, group or day, as JSON or
 * CSV. GET /v1/usage/spans: runs over time. Ordinary users see their own rows and one total for all others.
 */
#ifndef PLIANT_SERVER_API_USAGE_H
#define PLIANT_SERVER_API_USAGE_H

#include "server/http/http.h"
#include "server/sessions/sessions.h"
#include "server/store/store.h"

void pl_handle_usage(pl_request *r);
void pl_handle_usage_spans(pl_request *r);

/* Samples everybody's stored bytes, unless the last sample is younger than `fresh_ms`. */
void pl_usage_sample_bytes(pl_store *store, pl_sessions *sessions, int64_t fresh_ms);

/* A time of the query, ms since 1970: a day as 2026-01-31, or a time as 2026-01-31T12:00:00Z; `fallback` if not given.
 * False after replying 400. */
bool pl_usage_time(pl_request *r, const char *key, int64_t fallback, int64_t *out);

#endif
