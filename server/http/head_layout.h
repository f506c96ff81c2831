/* head_layout.h - whether a request's head holds nothing but what the HTTP library tells of it.
 *
 * The library cuts the head into texts where it lies: a NUL byte of the client ends a text early, and a folded line is
 * put behind the header's name. What follows is hidden from whoever reads the texts, and another parser in front may
 * read it. So the texts must lie one behind the other, with nothing between them, from the first to the head's end.
 */
#ifndef PLIANT_SERVER_HTTP_HEAD_LAYOUT_H
#define PLIANT_SERVER_HTTP_HEAD_LAYOUT_H

#include <stdbool.h>

struct MHD_Connection;
/* `method` and `version` are the library's, as they lie in the head. */
bool pl_head_whole(struct MHD_Connection *connection, const char *method, const char *version);

/* Where the version must lie, behind a target that the library has not cut yet. */
const char *pl_head_version(const char *target);

#endif
