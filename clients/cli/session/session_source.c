#include "clients/cli/session/session_source.h"

#include "clients/cli/net/record_stream.h"
#include "protocol/log/session_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DOCUMENT_MAX ((size_t)1 << 30)

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_directory(pl_session_source *s, const char *where)
{
    s->dir_fd = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir_fd < 0)
        return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s: %s", where, strerror(errno));
    if (faccessat(s->dir_fd, "scene.json", R_OK, 0) != 0)
        return pl_cli_fail(s->cli, PL_EXIT_NOT_FOUND,
                           "%s is not a session directory: it has no scene.json", where);
    if (pl_log_reader_open(s->dir_fd, &s->reader) != PL_OK)
        return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s: its log cannot be opened: %s", where,
                           strerror(errno));
    s->frames = pl_log_reader_refresh(s->reader);
    if (pl_log_reader_recovered(s->reader))
        pl_cli_fail(s->cli, 0,
                    "%s: head.json is damaged or lost; %" PRId64
                    " frames were found again in its log",
                    where, s->frames);
    char *text;
    size_t size;
    if (pl_file_read(s->dir_fd, "scene.json", DOCUMENT_MAX, &text, &size) == PL_OK) {
        pl_json *scene = pl_json_parse(text, size, NULL);
        snprintf(s->name, sizeof s->name, "%s", pl_json_string(scene, "name", ""));
        pl_json_free(scene);
        free(text);
    }
    return PL_EXIT_OK;
}

static int open_remote(pl_session_source *s, const char *where)
{
    pl_json *session = NULL;
    int status = pl_api_resolve(s->cli, where, s->id);
    if (status != PL_EXIT_OK)
        return status;
    char *path = pl_api_path("/v1/sessions/%s", s->id);
    status = pl_api_get(s->cli, path, &session);
    free(path);
    if (status != PL_EXIT_OK)
        return status;
    s->frames = pl_json_integer(session, "progress/frame", -1) + 1;
    snprintf(s->name, sizeof s->name, "%s", pl_json_string(session, "name", ""));
    pl_json_free(session);
    return PL_EXIT_OK;
}

int pl_session_source_open(pl_cli *cli, const char *where, pl_session_source *out)
{
    *out = (pl_session_source){.cli = cli, .dir_fd = -1};
    int status = is_directory(where) ? open_directory(out, where) : open_remote(out, where);
    if (status != PL_EXIT_OK)
        pl_session_source_close(out);
    return status;
}

void pl_session_source_close(pl_session_source *s)
{
    pl_log_reader_close(s->reader);
    if (s->dir_fd >= 0)
        close(s->dir_fd);
    s->reader = NULL;
    s->dir_fd = -1;
}

/* ---- frames ---- */

typedef struct frame_run {
    pl_session_source *source;
    int64_t next, last, every;
    bool follow, stopped, ended;
    pl_take_frame take;
    const char *form;          /* of records passed on unchanged: more of the query */
    pl_take_bytes take_record; /* NULL: frames are extracted from the records */
    bool greeted;              /* a hello was passed on */
    void *context;
    float *single[2]; /* a double frame's positions and velocities as float32 */
    pl_record_stream stream;
    int status;
} frame_run;

/* A field of a frame record as float32, in place if it already is; NULL if the payload lacks it, or out of memory. The
 * fields follow each other in the order of their bits. */
static const float *frame_field(float **single, const unsigned char *payload, uint64_t length,
                                const pl_frame_header *header, uint32_t field)
{
    uint64_t width = header->dtype == PL_DTYPE_F64 ? 8 : 4, values = 3 * header->count;
    uint64_t before = (uint64_t)__builtin_popcount(header->fields & (field - 1));
    if (!(header->fields & field) || header->dtype == PL_DTYPE_U16 || header->count > length ||
        (length - PL_FRAME_HEADER) / width < (before + 1) * values)
        return NULL;
    const unsigned char *at = payload + PL_FRAME_HEADER + before * values * width;
    if (header->dtype == PL_DTYPE_F32)
        return (const float *)(const void *)at;
    float *grown = realloc(*single, (size_t)(values ? values : 1) * sizeof *grown);
    if (!grown)
        return NULL;
    *single = grown;
    for (uint64_t i = 0; i < values; i++) {
        double value;
        memcpy(&value, at + 8 * i, sizeof value);
        grown[i] = (float)value;
    }
    return grown;
}

