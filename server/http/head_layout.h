/* head_layout.h - checks that a request's head contains nothing beyond the texts that the HTTP library reports.
 *
 * The library cuts the head into texts in place: a NUL byte sent by the client ends a text early, and a folded line is
 * moved behind the header's name. The rest is hidden from the library's callers, but another parser in front may read
 * it. So the texts must follow each other without gaps, from the first to the head's end.
 */
#ifndef PLIANT_SERVER_HTTP_HEAD_LAYOUT_H
#define PLIANT_SERVER_HTTP_HEAD_LAYOUT_H

#include <stdbool.h>

struct MHD_Connection;
/* `method` and `version` are the library's pointers into the head. */
bool pl_head_whole(struct MHD_Connection *connection, const char *method, const char *version);

/* Where the version must be, after a target that the library has not cut yet. */
const char *pl_head_version(const char *target);

#endif
