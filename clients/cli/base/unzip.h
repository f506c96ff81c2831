/* unzip.h - the files of a zip archive of stored members that comes in pieces of any size. For what the
 * daemon sends as a series: each member says its size before its bytes.
 */
#ifndef PLIANT_CLIENTS_CLI_BASE_UNZIP_H
#define PLIANT_CLIENTS_CLI_BASE_UNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_UNZIP_HEADER = 30, PL_UNZIP_NAME = 400 };

typedef struct pl_unzip {
    /* What members hold, one after the other; false stops it. */
    bool (*begin)(void *context, const char *name);
    bool (*write)(void *context, const void *data, size_t size);
    bool (*end)(void *context);
    void *context;
    bool broken; /* it is no such archive */
    bool done;   /* the members are over: the directory follows */
    /* private */
    unsigned char head[PL_UNZIP_HEADER + PL_UNZIP_NAME + 64];
    size_t have, want;
    uint64_t left;
    bool inside;
} pl_unzip;

/* Take the next bytes in; false where it was stopped or is broken. */
bool pl_unzip_feed(pl_unzip *z, const void *data, size_t size);

#endif
