/* unzip.h - extracts the files of a zip archive that arrives in pieces of any size. Members must be stored, not
 * compressed, and each must give its size before its bytes, as in the series that the daemon sends.
 */
#ifndef PLIANT_CLIENTS_CLI_BASE_UNZIP_H
#define PLIANT_CLIENTS_CLI_BASE_UNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PL_UNZIP_HEADER = 30, PL_UNZIP_NAME = 400 };

typedef struct pl_unzip {
    /* Called for the members, one after the other; returning false stops the extraction. */
    bool (*begin)(void *context, const char *name);
    bool (*write)(void *context, const void *data, size_t size);
    bool (*end)(void *context);
    void *context;
    bool broken; /* not such an archive */
    bool done;   /* all members have been read: the directory follows */
    /* private */
    unsigned char head[PL_UNZIP_HEADER + PL_UNZIP_NAME + 64];
    size_t have, want;
    uint64_t left;
    bool inside;
} pl_unzip;

/* Feed the next bytes. False if extraction was stopped or the archive is broken. */
bool pl_unzip_feed(pl_unzip *z, const void *data, size_t size);

#endif