void pl_session_frame_values(const pl_session_frame *frame, double *out)
{
    for (int64_t i = 0; i < 3 * frame->vertices; i++) {
        if (frame->wide)
            memcpy(&out[i], frame->stored + 8 * i, 8);
        else
            out[i] = (double)frame->positions[i];
    }
}

void pl_session_frame_contact(const pl_session_frame *frame, int64_t i, pl_contact_point *out)
{
    const pl_frame_header h = {.dtype = frame->wide ? PL_DTYPE_F64 : PL_DTYPE_F32};
    pl_frame_contacts_decode(&h, frame->contact + (uint64_t)i * pl_frame_point_bytes(&h), 1, out);
}

static bool give_frame(frame_run *run, int64_t frame, const unsigned char *payload, uint64_t length)
{
    pl_frame_header header;
    bool whole = pl_frame_header_decode(payload, length, &header);
    const float *positions =
        whole ? frame_field(&run->single[0], payload, length, &header, PL_FIELD_POSITION) : NULL;
    if (!positions) {
        run->status = pl_cli_fail(run->source->cli, PL_EXIT_FAILED,
                                  "frame %" PRId64 ": the record is malformed", frame);
        return false;
    }
    pl_session_frame f = {
        .frame = frame,
        .vertices = (int64_t)header.count,
        .time = header.time,
        .positions = positions,
        .velocity = frame_field(&run->single[1], payload, length, &header, PL_FIELD_VELOCITY),
        .contacts = header.fields & PL_FIELD_CONTACTS ? (int64_t)header.contacts : -1,
        .contact = pl_frame_contacts_at(&header, payload),
        .stored = payload + PL_FRAME_HEADER,
        .wide = header.dtype == PL_DTYPE_F64};
    run->stopped = !run->take(run->context, &f);
    return !run->stopped;
}

static void frames_from_directory(frame_run *run)
{
    for (int64_t k = run->next; k <= run->last && run->status == PL_EXIT_OK; k += run->every) {
        char *payload;
        uint64_t length;
        pl_log_outcome outcome = pl_log_read(run->source->reader, k, PL_LOG_FRAME, &payload,
                                             &length);
        if (outcome == PL_LOG_OK) {
            bool more = give_frame(run, k, (unsigned char *)payload, length);
            free(payload);
            if (!more)
                return;
        } else if (outcome == PL_LOG_PRUNED) {
            continue; /* the scene said so */
        } else if (outcome == PL_LOG_CORRUPT) {
            pl_cli_fail(run->source->cli, 0, "frame %" PRId64 " is damaged and was skipped", k);
        } else {
            run->status = pl_cli_fail(run->source->cli, PL_EXIT_FILE,
                                      "frame %" PRId64 " cannot be read: %s", k,
                                      outcome == PL_LOG_ERROR ? strerror(errno) : "not there yet");
        }
    }
}

/* Report missing frames, unless the scene did not keep them, and do not request them again. */
static void take_gap(frame_run *run, const unsigned char *payload, uint64_t length)
{
    pl_json *gap = pl_json_parse((const char *)payload, (size_t)length, NULL);
    int64_t past = pl_json_integer(gap, "to", -1) + 1;
    if (!run->take_record && strcmp(pl_json_string(gap, "reason", ""), "pruned") != 0)
        pl_cli_fail(run->source->cli, 0, "frames are missing: %.*s", (int)length,
                    (const char *)payload);
    if (run->next < past)
        run->next += (past - run->next + run->every - 1) / run->every * run->every;
    pl_json_free(gap);
}

