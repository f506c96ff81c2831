/* session_compare.h - compares two runs of one scene, frame by frame; and damages directories on purpose. As in
 * session_fixture.h, an error in a helper aborts the test with a message.
 */
#ifndef PLIANT_TESTS_SUPPORT_SESSION_COMPARE_H
#define PLIANT_TESTS_SUPPORT_SESSION_COMPARE_H

#include "tests/support/session_fixture.h"

/* A floor that the fixture's bar swings down on, so that the solver's contact history counts. */
#define SESSION_FLOOR                                                                              \
    ", \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"normal\": [0, 1, 0], \"offset\": -1},"  \
    " \"friction\": 0.5}]"

/* A run of the fixture's bar, in memory, killed in its middle: fewer than all frames are committed,
 * and there are two checkpoints, of frames from 20 on and before the last. */
void session_create_killed(session_fixture *f, int64_t steps, const char *more);

/* A run that ended before its last frame, with at least `frames` frames: by SIGTERM (`control` NULL), or by a control
 * with this text. Returns its status. */
int session_create_ended(session_fixture *f, int64_t steps, const char *more, int64_t frames,
                         const char *control);

/* The first frame that differs (positions to the bit, metrics except times), or -1. A frame that only one has counts as
 * different; one that is damaged in either is skipped. */
int64_t session_compare(const session_fixture *a, const session_fixture *b);

/* Whether each segment that head.json lists holds each of its frames once. */
bool session_compare_once(const session_fixture *f);

/* Whether worker.log has a line with this text. */
bool session_said(const session_fixture *f, const char *text);

/* Change a byte of the payload of a stored record (part: PL_LOG_FRAME or PL_LOG_METRICS); returns the old value. `seal`
 * corrects the CRCs, so that only recomputing the frame can reveal it. */
char session_tamper(const session_fixture *f, int64_t frame, int part, uint64_t offset, char value,
                    bool seal);

#endif
