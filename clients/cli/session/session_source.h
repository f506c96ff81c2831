/* session_source.h - a session to read from: on a daemon, by its id, or in a local session directory. Failures are
 * printed and returned as exit statuses.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_SESSION_SOURCE_H
#define PLIANT_CLIENTS_CLI_SESSION_SESSION_SOURCE_H

#include "clients/cli/net/api.h"

#include "protocol/log/frame_contacts.h"
#include "protocol/log/log.h"
#include "protocol/log/session_dir.h"

typedef struct pl_session_source {
    pl_cli *cli;
    char id[PL_ID_TEXT]; /* on the daemon; "" for a directory */
    int dir_fd;          /* of a directory, else -1 */
    pl_log_reader *reader;
    char name[256]; /* of the session */
    int64_t frames; /* committed when opened: frames 0 .. frames - 1 */
} pl_session_source;

/* `where` is a directory with a scene.json, or the beginning of a session's id. */
int pl_session_source_open(pl_cli *cli, const char *where, pl_session_source *out);
void pl_session_source_close(pl_session_source *s);

typedef struct pl_session_frame {
    int64_t frame, vertices;
    double time;
    const float *positions;      /* [vertices][3], valid during the call */
    const float *velocity;       /* [vertices][3], m/s; NULL if the session does not store it */
    const unsigned char *stored; /* the positions as stored: float32, or float64 if `wide` */
    bool wide;
    int64_t
        contacts; /* points where bodies push each other; -1 where the session does not store them */
    const unsigned char *contact; /* [contacts]: as stored */
} pl_session_frame;
/* Convert the stored positions to out [vertices][3]. */
void pl_session_frame_values(const pl_session_frame *frame, double *out);
void pl_session_frame_contact(const pl_session_frame *frame, int64_t i, pl_contact_point *out);
/* Pass on each frame first, first + every, .. up to last; false ends it early. With `follow`, wait for further frames
 * until the session ends; `last` is then ignored. */
typedef bool (*pl_take_frame)(void *context, const pl_session_frame *frame);
int pl_session_source_frames(pl_session_source *s, int64_t first, int64_t last, int64_t every,
                             bool follow, pl_take_frame take, void *context);

/* Pass on the records of a daemon's stream of frames as they arrive, each whole with its header; false ends it early.
 * `last` INT64_MAX: all. `form`: more of the query ("&dtype=u16"), or "". A broken stream is resumed after the last
 * whole record, under its first hello. */
typedef bool (*pl_take_bytes)(void *context, const char *data, size_t size);
int pl_session_source_records(pl_session_source *s, int64_t first, int64_t last, bool follow,
                              const char *form, pl_take_bytes take, void *context);

/* Pass on each metrics record from frame `first`, a line of JSON without its newline. */
typedef bool (*pl_take_line)(void *context, const char *line, size_t length);
int pl_session_source_metrics(pl_session_source *s, int64_t first, pl_take_line take,
                              void *context);

/* A document of the session: a file of its directory, or the daemon's reply at the path, which takes the id. *text is
 * malloc'ed and NUL-terminated. */
int pl_session_source_document(pl_session_source *s, pl_session_file file, const char *path_format,
                               const char *accept, char **text, size_t *size);

#endif
