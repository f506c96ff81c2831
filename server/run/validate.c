#include "server/run/validate.h"

#include "protocol/log/session_dir.h"
#include "server/run/learning.h"
#include "server/run/scene_rules.h"
#include "server/run/staging.h"
#include "server/sessions/session_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* preview.json of the staged directory: "null" if it is too large; malloc'ed, NULL after a reply. */
static char *read_geometry(pl_admission *a)
{
    char *text = NULL;
    size_t size;
    int dir_fd = openat(a->state_fd, a->incoming, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_status status = dir_fd >= 0
                           ? pl_file_read(dir_fd, "preview.json", 8 * PL_PREVIEW_MOST, &text, &size)
                           : PL_IO;
    if (status == PL_IO && errno == ENOENT && dir_fd >= 0) {
        text = strdup("null");
    }
    if (!text) {
        errno = status == PL_IO ? errno : ENOMEM;
        pl_admission_fail(a, "the preview");
    }
    pl_close_fd(dir_fd);
    return text;
}

static void reply_estimate(pl_admission *a)
{
    char *geometry = a->preview ? read_geometry(a) : NULL;
    if (a->preview && !geometry) {
        return;
    }
    const pl_preflight *p = &a->preflight;
    double ratio = pl_learning_ratio(a->machine.learning, a->owner, p);
    pl_json_writer w = {0};
    pl_validation_encode(&w, p, a->outline.frames, ratio, geometry);
    free(geometry);
    pl_reply_json(a->request, 200, pl_json_finish(&w, NULL));
}

static void checked(pl_request *r)
{
    pl_admission *a = pl_admission_of(r);
    if (pl_admission_accepts(a)) {
        reply_estimate(a);
    }
    pl_admission_destroy(a);
}

void pl_handle_validate(pl_request *r)
{
    bool preview;
    pl_admission *a = pl_request_flag(r, "geometry", &preview) ? pl_admission_create(r) : NULL;
    if (a) {
        a->preview = preview;
    }
    if (a && pl_admission_may_check(a) && pl_scene_rules_check(a) && pl_staging_create(a)) {
        pl_admission_check(a, INT64_MAX, checked);
    } else if (a) {
        pl_admission_destroy(a);
    }
}
