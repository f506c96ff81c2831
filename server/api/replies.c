#include "server/api/replies.h"

const pl_reply_table *const pl_reply_sets[] = {
    pl_replies_of_sessions, pl_replies_of_sweeps, pl_replies_of_tenants,
    pl_replies_of_machine,  pl_replies_of_scenes, NULL,
};
