/* gallery.h - example scenes: those of clients/scenes, embedded in the daemon. */
#ifndef PLIANT_SERVER_API_GALLERY_H
#define PLIANT_SERVER_API_GALLERY_H

#include "server/http/http.h"

void pl_handle_gallery(pl_request *r);
void pl_handle_gallery_scene(pl_request *r);

#endif
