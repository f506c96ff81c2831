#include "server/api/replies.h"

#define STATES "checking,queued,running,paused,succeeded,failed,rejected,cancelled"

static const pl_reply_field session_fields[] = {
    {"id", "string", "32 hex digits"},
    {"name", "string", "display name"},
    {"state", "=" STATES, "state; the last four are final"},
    {"reason", "string", "reason for the state, as a word"},
    {"message", "string", "reason for the state, as a sentence"},
    {"since", "string", "time when the state began, RFC 3339"},
    {"desired", "=paused,cancelled,deleted?", "pending request, not yet carried out"},
    {"paused", "#Paused?", "cause of the pause"},
    {"stalled", "#Stalled?", "stall of its worker; null: it makes progress, or does not run"},
    {"created", "string", "RFC 3339"},
    {"owner", "string", "the user who submitted it"},
    {"group", "string?", "group whose members share it"},
    {"priority", "integer", "-100 to 100; higher ones start first"},
    {"revision", "integer", "number of changes of name, labels, ...; the ETag"},
    {"labels", "{}string", "labels to find it by"},
    {"metadata?", "object", "data of the user; not in lists"},
    {"webhook", "#Webhook?", "webhook called when it ends"},
    {"retention", "#KeptFrames", "retention, from the scene or the last PATCH"},
    {"attempt", "integer", "number of workers so far"},
    {"progress", "#Progress", "progress"},
    {"queue", "#QueuePlace", "place in the queue"},
    {"resources", "#Resources", "CPU cores and GPU in use"},
    {"failure", "#Failure?", "cause, if it failed or was rejected"},
    {"warnings", "[]#Warning", "warnings of the check, then of its frames so far"},
    {"bodies", "[]#Body", "bodies, known after the check"},
    {"links", "{}string", "URLs of its parts"},
    {0},
};
static const pl_reply_field stalled_fields[] = {
    {"since", "string", "time of its last progress, RFC 3339"},
    {"why", "=stopped,disk,idle",
     "stopped by a signal; waiting for the disk or another device; or using no processor time"},
    {0},
};
static const pl_reply_field webhook_fields[] = {
    {"url", "string?",
     "URL that receives a POST when the session ends; null for viewers and in events"},
    {"status", "=waiting,delivered,failed?", "null before the end"},
    {"message", "string", "result of the last try"},
    {0},
};
static const pl_reply_field kept_fields[] = {
    {"last", "integer?", "number of newest frames kept; null: as the scene says"},
    {"every", "integer?", "keep every n-th older frame; 0 keeps none (or all, if last is 0)"},
    {"days", "number", "days until it is removed after its end; 0: never"},
    {0},
};
static const pl_reply_field webhook_secret_fields[] = {
    {"secret", "string", "key of Pliant-Signature: the text of 64 hex digits itself"},
    {0},
};
static const pl_reply_field branch_request_fields[] = {
    {"frame?", "integer", "frame to start from; default: the newest"},
    {"snapshot?", "string", "snapshot to start from, instead of frame"},
    {"scene?", "object", "a merge patch (RFC 7396) on the session's scene"},
    {0},
};
static const pl_reply_field snapshot_fields[] = {
    {"name", "string", "name of the snapshot"},
    {"session", "string", "ID of the session"},
    {"frame", "integer", "frame of the snapshot"},
    {"checkpoint", "integer?", "frame of its checkpoint; null: the start of the session"},
    {"bytes", "integer", "bytes it uses; they count towards the session's"},
    {"class", "string", "numerics class of the checkpoint; empty without one"},
    {"created", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field snapshot_request_fields[] = {
    {"name", "string", "at most 64 letters and digits; . _ - also after the first"},
    {"frame?", "integer", "frame to keep; default: the newest"},
    {0},
};
static const pl_reply_field snapshot_list_fields[] = {
    {"items", "[]#Snapshot", "by name"},
    {"next", "string?", "null: the list is complete"},
    {0},
};
static const pl_reply_field session_file_fields[] = {
    {"name", "string", "path relative to the session's directory"},
    {"bytes", "integer", "its size"},
    {"modified", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field session_files_fields[] = {
    {"items", "[]#SessionFile", "by name"},
    {"next", "string?", "null: the list is complete"},
    {"bytes", "integer", "sum of the sizes; meshes may be shared with other sessions"},
    {0},
};
static const pl_reply_field control_fields[] = {
    {"control_id", "integer",
     "number of the control, from 1; metrics of affected frames have the number of the newest "
     "control in effect"},
    {"session", "string", "ID of the session"},
    {"state", "=" STATES, "state of the session"},
    {"frame", "integer?", "last readable frame; the control affects only later ones"},
    {0},
};
static const pl_reply_field controlled_fields[] = {
    {"control_id", "integer", "number of the control"},
    {"control", "object", "control as it was sent"},
    {"frame", "integer?", "first frame it affects; null: none yet"},
    {0},
};
static const pl_reply_field control_list_fields[] = {
    {"items", "[]#Controlled", "oldest first"},
    {"next", "integer?", "cursor of the next page"},
    {0},
};
static const pl_reply_field step_fields[] = {
    {"until", "integer", "frame at which it pauses"},
    {"session", "string", "ID of the session"},
    {"state", "=" STATES, "state of the session"},
    {"frame", "integer?", "last readable frame"},
    {0},
};
static const pl_reply_field paused_fields[] = {
    {"by", "string", "user, disk, priority or admin"},
    {0},
};
static const pl_reply_field progress_fields[] = {
    {"frame", "integer?", "last readable frame; null before the first"},
    {"frames", "integer?", "last frame of the run; null: it runs until it is cancelled"},
    {"rate", "number?", "simulated seconds per second, recently, while it runs; 1 is real time"},
    {"time", "number", "simulated time, s"},
    {0},
};
static const pl_reply_field queue_place_fields[] = {
    {"position", "integer", "place from 1; 0: not waiting for one"},
    {"reason", "string", "reason for waiting"},
    {"code", "string?",
     "the reason as a word: starts draining after restarts user_cores no_gpu gpu_memory turn cores "
     "memory reserved disk_full batch"},
    {"estimated_start", "string?",
     "RFC 3339; null where it is not known, or when the session does not wait"},
    {0},
};
static const pl_reply_field resources_fields[] = {
    {"cores", "integer", "cores that the running worker has now, else the fewest"},
    {"range", "string?", "requested range of cores, as \"1-4\"; null: a number was requested"},
    {"cpus", "string?", "CPUs that its worker runs on, as \"0-3\"; null: any, or it does not run"},
    {"preemptible", "boolean", "may be stopped at a checkpoint for another session"},
    {"executor", "string", "local, or the name of the batch system that runs it"},
    {"job", "string?", "id of its job in the batch system; null: none"},
    {"after", "[]string", "sessions whose end it waits for"},
    {"gpu", "string?", "UUID of its current or last GPU"},
    {"gpu_memory?", "integer", "bytes of GPU memory reserved for the session"},
    {"memory", "integer", "bytes, requested or estimated"},
    {"time_limit", "number?", "s"},
    {0},
};
static const pl_reply_field failure_fields[] = {
    {"code", "string", "kind, as a word, such as not_converged or intersection"},
    {"message", "string", "description"},
    {"advice?", "string", "advice"},
    {"step?", "integer?", "time step"},
    {"frame?", "integer?", "last good frame"},
    {"body?", "integer?", "index of the body in the scene"},
    {"element?", "integer?", "element of the body"},
    {"vertex?", "integer?", "vertex of the body"},
    {"signal?", "integer?", "signal that ended the worker"},
    {"restarts?", "integer", "number of restarts"},
    {"log?", "string?", "end of the worker's log"},
    {"faults?", "[]#Fault", "faults found by a check that outlasted its request"},
    {0},
};
static const pl_reply_field warning_fields[] = {
    {"code",
     "=unconverged,inverted,energy_gained,penetration,overlap,close_start,start_inside,"
     "thin_obstacle,stiff_step,few_elements,odd_size",
     "kind of the warning; the first four come from the frames of the run"},
    {"detail", "string", "a sentence with numbers and advice"},
    {"count", "integer", "number of frames of a run, vertices of start_inside, else bodies"},
    {"of", "integer", "total number of them"},
    {0},
};
static const pl_reply_field body_fields[] = {
    {"name", "string", "name in the scene"},
    {"vertices", "integer", "number of vertices"},
    {"first_vertex", "integer", "index of its first vertex in each frame"},
    {"tets", "integer", "number of tetrahedra"},
    {0},
};
static const pl_reply_field session_list_fields[] = {
    {"items", "[]#Session", "newest first"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field topology_fields[] = {
    {"format", "integer", "1"},
    {"vertices", "integer", "vertices of all bodies"},
    {"bodies", "[]object", "name, first_vertex, vertices, tets; triangles and edges to draw"},
    {"obstacles", "[]object",
     "obstacles of the effective scene, with the surfaces of files written out"},
    {"obstacle_surfaces", "[]any",
     "triangles of each obstacle at time 0: inside, center, vertices, triangles; null for a plane"},
    {"pins", "[]object", "name, body, number of vertices, and their indices (`at`, up to 10,000)"},
    {"expect", "[]any", "vertices of the expectations"},
    {"arrays", "object", "files for ?array="},
    {0},
};
static const pl_reply_field event_fields[] = {
    {"seq", "integer", "ascending number, also across restarts of the daemon"},
    {"time", "string", "RFC 3339"},
    {"event", "=created,state,changed,deleted", "kind of the event"},
    {"session", "#Session", "session at that time"},
    {0},
};
static const pl_reply_field event_list_fields[] = {
    {"items", "[]#Event", "oldest first"},
    {"next", "integer", "value for ?since="},
    {"missed", "boolean", "true if events were dropped: read the sessions again"},
    {0},
};

/* One per line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_replies_of_sessions[] = {
    {"Session", "A session.", session_fields},
    {"Webhook", "A webhook called when a session ends.", webhook_fields},
    {"KeptFrames", "Frames to keep, and days until a session is removed.", kept_fields},
    {"WebhookSecret", "The key that signs your webhooks.", webhook_secret_fields},
    {"Paused", "The cause of a pause.", paused_fields},
    {"Stalled", "Start and cause of a running session's stall.", stalled_fields},
    {"Progress", "Progress of a session.", progress_fields},
    {"QueuePlace", "A session's place in the queue.", queue_place_fields},
    {"Resources", "CPU cores and GPU of a session.", resources_fields},
    {"Failure", "The cause of a failure.", failure_fields},
    {"Body", "A body's place in the frames.", body_fields},
    {"Warning", "A warning about the results of a session.", warning_fields},
    {"SessionList", "A page of sessions.", session_list_fields},
    {"Topology", "Bodies, obstacles and triangles to draw.", topology_fields},
    {"Event", "An event of a session.", event_fields},
    {"EventList", "A list of events.", event_list_fields},
    {"Control", "An accepted control.", control_fields},
    {"Controlled", "A control and its first frame.", controlled_fields},
    {"ControlList", "A page of controls.", control_list_fields},
    {"BranchRequest", "Start of a branch, and changes of its scene.", branch_request_fields},
    {"ControlRequest", "Changes to make: parameters.control of GET /v1/capabilities.", NULL},
    {"Step", "An accepted step.", step_fields},
    {"Snapshot", "A named state of a session.", snapshot_fields},
    {"SnapshotRequest", "Frame and name of a new snapshot.", snapshot_request_fields},
    {"SnapshotList", "A session's snapshots.", snapshot_list_fields},
    {"SessionFile", "A file of a session's directory.", session_file_fields},
    {"SessionFiles", "The files a session keeps on disk.", session_files_fields},
    {0},
};
/* clang-format on */
