#include "server/http/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pl_problem pl_problems[] = {
    {400, "bad_request", "The request cannot be parsed as HTTP/1.1.",
     "Send a request line, headers and an empty line, each line ended by CR LF."},
    {414, "target_too_long", "The request target is longer than the daemon accepts.",
     "Send a shorter query."},
    {505, "bad_version", "The request is not HTTP/1.", "Send HTTP/1.1."},
    {431, "head_too_large", "The request head is larger than the daemon accepts.",
     "Send fewer or shorter headers; 32 KiB are enough for every header that the daemon reads."},
    {400, "bad_framing", "The request head is ambiguous: two programs could read it differently.",
     "Send one Host, one Content-Length or chunked, no spaces in header names. A proxy that "
     "rewrites requests is the usual cause."},
    {400, "bad_query", "The address has a query key or value that this resource does not accept.",
     "The faults name the key, the expected value and the nearest known key."},
    {400, "bad_json", "The body is not JSON, or contains a key twice.",
     "The fault has line and column. JSON has no comments, no trailing commas and no NaN."},
    {400, "bad_frame", "A frame is a whole number from 0, or the word latest.",
     "progress.frame of the session is the newest frame."},
    {400, "bad_hash", "A mesh is named by the SHA-256 of its file.",
     "Use 64 lower-case hexadecimal digits, as sha256sum prints them."},
    {400, "bad_idempotency_key", "An Idempotency-Key has 1 to 255 characters.",
     "A random UUID works well."},
    {401, "unauthorized", "The request has no valid credential.",
     "Send Authorization: Bearer TOKEN. The owner's token is in the file token of the state "
     "directory; pliantd token create makes others."},
    {403, "foreign_origin", "Web pages of other origins cannot call this daemon.",
     "Call it from a page that it serves itself, or from a program."},
    {403, "missing_scope", "The credential is valid but does not allow this.",
     "Use a token with the scope that the detail names."},
    {403, "link_only", "A share link shows one session and nothing else.",
     "Use a token or log in."},
    {403, "view_only", "The session belongs to another user: you can read it, but not change it.",
     "Ask its owner, or a manager of its group."},
    {403, "no_such_group", "You can share a session only with your own groups.",
     "GET /v1/me lists your groups."},
    {403, "owner_only", "Only the owner of the session can change this.", "Ask its owner."},
    {403, "priority_needs_admin", "A priority above 0 overtakes other users' sessions.",
     "Use 0 or less, or ask an administrator."},
    {403, "over_limit", "The request would exceed one of your limits.",
     "The fault names the limit, the usage and the maximum; GET /v1/usage shows all. 429: wait "
     "until one of your sessions ends. 403: delete what you do not need, or ask for a higher "
     "limit."},
    {403, "too_many", "The maximum number of these items is reached.",
     "Revoke or remove items you do not need."},
    {404, "not_found", "Nothing exists at this path or under this name.",
     "GET /openapi.json lists every path."},
    {404, "no_such_session", "No session that you can see has this ID.",
     "GET /v1/sessions lists yours. Deleted sessions are not recoverable."},
    {404, "no_such_sweep", "No sweep that you can see has this ID.", "GET /v1/sweeps lists yours."},
    {404, "no_residuals", "No run of this fit has succeeded, or the best one's session is deleted.",
     "Wait for a run to succeed; keep the session of the best run. Only fits have residuals."},
    {404, "no_such_link", "The share link is unknown to this daemon, or has expired.",
     "Ask the person who sent it for a new one."},
    {404, "no_such_mesh", "You have not uploaded a file with this hash.",
     "Upload it with PUT. A hash alone gives no access, even if another user has uploaded the "
     "file."},
    {404, "no_such_device", "No device has this name.", "GET /v1/devices lists them."},
    {404, "no_such_snapshot", "The session has no snapshot of this name.",
     "GET /v1/sessions/{id}/snapshots lists them."},
    {404, "no_such_frame", "The session does not have this frame, and never will.",
     "The detail says which frames it has."},
    {404, "no_such_body", "The session has no body of this name.", "The detail lists its bodies."},
    {404, "no_such_file", "The session has no such file.",
     "The session ended before the file was written."},
    {404, "not_yet", "It is not available yet, but will be.",
     "Try again after Retry-After, follow the stream, or wait with ?wait=30 on the session."},
    {405, "method_not_allowed", "This path does not support this method.",
     "The Allow header lists those it supports."},
    {406, "not_acceptable",
     "The Accept header asks for media types that this resource does not have.",
     "The detail lists those it has."},
    {422, "invalid_branch", "The session does not allow this branch.",
     "Bodies, time step, output.every and device cannot change; each fault has a JSON pointer."},
    {422, "invalid_control", "The control does not fit the session's scene.",
     "Every fault has a JSON pointer. Use the names of the session's scene."},
    {409, "no_way_back", "The frame cannot be computed again.",
     "A branch or snapshot needs a checkpoint at or before its frame, or every control before it; "
     "retention may have removed them. Choose a later frame. Make snapshots of frames that you "
     "will need."},
    {409, "would_prune", "The change of retention would delete stored frames.",
     "The detail says which; ?prune=true deletes them. Snapshots are kept in any case."},
    {409, "too_many_controls", "The session has reached its maximum number of controls.",
     "Branch the session, or submit a new one, to continue steering."},
    {409, "session_over", "The session has ended; the request needs a live one.",
     "Submit the scene again; its frames stay readable."},
    {409, "session_ending", "The session is being cancelled or deleted.",
     "Wait for its end with ?wait=30."},
    {409, "no_frames", "The session has no frame yet, or ended before its first.",
     "Try again when progress.frame is 0 or more."},
    {409, "not_exportable", "The session's frames do not fit the format.",
     "The detail says why: too many frames, missing ones, or nothing to draw. Choose fewer with "
     "from, to and every, or another format."},
    {409, "in_progress", "A request with the same Idempotency-Key is in progress.",
     "Try again after Retry-After: you get the same reply."},
    {409, "exists", "The name is already in use.", "Use another name, or change the existing one."},
    {409, "in_use", "The user or group still has sessions.", "Delete them first."},
    {410, "pruned", "Retention has removed the frame.",
     "output.retention of the scene says what is kept; first_available is the next stored frame."},
    {410, "storage_lost", "The session's directory, or part of it, is missing.",
     "The remaining files are readable; submit the scene again for the rest."},
    {412, "changed_meanwhile", "If-Match names an older state of the session, or of its export.",
     "Read the session again and send the change with its new ETag; restart an export."},
    {413, "too_large", "The body is larger than this resource accepts.",
     "Send meshes as files with PUT /v1/meshes/{sha256}, not within the scene."},
    {415, "unsupported_media_type", "This resource does not accept the media type of the body.",
     "Send application/json; meshes as application/octet-stream."},
    {416, "past_the_end", "The export is shorter than the requested offset.",
     "The fault states the size in bytes; start the download again."},
    {421, "misdirected", "The Host header names another server.",
     "Use the name the daemon listens on, or start it with --allow-host NAME."},
    {422, "invalid_sweep", "The sweep, or the scene of one of its rows, cannot be run.",
     "Correct the faults. /parameters/J points to a parameter, /csv/LINE/COLUMN to a field of the "
     "table, /scene to the scene of every row."},
    {422, "invalid_scene", "The scene is JSON, but cannot be run.",
     "Every fault is listed with its JSON pointer, the value found, the value expected and a "
     "hint. POST /v1/validate checks without running; GET /v1/schema/scene is for editors."},
    {422, "invalid_patch", "The change is JSON, but the session would be invalid.",
     "Every fault is listed; nothing was changed."},
    {422, "invalid_body",
     "The body is JSON, but does not have the form that this resource accepts.",
     "Every fault is listed; GET /openapi.json has the schema of the body."},
    {422, "invalid_name", "A name is too long or has invalid characters.",
     "Use at most 64 letters and digits; . _ - are allowed after the first."},
    {422, "invalid_mesh", "The file is not a usable mesh.",
     "Every fault is listed with the numbers of nodes and elements; nothing was stored."},
    {422, "wrong_hash", "The body's SHA-256 is not the one in the path.",
     "Hash the bytes that you send, after any conversion of line endings."},
    {422, "idempotency_key_reused", "This Idempotency-Key was used with another body within a day.",
     "Use a new key for a new request."},
    {429, "too_many_requests", "The limit on requests per second is exceeded.",
     "Try again after Retry-After. Streams and ?wait= replace many requests by one."},
    {429, "queue_share", "Your waiting sessions fill your share of the daemon's queue.",
     "Try again after Retry-After, or cancel waiting sessions; GET /v1/queue shows them."},
    {429, "too_many_checks", "Too many of your scenes and meshes are waiting to be checked.",
     "Try again after Retry-After, or send fewer requests at once."},
    {429, "too_many_exports", "You have reached the maximum number of simultaneous exports.",
     "Finish reading one, or try again after Retry-After."},
    {500, "internal", "The daemon failed at something that should work.",
     "Read the daemon's log. With an Idempotency-Key it is safe to try again."},
    {500, "damaged", "A stored file is damaged: its checksum does not match.",
     "Disk corruption. Other files are unaffected; pliant verify checks a directory."},
    {500, "corrupt", "This frame is damaged on disk.",
     "Other frames are readable. A stream has a gap record in its place."},
    {503, "busy", "The daemon has no threads, open files or memory left for another request.",
     "Try again after Retry-After."},
    {503, "too_many_connections", "All connections of this daemon, or of one user, are in use.",
     "Close streams and connections you do not need, or try again after Retry-After."},
    {503, "queue_full", "The queue of this daemon is full.",
     "Try again after Retry-After; GET /v1/queue shows the waiting sessions."},
    {503, "not_ready",
     "The daemon is starting or stopping, or its disk is full or cannot be written.",
     "Try again after Retry-After. If the disk is full, delete sessions you do not need."},
    {503, "disk_error", "The disk of the state directory cannot be written.",
     "Running sessions pause and continue when it can be written again. Tell the operator; try "
     "again after Retry-After."},
    {503, "shutdown", "The daemon is shutting down.",
     "Try again after Retry-After; accepted sessions continue."},
    {507, "disk_full", "The disk of the state directory is full.",
     "Delete sessions you do not need, or tell the operator."},
    {0, NULL, NULL, NULL},
};

