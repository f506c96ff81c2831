/* options.h - the command line of pliantd. */
#ifndef PLIANT_SERVER_BASE_OPTIONS_H
#define PLIANT_SERVER_BASE_OPTIONS_H

#include "protocol/machine/capacity.h"
#include "server/base/limits.h"
#include "server/base/logger.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    PL_ALLOW_HOSTS_MAX = 32,
    PL_RESTARTS = 3,
    PL_WEBHOOK_RANGES_MAX = 16,
    PL_WEBHOOK_TRIES_MAX = 16
};

enum { PL_GPU_SHARE_MAX = 64, PL_EXPORTS_MAX = 64 };

/* The longest address of a daemon, including its NUL. */
enum { PL_URL_MAX = 320 };

enum { PL_OPTIONS_MAX = 64 };

/* Control groups for workers' memory: if possible, required, never. */
typedef enum pl_memory_groups_mode {
    PL_MEMORY_GROUPS_AUTO,
    PL_MEMORY_GROUPS_ON,
    PL_MEMORY_GROUPS_OFF,
} pl_memory_groups_mode;

/* The _Atomic members may change while the daemon runs (pl_options_renew). */
typedef struct pl_options {
    char listen_host[256];          /* numeric address, without brackets */
    int listen_port;                /* 0: any free one */
    const char *listen_unix;        /* path of a socket; NULL: none */
    bool address_given, no_address; /* no_address: the unix socket alone */
    const char *state;
    int cores;                        /* for sessions */
    int64_t memory;                   /* bytes, for sessions */
    const char *cores_by, *memory_by; /* source of the limit: "option", or as in pl_capacity */
    pl_capacity capacity;             /* resources available to this process */
    const char *gpus;                 /* "auto", "none", or a list of places and UUIDs */
    const char *gpu_plugin;           /* NULL: the worker's own */
    bool no_pin;                      /* workers run on any CPU */
    pl_memory_groups_mode memory_groups;
    bool batch_default;  /* sessions without an executor run in the batch system */
    const char *batch;   /* "none", "slurm", or a file */
    int64_t batch_cores; /* limit for all sessions in the batch system together */
    int64_t gpu_share;   /* most small sessions on a GPU in one worker */
    int prepared;        /* most owners with a prepared next worker and check */
    bool no_auth, behind_proxy;
    bool secure_cookies;  /* regardless of the proxy */
    int64_t shared_cache; /* s that a cache may keep replies to a share link; 0: never */
    uint32_t worker_uid, worker_uid_last; /* workers run as one of these; 0: as the daemon */
    const char *tls_cert, *tls_key;       /* files; NULL: no TLS */
    int64_t interactive_cores;            /* kept for interactive sessions */
    _Atomic int64_t max_queued;           /* sessions that check or wait */
    _Atomic int64_t max_checks;           /* waiting checks of one user */
    _Atomic int64_t max_body;             /* bytes of a JSON body */
    _Atomic int64_t max_mesh;             /* bytes of an uploaded mesh file */
    int max_connections;
    int exports;          /* made at the same time */
    int idle_timeout;     /* s until an idle connection is closed */
    _Atomic int patience; /* s that a cancelled or paused worker may take */
    int64_t stalled_ms,
        /* time without progress until it is reported, and until the kill; 0: none */
        stalled_kill_ms;
    _Atomic int checkpoint_every; /* s, for workers */
    int64_t
        restart_delays_ms[PL_RESTARTS]; /* before the 1st, 2nd, ... restart of a crashed worker */
    bool stop_workers;                  /* at the daemon's end, instead of leaving them running */
    int64_t disk_reserve;               /* bytes held for a full disk */
    bool reindex;                       /* rebuild the database and exit */
    const char *allow_hosts[PL_ALLOW_HOSTS_MAX];
    int allow_host_count;
    const char
        *webhook_allow[PL_WEBHOOK_RANGES_MAX]; /* "10.0.0.0/8": private ranges that may be called */
    int webhook_allow_count;
    int64_t webhook_delays_ms[PL_WEBHOOK_TRIES_MAX]; /* before the 2nd, 3rd, ... try */
    int webhook_delay_count;
    int64_t address_rate; /* requests a second (rate.h); 0: no limit */
    pl_limits limits;     /* of a user without limits of their own */
    pl_level level;
    pl_logf_format log_format;
    const char *config;         /* the file that options were read from; NULL: none */
    const char *token_file;     /* of the owner's token; NULL: STATE/token */
    bool check_config;          /* check the options and exit */
    char *said[PL_OPTIONS_MAX]; /* each option's value as written; malloc'ed */
} pl_options;

typedef enum pl_options_outcome {
    PL_OPTIONS_RUN,
    PL_OPTIONS_OPENAPI, /* the description of the API is to be printed */
    PL_OPTIONS_DONE,    /* --help or --version was printed: exit 0 */
    PL_OPTIONS_WRONG,   /* the mistake was printed: exit 2 */
} pl_options_outcome;
pl_options_outcome pl_options_parse(int argc, char **argv, pl_options *out);
/* Check that the options fit together. Parsing does so; call it again after changing where to listen. */
pl_options_outcome pl_options_check(const pl_options *o);

void pl_options_clear(pl_options *options);
/* Apply those changes of `fresh`, parsed again from the same command line, that are allowed while the daemon runs; log
 * each change and whether it is in effect. Returns the number of changes. */
int pl_options_renew(pl_options *now, pl_options *fresh);

/* Call `see` for each given option: its name without dashes, and its value as written. */
void pl_options_each_said(const pl_options *options,
                          void (*see)(void *context, const char *name, const char *value),
                          void *context);

bool pl_options_loopback(const pl_options *o); /* listens on loopback only */

/* Print --help and --man, from one table (options_help.c). */
void pl_options_help(void);
void pl_options_manual(void);

#endif
