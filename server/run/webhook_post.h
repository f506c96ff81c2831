/* webhook_post.h - one POST to a user's address, by libcurl (which webhook_post.c keeps to itself). No
 * redirects, no proxy, 10 s at most; the address that is connected to is judged, whatever a name resolved to
 * before.
 */
#ifndef PLIANT_SERVER_RUN_WEBHOOK_POST_H
#define PLIANT_SERVER_RUN_WEBHOOK_POST_H

#include "server/base/options.h"

#include <stdatomic.h>

typedef struct pl_post {
    const pl_options *options; /* the ranges that are allowed */
    const char *url, *body;
    const char *headers[4];       /* "Name: value"; NULL at the end */
    const _Atomic bool *stopping; /* gives up where it becomes true */
} pl_post;

/* Before threads; false where the library fails. */
bool pl_post_begin(void);
void pl_post_end(void);
/* The status of the answer, or 0 where there was none; `why` says in words what came of it. */
int pl_post_send(const pl_post *post, char why[160]);

#endif
