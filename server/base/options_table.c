#include "server/base/options_table.h"

#include "protocol/text/problem.h"

#include <string.h>

const pl_option_row pl_option_rows[] = {
    {OPT_LISTEN,
     0,
     {"--listen", "ADDRESS:PORT",
      "address to listen on (127.0.0.1:8080); port 0 picks a free one"}},
    {OPT_LISTEN,
     0,
     {"--listen", "unix:PATH",
      "unix socket to listen on, alone or in addition to an address. The uid of a client "
      "identifies "
      "its user (pliantd user create --uid); root and the daemon's own uid are the owner"}},
    {OPT_TLS_CERT,
     PL_OPTION_LIVE | PL_OPTION_FILE,
     {"--tls-cert", "FILE", "certificate and chain (PEM) for TLS 1.2 or 1.3; reloaded at SIGHUP"}},
    {OPT_TLS_KEY,
     PL_OPTION_LIVE | PL_OPTION_FILE,
     {"--tls-key", "FILE", "key of the certificate (PEM); reloaded at SIGHUP"}},
    {OPT_TOKEN_FILE,
     PL_OPTION_FILE,
     {"--token-file", "FILE",
      "the owner's token, 64 hex digits, instead of one the daemon generates in DIR/token"}},
    {OPT_STATE,
     0,
     {"--state", "DIR",
      "directory for sessions, meshes, database and the owner's token; created if missing"}},
    {OPT_CORES,
     0,
     {"--cores", "N",
      "cores for sessions (all the daemon may use: the fewest of the machine's cores, its CPU "
      "affinity, and the CPU quotas of its control group and every parent)"}},
    {OPT_MEMORY,
     0,
     {"--memory", "BYTES",
      "memory for all sessions together (all the daemon may use: the least of the machine's memory "
      "and the limits of its control group and every parent)"}},
    {OPT_NO_PIN,
     0,
     {"--no-pin", NULL,
      "let workers run on any CPU. By default each worker is pinned to its own CPUs, on one NUMA "
      "node if they fit. Workers are never pinned if the daemon may use fewer CPUs than --cores"}},
    {OPT_MEMORY_GROUPS,
     0,
     {"--memory-groups", "auto|on|off",
      "one control group per worker, which enforces its memory limit and records whether the "
      "kernel killed it for memory. auto (the default): if the daemon may create groups and DIR is "
      "not on tmpfs; on: the daemon does not start without them; off: limits are RLIMIT_DATA "
      "only"}},
    {OPT_GPUS,
     0,
     {"--gpus", "auto|none|LIST",
      "GPUs for sessions: every one the driver finds (auto, the default), or a list of indices or "
      "UUIDs, such as 0,2"}},
    {OPT_GPU_PLUGIN,
     0,
     {"--gpu-plugin", "FILE", "GPU plug-in (libpliant_cuda.so beside the program)"}},
    {OPT_GPU_SHARE,
     0,
     {"--gpu-share", "N",
      "maximum number of small GPU sessions of one owner that share a worker (16); 1: one worker "
      "per session"}},
    {OPT_PREPARED,
     0,
     {"--prepared", "N",
      "keep a worker and a check, already linked, ready for each of the last N users who start "
      "many (8); 0: none"}},
    {OPT_EXECUTOR,
     0,
     {"--executor", "local|batch",
      "where sessions run if their scene does not say: on this machine (local, the default), or as "
      "jobs of the batch system of --batch"}},
    {OPT_BATCH,
     0,
     {"--batch", "none|slurm|FILE",
      "batch system that runs sessions on other machines: none (the default), slurm, or a file "
      "with the commands of another or with settings for Slurm. DIR must have the same path on "
      "its machines"}},
    {OPT_BATCH_CORES,
     0,
     {"--batch-cores", "N",
      "maximum cores of sessions that wait or run in the batch system (4096)"}},
    {OPT_NO_AUTH,
     0,
     {"--no-auth", NULL, "accept requests without a token; on a loopback address only"}},
    {OPT_PROXY,
     0,
     {"--behind-proxy", NULL,
      "allow a non-loopback address without TLS, behind a proxy that does TLS"}},
    {OPT_SECURE_COOKIES,
     0,
     {"--secure-cookies", NULL,
      "mark the dashboard's cookies Secure, for a proxy that does TLS and does not send "
      "X-Forwarded-Proto: https"}},
    {OPT_SHARED_CACHE,
     0,
     {"--shared-cache", "S",
      "seconds for which a proxy may serve immutable replies from its cache to readers of a share "
      "link or signed address (0: never); the proxy must honour Vary: Cookie"}},
    {OPT_HOST,
     0,
     {"--allow-host", "NAME", "additional name to accept in the Host header; may be repeated"}},
    {OPT_INTERACTIVE,
     0,
     {"--interactive-cores", "N",
      "cores, of --cores, reserved for interactive sessions: in real time or without an end (0)"}},
    {OPT_QUEUED,
     PL_OPTION_LIVE,
     {"--max-sessions-queued", "N",
      "maximum number of sessions being checked or waiting (1000). With several users, each may "
      "have three for each free place, and one place in twenty is reserved for users with none "
      "waiting"}},
    {OPT_CHECKS,
     PL_OPTION_LIVE,
     {"--max-checks", "N",
      "maximum number of scenes and meshes of one user that wait to be checked (100)"}},
    {OPT_LIMIT,
     0,
     {"--limit", "NAME=N,...",
      "default limits of a user: sessions (not ended), queued, running, cores and gpus (of running "
      "sessions), bytes, mesh_bytes (no limits), requests (per second; 1000), share (1)"}},
    {OPT_RATE,
     0,
     {"--rate-limit", "N[,M]",
      "requests per second: N for a user, as with --limit requests=N, and M for an address without "
      "a credential (1000,100; 0: no limit). Bursts may be ten times as large. The owner's token "
      "and addresses that only this machine can reach are not limited"}},
    {OPT_UIDS,
     0,
     {"--worker-uids", "A-B",
      "run each worker as a uid of this range, chosen by its user's name; the uid also owns the "
      "session's directory. Needs root"}},
    {OPT_BODY, PL_OPTION_LIVE, {"--max-body", "BYTES", "largest JSON body (8388608)"}},
    {OPT_MESH, PL_OPTION_LIVE, {"--max-mesh", "BYTES", "largest mesh file (1073741824)"}},
    {OPT_CONNECTIONS, 0, {"--max-connections", "N", "maximum number of connections (1000)"}},
    {OPT_DISK_RESERVE,
     0,
     {"--disk-reserve", "BYTES",
      "space kept in DIR/reserve for the daemon itself when the disk is full; at most an eighth of "
      "the file system (67108864; 0: none). Below a quarter of it running sessions pause until "
      "there is room again"}},
    {OPT_EXPORTS,
     0,
     {"--exports", "N",
      "maximum number of simultaneous exports (8); one user may have half of them"}},
    {OPT_IDLE, 0, {"--idle-timeout", "SECONDS", "time until an idle connection is closed (30)"}},
    {OPT_PATIENCE,
     PL_OPTION_LIVE,
     {"--patience", "SECONDS",
      "time until a worker that does not react to cancel or pause is killed (10)"}},
    {OPT_CHECKPOINT,
     PL_OPTION_LIVE,
     {"--checkpoint-every", "SECONDS",
      "minimum time between two checkpoints of a worker (10); its first is made after a second"}},
    {OPT_STALLED,
     0,
     {"--stalled-after", "A[,B]",
      "seconds without progress (no processor time used, nothing written) until a running session "
      "is "
      "shown as stalled, and until its worker is killed and restarted like a crashed one (30,600; "
      "B "
      "0: never)"}},
    {OPT_DELAYS,
     0,
     {"--restart-delays", "A,B,C",
      "seconds before a crashed worker's 1st, 2nd and 3rd restart without a new checkpoint "
      "(1,10,60); a 4th crash fails the session"}},
    {OPT_ON_EXIT,
     0,
     {"--on-exit", "leave|stop",
      "at SIGTERM, leave workers running for the next daemon (default), or stop them at a "
      "checkpoint until the next start, for containers and service managers that end every "
      "process"}},
    {OPT_WEBHOOK_ALLOW,
     0,
     {"--webhook-allow", "RANGE",
      "additional range of addresses that webhooks may call, such as 10.1.0.0/16; by default only "
      "public addresses are allowed"}},
    {OPT_WEBHOOK_DELAYS,
     0,
     {"--webhook-delays", "A,B,...",
      "seconds before a webhook's 2nd, 3rd, ... try, at most 16 (1,5,30,120,600,3600,21600)"}},
    {OPT_CONFIG,
     PL_OPTION_COMMAND,
     {"--config", "FILE",
      "file with options, one per line: NAME = VALUE, without the dashes; the command line takes "
      "precedence. Reread at SIGHUP"}},
    {OPT_CHECK_CONFIG,
     PL_OPTION_COMMAND,
     {"--check-config", NULL, "check the options, report what is wrong, and exit"}},
    {OPT_REINDEX,
     PL_OPTION_COMMAND,
     {"--reindex", NULL,
      "rebuild DIR/pliant.db from the session directories, and exit; the old one is kept as "
      "DIR/pliant.db.damaged-DATE. This loses usage, learned estimates, idempotency keys, grants "
      "of meshes that no session uses, crash counts and the audit log"}},
    {OPT_OPENAPI,
     PL_OPTION_COMMAND,
     {"--openapi", NULL, "print the description of the HTTP API (OpenAPI 3.1), and exit"}},
    {OPT_LEVEL, PL_OPTION_LIVE, {"--log-level", "LEVEL", "error, warn, info or debug (info)"}},
    {OPT_LOG_FORMAT,
     PL_OPTION_LIVE,
     {"--log-format", "text|json",
      "log format on standard error: lines of text (default), or one JSON object per line with "
      "time, level, message and, where known, session, request and user"}},
    {OPT_HELP, PL_OPTION_COMMAND, {"--help", NULL, "print this text"}},
    {OPT_MANUAL,
     PL_OPTION_COMMAND,
     {"--man", NULL, "print the manual page: pliantd --man | man -l -"}},
    {OPT_VERSION, PL_OPTION_COMMAND, {"--version", NULL, "print the version of this program"}},
    {0, 0, {NULL, NULL, NULL}},
};

const pl_option_row *pl_option_find(const char *name)
{
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        if (strcmp(o->shown.name + 2, name) == 0) {
            return o;
        }
    }
    return NULL;
}

const char *pl_option_nearest(const char *name)
{
    const char *names[OPT_END - OPT_LISTEN + 2];
    size_t count = 0;
    for (const pl_option_row *o = pl_option_rows; o->shown.name; o++) {
        if (count < sizeof names / sizeof *names) {
            names[count++] = o->shown.name + 2;
        }
    }
    return pl_nearest(name, names, count);
}
