/* gallery.h - scenes to begin with: those of clients/scenes, which were put into the daemon. */
#ifndef PLIANT_SERVER_API_GALLERY_H
#define PLIANT_SERVER_API_GALLERY_H

#include "server/http/http.h"

void pl_handle_gallery(pl_request *r);
void pl_handle_gallery_scene(pl_request *r);

#endif
