/* verify_report.h - the damages of a session directory, found by verify.h. */
#ifndef PLIANT_PROTOCOL_LOG_VERIFY_REPORT_H
#define PLIANT_PROTOCOL_LOG_VERIFY_REPORT_H

#include "engine/scene/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_damage {
    char file[96];      /* in the session directory */
    int64_t offset;     /* byte of the file; -1: the file as a whole */
    int64_t frame;      /* lost frame; -1: none */
    char what[160];     /* "the payload's CRC-32C is wrong" */
    char readable[160]; /* what is still readable */
    char advice[160];   /* what to do */
} pl_damage;

/* Most damages in the list; `total` counts all. */
enum { PL_DAMAGES_MAX = 10000 };

typedef struct pl_verify_report {
    pl_damage *damages; /* malloc'ed */
    size_t count, total;
    int64_t files, records; /* looked at */
    uint64_t bytes;
    int64_t frames, frames_lost; /* committed; of them, frame or metrics record damaged */
    int64_t unchecked;           /* files of an older format, without a sum */
    bool live;                   /* a worker holds the lock: bytes being written are not checked */
} pl_verify_report;
void pl_verify_report_clear(pl_verify_report *report);

typedef struct pl_verify_options {
    bool from_daemon; /* session.json must be there */
    /* Called now and then with the bytes done and the total; false ends it with PL_FAILED. May be NULL. */
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
} pl_verify_options;

#endif
