#include "clients/cli/commands/commands.h"

#include "protocol/export/export.h"

#define RANGE_OPTIONS                                                                              \
    {"--from", "K", "first frame (0)"}, {"--to", "K", "last frame (the last there is)"},           \
    {                                                                                              \
        "--every", "N", "every N-th frame (1)"                                                     \
    }

const pl_option pl_global_options[] = {
    {"--server", "URL|NAME", "the daemon ($PLIANT_SERVER, default of pliant server, STATE/url)"},
    {"--token", "T", "token (the named server's, $PLIANT_TOKEN, $PLIANT_TOKEN_FILE, STATE/token)"},
    {"--state", "DIR", "a daemon's state directory on this machine (~/.local/state/pliant)"},
    {"--json", NULL, "machine-readable output"},
    {"--help", NULL, "also after a command"},
    {"--man", NULL, "the manual page: pliant --man | man -l -"},
    {"--version", NULL, "this program's version"},
    {NULL, NULL, NULL},
};

const char pl_help_end[] =
    "An ID may be shortened to a beginning that only one session has.\n"
    "\nexit status: 0 done, and the session succeeded where one was followed;\n"
    "  1 it failed or was refused; 2 wrong command line; 3 no daemon reached;\n"
    "  4 not authorised; 5 no such session; 6 the session was cancelled or deleted;\n"
    "  7 a file here could not be read or written; 130 interrupted (Ctrl-C)\n";

