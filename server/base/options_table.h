/* options_table.h - every option of pliantd, once: used by the command line, the option file, --help and --man. Private
 * to the files options*.c and config.c.
 */
#ifndef PLIANT_SERVER_BASE_OPTIONS_TABLE_H
#define PLIANT_SERVER_BASE_OPTIONS_TABLE_H

#include "protocol/text/manual.h"

enum {
    OPT_LISTEN = 256,
    OPT_TLS_CERT,
    OPT_UIDS,
    OPT_TLS_KEY,
    OPT_STATE,
    OPT_CORES,
    OPT_MEMORY,
    OPT_GPUS,
    OPT_GPU_PLUGIN,
    OPT_GPU_SHARE,
    OPT_PREPARED,
    OPT_EXECUTOR,
    OPT_BATCH,
    OPT_BATCH_CORES,
    OPT_NO_AUTH,
    OPT_NO_PIN,
    OPT_MEMORY_GROUPS,
    OPT_PROXY,
    OPT_HOST,
    OPT_QUEUED,
    OPT_CHECKS,
    OPT_INTERACTIVE,
    OPT_LIMIT,
    OPT_RATE,
    OPT_BODY,
    OPT_MESH,
    OPT_CONNECTIONS,
    OPT_EXPORTS,
    OPT_IDLE,
    OPT_PATIENCE,
    OPT_CHECKPOINT,
    OPT_STALLED,
    OPT_DELAYS,
    OPT_ON_EXIT,
    OPT_WEBHOOK_ALLOW,
    OPT_WEBHOOK_DELAYS,
    OPT_DISK_RESERVE,
    OPT_SECURE_COOKIES,
    OPT_SHARED_CACHE,
    OPT_TOKEN_FILE,
    OPT_CONFIG,
    OPT_CHECK_CONFIG,
    OPT_OPENAPI,
    OPT_REINDEX,
    OPT_LEVEL,
    OPT_LOG_FORMAT,
    OPT_HELP,
    OPT_MANUAL,
    OPT_VERSION,
    OPT_END
};

enum {
    PL_OPTION_COMMAND = 1, /* on the command line only */
    PL_OPTION_LIVE = 2,    /* can change while the daemon runs, at SIGHUP */
    PL_OPTION_FILE = 4,    /* its value is a file name, or a credential: "credential:NAME" */
};

typedef struct pl_option_row {
    int id;
    unsigned flags;
    pl_option shown; /* its name with the dashes; a flag has no value */
} pl_option_row;

extern const pl_option_row
    pl_option_rows[]; /* ends with a name of NULL; an option may have several rows */

/* The row of an option's name without dashes; NULL: unknown. */
const pl_option_row *pl_option_find(const char *name);
/* The most similar option name, or NULL. */
const char *pl_option_nearest(const char *name);

#endif
