#include "server/http/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const pl_problem pl_problems[] = {
    {400, "bad_framing", "Two programs could read the request's head differently.",
     "Send one Host, one Content-Length or chunked, no spaces in header names. A proxy that "
     "rewrites requests is the usual cause."},
    {400, "bad_query", "The address has a query key or value that this resource does not take.",
     "The faults name the key, what was expected, and the nearest known one."},
    {400, "bad_json", "The body is not JSON, or says a key twice.",
     "The fault has line and column. JSON has no comments, no trailing commas and no NaN."},
    {400, "bad_frame", "A frame is a whole number from 0, or the word latest.",
     "Look at progress.frame of the session for what is there."},
    {400, "bad_hash", "A mesh is named by the SHA-256 of its file.",
     "Use 64 lower-case hexadecimal digits, as sha256sum prints them."},
    {400, "bad_idempotency_key", "An Idempotency-Key has 1 to 255 characters.",
     "A random UUID is a good one."},
    {401, "unauthorized", "No credential came with the request, or none that is valid now.",
     "Send Authorization: Bearer TOKEN. The owner's token lies in the file token of the state "
     "directory; others are made with pliantd token create."},
    {403, "foreign_origin", "A web page of another origin may not call this daemon.",
     "Call it from a page that it serves itself, or from a program."},
    {403, "missing_scope", "The credential is valid but does not allow this.",
     "Use a token with the scope that the detail names."},
    {403, "link_only", "A share link shows one session and nothing else.",
     "Use a token or log in."},
    {403, "view_only", "The session is another user's: you may look, not change.",
     "Ask its owner, or a manager of its group."},
    {403, "no_such_group", "A session can only be given to a group that you belong to.",
     "GET /v1/me lists your groups."},
    {403, "owner_only", "Only the session's owner may change this.", "Ask its owner."},
    {403, "priority_needs_admin", "A priority above 0 goes before other users' sessions.",
     "Use 0 or less, or ask an administrator."},
    {403, "over_limit", "This would be more than you may have.",
     "The fault says of what, how much and how much may be; GET /v1/usage shows all. 429: wait "
     "until "
     "a session of yours has ended. 403: delete what is not needed, or ask for a higher limit."},
    {403, "too_many", "There are as many of them as one may have.",
     "Revoke or remove what is no longer needed."},
    {404, "not_found", "Nothing lies at this path, or nothing of this name exists.",
     "GET /openapi.json lists what there is."},
    {404, "no_such_session", "There is no session with this id that you may see.",
     "GET /v1/sessions lists yours. A deleted one is gone for good."},
    {404, "no_such_link", "The share link is none of this daemon's, or its time is over.",
     "Ask whoever gave it to you for a new one."},
    {404, "no_such_mesh", "You have uploaded no file with this hash.",
     "PUT it: a hash alone gives nobody a file, even where another user has sent the same."},
    {404, "no_such_device", "Sessions run on no device of this name.",
     "GET /v1/devices lists them."},
    {404, "no_such_snapshot", "The session has no snapshot of this name.",
     "GET /v1/sessions/{id}/snapshots lists them."},
    {404, "no_such_frame", "The session has not, and will not have, this frame.",
     "The detail says which are there."},
    {404, "no_such_body", "The session has no body of this name.",
     "The detail says what its bodies are called."},
    {404, "no_such_file", "The session has no such file.", "It ended before it could be written."},
    {404, "not_yet", "It will be there, but is not yet.",
     "Try again after Retry-After, follow the stream, or wait with ?wait=30 on the session."},
    {405, "method_not_allowed", "This path does not take this method.",
     "The Allow header lists those it takes."},
    {406, "not_acceptable", "The Accept header asks for forms that this resource does not have.",
     "The detail lists those it has."},
    {422, "invalid_branch", "The session cannot be branched so.",
     "Bodies, the time step, the distance of frames and the device stay; each fault has its "
     "place."},
    {422, "invalid_control", "The control does not fit the session's scene.",
     "Every fault names what is wrong by a JSON pointer; names are those of the scene."},
    {409, "no_way_back", "The frame cannot be computed again.",
     "A branch or snapshot needs a checkpoint that is not after its frame, or all that controls "
     "changed before it; retention may have taken that. Take a later frame; make snapshots of "
     "those that will matter."},
    {409, "would_prune", "The change of retention would let go of frames that are there.",
     "Look at what the detail says would go; ?prune=true does it. Snapshots stay in any case."},
    {409, "too_many_controls", "The session has had as many controls as its log holds.",
     "Branch or submit a session of its own to go on steering."},
    {409, "session_over", "The session has ended, and what was asked needs one that has not.",
     "Submit the scene again; its frames stay readable."},
    {409, "session_ending", "The session is being cancelled or deleted.",
     "Wait for its end with ?wait=30."},
    {409, "no_frames", "The session has no frame yet, or ended before its first.",
     "Ask again once progress.frame is 0 or more."},
    {409, "not_exportable", "The session's frames do not fit the format.",
     "The detail says why: too many for it, missing ones, or nothing to draw. Take fewer by from, "
     "to and every, or another format."},
    {409, "in_progress", "A request with the same Idempotency-Key is being answered.",
     "Try again after Retry-After: you get that one's reply."},
    {409, "exists", "There is one of this name already.", "Use another name, or change that one."},
    {409, "in_use", "It still has sessions.", "Delete them first."},
    {410, "pruned", "The frame was made, and not kept.",
     "output.retention of the scene says what is; first_available is the next frame that is."},
    {410, "storage_lost", "The session's directory, or part of it, is gone.",
     "What is left can be read; submit the scene again for the rest."},
    {412, "changed_meanwhile", "If-Match names an older state of the session, or of its export.",
     "Read it again, and send the change with its ETag; begin the export again."},
    {413, "too_large", "The body is larger than this resource takes.",
     "Send meshes as files with PUT /v1/meshes/{sha256}, not within the scene."},
    {415, "unsupported_media_type", "The body comes as another media type than is taken.",
     "Send application/json; meshes as application/octet-stream."},
    {416, "past_the_end", "An export ends before the byte that it was to go on from.",
     "The fault says how many bytes it has; begin it again where you have others."},
    {421, "misdirected", "The Host header names another server than this.",
     "Use the name it listens on, or start it with --allow-host NAME."},
    {422, "invalid_scene", "The scene is JSON, but cannot be run.",
     "Every fault that was found is listed with its JSON pointer, what was there, what was "
     "expected and a hint. POST /v1/validate checks without running; GET /v1/schema/scene is for "
     "editors."},
    {422, "invalid_patch", "The change is JSON, but would not leave a valid session.",
     "Every fault is listed; nothing was changed."},
    {422, "invalid_body", "The body is JSON, but not what this resource takes.",
     "Every fault is listed; GET /openapi.json has the schema of the body."},
    {422, "invalid_name", "A name has other characters, or is longer, than names may.",
     "Use letters, digits, and after the first also . _ -, at most 64."},
    {422, "invalid_mesh", "The file is no mesh that can be used.",
     "Every fault is listed with the numbers of nodes and elements; nothing was kept."},
    {422, "wrong_hash", "The body's SHA-256 is not the one in the path.",
     "Hash the bytes that you send, after any conversion of line ends."},
    {422, "idempotency_key_reused", "This Idempotency-Key came with another body within a day.",
     "Use a new key for a new request."},
    {429, "too_many_requests", "More requests came than one may send in a second.",
     "Try again after Retry-After. Streams and ?wait= take one request for many."},
    {429, "too_many_exports", "As many exports of yours are being made as one may have at once.",
     "Read one of them to its end, or try again after Retry-After."},
    {500, "internal", "The daemon failed at something that should work.",
     "Its log says more. Trying again does no harm with an Idempotency-Key."},
    {500, "damaged", "A stored file is not as it was written: its checksum is another.",
     "The disk is at fault. Other files are not concerned; pliant verify checks a directory."},
    {500, "corrupt", "This frame is damaged on disk.",
     "The others can be read. A stream says gap in its place."},
    {503, "busy", "More requests wait than the daemon has threads and memory for.",
     "Try again after Retry-After."},
    {503, "queue_full", "As many sessions wait as this daemon takes.",
     "Try again after Retry-After; GET /v1/queue shows what waits."},
    {503, "not_ready", "The daemon starts or ends.", "Try again in a second."},
    {503, "shutdown", "The daemon is ending.",
     "Try again after Retry-After; sessions that were accepted go on."},
    {507, "disk_full", "The disk of the state directory is full.",
     "Delete sessions that are no longer needed, or tell the operator."},
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

/* The texts of the table have no character that HTML would take for its own, but for braces. */
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
                         "there is no problem of this name; GET /problems lists them", NULL);
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
                "<h1>%s</h1>\n<p>%s</p>\n<h2>What to do</h2>\n<p>%s</p>\n<p>It comes with status "
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
