#include "server/run/scene_rules.h"

#include "server/run/gpus.h"
#include "server/tenants/grants.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool reply_no_json(pl_admission *a)
{
    pl_reply_problem(a->request, 400, "bad_json", "Not JSON", "the body is not valid JSON",
                     &a->faults);
    return false;
}

static void check_uploads(pl_admission *a)
{
    for (int32_t i = 0; i < a->outline.upload_count; i++) {
        const pl_upload_ref *u = &a->outline.uploads[i];
        if (!pl_grant_held(a->store, a->owner, u->hash)) {
            pl_faults_addf(&a->faults, u->pointer, "unknown_mesh", "a mesh that you have uploaded",
                           "upload it first with PUT /v1/meshes/{sha256}", "sha256:%s", u->hash);
        }
    }
}

/* Another user's session looks the same as one that does not exist. */
static void check_after(pl_admission *a)
{
    a->after[0] = 0;
    for (int32_t i = 0; i < a->outline.after_count; i++) {
        const char *id = a->outline.after[i];
        char pointer[48];
        pl_session *s = pl_sessions_find_any(a->sessions, id);
        bool own = s && !atomic_load(&s->deleted) && strcmp(s->owner, a->owner) == 0;
        pl_session_release(s);
        snprintf(pointer, sizeof pointer, "/resources/after/%d", i);
        if (!own) {
            pl_faults_addf(&a->faults, pointer, "no_such_session", "the id of one of your sessions",
                           "list yours with GET /v1/sessions", "%s", id);
            continue;
        }
        size_t length = strlen(a->after);
        snprintf(a->after + length, sizeof a->after - length, "%s%s", length ? " " : "", id);
    }
}

/* Sets the executor: the batch system's name, or NULL for this machine. */
static void check_executor(pl_admission *a)
{
    static const char *const names[] = {"auto", "local", "slurm", "batch"};
    const char *batch = a->machine.batch;
    pl_executor_choice choice = a->outline.executor;
    bool wanted = choice == PL_EXECUTOR_SLURM || choice == PL_EXECUTOR_BATCH ||
                  (choice == PL_EXECUTOR_AUTO && a->machine.batch_default);
    bool fits = batch && (choice != PL_EXECUTOR_SLURM || strcmp(batch, "slurm") == 0);
    if (wanted && !fits) {
        pl_faults_addf(&a->faults, "/resources/executor", "no_executor",
                       batch ? "local or batch: this daemon has another batch system"
                             : "local: this daemon has no batch system",
                       "omit it, or ask the operator for --batch", "%s", names[choice]);
    }
    a->executor = wanted && fits ? batch : NULL;
    a->machine.elsewhere = a->executor;
}

static void check_resources(pl_admission *a)
{
    const pl_machine *machine = &a->machine;
    char expected[96];
    int64_t cores = a->executor ? machine->batch_cores : machine->cores;
    if (a->outline.cores > cores) {
        snprintf(expected, sizeof expected, "at most %lld, the cores of this daemon",
                 (long long)cores);
        pl_faults_addf(&a->faults, "/resources/cores", "too_many_cores", expected, "", "%d",
                       a->outline.cores);
    }
    if (a->outline.notes->priority > 0 &&
        !pl_principal_has(pl_request_principal(a->request), PL_SCOPE_ADMIN)) {
        pl_faults_addf(&a->faults, "/resources/priority", "not_allowed",
                       "at most 0; a higher one needs a credential with the scope 'admin'", "",
                       "%lld", (long long)a->outline.notes->priority);
    }
    if (!a->executor && a->outline.memory > machine->memory) {
        snprintf(expected, sizeof expected, "at most %.0f bytes, the memory of this machine",
                 machine->memory);
        pl_faults_addf(&a->faults, "/resources/memory", "too_much_memory", expected, "", "%.0f",
                       a->outline.memory);
    }
}

static void check_device(pl_admission *a)
{
    char got[600];
    if (!a->executor && a->outline.gpu && pl_gpus_count(a->machine.gpus) == 0) {
        snprintf(got, sizeof got, "gpu: %s", pl_gpus_reason(a->machine.gpus));
        pl_faults_add(&a->faults, "/solver/device", "no_gpu", got, "cpu: this daemon has no GPU",
                      "use \"device\": \"cpu\", or a daemon with a GPU");
    }
}

/* A branch has only the remaining frames. */
static void check_left(pl_admission *a)
{
    if (!a->branch || a->outline.frames < 0) {
        return;
    }
    a->outline.frames -= a->branch->branch_point.begins + a->branch->branch_point.frame;
    if (a->outline.frames < 1) {
        pl_faults_addf(&a->faults, "/scene/time", "nothing_left", "a time after that frame",
                       "give the branch a longer duration, or more steps", "frame %lld",
                       (long long)a->branch->branch_point.frame);
    }
}

pl_decode_outcome pl_scene_rules_judge(pl_admission *a)
{
    pl_decode_outcome outcome = pl_scene_outline(a->text, a->length, &a->outline, &a->faults);
    if (outcome == PL_DECODE_OK) {
        check_left(a);
        check_uploads(a);
        check_executor(a);
        check_resources(a);
        check_after(a);
        check_device(a);
    }
    return outcome == PL_DECODE_OK && a->faults.total ? PL_DECODE_INVALID : outcome;
}

bool pl_scene_rules_check(pl_admission *a)
{
    switch (pl_scene_rules_judge(a)) {
    case PL_DECODE_OK:
        return true;
    case PL_DECODE_SYNTAX:
        return reply_no_json(a);
    case PL_DECODE_INVALID:
        return pl_admission_reject(a);
    default:
        errno = ENOMEM;
        return pl_admission_fail(a, "decoding");
    }
}
