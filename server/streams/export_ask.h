/* export_ask.h - the query of an export: format, frames, body, starting byte, and file names. */
#ifndef PLIANT_SERVER_STREAMS_EXPORT_ASK_H
#define PLIANT_SERVER_STREAMS_EXPORT_ASK_H

#include "protocol/export/export.h"
#include "server/http/http.h"
#include "server/sessions/sessions.h"

enum { PL_EXPORT_NAME_MAX = 200, PL_EXPORT_NAME_SHOWN = 60 };

typedef struct pl_export_ask {
    pl_export_order order; /* points to the names below */
    int64_t offset;        /* bytes that the reader already has */
    char name[PL_EXPORT_NAME_MAX + 1];
    char body[PL_EXPORT_NAME_MAX + 1];
} pl_export_ask;

/* False after a reply. The struct must not be moved afterwards. */
bool pl_export_ask_parse(pl_request *r, pl_sessions *sessions, pl_session *session,
                         pl_export_ask *ask);

/* Make a name that every file system and header accepts: letters, digits, '.', '_' and '-'. */
void pl_export_plain_name(const char *name, const char *instead,
                          char out[PL_EXPORT_NAME_SHOWN + 1]);

#endif
