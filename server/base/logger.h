/* logger.h - the daemon's log: one line per event on standard error, with time and level, as text or as a JSON object.
 * A line is one write, so that lines of different threads do not mix.
 */
#ifndef PLIANT_SERVER_BASE_LOGGER_H
#define PLIANT_SERVER_BASE_LOGGER_H

typedef enum pl_level { PL_LEVEL_ERROR, PL_LEVEL_WARN, PL_LEVEL_INFO, PL_LEVEL_DEBUG } pl_level;
typedef enum pl_logf_format { PL_LOGF_TEXT, PL_LOGF_JSON } pl_logf_format;

/* Set the level up to which lines are written; PL_LEVEL_INFO at start. */
void pl_logf_level(pl_level level);
/* Sets *out and returns 0, or -1 if the name is not one of error warn info debug. */
int pl_level_parse(const char *name, pl_level *out);
void pl_logf_choose(pl_logf_format format); /* PL_LOGF_TEXT at start */
/* Sets *out and returns 0, or -1 if the name is neither text nor json. */
int pl_logf_format_parse(const char *name, pl_logf_format *out);

/* The subject of a thread's work. JSON lines have it as members. */
typedef struct pl_logf_subject {
    char request[33]; /* "": none */
    char user[80];    /* "": none */
} pl_logf_subject;
/* Set the subject of this thread's lines, until another call changes it (NULL: none). The subject must live as long. */
void pl_logf_about(const pl_logf_subject *subject);

/* A message about a session begins with "session %s" and its id; JSON has the id as a member, too. Never put a token, a
 * header's value or a scene into a message. */
__attribute__((format(printf, 2, 3))) void pl_logf(pl_level level, const char *format, ...);

#endif
