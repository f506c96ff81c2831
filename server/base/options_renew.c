#include "server/base/options.h"
#include "server/base/options_table.h"

#include <string.h>

static void take_live(pl_options *now, const pl_options *fresh)
{
    now->level = fresh->level;
    now->log_format = fresh->log_format;
    now->tls_cert = fresh->tls_cert && now->tls_cert ? fresh->tls_cert : now->tls_cert;
    now->tls_key = fresh->tls_key && now->tls_key ? fresh->tls_key : now->tls_key;
    now->patience = fresh->patience;
    now->checkpoint_every = fresh->checkpoint_every;
    now->max_queued = fresh->max_queued;
    now->max_checks = fresh->max_checks;
    now->max_body = fresh->max_body;
    now->max_mesh = fresh->max_mesh;
}

static const char *shown(const char *said)
{
    return said ? said : "default";
}

/* TLS cannot be switched on or off while the daemon runs. */
static bool is_live(const pl_option_row *option, const pl_options *now, const pl_options *fresh)
{
    bool tls = option->id == OPT_TLS_CERT || option->id == OPT_TLS_KEY;
    return option->flags & PL_OPTION_LIVE && (!tls || !now->tls_cert == !fresh->tls_cert);
}

int pl_options_renew(pl_options *now, pl_options *fresh)
{
    int changed = 0, last = -1;
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        char **old = &now->said[o->id - OPT_LISTEN], **new = &fresh->said[o->id - OPT_LISTEN];
        if (o->id == last || strcmp(*old ? *old : "", *new ? *new : "") == 0) {
            continue;
        }
        last = o->id;
        changed++;
        bool live = is_live(o, now, fresh);
        pl_logf(PL_LEVEL_INFO, "%s: %s -> %s: %s", o->shown.name + 2, shown(*old), shown(*new),
                live ? "in effect" : "after a restart");
        if (live) {
            char *kept = *old;
            *old = *new;
            *new = kept;
        }
    }
    take_live(now, fresh);
    return changed;
}

void pl_options_each_said(const pl_options *options,
                          void (*see)(void *context, const char *name, const char *value),
                          void *context)
{
    int last = -1;
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        const char *said = options->said[o->id - OPT_LISTEN];
        if (said && o->id != last) {
            see(context, o->shown.name + 2, said);
        }
        last = o->id;
    }
}
