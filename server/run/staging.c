#include "server/run/staging.h"

#include "protocol/log/directory_sync.h"
#include "server/sessions/control_log.h"
#include "server/sessions/directory_record.h"
#include "server/tenants/auth.h"
#include "server/tenants/grants.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int link_meshes(pl_admission *a, int dir_fd)
{
    for (int32_t i = 0; i < a->outline.upload_count; i++) {
        const pl_upload_ref *u = &a->outline.uploads[i];
        char from[96], to[80];
        snprintf(from, sizeof from, "meshes/%.2s/%s", u->hash, u->hash);
        snprintf(to, sizeof to, "meshes/%s", u->hash);
        if (linkat(a->state_fd, from, dir_fd, to, 0) != 0 && errno != EEXIST) {
            return -1;
        }
        pl_mesh_use(a->store, u->hash);
    }
    return 0;
}

/* A held session was paused before it began. */
static bool hold(const pl_admission *a)
{
    char directory[PATH_MAX + 112];
    snprintf(directory, sizeof directory, "%s/%s", a->state_path, a->incoming);
    errno = a->outline.hold ? pl_control_begin_paused(directory) : 0;
    return errno == 0;
}

bool pl_staging_create(pl_admission *a)
{
    if (pl_random_id(a->id) != 0) {
        return pl_admission_fail(a, "an id");
    }
    a->created_us = pl_sessions_stamp(a->sessions);
    snprintf(a->incoming, sizeof a->incoming, "incoming/%s", a->id);
    if (mkdirat(a->state_fd, a->incoming, 0700) != 0) {
        return pl_admission_fail(a, a->incoming);
    }
    a->staged = true;
    int dir_fd = openat(a->state_fd, a->incoming, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pl_row row = pl_admission_row(a);
    bool good = dir_fd >= 0 && mkdirat(dir_fd, "meshes", 0700) == 0 &&
                mkdirat(dir_fd, "log", 0700) == 0 && link_meshes(a, dir_fd) == 0 &&
                pl_file_put_text(dir_fd, "scene.json", a->text, a->length) == PL_OK &&
                (!a->branch || pl_branch_stage(a->branch, dir_fd)) &&
                pl_identity_write(dir_fd, &row, false) == PL_OK && hold(a);
    int error = errno;
    if (dir_fd >= 0) {
        close(dir_fd);
    }
    errno = error;
    return good || pl_admission_fail(a, "its directory");
}

/* The move comes before the only sync: if the power fails in between, the next start finds a directory without a row
 * and removes it, whether complete or not. */
bool pl_staging_publish(pl_admission *a)
{
    char parent[32], target[80];
    int state_fd = a->state_fd;
    snprintf(parent, sizeof parent, "sessions/%.2s", a->id);
    snprintf(target, sizeof target, "%s/%s", parent, a->id);
    if ((mkdirat(state_fd, parent, 0700) != 0 && errno != EEXIST) ||
        renameat(state_fd, a->incoming, state_fd, target) != 0) {
        return pl_admission_fail(a, "publishing it");
    }
    snprintf(a->incoming, sizeof a->incoming, "%s", target); /* to be removed if the commit fails */
    return pl_directory_sync(state_fd, target) == PL_OK || pl_admission_fail(a, "publishing it");
}