/* ---- pages ---- */

static const char *const types[] = {"text/html", "text/plain", NULL};

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n"
    "<style>body{font:16px/1.5 sans-serif;max-width:42em;margin:3em auto;padding:0 1em}"
    "code{background:#eee;padding:0 .3em}</style></head><body>\n";

static void reply_page(pl_request *r, int form, FILE *page, char **text)
{
    bool good = page && fclose(page) == 0;
    pl_reply_document(r, form ? "text/plain; charset=utf-8" : "text/html; charset=utf-8",
                      good ? *text : NULL);
    if (!good) {
        free(*text);
    }
    pl_reply_header(r, "Vary", "Accept");
    if (!form) {
        pl_reply_header(r, "Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    }
}

/* The table's texts contain no character that is special in HTML, except braces. */
void pl_handle_problem(pl_request *r)
{
    int form = pl_request_accept(r, types);
    const pl_problem *p = pl_problems;
    while (p->code && strcmp(p->code, pl_request_param(r, 0)) != 0) {
        p++;
    }
    if (form < 0) {
        return;
    }
    if (!p->code) {
        pl_reply_problem(r, 404, "not_found", "Not found",
                         "no problem has this name; GET /problems lists them", NULL);
        return;
    }
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    if (page && form) {
        fprintf(page, "%s (HTTP %d)\n\n%s\n\nWhat to do: %s\n", p->code, p->status, p->meaning,
                p->remedy);
    } else if (page) {
        fprintf(page, head, p->code);
        fprintf(page,
                "<h1>%s</h1>\n<p>%s</p>\n<h2>What to do</h2>\n<p>%s</p>\n<p>HTTP status: "
                "<code>%d</code>. <a href=\"/problems\">All problems</a></p>\n</body></html>\n",
                p->code, p->meaning, p->remedy, p->status);
    }
    reply_page(r, form, page, &text);
}

void pl_handle_problems(pl_request *r)
{
    int form = pl_request_accept(r, types);
    if (form < 0) {
        return;
    }
    char *text = NULL;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    if (page && !form) {
        fprintf(page, head, "Problems");
        fputs("<h1>Problems</h1>\n<ul>\n", page);
    }
    for (const pl_problem *p = pl_problems; page && p->code; p++) {
        if (form) {
            fprintf(page, "%d %s: %s\n", p->status, p->code, p->meaning);
        } else {
            fprintf(page, "<li><code>%d</code> <a href=\"/problems/%s\">%s</a>: %s</li>\n",
                    p->status, p->code, p->code, p->meaning);
        }
    }
    if (page && !form) {
        fputs("</ul>\n</body></html>\n", page);
    }
    reply_page(r, form, page, &text);
}
