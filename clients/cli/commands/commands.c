#include "clients/cli/commands/commands.h"

#include "protocol/export/export.h"

#define RANGE_OPTIONS                                                                              \
    {"--from", "K", "first frame (0)"}, {"--to", "K", "last frame (the newest)"},                  \
    {                                                                                              \
        "--every", "N", "every N-th frame (1)"                                                     \
    }

const pl_option pl_global_options[] = {
    {"--server", "URL|NAME", "the daemon ($PLIANT_SERVER, default of pliant server, STATE/url)"},
    {"--token", "T", "token (the named server's, $PLIANT_TOKEN, $PLIANT_TOKEN_FILE, STATE/token)"},
    {"--state", "DIR", "a daemon's state directory on this machine (~/.local/state/pliant)"},
    {"--json", NULL, "machine-readable output"},
    {"--help", NULL, "print this text; after a command, its options"},
    {"--man", NULL, "print the manual page: pliant --man | man -l -"},
    {"--version", NULL, "print the version of this program"},
    {NULL, NULL, NULL},
};

const char pl_help_end[] =
    "An ID may be shortened to any unique beginning.\n"
    "\nexit status: 0 success, also of the session if one was followed;\n"
    "  1 failed or rejected; 2 wrong command line; 3 daemon not reached;\n"
    "  4 not authorised; 5 no such session; 6 the session was cancelled or deleted;\n"
    "  7 a local file could not be read or written; 130 interrupted (Ctrl-C)\n";

