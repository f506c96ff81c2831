/* limits.h - the limits of a user, as a table of named numbers for the command line, the database, requests and
 * replies.
 */
#ifndef PLIANT_SERVER_BASE_LIMITS_H
#define PLIANT_SERVER_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum pl_limit {
    PL_LIMIT_SESSIONS,   /* sessions that have not ended */
    PL_LIMIT_QUEUED,     /* of these, those in checking or waiting */
    PL_LIMIT_CORES,      /* cores of the sessions that run */
    PL_LIMIT_BYTES,      /* of all sessions' directories */
    PL_LIMIT_MESH_BYTES, /* of the meshes uploaded */
    PL_LIMIT_REQUESTS,   /* per second (rate.h) */
    PL_LIMIT_RUNNING,    /* sessions that run */
    PL_LIMIT_GPUS,       /* sessions that run on a GPU */
    PL_LIMIT_SHARE,      /* share of the machine when others want it too; none is 1 */
    PL_LIMIT_COUNT
} pl_limit;

enum {
    PL_LIMIT_UNSET = -1, /* of a user: the daemon's limit applies; of a group: no limit */
    PL_LIMIT_KEPT = -2   /* in a change: keep the present value */
};
typedef struct pl_limits {
    int64_t value[PL_LIMIT_COUNT]; /* INT64_MAX: none */
} pl_limits;

const char *pl_limit_name(pl_limit limit); /* "sessions", also the column of the database */
/* The columns in the table's order, and placeholders for their values. */
#define PL_LIMIT_COLUMNS                                                                           \
    "sessions, queued, cores, bytes, mesh_bytes, requests, running, gpus, share"
#define PL_LIMIT_PLACES "?,?,?,?,?,?,?,?,?"
int64_t pl_limit_least(pl_limit limit); /* the smallest allowed value */
int64_t pl_limit_most(pl_limit limit);  /* the largest allowed value */
bool pl_limit_of_group(pl_limit limit); /* true if groups have it, too */
/* All of them with this value. */
pl_limits pl_limits_all(int64_t value);
/* Parse "sessions=10,bytes=none" into the values that it names; "none" becomes PL_LIMIT_UNSET, and the other values
 * stay unchanged. False for an invalid word. */
bool pl_limits_parse(const char *text, pl_limits *out);

#endif