/* True if the stream has ended, and not only the daemon. */
static bool take_end(frame_run *run, const unsigned char *payload, uint64_t length)
{
    pl_json *end = pl_json_parse((const char *)payload, (size_t)length, NULL);
    run->ended = strcmp(pl_json_string(end, "reason", ""), "shutdown") != 0 || !run->follow;
    pl_json_free(end);
    return run->ended;
}

/* Pass a record on unchanged, except those that another connection repeats: its hello, and the end of the previous
 * connection. */
static bool take_whole(frame_run *run, const pl_record *record, const unsigned char *payload)
{
    int64_t frame = (int64_t)record->frame;
    bool news = true;
    if (record->type == PL_RECORD_FRAME) {
        news = frame >= run->next;
        run->next = news ? frame + 1 : run->next;
    } else if (record->type == PL_RECORD_HELLO) {
        news = !run->greeted;
        run->greeted = true;
    } else if (record->type == PL_RECORD_GAP) {
        take_gap(run, payload, record->length);
    } else if (record->type == PL_RECORD_END) {
        news = take_end(run, payload, record->length);
    }
    run->stopped = news && !run->take_record(run->context, (const char *)payload - PL_RECORD_HEADER,
                                             (size_t)pl_record_size(record->length));
    return !run->stopped;
}

static bool take_record(void *context, const pl_record *record, const unsigned char *payload)
{
    frame_run *run = context;
    int64_t frame = (int64_t)record->frame;
    if (run->take_record)
        return take_whole(run, record, payload);
    switch (record->type) {
    case PL_RECORD_FRAME:
        if (!run->follow && frame > run->last) {
            run->ended = true;
            return false;
        }
        if (frame < run->next)
            return true;
        run->next = frame + run->every;
        return give_frame(run, frame, payload, record->length);
    case PL_RECORD_GAP:
        take_gap(run, payload, record->length);
        return true;
    case PL_RECORD_END:
        take_end(run, payload, record->length);
        return true;
    default: /* hello, heartbeat, and what later versions may add */
        return true;
    }
}

static bool on_bytes(void *context, const char *data, size_t size)
{
    frame_run *run = context;
    return pl_record_stream_feed(&run->stream, data, size);
}

/* Read frames from one connection. True if reconnecting makes sense. */
static bool frames_from_stream(frame_run *run)
{
    pl_cli *cli = run->source->cli;
    char *path = NULL, range[120];
    int n = snprintf(range, sizeof range, "follow=%d", run->follow);
    if (run->last < INT64_MAX && (run->take_record || !run->follow))
        n += snprintf(range + n, sizeof range - (size_t)n, "&to=%" PRId64, run->last);
    if (run->next > 0) /* without it, a stream begins with the oldest kept frame */
        n += snprintf(range + n, sizeof range - (size_t)n, "&from=%" PRId64, run->next);
    if (run->every > 1 && run->next % run->every == 0)
        snprintf(range + n, sizeof range - (size_t)n, "&every=%" PRId64, run->every);
    if (asprintf(&path, "/v1/sessions/%s/frames?%s%s", run->source->id, range,
                 run->form ? run->form : "") < 0) {
        run->status = pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        return false;
    }
    int64_t before = run->next;
    pl_http_answer answer;
    run->stream.take = take_record;
    run->stream.context = run;
    pl_record_stream_reset(&run->stream);
    pl_http_outcome outcome = pl_api_stream(cli, path, "application/vnd.pliant.frames", on_bytes,
                                            run, &answer);
    free(path);
    bool again = false, refused = outcome == PL_HTTP_ANSWERED && answer.status >= 300;
    if (run->status == PL_EXIT_OK && !run->stopped && !run->ended) {
        again = !refused && outcome != PL_HTTP_INTERRUPTED && outcome != PL_HTTP_NO_MEMORY &&
                (run->next > before || run->follow);
        if (!again)
            run->status = pl_api_failed(
                cli, outcome == PL_HTTP_ANSWERED && !refused ? PL_HTTP_BROKEN : outcome, &answer);
    }
    pl_http_answer_clear(&answer);
    return again;
}

