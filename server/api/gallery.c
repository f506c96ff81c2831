#include "server/api/gallery.h"

#include "protocol/text/json.h"
#include "server/api/embedded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False without memory. */
static bool put_scene(pl_json_writer *w, const pl_embedded *file)
{
    char name[64], self[96];
    pl_json *scene = pl_json_parse(file->bytes, file->size, NULL);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file->name, "."), file->name);
    snprintf(self, sizeof self, "/v1/gallery/%s", name);
    pl_json_begin_object(w);
    pl_json_set_string(w, "name", name);
    pl_json_set_string(w, "title", pl_json_string(scene, "name", name));
    pl_json_set_raw(w, "scene", file->bytes);
    pl_json_key(w, "links");
    pl_json_begin_object(w);
    pl_json_set_string(w, "self", self);
    pl_json_end_object(w);
    pl_json_end_object(w);
    bool whole = scene;
    pl_json_free(scene);
    return whole;
}

void pl_handle_gallery(pl_request *r)
{
    pl_json_writer w = {0};
    bool whole = true;
    pl_json_begin_object(&w);
    pl_json_key(&w, "items");
    pl_json_begin_array(&w);
    for (const pl_embedded *file = pl_gallery_files; file->name; file++) {
        whole &= put_scene(&w, file);
    }
    pl_json_end_array(&w);
    pl_json_set_null(&w, "next");
    pl_json_end_object(&w);
    char *text = pl_json_finish(&w, NULL);
    if (!whole) {
        free(text);
        text = NULL;
    }
    pl_reply_document(r, "application/json", text);
}

void pl_handle_gallery_scene(pl_request *r)
{
    char name[96];
    snprintf(name, sizeof name, "%s.json", pl_request_param(r, 0));
    const pl_embedded *file = pl_embedded_find(pl_gallery_files, name);
    if (file) {
        pl_reply_embedded(r, file, "application/json", "no-cache");
    } else {
        pl_reply_problem(r, 404, "not_found", "No such scene", "GET /v1/gallery lists them", NULL);
    }
}
