/* webhook_post.h - one POST to a user's address, with libcurl (confined to webhook_post.c). No redirects, no proxy, 10
 * s at most. The address that is actually connected to is checked, whatever a name resolved to before.
 */
#ifndef PLIANT_SERVER_RUN_WEBHOOK_POST_H
#define PLIANT_SERVER_RUN_WEBHOOK_POST_H

#include "server/base/options.h"

#include <stdatomic.h>

typedef struct pl_post {
    const pl_options *options; /* the allowed ranges */
    const char *url, *body;
    const char *headers[4];       /* "Name: value"; NULL at the end */
    const _Atomic bool *stopping; /* gives up when it becomes true */
} pl_post;

/* Call it before starting threads; false if the library fails. */
bool pl_post_begin(void);
void pl_post_end(void);
/* The status of the reply, or 0 without one; `why` describes the outcome. */
int pl_post_send(const pl_post *post, char why[160]);

#endif