const pl_command pl_commands[] = {
    {.name = "run",
     .arguments = "SCENE.json --out DIR | --resume --out DIR",
     .summary = "simulate a scene on this machine, without a daemon",
     .least = 0,
     .most = 1,
     .notes =
         "DIR becomes a session directory, which export, plot, frames and metrics accept in\n"
         "place of an ID. The scene names mesh files as {\"file\": \"bunny.msh\"}.\n"
         "Ctrl-C stops the run at a checkpoint. --resume continues it, also after a crash, with\n"
         "the same frames as an uninterrupted run.",
     .options = {{"--out", "DIR", "session directory to create"},
                 {"--resume", NULL, "continue an interrupted run in DIR; takes no scene"},
                 {"--threads", "N", "threads of the solver (the scene's resources.cores)"},
                 {"--gpu", "UUID",
                  "GPU for a scene that asks for one (the one with the most free memory)"},
                 {"--gpu-plugin", "FILE", "GPU plug-in (libpliant_cuda.so beside pliant)"},
                 {"--quick", NULL,
                  "run the short form of the scene: merge in its \"metadata\": {\"quick\"}"},
                 {"--check", NULL, "then check the scene's \"expect\", as pliant check does"},
                 {"--strict", NULL, "also exit 1 if there are warnings"},
                 {"--force", NULL, "replace the files of an earlier run in DIR"}},
     .run = pl_command_run},
    {.name = "submit",
     .arguments = "SCENE.json",
     .summary = "submit a scene to the daemon",
     .least = 1,
     .most = 1,
     .notes =
         "Prints the session's ID. Mesh files that the scene names, {\"file\": \"bunny.msh\"} or\n"
         "{\"file\": \"a.node\"} with a.ele beside it, are uploaded unless the daemon has them.\n"
         "Their paths are relative to the scene file. SCENE.json may be '-', the standard input.",
     .options = {{"--follow", NULL, "show its progress until it ends"},
                 {"--detach", NULL, "return at once (as without --follow)"},
                 {"--strict", NULL,
                  "also exit 1 if there are warnings: those of the check, or with --follow all"},
                 {"--group", "NAME", "share it with one of your groups"},
                 {"--idempotency-key", "K",
                  "submit only once, however often the command is repeated with K"}},
     .run = pl_command_submit},
    {.name = "list",
     .arguments = "",
     .summary = "list sessions, newest first",
     .most = 0,
     .options = {{"--state", "STATE", "only those that are queued, running, paused, ..."},
                 {"--label", "K=V,...", "only those with these labels; K alone: with any value"},
                 {"--name", "TEXT", "only those whose name contains TEXT"},
                 {"--owner", "USER", "only those of one owner"},
                 {"--limit", "N", "at most N (50)"}},
     .run = pl_command_list},
    {.name = "show",
     .arguments = "ID",
     .summary = "show one session",
     .least = 1,
     .most = 1,
     .run = pl_command_show},
    {.name = "follow",
     .arguments = "ID",
     .summary = "show a session's progress until it ends",
     .least = 1,
     .most = 1,
     .notes =
         "Ctrl-C stops the display, never the session. A lost connection is restored by itself.",
     .options = {{"--from", "K", "first frame to show (0)"},
                 {"--strict", NULL, "also exit 1 if there are warnings"}},
     .run = pl_command_follow},
    {.name = "watch",
     .arguments = "[ID...]",
     .summary = "show a live table of sessions: state, frame, rate, time left, residuals",
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "Shows every session you can see, or only the given IDs; with IDs, exits when all have\n"
         "ended. q or Ctrl-C quits and affects no session. If the output is not a terminal, the\n"
         "table is printed repeatedly, with --json as one line each time.",
     .options = {{"--interval", "S",
                  "seconds between updates (1; 10 if the output is not a terminal)"},
                 {"--once", NULL, "print the table once"}},
     .run = pl_command_watch},
    {.name = "frames",
     .arguments = "ID|DIR",
     .summary = "list the frames of a session, or write them to files",
     .least = 1,
     .most = 1,
     .options = {RANGE_OPTIONS,
                 {"--follow", NULL, "wait for frames until the session ends (ID only)"},
                 {"--out", "DIR", "write one frame_000012.npy per frame: (vertices, 3), as stored"},
                 {"--raw", "FILE",
                  "write the stream's records unchanged, reconnecting after a lost connection (ID "
                  "only); with it:"},
                 {"--dtype", "f32|f64|u16", "type of the values (as stored)"},
                 {"--vertices", "all|surface", "which vertices (all)"},
                 {"--fields", "F",
                  "position, velocity, stress, contacts or several with commas (as stored)"},
                 {"--max-fps", "N", "at most N frames a second"},
                 {"--latest", NULL, "skip to the newest frame"}},
     .run = pl_command_frames},
    {.name = "contacts",
     .arguments = "ID|DIR",
     .summary = "print where bodies touch, with forces and gaps, as CSV",
     .least = 1,
     .most = 1,
     .notes =
         "A row for each pair of surface features that carry force, of two bodies or of one with\n"
         "itself: m, N (of the first body on the second), m. With --json a line per frame. The "
         "scene\n"
         "must ask for it: \"output\": {\"fields\": [\"position\", \"contacts\"]}.",
     .options = {RANGE_OPTIONS},
     .run = pl_command_contacts},
    {.name = "metrics",
     .arguments = "ID|DIR",
     .summary = "print residuals, energies and times of each frame as lines of JSON",
     .least = 1,
     .most = 1,
     .options = {{"--from", "K", "first frame (0)"},
                 {"--follow", NULL, "wait for more until the session ends (ID only)"},
                 {"--buckets", "N",
                  "divide the run into N pieces and print the minimum and maximum of each number"}},
     .run = pl_command_metrics},
    {.name = "events",
     .arguments = "[ID]",
     .summary = "print events of all sessions, or of one, as they happen",
     .most = 1,
     .notes = "Ends at Ctrl-C, or when the session is deleted. --json prints one line per event.",
     .options = {{"--since", "SEQ", "start after this event (now)"},
                 {"--once", NULL, "print past events and exit, without waiting"}},
     .run = pl_command_events},
    {.name = "probes",
     .arguments = "ID",
     .summary = "print the scene's output.probes as CSV, one row per frame",
     .least = 1,
     .most = 1,
     .notes = "--json prints lines of JSON instead.",
     .options = {{"--from", "K", "first frame (0)"}},
     .run = pl_command_probes},
    {.name = "plot",
     .arguments = "ID|DIR",
     .summary = "draw metrics over frames in the terminal",
     .least = 1,
     .most = 1,
     .options = {{"--what", "NAMES",
                  "residuals (default), energies, contact (pairs of bodies, and with obstacles), "
                  "time, or names of metrics such as contact/gap,energy/kinetic"},
                 {"--width", "N", "characters across"},
                 {"--height", "N", "rows (10)"},
                 {"--ascii", NULL, "plain characters only"}},
     .run = pl_command_plot},
    {.name = "export",
     .arguments = "ID|DIR --out PATH",
     .summary = "write a run for other programs, or a picture of a frame",
     .least = 1,
     .most = 1,
     .notes = PL_EXPORT_LINES
     "png  a picture of one frame, drawn in software\n"
     "mp4, webm, gif  a film at --fps and --speed, made by ffmpeg, which must be installed;\n"
     "     the camera does not move",
     .options = {{"--format", PL_EXPORT_BARS "png|mp4|webm|gif",
                  "format (from the ending of PATH)"},
                 {"--out", "PATH",
                  "file to write; for vtu and obj the beginning of the files' names"},
                 RANGE_OPTIONS,
                 {"--body", "NAME", "only this body; not for csv and pictures"},
                 {"--surface", NULL, "only the drawn parts: triangles and ropes, no tetrahedra"},
                 {"--frame", "K|last", "png: the frame to draw (last)"},
                 {"--size", "WxH", "pixels (1280x800; films: 960x600)"},
                 {"--azimuth", "DEG", "camera about the vertical (32)"},
                 {"--elevation", "DEG", "camera above the horizon (20)"},
                 {"--fps", "N", "films: frames per second (30; gif: 20)"},
                 {"--speed", "X", "films: simulated seconds per second of film (1)"}},
     .run = pl_command_export},
    {.name = "check",
     .arguments = "DIR|ID...",
     .summary = "check the results of a session against its scene's \"expect\"",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "Prints each expectation with the value found in the stored frames and metrics. Exits\n"
         "0 only if the session succeeded, has expectations, and all of them hold.",
     .run = pl_command_check},
    {.name = "compare",
     .arguments = "SCENE.json|DIR|ID --methods A,B,...",
     .summary = "compare methods on one frame from the same state: error against work",
     .least = 1,
     .most = 1,
     .notes =
         "The scene's own method makes the frames before; then each method makes frame K with\n"
         "every iteration recorded. Prints, and with --out plots, the error of the objective\n"
         "relative to its minimum against iterations and time. The minimum is newton's if it\n"
         "supports the scene, else the best of a long run. A method takes options of the scene's\n"
         "solver: --methods admm,admm:weight_scale=1,quasi_newton:window=16. Methods that do not\n"
         "support the scene are skipped, with the reason. Times are from a separate run that\n"
         "records nothing.",
     .options = {{"--methods", "A,B,...", "methods and their options (all methods)"},
                 {"--frame", "K", "frame to compare (1)"},
                 {"--iterations", "N", "iterations of each method (100)"},
                 {"--threads", "N", "threads of the solver (the scene's resources.cores)"},
                 {"--gpu", "UUID",
                  "GPU for methods that ask for one; auto: the one with the most free memory"},
                 {"--gpu-plugin", "FILE", "GPU plug-in (libpliant_cuda.so beside pliant)"},
                 {"--out", "DIR", "write compare.svg, compare.csv and compare.json there"}},
     .run = pl_command_compare},
    {.name = "curve",
     .arguments = "MATERIAL...",
     .summary = "measure force against stretch of materials on a cube",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "MATERIAL is a model's name, a file with a material's JSON object, SCENE.json (each of "
         "its\n"
         "materials) or SCENE.json:NAME. A cube is stretched quasi-statically between two faces\n"
         "whose vertices are free in their planes; the force on them is drawn per rest area.",
     .options = {{"--from", "S", "smallest stretch (0.6)"},
                 {"--to", "S", "largest stretch (1.8)"},
                 {"--points", "N", "number of steps between them (48)"},
                 {"--out", "DIR", "write curve.svg and curve.csv there"}},
     .run = pl_command_curve},
    {.name = "verify",
     .arguments = "DIR|ID",
     .summary = "check every file of a session for damage",
     .least = 1,
     .most = 1,
     .notes =
         "Checks every file against its seal, checksum or hash, and every record of the log. For\n"
         "each damage it prints where it is, what is still readable and what to do. Exit status\n"
         "0: clean, 1: damaged. Finds an ID in the state directory (--state), without a daemon.",
     .options = {{"--repair", NULL, "first rebuild head.json and the indices from the log"},
                 {"--replay", NULL,
                  "then repeat the session with its controls and compare every frame bit for bit"}},
     .run = pl_command_verify},
    {.name = "mesh",
     .arguments = "info|quality|convert|tetrahedralise FILE",
     .summary = "inspect or convert a mesh file, or fill a surface with tetrahedra",
     .least = 2,
     .most = 2,
     .notes =
         "info            counts, box, volume, quality, tags, fields, and every fault with its "
         "place\n"
         "quality         histograms of angles, radius ratio, aspect and volume; flat and "
         "inverted\n"
         "                elements; the worst ones. As the file has it: nothing is repaired\n"
         "convert         by the ending of --out: .msh, .mesh, .vtk (with tags), .obj, .stl "
         "(surface)\n"
         "tetrahedralise  a closed surface (.stl, .obj, .ply, .vtk) to --out: NAME.msh, .mesh or "
         ".vtk, or\n"
         "                NAME.node with NAME.ele, by tetgen or gmsh, one of which has to be "
         "installed;\n"
         "                triangles of the surface are kept (tetgen may divide them)\n"
         "Reads every format that a scene may name, a .node file with the .ele file beside it.\n"
         "Needs no daemon.",
     .options =
         {{"--out", "FILE", "file to write; it appears complete"},
          {"--with", "PROGRAM", "tetrahedralise: tetgen or gmsh (tetgen if it is installed)"},
          {"--volume", "V",
           "tetrahedralise: largest tetrahedron, m^3 (no limit); gmsh: no edge longer than in a "
           "regular one of that volume"},
          {"--quality", "Q",
           "tetrahedralise, tetgen: largest ratio of a tetrahedron's circumradius to its "
           "shortest edge (1.414)"},
          {"--limit", "S", "tetrahedralise: give up after S seconds (300)"}},
     .run = pl_command_mesh},
    {.name = "control",
     .arguments = "ID CONTROL",
     .summary = "change a running session from its next frame on",
     .least = 2,
     .most = 2,
     .notes =
         "CONTROL is JSON, or a file with it (- is the standard input). It is a fragment of a\n"
         "scene and refers to things in the session's scene by name:\n"
         "  {\"gravity\": [0, -1, 0]}\n"
         "  {\"pins\": [{\"name\": \"hand\", \"motion\": {\"velocity\": [0, 0, 1]}}]}\n"
         "  {\"obstacles\": [{\"name\": \"plate\", \"motion\": {\"keyframes\":\n"
         "    [{\"time\": 0.5, \"translate\": [0, -0.2, 0]}]}}]}\n"
         "  {\"forces\": [{\"name\": \"wind\", \"velocity\": [5, 0, 0]}]}\n"
         "  {\"materials\": [{\"name\": \"rubber\", \"young\": 2e5}]}\n"
         "A motion starts from the current pose, and times of keyframes count from that moment.\n"
         "A control is durable before the command returns. The metrics of a frame name the last\n"
         "control in effect.",
     .run = pl_command_control},
    {.name = "branch",
     .arguments = "ID [PATCH]",
     .summary = "start a new session from a frame of another one, with an edited scene",
     .least = 1,
     .most = 2,
     .notes =
         "PATCH is a merge patch (RFC 7396) on the session's scene, JSON or a file with it:\n"
         "  {\"name\": \"softer\", \"materials\": {\"rubber\": {\"young\": 5e4}}}\n"
         "Bodies, time step and output.every cannot change. Frame 0 of the branch is that frame,\n"
         "computed again. Prints the ID of the branch.",
     .options = {{"--frame", "K", "frame to start from (the newest)"},
                 {"--snapshot", "NAME", "start from this snapshot instead"}},
     .run = pl_command_branch},
    {.name = "snapshot",
     .arguments = "ID [NAME]",
     .summary = "keep a session's state under a name; without NAME, list its snapshots",
     .least = 1,
     .most = 2,
     .notes = "pliant branch ID --snapshot NAME starts a session there, even after retention has\n"
              "removed the frame. The bytes of a snapshot count towards the session's.",
     .options = {{"--frame", "K", "frame to keep (the newest)"},
                 {"--delete", NULL, "delete the snapshot"}},
     .run = pl_command_snapshot},
    {.name = "controls",
     .arguments = "ID",
     .summary = "list a session's controls, each with the first frame it was in effect",
     .least = 1,
     .most = 1,
     .run = pl_command_controls},
    {.name = "step",
     .arguments = "ID...",
     .summary = "run sessions for one more frame, then pause them",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .options = {{"--frames", "N", "number of frames (1)"}},
     .run = pl_command_step},
    {.name = "pause",
     .arguments = "ID...",
     .summary = "stop sessions at a checkpoint and free their cores",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes = "A paused session keeps its frames and its followers. resume continues it.",
     .run = pl_command_pause},
    {.name = "resume",
     .arguments = "ID...",
     .summary = "queue paused sessions; they continue where they stopped",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_resume},
    {.name = "cancel",
     .arguments = "ID...",
     .summary = "end sessions and keep their frames",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_cancel},
    {.name = "edit",
     .arguments = "ID...",
     .summary = "change a session's name, labels, priority, webhook or retention",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .options = {{"--name", "TEXT", "new name"},
                 {"--label", "K=V,...", "set labels; K= takes one away"},
                 {"--priority", "N", "-100 to 100; waiting sessions with a higher one start first"},
                 {"--webhook", "URL",
                  "URL that receives a signed POST when the session ends; none: no webhook"},
                 {"--keep", "last=N,every=N,days=N",
                  "frames to keep, and days to keep the session after its end; all: everything"},
                 {"--prune", NULL, "allow --keep to delete frames that are stored"}},
     .run = pl_command_edit},
    {.name = "queue",
     .arguments = "",
     .summary = "show running and waiting sessions, why they wait and when they may start",
     .run = pl_command_queue},
    {.name = "usage",
     .arguments = "",
     .summary = "show who used how much of the machine: core hours, GPU hours, bytes stored",
     .notes = "Days are in UTC. What runs now is counted up to now. Ordinary users see their own\n"
              "part, and the machine's total; administrators see everybody's.",
     .options = {{"--by", "user|group|day", "what a row is about (user)"},
                 {"--from", "DAY", "first day, such as 2026-01-31 (29 days before --to)"},
                 {"--to", "DAY", "last day (today)"},
                 {"--user", "NAME", "only this user, for administrators"},
                 {"--group", "NAME", "only sessions of this group"},
                 {"--csv", NULL, "print CSV, in seconds and bytes"}},
     .run = pl_command_usage},
    {.name = "meshes",
     .arguments = "",
     .summary = "list the mesh files you have uploaded",
     .options = {{"--delete", "HASH", "release one; sessions that use it keep it"}},
     .run = pl_command_meshes},
    {.name = "delete",
     .arguments = "ID...",
     .summary = "end sessions and remove their data",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_delete},
    {.name = "validate",
     .arguments = "SCENE.json",
     .summary = "list every fault of a scene without submitting it",
     .least = 1,
     .most = 1,
     .notes = "Mesh files that the scene names are uploaded, so that they are checked too.",
     .run = pl_command_validate},
    {.name = "topology",
     .arguments = "ID",
     .summary = "print the bodies and their triangles as JSON, for viewers",
     .least = 1,
     .most = 1,
     .run = pl_command_topology},
    {.name = "log",
     .arguments = "ID",
     .summary = "print the log of a session's worker",
     .least = 1,
     .most = 1,
     .run = pl_command_log},
    {.name = "scene",
     .arguments = "ID",
     .summary = "print a session's scene",
     .least = 1,
     .most = 1,
     .options = {{"--effective", NULL, "with every default filled in"}},
     .run = pl_command_scene},
    {.name = "sweep",
     .summary = "run many sessions that differ in parameters, as one",
     .verbs = pl_sweep_verbs,
     .notes = pl_sweep_notes,
     .options =
         {{"--follow", NULL, "submit: show its progress until it ends"},
          {"--strict", NULL, "--follow and follow: also exit 1 if there are warnings"},
          {"--group", "NAME", "submit: share it with this group"},
          {"--idempotency-key", "K",
           "submit: submit only once, however often it is repeated with K"},
          {"--format", "F", "results: csv (default), json or npz; residuals: csv or json"},
          {"--output", "FILE",
           "results: write to FILE, whose ending tells the format; residuals: write to FILE"},
          {"--sessions", NULL, "delete: also remove its sessions"}}},
    {.name = "fit",
     .arguments = "FILE",
     .summary = "find the values of parameters with which a scene does what was measured",
     .least = 1,
     .most = 1,
     .notes = pl_fit_notes,
     .options = {{"--detach", NULL, "print the ID and do not wait"},
                 {"--output", "FILE", "write the table of all runs to FILE, as CSV"},
                 {"--residuals", "FILE", "write measured points and the best run's values, as CSV"},
                 {"--strict", NULL, "also exit 1 if there are warnings"},
                 {"--group", "NAME", "share it with this group"},
                 {"--idempotency-key", "K",
                  "submit only once, however often it is repeated with K"}},
     .run = pl_command_fit},
    {.name = "share",
     .arguments = "ID",
     .summary = "make a link that shows one session without a token",
     .least = 1,
     .most = 1,
     .notes = "The link shows this session and nothing else, until it expires or is revoked.",
     .options = {{"--name", "TEXT", "a name to recognise it by"},
                 {"--expires", "TIME", "lifetime, such as 12h or 30d (7d)"},
                 {"--list", NULL, "list the links of the session"},
                 {"--revoke", "LINK", "revoke the link with this ID"}},
     .run = pl_command_share},
    {.name = "token",
     .summary = "manage access tokens of the daemon",
     .verbs =
         (const pl_verb[]){
             {"create", "", "create a token and print it", 0, 0, pl_token_create},
             {"list", "", "list the tokens", 0, 0, pl_token_list},
             {"revoke", "ID", "revoke it and those made with it", 1, 1, pl_token_revoke},
             {0}},
     .notes =
         "A token allows no more than the one that makes it, and is revoked with it. It is\n"
         "printed once. Administrators also manage the tokens of other users; pliantd token does\n"
         "so on the daemon's machine.",
     .options = {{"--name", "TEXT", "a name to recognise it by"},
                 {"--scopes", "LIST", "any of read, submit, admin, metrics (read,submit)"},
                 {"--expires", "TIME", "lifetime, such as 12h, 30d, never (90d)"},
                 {"--user", "NAME", "user who gets the token (you)"}}},
    {.name = "user",
     .summary = "manage users of the daemon, for administrators",
     .verbs =
         (const pl_verb[]){
             {"list", "", "list users with their limits", 0, 0, pl_user_list},
             {"create", "NAME",
              "create a user; then give them a token: pliant token create --user NAME", 1, 1,
              pl_user_create},
             {"change", "NAME", "change limits or uid", 1, 1, pl_user_change},
             {"disable", "NAME", "reject their tokens", 1, 1, pl_user_disable},
             {"enable", "NAME", "accept them again", 1, 1, pl_user_enable},
             {"remove", "NAME", "remove a user without sessions", 1, 1, pl_user_remove},
             {0}},
     .notes =
         "Limits: sessions (not ended), queued, running, cores and gpus (of running sessions),\n"
         "bytes, mesh_bytes, requests (a second); none: the daemon's default. A share of 2 is\n"
         "twice the core-time of a share of 1 (default), when both want the machine. pliantd user\n"
         "does the same on its machine.",
     .options = {{"--limit", "NAME=N,...", "create, change: limits"},
                 {"--share", "N",
                  "create, change: share of the machine; the same as --limit share=N"},
                 {"--uid", "N", "create, change: uid of the user on a unix socket"}}},
    {.name = "group",
     .summary = "manage groups, whose members share sessions, for administrators",
     .verbs =
         (const pl_verb[]){
             {"list", "", "list groups with their members", 0, 0, pl_group_list},
             {"create", "NAME", "create a group", 1, 1, pl_group_create},
             {"change", "NAME", "change its share and limits", 1, 1, pl_group_change},
             {"add", "GROUP USER", "add a member, or change their role", 2, 2, pl_group_add},
             {"drop", "GROUP USER", "remove a member", 2, 2, pl_group_drop},
             {"remove", "NAME", "remove a group without sessions", 1, 1, pl_group_remove},
             {0}},
     .notes =
         "Limits of a group's sessions together: sessions (not ended), queued, running, cores and\n"
         "gpus (of running sessions), bytes. Groups share the machine by their shares first, then\n"
         "the users of each by theirs; a user without a group counts as a group of share 1.",
     .options = {{"--role", "view|manage", "add: permission for the group's sessions (view)"},
                 {"--limit", "NAME=N,...", "create, change: limits"},
                 {"--share", "N",
                  "create, change: share of the machine; the same as --limit share=N"}}},
    {.name = "devices",
     .summary = "show the cores and GPUs that sessions run on, and what is free",
     .verbs =
         (const pl_verb[]){
             {"list", "", "list cores and GPUs", 0, 0, pl_devices_list},
             {"drain", "DEVICE", "start no more sessions there", 1, 1, pl_devices_drain},
             {"resume", "DEVICE", "start sessions there again", 1, 1, pl_devices_resume},
             {0}}},
    {.name = "audit",
     .arguments = "",
     .summary = "list changes, newest first: yours, or for administrators everybody's",
     .options = {{"--user", "NAME", "only changes by this user"},
                 {"--target", "WHAT", "only changes to this ID or name"},
                 {"--limit", "N", "at most N (50)"}},
     .run = pl_command_audit},
    {.name = "server",
     .summary = "manage names of daemons, for --server NAME",
     .verbs =
         (const pl_verb[]){{"list", "", "list the names", 0, 0, pl_server_list},
                           {"add", "NAME URL", "add a name, or change it", 2, 2, pl_server_add},
                           {"remove", "SERVER", "remove a name and the token stored for it", 1, 1,
                            pl_server_remove},
                           {"default", "SERVER|none",
                            "set the server that is used without --server", 1, 1,
                            pl_server_default},
                           {0}},
     .notes =
         "Names are stored in $PLIANT_CONFIG (~/.config/pliant/config). URL is\n"
         "http://HOST:PORT, https://HOST:PORT or unix:PATH. The token lies in a file that\n"
         "only you can read: the one of --token-file, or NAME.token beside the configuration,\n"
         "which receives the token of --token or, with --token-file -, the standard input.",
     .options = {{"--token-file", "FILE", "add: file with its token; - is the standard input"}}},
    {.name = "login",
     .arguments = "",
     .summary = "print a link that logs a browser in, once, within five minutes",
     .run = pl_command_login},
    {.name = "whoami",
     .arguments = "",
     .summary = "show your user, scopes, limits and usage",
     .run = pl_command_whoami},
    {.name = "webhook-secret",
     .arguments = "",
     .summary = "print the key that signs your sessions' webhooks",
     .run = pl_command_webhook_secret},
    {.name = "schema",
     .arguments = "",
     .summary = "print the JSON Schema of scenes, for editors",
     .run = pl_command_schema},
    {.name = "explain",
     .arguments = "CODE",
     .summary = "explain a problem code, such as no_such_mesh, and what to do",
     .least = 1,
     .most = 1,
     .run = pl_command_explain},
    {.name = "capabilities",
     .arguments = "[WORD...]",
     .summary = "list every parameter with unit, range and default, and the daemon's limits",
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "With words, lists only the parameters that contain all of them, without a daemon. The\n"
         "first word may name a table: `pliant capabilities material damping`.",
     .run = pl_command_capabilities},
    {.name = "completion",
     .arguments = "bash|zsh|fish",
     .summary = "print a shell script that completes commands, options, IDs and names",
     .least = 1,
     .most = 1,
     .notes = "bash   source <(pliant completion bash), in ~/.bashrc\n"
              "zsh    source <(pliant completion zsh), in ~/.zshrc after compinit\n"
              "fish   pliant completion fish > ~/.config/fish/completions/pliant.fish",
     .run = pl_command_completion},
    {.name = "version",
     .arguments = "",
     .summary = "print the versions of this program and of the daemon",
     .run = pl_command_version},
    {.name = NULL},
};
