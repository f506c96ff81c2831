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
    pl_validation_encode(&w, p, a->outline.frames, ratio);
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
