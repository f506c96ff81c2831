/* api.h - the basic requests about sessions: show, list, wait, cancel, pause, resume, delete, and the files of a
 * session's directory. */
#ifndef PLIANT_SERVER_API_API_H
#define PLIANT_SERVER_API_API_H

#include "server/http/http.h"

void pl_handle_list(pl_request *r);
void pl_handle_show(pl_request *r); /* ?wait=SECONDS waits for another state */
void pl_handle_cancel(pl_request *r);
void pl_handle_pause(pl_request *r);
void pl_handle_resume(pl_request *r);
void pl_handle_delete(pl_request *r);
void pl_handle_topology(pl_request *r); /* ?array=triangles|tets|surface gives the array as npy */
void pl_handle_scene(pl_request *r);
void pl_handle_log(pl_request *r);

#endif
