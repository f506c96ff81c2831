/* verify_report.h - what verify.h finds: the damages of a session directory. */
#ifndef PLIANT_PROTOCOL_LOG_VERIFY_REPORT_H
#define PLIANT_PROTOCOL_LOG_VERIFY_REPORT_H

#include "engine/scene/fault.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_damage {
    char file[96];      /* in the session directory */
    int64_t offset;     /* byte of the file; -1: the file as a whole */
    int64_t frame;      /* that is lost by it; -1: none */
    char what[160];     /* "the payload's CRC-32C is wrong" */
    char readable[160]; /* what is still to be had */
    char advice[160];   /* what to do */
} pl_damage;

/* Damages are kept up to this many; `total` counts on. */
enum { PL_DAMAGES_MAX = 10000 };

typedef struct pl_verify_report {
    pl_damage *damages; /* malloc'ed */
    size_t count, total;
    int64_t files, records; /* looked at */
    uint64_t bytes;
    int64_t frames, frames_lost; /* committed; of them, frame or metrics record damaged */
    int64_t unchecked;           /* files that carry no sum, being of an older format */
    bool live;                   /* a worker holds the lock: what is being written is not judged */
} pl_verify_report;
void pl_verify_report_clear(pl_verify_report *report);

typedef struct pl_verify_options {
    bool from_daemon; /* session.json must be there */
    /* Called now and then with the bytes done and to do; false ends it: PL_FAILED. May be NULL. */
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
} pl_verify_options;

#endif
