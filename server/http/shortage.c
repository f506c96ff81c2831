#include "server/http/shortage.h"

#include "server/base/disk.h"
#include "server/http/request.h"

#include <errno.h>
#include <string.h>

bool pl_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN;
}

bool pl_reply_shortage(pl_request *r, int error)
{
    bool full = error == ENOSPC || error == EDQUOT;
    struct pl_disk *disk = pl_http_setup_of(r->http)->disk;
    if (pl_disk_is_error(error) && !full && !pl_disk_full(disk)) { /* its thread checks for full */
        pl_disk_note(disk, error);
    }
    if (full) {
        pl_reply_problem(r, 507, "disk_full", "Disk full",
                         "the disk of the state directory is full", NULL);
        pl_reply_header(r, "Retry-After", "60");
    } else if (pl_disk_is_error(error)) {
        pl_reply_problemf(r, 503, "disk_error", "The disk cannot be written",
                          "the disk of the state directory cannot be written: %s", strerror(error));
        pl_reply_header(r, "Retry-After", "60");
    } else if (pl_is_shortage(error)) {
        pl_reply_problemf(r, 503, "busy", "Busy", "the daemon is short of a resource: %s",
                          strerror(error));
        pl_reply_header(r, "Retry-After", "1");
    } else {
        return false;
    }
    return true;
}
