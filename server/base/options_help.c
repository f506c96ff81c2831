#include "server/base/options.h"

#include "protocol/text/manual.h"

#include <stdio.h>

enum { LEFT = 27, COLUMNS = 100 };

static const char summary[] = "simulates deformable bodies for clients over HTTP";
static const char usage[] = "pliantd --state DIR [options]\n"
                            "pliantd user|group|token --help";
static const char more[] =
    "The base URL is printed and written to DIR/url while the daemon runs; the token is in\n"
    "DIR/token. SIGTERM ends it: streams end with reason shutdown; running sessions go on (see\n"
    "--on-exit) and are taken up by the next daemon on the same state.";

static const pl_option options[] = {
    {"--listen", "ADDRESS:PORT", "where to listen (127.0.0.1:8080); port 0 picks a free one"},
    {"--listen", "unix:PATH",
     "a unix socket, alone or beside an address: who connects is known by uid, as pliantd user "
     "create --uid says; root and the daemon's own uid are its owner"},
    {"--tls-cert", "FILE", "the address speaks TLS 1.2 or 1.3 with this certificate and chain"},
    {"--tls-key", "FILE", "its key; both PEM, read again at SIGHUP"},
    {"--state", "DIR", "sessions, meshes, database and the owner's token; made if missing"},
    {"--cores", "N", "cores to give to sessions (all of this machine)"},
    {"--gpus", "auto|none|LIST",
     "GPUs to give to sessions: all that the driver finds, or by their places or UUIDs, such as "
     "0,2 (auto)"},
    {"--gpu-plugin", "FILE", "the plug-in that drives them (libpliant_cuda.so beside the program)"},
    {"--gpu-share", "N",
     "small GPU sessions of one owner that wait together and are run by one worker, at most "
     "(16); 1: a worker each"},
    {"--no-auth", NULL, "no token asked; on a loopback address only"},
    {"--behind-proxy", NULL, "allow a non-loopback address: a proxy in front does TLS"},
    {"--allow-host", "NAME", "one more name that a Host header may say; may be repeated"},
    {"--max-sessions-queued", "N", "sessions that may check or wait at once (1000)"},
    {"--limit", "NAME=N,...",
     "what a user may have, where nothing else is said of them: sessions (not ended), queued, "
     "cores (running), bytes, mesh_bytes (no limits), requests (a second; 1000)"},
    {"--rate-limit", "N[,M]",
     "requests a second of a user, as --limit requests=N, and of an address without a credential "
     "(1000,100; 0: no limit); "
     "ten seconds' worth may come at once. Not of the owner's token, nor of addresses where only "
     "this machine can connect"},
    {"--worker-uids", "A-B",
     "workers give up root for a uid of this range, chosen by their user's name, and their "
     "session's directory is that uid's; needs root"},
    {"--max-body", "BYTES", "largest JSON body (8388608)"},
    {"--max-mesh", "BYTES", "largest mesh file (1073741824)"},
    {"--max-connections", "N", "connections at once (1000)"},
    {"--exports", "N", "exports that are made at once, half of them for one user (8)"},
    {"--idle-timeout", "SECONDS", "until a connection that does nothing is closed (30)"},
    {"--patience", "SECONDS",
     "until a worker that does not react to cancel or pause is killed (10)"},
    {"--checkpoint-every", "SECONDS", "how often workers save their state, at most (10)"},
    {"--restart-delays", "A,B,C",
     "seconds before a crashed worker's 1st, 2nd and 3rd restart without a new checkpoint "
     "(1,10,60); a 4th crash fails the session"},
    {"--on-exit", "leave|stop",
     "at SIGTERM: leave workers running for the next daemon (default), or stop them at a "
     "checkpoint, for containers and service managers that end every process; their sessions go on "
     "at the next start"},
    {"--webhook-allow", "RANGE",
     "one more range of addresses, such as 10.1.0.0/16, that sessions' webhooks may call; others "
     "but "
     "public ones are refused"},
    {"--webhook-delays", "A,B,...",
     "seconds before a webhook's 2nd, 3rd, ... try, at most 16 (1,5,30,120,600,3600,21600)"},
    {"--reindex", NULL,
     "rebuild DIR/pliant.db from the session directories, and end; the old one is kept as "
     "DIR/pliant.db.damaged-DATE"},
    {"--openapi", NULL, "print the description of the HTTP API (OpenAPI 3.1), and end"},
    {"--log-level", "LEVEL", "error, warn, info or debug (info)"},
    {"--help", NULL, "this text"},
    {"--man", NULL, "this program's manual page, for man -l -"},
    {"--version", NULL, "this program's version"},
    {NULL, NULL, NULL},
};

void pl_options_help(void)
{
    printf("pliantd - %s\n\nusage: pliantd --state DIR [options]\n"
           "       pliantd user|group|token --help    who may use it\n\n",
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