/* Read from the daemon, with as many connections as needed. */
static int stream_frames(frame_run *run)
{
    double wait = 0.25;
    for (int64_t before = run->next; frames_from_stream(run); before = run->next) {
        wait = run->next > before ? 0.25 : wait < 4 ? 2 * wait : 8;
        pl_interruptible_sleep(wait);
    }
    pl_record_stream_clear(&run->stream);
    return run->status;
}

int pl_session_source_records(pl_session_source *s, int64_t first, int64_t last, bool follow,
                              const char *form, pl_take_bytes take, void *context)
{
    frame_run run = {.source = s,
                     .next = first,
                     .last = last,
                     .every = 1,
                     .follow = follow,
                     .form = form,
                     .take_record = take,
                     .context = context};
    return stream_frames(&run);
}

int pl_session_source_frames(pl_session_source *s, int64_t first, int64_t last, int64_t every,
                             bool follow, pl_take_frame take, void *context)
{
    frame_run run = {.source = s,
                     .next = first,
                     .last = last,
                     .every = every,
                     .follow = follow,
                     .take = take,
                     .context = context};
    if (s->dir_fd >= 0)
        frames_from_directory(&run);
    else
        stream_frames(&run);
    free(run.single[0]);
    free(run.single[1]);
    return run.status;
}

/* ---- metrics ---- */

static int metrics_from_directory(pl_session_source *s, int64_t first, pl_take_line take,
                                  void *context)
{
    for (int64_t k = first; k < s->frames; k++) {
        char *payload;
        uint64_t length;
        pl_log_outcome outcome = pl_log_read(s->reader, k, PL_LOG_METRICS, &payload, &length);
        if (outcome == PL_LOG_PRUNED)
            continue;
        if (outcome == PL_LOG_CORRUPT) {
            pl_cli_fail(s->cli, 0, "metrics of frame %" PRId64 " are damaged and were skipped", k);
            continue;
        }
        if (outcome != PL_LOG_OK)
            return pl_cli_fail(s->cli, PL_EXIT_FILE,
                               "metrics of frame %" PRId64 " cannot be read: %s", k,
                               strerror(errno));
        bool more = take(context, payload, (size_t)length);
        free(payload);
        if (!more)
            break;
    }
    return PL_EXIT_OK;
}

int pl_session_source_metrics(pl_session_source *s, int64_t first, pl_take_line take, void *context)
{
    if (s->dir_fd >= 0)
        return metrics_from_directory(s, first, take, context);
    char *path = NULL, *text;
    size_t size;
    if ((first > 0 ? asprintf(&path, "/v1/sessions/%s/metrics?from=%" PRId64, s->id, first)
                   : asprintf(&path, "/v1/sessions/%s/metrics", s->id)) < 0)
        return pl_cli_fail(s->cli, PL_EXIT_FAILED, "out of memory");
    int status = pl_api_get_text(s->cli, path, "application/x-ndjson", &text, &size);
    free(path);
    if (status != PL_EXIT_OK)
        return status;
    for (char *line = text, *end; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end)
            end = text + size;
        pl_json *value = pl_json_parse(line, (size_t)(end - line), NULL);
        bool metrics = value && !pl_json_string(value, "event", NULL);
        pl_json_free(value);
        if (metrics && !take(context, line, (size_t)(end - line)))
            break;
    }
    free(text);
    return PL_EXIT_OK;
}

/* ---- documents ---- */

int pl_session_source_document(pl_session_source *s, pl_session_file file, const char *path_format,
                               const char *accept, char **text, size_t *size)
{
    if (s->dir_fd >= 0) {
        const char *name = pl_session_file_name(file);
        if (pl_session_file_read(s->dir_fd, file, DOCUMENT_MAX, text, size) == PL_OK)
            return PL_EXIT_OK;
        if (errno == EBADMSG)
            return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s is damaged: its checksum does not match",
                               name);
        return pl_cli_fail(s->cli, PL_EXIT_FILE, "%s: %s", name, strerror(errno));
    }
    char *path = pl_api_path(path_format, s->id);
    int status = pl_api_get_text(s->cli, path, accept, text, size);
    free(path);
    return status;
}
