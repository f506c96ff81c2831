/* control_in_effect.h - finds the control with which a frame was computed. */
#ifndef PLIANT_SERVER_SESSIONS_CONTROL_IN_EFFECT_H
#define PLIANT_SERVER_SESSIONS_CONTROL_IN_EFFECT_H

#include "protocol/log/log.h"

/* The number of the control in effect at a frame (0: none), from its metrics or those of the next readable frame before
 * `end`; *number is -1 if no frame is readable. Returns 0, or ENOMEM with -1. */
int pl_control_in_effect(pl_log_reader *reader, int64_t frame, int64_t end, int64_t *number);

#endif