const pl_command pl_commands[] = {
    {.name = "run",
     .arguments = "SCENE.json --out DIR | --resume --out DIR",
     .summary = "simulate here, with no daemon",
     .least = 0,
     .most = 1,
     .notes =
         "DIR becomes a session directory, which export, plot, frames and metrics read in\n"
         "place of an id. Mesh files are named as {\"file\": \"bunny.msh\"} in the scene.\n"
         "Ctrl-C stops the run at a checkpoint, from which --resume goes on, as it does after\n"
         "a crash; the frames are those of a run that was never interrupted.",
     .options = {{"--out", "DIR", "the session directory to make"},
                 {"--resume", NULL, "go on with an interrupted run in DIR; takes no scene"},
                 {"--threads", "N", "threads of the solver (the scene's resources.cores)"},
                 {"--gpu", "UUID", "the GPU for a scene that asks for one (the emptiest)"},
                 {"--gpu-plugin", "FILE", "what runs on it (libpliant_cuda.so beside pliant)"},
                 {"--quick", NULL,
                  "the scene's short form: with its \"metadata\": {\"quick\"} merged"},
                 {"--check", NULL, "then judge the scene's \"expect\", as check does"},
                 {"--strict", NULL, "exit with 1 where there are warnings, too"},
                 {"--force", NULL, "replace what an earlier run left in DIR"}},
     .run = pl_command_run},
    {.name = "submit",
     .arguments = "SCENE.json",
     .summary = "hand a scene to the daemon",
     .least = 1,
     .most = 1,
     .notes =
         "Prints the session's id. Mesh files named in the scene, {\"file\": \"bunny.msh\"} or\n"
         "{\"file\": \"a.node\"} with a.ele beside it, are uploaded where the daemon does not\n"
         "have them yet; their paths count from the scene file. SCENE.json may be '-'.",
     .options = {{"--follow", NULL, "show its progress until it ends"},
                 {"--detach", NULL, "return at once (as without --follow)"},
                 {"--strict", NULL,
                  "exit with 1 where there are warnings, too: the check's, or with --follow all"},
                 {"--group", "NAME", "give it to a group of yours, whose members see it"},
                 {"--idempotency-key", "K", "repeating the command with K submits only once"}},
     .run = pl_command_submit},
    {.name = "list",
     .arguments = "",
     .summary = "sessions, newest first",
     .most = 0,
     .options = {{"--state", "STATE", "only those that are queued, running, paused, ..."},
                 {"--label", "K=V,...", "only those with these labels; K alone: with any value"},
                 {"--name", "TEXT", "only those whose name contains TEXT"},
                 {"--owner", "USER", "only those of one owner"},
                 {"--limit", "N", "at most N (50)"}},
     .run = pl_command_list},
    {.name = "show",
     .arguments = "ID",
     .summary = "one session",
     .least = 1,
     .most = 1,
     .run = pl_command_show},
    {.name = "follow",
     .arguments = "ID",
     .summary = "show a session's progress until it ends",
     .least = 1,
     .most = 1,
     .notes = "Ctrl-C stops the display, never the session. A lost connection is taken up again\n"
              "by itself.",
     .options = {{"--from", "K", "first frame whose metrics are wanted (0)"},
                 {"--strict", NULL, "exit with 1 where there are warnings, too"}},
     .run = pl_command_follow},
    {.name = "watch",
     .arguments = "[ID...]",
     .summary = "a live table of sessions: state, frame, rate, time left, residuals",
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "Of all that you may see, or of some; those end it when all of them have ended. q or\n"
         "Ctrl-C quits and touches no session. Where the output is no terminal the table is\n"
         "printed again and again, with --json as a line.",
     .options = {{"--interval", "S", "seconds between two looks (1; 10 where it is no terminal)"},
                 {"--once", NULL, "print the table once"}},
     .run = pl_command_watch},
    {.name = "frames",
     .arguments = "ID|DIR",
     .summary = "a session's frames: list them, or write them to files",
     .least = 1,
     .most = 1,
     .options = {RANGE_OPTIONS,
                 {"--follow", NULL, "wait for frames until the session ends (ID only)"},
                 {"--out", "DIR", "one frame_000012.npy a frame: float32 (vertices, 3)"},
                 {"--raw", "FILE",
                  "the stream's records as they come, going on after a cut (ID only); with it:"},
                 {"--dtype", "f32|f64|u16", "of the values (as stored)"},
                 {"--vertices", "all|surface", "which vertices (all)"},
                 {"--fields", "F", "position, velocity, stress or several with commas (as stored)"},
                 {"--max-fps", "N", "at most so many frames a second"},
                 {"--latest", NULL, "skip to the newest"}},
     .run = pl_command_frames},
    {.name = "metrics",
     .arguments = "ID|DIR",
     .summary = "residuals, energies and times of each frame as lines of JSON",
     .least = 1,
     .most = 1,
     .options = {{"--from", "K", "first frame (0)"},
                 {"--follow", NULL, "wait for more until the session ends (ID only)"},
                 {"--buckets", "N", "so many pieces: of each number the least and the greatest"}},
     .run = pl_command_metrics},
    {.name = "events",
     .arguments = "[ID]",
     .summary = "what happens to sessions, or to one, as it happens",
     .most = 1,
     .notes = "Until Ctrl-C, or until the session is deleted. With --json a line each.",
     .options = {{"--since", "SEQ", "what came after this event (now)"},
                 {"--once", NULL, "what there is, without waiting"}},
     .run = pl_command_events},
    {.name = "probes",
     .arguments = "ID",
     .summary = "what a scene's output.probes showed, as CSV: a row a frame",
     .least = 1,
     .most = 1,
     .notes = "With --json lines of JSON in its place.",
     .options = {{"--from", "K", "first frame (0)"}},
     .run = pl_command_probes},
    {.name = "plot",
     .arguments = "ID|DIR",
     .summary = "draw metrics over frames in the terminal",
     .least = 1,
     .most = 1,
     .options = {{"--what", "NAMES",
                  "residuals (default), energies, time, or names of metrics "
                  "such as objective,energy/kinetic"},
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
     "mp4, webm, gif  the same of as many frames as fit --fps and --speed, by ffmpeg, which "
     "has\n"
     "     to be installed. The camera stands still",
     .options = {{"--format", PL_EXPORT_BARS "png|mp4|webm|gif",
                  "told from PATH's ending where left out"},
                 {"--out", "PATH", "the file; of vtu and obj how the files' names begin"},
                 RANGE_OPTIONS,
                 {"--body", "NAME", "this body alone; not of csv and pictures"},
                 {"--surface", NULL, "what is drawn alone: triangles and ropes, no tetrahedra"},
                 {"--frame", "K|last", "png: the frame to draw (last)"},
                 {"--size", "WxH", "pixels (1280x800; films: 960x600)"},
                 {"--azimuth", "DEG", "camera about the vertical (32)"},
                 {"--elevation", "DEG", "camera above the horizon (20)"},
                 {"--fps", "N", "films: pictures a second (30; gif: 20)"},
                 {"--speed", "X", "films: simulated seconds in one of the film (1)"}},
     .run = pl_command_export},
    {.name = "check",
     .arguments = "DIR|ID...",
     .summary = "whether a session shows what its scene's \"expect\" states",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "Prints each expectation with what the stored frames and metrics have. Exit status 0\n"
         "only where the session succeeded, there are expectations and all of them hold.",
     .run = pl_command_check},
    {.name = "compare",
     .arguments = "SCENE.json|DIR|ID --methods A,B,...",
     .summary = "several methods on one frame from the same state: error against work",
     .least = 1,
     .most = 1,
     .notes =
         "The scene's own method makes the frames before; then each method makes frame K with\n"
         "every iteration recorded. Prints, and with --out draws, the error of the objective\n"
         "relative to its minimum against iterations and time. The minimum is newton's where it\n"
         "can carry the scene, else the best of a long run. A method takes options of the scene's\n"
         "solver: --methods admm,admm:weight_scale=1,quasi_newton:window=16. What can not carry\n"
         "the scene is named with the reason and left out. Times are of a run that records\n"
         "nothing.",
     .options = {{"--methods", "A,B,...", "methods and their options (all there are)"},
                 {"--frame", "K", "the frame (1)"},
                 {"--iterations", "N", "of each method (100)"},
                 {"--threads", "N", "threads of the solver (the scene's resources.cores)"},
                 {"--gpu", "UUID", "the GPU for methods that ask for one; auto: the emptiest"},
                 {"--gpu-plugin", "FILE", "what runs on it (libpliant_cuda.so beside pliant)"},
                 {"--out", "DIR", "write compare.svg, compare.csv and compare.json there"}},
     .run = pl_command_compare},
    {.name = "curve",
     .arguments = "MATERIAL...",
     .summary = "force against stretch of materials, measured on a cube",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "MATERIAL is a model's name, a file with a material's JSON object, SCENE.json (each of "
         "its\n"
         "materials) or SCENE.json:NAME. A cube is stretched quasi-statically between two faces\n"
         "whose vertices are free in their planes; the force on them is drawn per rest area.",
     .options = {{"--from", "S", "smallest stretch (0.6)"},
                 {"--to", "S", "largest stretch (1.8)"},
                 {"--points", "N", "steps from one to the other (48)"},
                 {"--out", "DIR", "write curve.svg and curve.csv there"}},
     .run = pl_command_curve},
    {.name = "verify",
     .arguments = "DIR|ID",
     .summary = "check every file of a session for damage",
     .least = 1,
     .most = 1,
     .notes =
         "Holds seals, checksums, hashes and every record of the log against the files; says of\n"
         "each damage where it is, what can still be read, and what to do. Exit status 0: clean,\n"
         "1: damaged. An ID is looked up in the state directory (--state), with no daemon.",
     .options = {{"--repair", NULL, "first write head.json and indices again from the log"},
                 {"--replay", NULL,
                  "then compute the session once more, with the controls that it had, and compare "
                  "every frame to the bit"}},
     .run = pl_command_verify},
    {.name = "mesh",
     .arguments = "info|quality|convert|tetrahedralise FILE",
     .summary = "look at a mesh file, write it in another format, fill a surface with tetrahedra",
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
         "Reads every format that a scene may name; a .node file with the .ele file beside it. No\n"
         "daemon is asked.",
     .options =
         {{"--out", "FILE", "what to write; it appears whole"},
          {"--with", "PROGRAM", "tetrahedralise: tetgen or gmsh (tetgen where it is installed)"},
          {"--volume", "V",
           "tetrahedralise: no tetrahedron above V m^3 (no limit); gmsh: no edge longer than "
           "the regular one's"},
          {"--quality", "Q",
           "tetrahedralise, tetgen: radius of the sphere through a tetrahedron's "
           "corners by its shortest edge, at most (1.414)"},
          {"--limit", "S", "tetrahedralise: at most so many seconds (300)"}},
     .run = pl_command_mesh},
    {.name = "control",
     .arguments = "ID CONTROL",
     .summary = "change what a session computes, from its next frame on",
     .least = 2,
     .most = 2,
     .notes =
         "CONTROL is JSON, or a file with it (- is standard input): a fragment of a scene, of "
         "what\n"
         "the session's scene has by name:\n"
         "  {\"gravity\": [0, -1, 0]}\n"
         "  {\"pins\": [{\"name\": \"hand\", \"motion\": {\"velocity\": [0, 0, 1]}}]}\n"
         "  {\"obstacles\": [{\"name\": \"plate\", \"motion\": {\"keyframes\":\n"
         "    [{\"time\": 0.5, \"translate\": [0, -0.2, 0]}]}}]}\n"
         "  {\"forces\": [{\"name\": \"wind\", \"velocity\": [5, 0, 0]}]}\n"
         "  {\"materials\": [{\"name\": \"rubber\", \"young\": 2e5}]}\n"
         "Motions go on from where things are; keyframes' times count from then. A control is on\n"
         "the disk before the command returns, and a frame's metrics name the last in effect.",
     .run = pl_command_control},
    {.name = "branch",
     .arguments = "ID [PATCH]",
     .summary = "a session that begins where another one was at a frame, with an edited scene",
     .least = 1,
     .most = 2,
     .notes =
         "PATCH is a merge patch (RFC 7396) on the session's scene, JSON or a file with it:\n"
         "  {\"name\": \"softer\", \"materials\": {\"rubber\": {\"young\": 5e4}}}\n"
         "Its bodies, time step and distance of frames stay. Frame 0 of the branch is that frame,\n"
         "computed once more; the id of the branch is printed.",
     .options = {{"--frame", "K", "where it begins (the newest)"},
                 {"--snapshot", "NAME", "the same by a snapshot's name"}},
     .run = pl_command_branch},
    {.name = "snapshot",
     .arguments = "ID [NAME]",
     .summary = "keep a session's state by name; without NAME list those that are kept",
     .least = 1,
     .most = 2,
     .notes = "pliant branch ID --snapshot NAME begins a session there, also when retention has "
              "taken\n"
              "the frame. A snapshot's bytes count as the session's.",
     .options = {{"--frame", "K", "of this frame (the newest)"}, {"--delete", NULL, "remove it"}},
     .run = pl_command_snapshot},
    {.name = "controls",
     .arguments = "ID",
     .summary = "the controls that a session had, and the frame that each was first in effect in",
     .least = 1,
     .most = 1,
     .run = pl_command_controls},
    {.name = "step",
     .arguments = "ID...",
     .summary = "let sessions go on for a frame, and pause",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .options = {{"--frames", "N", "so many frames (1)"}},
     .run = pl_command_step},
    {.name = "pause",
     .arguments = "ID...",
     .summary = "stop sessions at a checkpoint; their cores are free meanwhile",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .notes = "A paused session keeps its frames and whoever follows it; resume goes on with it.",
     .run = pl_command_pause},
    {.name = "resume",
     .arguments = "ID...",
     .summary = "queue paused sessions again; they go on where they were",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_resume},
    {.name = "cancel",
     .arguments = "ID...",
     .summary = "end sessions; their frames stay",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_cancel},
    {.name = "edit",
     .arguments = "ID...",
     .summary = "change a session's name, labels, priority, webhook or retention",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .options = {{"--name", "TEXT", "what it is called"},
                 {"--label", "K=V,...", "set labels; K= takes one away"},
                 {"--priority", "N", "-100 to 100; of those that wait a higher one starts first"},
                 {"--webhook", "URL", "is sent a signed POST when it has ended; none: nobody is"},
                 {"--keep", "last=N,every=N,days=N",
                  "which frames are kept, and the session after its end; all: everything"},
                 {"--prune", NULL, "though frames that are there go by that"}},
     .run = pl_command_edit},
    {.name = "queue",
     .arguments = "",
     .summary = "what runs, what waits and why",
     .run = pl_command_queue},
    {.name = "meshes",
     .arguments = "",
     .summary = "mesh files that you have uploaded",
     .options = {{"--delete", "HASH", "let go of one; sessions that use it keep it"}},
     .run = pl_command_meshes},
    {.name = "delete",
     .arguments = "ID...",
     .summary = "end sessions and remove their data",
     .least = 1,
     .most = PL_ARGUMENTS_MAX,
     .run = pl_command_delete},
    {.name = "validate",
     .arguments = "SCENE.json",
     .summary = "every fault of a scene, without submitting it",
     .least = 1,
     .most = 1,
     .notes = "Mesh files named in the scene are uploaded, so that they are checked as well.",
     .run = pl_command_validate},
    {.name = "topology",
     .arguments = "ID",
     .summary = "what to draw: bodies and their triangles, as JSON",
     .least = 1,
     .most = 1,
     .run = pl_command_topology},
    {.name = "log",
     .arguments = "ID",
     .summary = "what a session's worker said",
     .least = 1,
     .most = 1,
     .run = pl_command_log},
    {.name = "scene",
     .arguments = "ID",
     .summary = "a session's scene",
     .least = 1,
     .most = 1,
     .options = {{"--effective", NULL, "with every default filled in"}},
     .run = pl_command_scene},
    {.name = "share",
     .arguments = "ID",
     .summary = "an address that shows a session to whoever has it",
     .least = 1,
     .most = 1,
     .notes = "It shows this one session, and nothing else, until it expires or is revoked.",
     .options = {{"--name", "TEXT", "to know it by"},
                 {"--expires", "TIME", "such as 12h or 30d (7d)"},
                 {"--list", NULL, "the links that there are"},
                 {"--revoke", "LINK", "revoke the one of this id"}},
     .run = pl_command_share},
    {.name = "token",
     .summary = "tokens to use the daemon with",
     .verbs = (const pl_verb[]){{"create", "", "make one and print it", 0, 0, pl_token_create},
                                {"list", "", "those that there are", 0, 0, pl_token_list},
                                {"revoke", "ID", "and those made with it", 1, 1, pl_token_revoke},
                                {0}},
     .notes =
         "A token allows no more than the one that makes it, and is revoked with it. It is "
         "printed\n"
         "once. Those of other users are for administrators; so is pliantd token on the machine.",
     .options = {{"--name", "TEXT", "to know it by"},
                 {"--scopes", "LIST", "of read, submit, admin, metrics (read,submit)"},
                 {"--expires", "TIME", "such as 12h, 30d, never (90d)"},
                 {"--user", "NAME", "whose it is to be (yours)"}}},
    {.name = "user",
     .summary = "users of the daemon, for administrators",
     .verbs = (const pl_verb[]){{"list", "", "those that there are, with their limits", 0, 0,
                                 pl_user_list},
                                {"create", "NAME", "make one; pliant token create --user NAME then",
                                 1, 1, pl_user_create},
                                {"change", "NAME", "limits or uid", 1, 1, pl_user_change},
                                {"disable", "NAME", "refuse their tokens", 1, 1, pl_user_disable},
                                {"enable", "NAME", "take them again", 1, 1, pl_user_enable},
                                {"remove", "NAME", "one who has no sessions", 1, 1, pl_user_remove},
                                {0}},
     .notes =
         "Limits: sessions (not ended), queued, cores (running), bytes, mesh_bytes, requests (a\n"
         "second); none: the daemon's own. pliantd user does the same on its machine.",
     .options = {{"--limit", "NAME=N,...", "create, change: what they may have"},
                 {"--uid", "N", "create, change: their uid at a unix socket"}}},
    {.name = "group",
     .summary = "groups, whose members share sessions, for administrators",
     .verbs =
         (const pl_verb[]){
             {"list", "", "those that there are, with their members", 0, 0, pl_group_list},
             {"create", "NAME", "make one", 1, 1, pl_group_create},
             {"add", "GROUP USER", "a member, or another role", 2, 2, pl_group_add},
             {"drop", "GROUP USER", "a member no more", 2, 2, pl_group_drop},
             {"remove", "NAME", "one that has no sessions", 1, 1, pl_group_remove},
             {0}},
     .options = {{"--role", "view|manage",
                  "add: what they may do with the group's sessions (view)"}}},
    {.name = "devices",
     .summary = "what sessions run on, and what is free of it",
     .verbs =
         (const pl_verb[]){
             {"list", "", "cores and GPUs", 0, 0, pl_devices_list},
             {"drain", "DEVICE", "start nothing more there", 1, 1, pl_devices_drain},
             {"resume", "DEVICE", "start sessions there again", 1, 1, pl_devices_resume},
             {0}}},
    {.name = "audit",
     .arguments = "",
     .summary = "who changed what, newest first: you, or for administrators everybody",
     .options = {{"--user", "NAME", "only what this user did"},
                 {"--target", "WHAT", "only what was done to this: an id, a name"},
                 {"--limit", "N", "at most N (50)"}},
     .run = pl_command_audit},
    {.name = "server",
     .summary = "daemons by name, for --server NAME",
     .verbs =
         (const pl_verb[]){{"list", "", "those that there are", 0, 0, pl_server_list},
                           {"add", "NAME URL", "name one, or change it", 2, 2, pl_server_add},
                           {"remove", "SERVER", "forget one, and the token that was written for it",
                            1, 1, pl_server_remove},
                           {"default", "SERVER|none", "the one that is meant where none is said", 1,
                            1, pl_server_default},
                           {0}},
     .notes = "They stand in $PLIANT_CONFIG (~/.config/pliant/config). URL is http://HOST:PORT,\n"
              "https://HOST:PORT or unix:PATH. The token is in a file that only you may read: one\n"
              "that is there (--token-file), or NAME.token beside the configuration with what\n"
              "--token, or standard input for --token-file -, says.",
     .options = {{"--token-file", "FILE", "add: where its token is; - is standard input"}}},
    {.name = "login",
     .arguments = "",
     .summary = "an address that logs a browser in, once, within five minutes",
     .run = pl_command_login},
    {.name = "whoami",
     .arguments = "",
     .summary = "who the daemon takes you for, and what you use and may use",
     .run = pl_command_whoami},
    {.name = "webhook-secret",
     .arguments = "",
     .summary = "the key that your sessions' webhooks are signed with",
     .run = pl_command_webhook_secret},
    {.name = "schema",
     .arguments = "",
     .summary = "the JSON Schema of scenes, for editors",
     .run = pl_command_schema},
    {.name = "explain",
     .arguments = "CODE",
     .summary = "what a problem means and what to do, such as no_such_mesh",
     .least = 1,
     .most = 1,
     .run = pl_command_explain},
    {.name = "capabilities",
     .arguments = "[WORD...]",
     .summary = "what the daemon can do, every parameter with unit, range and default",
     .most = PL_ARGUMENTS_MAX,
     .notes =
         "With words only the parameters that have all of them, and no daemon is asked: the first\n"
         "may be a table. `pliant capabilities material damping`, `pliant capabilities fiber`.",
     .run = pl_command_capabilities},
    {.name = "completion",
     .arguments = "bash|zsh|fish",
     .summary = "what makes a shell complete commands, options, ids and names",
     .least = 1,
     .most = 1,
     .notes = "bash   source <(pliant completion bash), in ~/.bashrc\n"
              "zsh    source <(pliant completion zsh), in ~/.zshrc after compinit\n"
              "fish   pliant completion fish > ~/.config/fish/completions/pliant.fish",
     .run = pl_command_completion},
    {.name = "version",
     .arguments = "",
     .summary = "versions of this program and of the daemon",
     .run = pl_command_version},
    {.name = NULL},
};
