#include "server/streams/export_ask.h"

#include "server/streams/frame.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make a name that every file system and header accepts: letters, digits, '.', '_' and '-'. */
void pl_export_plain_name(const char *name, const char *instead, char out[PL_EXPORT_NAME_SHOWN + 1])
{
    size_t n = 0;
    for (; *name && n < PL_EXPORT_NAME_SHOWN; name++) {
        bool plain = isalnum((unsigned char)*name) || strchr("._-", *name);
        if (plain && !(n == 0 && *name == '.')) {
            out[n++] = *name;
        } else if (n > 0 && out[n - 1] != '_') {
            out[n++] = '_';
        }
    }
    while (n > 0 && strchr("._", out[n - 1])) {
        n--;
    }
    out[n] = 0;
    if (n == 0) {
        snprintf(out, PL_EXPORT_NAME_SHOWN + 1, "%s", instead);
    }
}

static bool parse_format(pl_request *r, pl_export_format *out)
{
    const char *format = pl_request_query(r, "format");
    if (format && pl_export_format_parse(format, out)) {
        return true;
    }
    pl_reply_bad_query(r, "format", format ? format : "nothing", PL_EXPORT_NAMES);
    return false;
}

/* A single frame, for a format with one file per frame. */
static bool parse_frame(pl_request *r, const pl_session *s, pl_export_order *order)
{
    const char *text = pl_request_query(r, "frame");
    if (!text) {
        return true;
    }
    if (!pl_export_describe(order->format)->series) {
        pl_reply_bad_query(r, "frame", text, "format=vtu or obj; from and to for other formats");
        return false;
    }
    order->plain = true;
    if (strcmp(text, "first") == 0) {
        return true;
    }
    if (strcmp(text, "last") == 0) {
        order->from = atomic_load(&s->frame);
    } else if (strlen(text) < 19 && *text && strspn(text, "0123456789") == strlen(text)) {
        order->from = order->to = strtoll(text, NULL, 10);
    } else {
        pl_reply_bad_query(r, "frame", text, "a whole number from 0, first or last");
        return false;
    }
    return true;
}

/* Files of an archive begin with it, so it must not lead to another folder. */
static bool parse_prefix(pl_request *r, pl_sessions *sessions, pl_session *session,
                         pl_export_ask *ask)
{
    const char *name = pl_request_query(r, "prefix");
    char plain[PL_EXPORT_NAME_SHOWN + 1];
    if (!name) {
        pl_row row = pl_session_row(sessions, session);
        bool there = row.id[0];
        pl_export_plain_name(row.name ? row.name : "", "session", plain);
        strcpy(ask->name, plain);
        pl_row_clear(&row);
        if (!there) {
            pl_reply_empty(r, 500);
        }
        return there;
    }
    bool good = *name && *name != '.' && strlen(name) <= PL_EXPORT_NAME_MAX;
    for (const char *at = name; *at; at++) {
        good &= (unsigned char)*at >= 32 && *at != 127 && !strchr("/\\", *at);
    }
    if (good) {
        strcpy(ask->name, name);
        return true;
    }
    pl_reply_bad_query(r, "prefix", name, "1 to 200 bytes of a file's name, with no / or \\");
    return false;
}

/* One body, and its surface; csv supports neither. */
static bool parse_part(pl_request *r, pl_export_ask *ask)
{
    const char *body = pl_request_query(r, "body"), *vertices = pl_request_query(r, "vertices");
    bool surface;
    if (!pl_request_surface(r, &surface)) {
        return false;
    }
    if ((body || surface) && !pl_export_describe(ask->order.format)->bodies) {
        pl_reply_bad_query(r, body ? "body" : "vertices", body ? body : vertices,
                           "another format: metrics belong to the whole session");
        return false;
    }
    if (body && (!*body || strlen(body) > PL_EXPORT_NAME_MAX)) {
        pl_reply_bad_query(r, "body", body, "a body's name, 1 to 200 bytes");
        return false;
    }
    if (body) {
        strcpy(ask->body, body);
        ask->order.body = ask->body;
    }
    ask->order.surface = surface;
    return true;
}

bool pl_export_ask_parse(pl_request *r, pl_sessions *sessions, pl_session *session,
                         pl_export_ask *ask)
{
    pl_export_order *o = &ask->order;
    *o = (pl_export_order){.from = -1, .to = INT64_MAX, .every = 1, .name = ask->name};
    int64_t from;
    if (!parse_format(r, &o->format) || !pl_request_integer(r, "from", 0, INT64_MAX, -1, &from) ||
        !pl_request_integer(r, "to", 0, INT64_MAX, INT64_MAX, &o->to) ||
        !pl_request_integer(r, "every", 1, 1 << 30, 1, &o->every) ||
        !pl_request_integer(r, "offset", 0, INT64_MAX, 0, &ask->offset)) {
        return false;
    }
    o->from = from;
    return parse_frame(r, session, o) && parse_part(r, ask) &&
           parse_prefix(r, sessions, session, ask);
}
