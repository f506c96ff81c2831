#include "server/base/options.h"

#include "protocol/text/manual.h"

#include <stdio.h>

enum { LEFT = 27, COLUMNS = 100 };

static const char summary[] = "simulate deformable bodies for clients over HTTP";
static const char usage[] = "pliantd --state DIR [options]\n"
                            "pliantd user|group|token --help";
static const char more[] =
    "The daemon prints its base URL and keeps it in DIR/url while it runs; the token is in\n"
    "DIR/token. SIGTERM ends it: streams end with reason shutdown. Running sessions continue (see\n"
    "--on-exit), and the next daemon on the same state adopts them.";

static const pl_option options[] = {
    {"--listen", "ADDRESS:PORT", "address to listen on (127.0.0.1:8080); port 0 picks a free one"},
    {"--listen", "unix:PATH",
     "unix socket to listen on, alone or in addition to an address. The uid of a client identifies "
     "its user (pliantd user create --uid); root and the daemon's own uid are the owner"},
    {"--tls-cert", "FILE", "certificate and chain (PEM) for TLS 1.2 or 1.3; reloaded at SIGHUP"},
    {"--tls-key", "FILE", "key of the certificate (PEM); reloaded at SIGHUP"},
    {"--state", "DIR",
     "directory of sessions, meshes, database and the owner's token; created if missing"},
    {"--cores", "N", "cores for sessions (all of this machine)"},
    {"--no-pin", NULL,
     "let workers run on any CPU. By default each worker has CPUs of its own, of one NUMA node "
     "where "
     "they fit; not where the daemon may use fewer CPUs than --cores"},
    {"--gpus", "auto|none|LIST",
     "GPUs for sessions: all that the driver finds (auto, the default), or a list of indices or "
     "UUIDs, such as 0,2"},
    {"--gpu-plugin", "FILE", "GPU plug-in (libpliant_cuda.so beside the program)"},
    {"--gpu-share", "N",
     "most small GPU sessions of one owner that share a worker (16); 1: a worker each"},
    {"--prepared", "N",
     "keep a worker and a check that have linked already for each of the last N users who start "
     "many "
     "(8); 0: each starts afresh"},
    {"--no-auth", NULL, "accept requests without a token; on a loopback address only"},
    {"--behind-proxy", NULL,
     "allow a non-loopback address without TLS, behind a proxy that does TLS"},
    {"--allow-host", "NAME", "additional name to accept in the Host header; may be repeated"},
    {"--interactive-cores", "N",
     "cores, of --cores, that only interactive sessions use: in real time or without an end (0)"},
    {"--max-sessions-queued", "N",
     "most sessions that are checked or wait at once (1000); with several users, each may have "
     "three for each place that is free, and one place in twenty is for those who have none "
     "waiting"},
    {"--max-checks", "N", "most scenes and meshes of one user that wait to be checked (100)"},
    {"--limit", "NAME=N,...",
     "default limits of a user: sessions (not ended), queued, running, cores and gpus (of running "
     "sessions), bytes, mesh_bytes (no limits), requests (per second; 1000), share (1)"},
    {"--rate-limit", "N[,M]",
     "requests per second: N of a user, as --limit requests=N, and M of an address without a "
     "credential (1000,100; 0: no limit). Bursts may be ten times as large. The owner's token and "
     "addresses that only this machine reaches are not limited"},
    {"--worker-uids", "A-B",
     "run each worker as a uid of this range, chosen by its user's name; the uid also owns the "
     "session's directory. Needs root"},
    {"--max-body", "BYTES", "largest JSON body (8388608)"},
    {"--max-mesh", "BYTES", "largest mesh file (1073741824)"},
    {"--max-connections", "N", "most connections at once (1000)"},
    {"--exports", "N", "most exports at once, half of them for one user (8)"},
    {"--idle-timeout", "SECONDS", "time until an idle connection is closed (30)"},
    {"--patience", "SECONDS",
     "time until a worker that does not react to cancel or pause is killed (10)"},
    {"--checkpoint-every", "SECONDS", "least time between two checkpoints of a worker (10)"},
    {"--stalled-after", "A[,B]",
     "seconds without progress (no processor time used, nothing written) until a running session "
     "is "
     "shown as stalled, and until its worker is killed and restarted like a crashed one (30,600; B "
     "0: never)"},
    {"--restart-delays", "A,B,C",
     "seconds before a crashed worker's 1st, 2nd and 3rd restart without a new checkpoint "
     "(1,10,60); a 4th crash fails the session"},
    {"--on-exit", "leave|stop",
     "at SIGTERM, leave workers running for the next daemon (default), or stop them at a "
     "checkpoint until the next start, for containers and service managers that end every process"},
    {"--webhook-allow", "RANGE",
     "additional range of addresses that webhooks may call, such as 10.1.0.0/16; by default only "
     "public addresses are allowed"},
    {"--webhook-delays", "A,B,...",
     "seconds before a webhook's 2nd, 3rd, ... try, at most 16 (1,5,30,120,600,3600,21600)"},
    {"--reindex", NULL,
     "rebuild DIR/pliant.db from the session directories, and exit; the old one is kept as "
     "DIR/pliant.db.damaged-DATE"},
    {"--openapi", NULL, "print the description of the HTTP API (OpenAPI 3.1), and exit"},
    {"--log-level", "LEVEL", "error, warn, info or debug (info)"},
    {"--help", NULL, "print this text"},
    {"--man", NULL, "print the manual page: pliantd --man | man -l -"},
    {"--version", NULL, "print the version of this program"},
    {NULL, NULL, NULL},
};

void pl_options_help(void)
{
    printf("pliantd - %s\n\nusage: pliantd --state DIR [options]\n"
           "       pliantd user|group|token --help    manage access\n\n",
           summary);
    for (const pl_option *o = options; o->name; o++) {
        pl_help_option(stdout, o, LEFT, COLUMNS);
    }
    printf("\n%s\n", more);
}

void pl_options_manual(void)
{
    pl_manual_begin(stdout, "pliantd", summary, PLIANT_VERSION);
    pl_manual_section(stdout, "SYNOPSIS");
    pl_manual_text(stdout, usage, true);
    pl_manual_section(stdout, "DESCRIPTION");
    pl_manual_text(stdout, more, false);
    pl_manual_section(stdout, "OPTIONS");
    for (const pl_option *o = options; o->name; o++) {
        pl_manual_option(stdout, o);
    }
    pl_manual_section(stdout, "SEE ALSO");
    pl_manual_text(stdout, "pliant(1)", false);
}
