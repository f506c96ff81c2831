/* logger.h - the daemon's log: one line an event on standard error, with time and level. */
#ifndef PLIANT_SERVER_BASE_LOGGER_H
#define PLIANT_SERVER_BASE_LOGGER_H

typedef enum pl_level { PL_LEVEL_ERROR, PL_LEVEL_WARN, PL_LEVEL_INFO, PL_LEVEL_DEBUG } pl_level;

/* The level up to which lines are written; PL_LEVEL_INFO at start. Set before threads start. */
void pl_logf_level(pl_level level);
/* 0 and *out, or -1 where the name is none of error warn info debug. */
int pl_level_parse(const char *name, pl_level *out);

/* Never put a token, a header's value or a scene into it. */
__attribute__((format(printf, 2, 3))) void pl_logf(pl_level level, const char *format, ...);

#endif
