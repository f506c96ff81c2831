#include "server/run/validate.h"

#include "server/run/learning.h"
#include "server/run/scene_rules.h"
#include "server/run/staging.h"
#include "server/sessions/session_view.h"

#include <stdlib.h>

static void reply_estimate(pl_admission *a)
{
    const pl_preflight *p = &a->preflight;
    double ratio = pl_learning_ratio(a->machine.learning, a->owner, p);
    pl_json_writer w = {0};
    pl_json_begin_object(&w);
    pl_json_set_boolean(&w, "valid", true);
    pl_json_key(&w, "estimate");
    pl_json_begin_object(&w);
    pl_json_set_integer(&w, "vertices", p->vertices);
    pl_json_set_integer(&w, "tets", p->tets);
    if (a->outline.frames >= 0) {
        pl_json_set_integer(&w, "frames", a->outline.frames);
    } else {
        pl_json_set_null(&w, "frames");
    }
    pl_json_set_number(&w, "memory_bytes", p->memory_bytes);
    pl_json_set_number(&w, "gpu_memory_bytes", p->gpu_memory_bytes);
    pl_json_set_number(&w, "setup_seconds", ratio * p->setup_seconds);
    pl_json_set_number(&w, "seconds_per_frame", ratio * p->seconds_per_frame);
    pl_json_set_number(&w, "frame_bytes", p->frame_bytes);
    pl_json_set_integer(&w, "cores", p->cores);
    pl_json_end_object(&w);
    char *bodies = pl_bodies_view(p);
    pl_json_set_raw(&w, "bodies", bodies ? bodies : "[]");
    free(bodies);
    pl_remarks_encode(&w, p);
    pl_json_end_object(&w);
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
    pl_admission *a = pl_admission_create(r);
    if (a && pl_admission_may_check(a) && pl_scene_rules_check(a) && pl_staging_create(a)) {
        pl_admission_check(a, INT64_MAX, checked);
    } else if (a) {
        pl_admission_destroy(a);
    }
}
