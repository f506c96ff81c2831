/* daemon.h - the parts of a running daemon, which a handler reaches through its request. The parts are opaque here, so
 * that a room sees only the ones that its own includes name. Set up and taken down in pliantd_main.c, in that order;
 * constant in between, except for _Atomic members.
 */
#ifndef PLIANT_SERVER_BASE_DAEMON_H
#define PLIANT_SERVER_BASE_DAEMON_H

#include "server/base/counters.h"
#include "server/base/options.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct pl_daemon {
    pl_options options;
    char state[PATH_MAX];    /* absolute */
    char programs[PATH_MAX]; /* folder of pliant-worker and pliant-preflight */
    int state_fd;
    int stop_fd; /* an eventfd, readable from the start of the drain */
    _Atomic bool draining;
    _Atomic bool ready;
    double machine_memory; /* bytes */
    int log_readers_max;   /* of streams, limited by descriptors */
    char url[PL_URL_MAX];
    char *capabilities; /* the body of /v1/capabilities */
    struct pl_disk *disk;
    struct pl_auth *auth;
    struct pl_store *store;
    struct pl_audit *audit;
    struct pl_tenants *tenants;
    struct pl_login_codes *login_codes;
    struct pl_signer *signer;
    struct pl_batch_system *batch; /* NULL: sessions run on this machine only */
    struct pl_gpus *gpus;
    struct pl_learning *learning;
    struct pl_tickers *tickers;
    struct pl_events *events;
    struct pl_dispatcher *dispatcher;
    struct pl_sessions *sessions;
    struct pl_watch *watch;
    struct pl_executor *executor;
    struct pl_memory_groups *memory_groups; /* of workers; NULL: they have none */
    struct pl_prepared *prepared_workers, *prepared_checks;
    struct pl_stream_hub *streams;
    struct pl_rate *rate;
    struct pl_pool *files;   /* short reads and writes */
    struct pl_pool *checks;  /* decodes scenes and meshes */
    struct pl_pool *commits; /* syncs checked requests to disk */
    struct pl_check_queue *check_queue;
    struct pl_exports *exports;
    struct pl_webhooks *webhooks;
    struct pl_sweeps *sweeps;
    struct pl_sweep_runner *sweep_runner;
    struct pl_http *http;
    pl_counters counters;
} pl_daemon;

#endif
