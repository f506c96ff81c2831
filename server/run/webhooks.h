/* webhooks.h - notifies users' programs that a session has ended: a signed POST, retried with growing delays. Pending
 * notifications are kept in the sessions' rows, so that they outlive the daemon; delivery is at least once.
 *
 * Signature: Pliant-Signature: t=SECONDS,v1=HEX, where HEX is HMAC-SHA256 of "SECONDS.BODY" keyed with the session
 * owner's secret, which GET /v1/webhook-secret returns.
 */
#ifndef PLIANT_SERVER_RUN_WEBHOOKS_H
#define PLIANT_SERVER_RUN_WEBHOOKS_H

#include "server/base/options.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"

typedef struct pl_webhooks pl_webhooks;

/* For the sessions of a table. Reads STATE/webhook-key, or creates it; NULL with a line in the log. The options outlive
 * it. */
pl_webhooks *pl_webhooks_create(int state_fd, const pl_options *options, pl_sessions *sessions);
/* Continue with the pending notifications of an earlier daemon. False if out of memory. */
bool pl_webhooks_load(pl_webhooks *webhooks);
void pl_webhooks_destroy(pl_webhooks *webhooks);
/* A session has ended; nothing happens if it has no webhook. From any thread, with no lock held. */
void pl_webhooks_add(pl_webhooks *webhooks, pl_session *session);

void pl_handle_webhook_secret(pl_request *r);

#endif
