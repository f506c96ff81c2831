/* verify_parts.h - shared by the parts of pl_verify; private to verify*.c. */
#ifndef PLIANT_PROTOCOL_LOG_VERIFY_PARTS_H
#define PLIANT_PROTOCOL_LOG_VERIFY_PARTS_H

#include "protocol/log/session_dir.h"
#include "protocol/log/verify_report.h"

typedef struct pl_verifier {
    int dir_fd;
    const pl_verify_options *options;
    pl_verify_report *report;
    uint64_t done, total; /* bytes of the log */
    pl_head head;
    bool has_head;
    pl_exit ending;
    bool has_ending;
    pl_status status; /* PL_OK, or why it cannot continue */
} pl_verifier;

/* Texts of a damage beside its place and kind. */
typedef struct pl_damage_words {
    const char *readable, *advice;
} pl_damage_words;

__attribute__((format(printf, 6, 7))) void pl_verifier_damage(pl_verifier *v, const char *file,
                                                              int64_t offset, int64_t frame,
                                                              const pl_damage_words *words,
                                                              const char *format, ...);
/* Removes the damages after the first `count` whose frame is `frame` or later. */
void pl_verifier_forgive(pl_verifier *v, size_t count, int64_t frame);
/* Counts bytes of the log as done. False if `progress` ends it. */
bool pl_verifier_advance(pl_verifier *v, uint64_t bytes);

/* Every segment in v->head, and its index. */
void pl_verify_log(pl_verifier *v);

#endif
