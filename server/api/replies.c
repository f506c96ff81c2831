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
static const pl_reply_field sweep_request_fields[] = {
    {"name?", "string", "display name"},
    {"scene", "#Scene", "scene of every run, with a value at each path that varies"},
    {"parameters?", "[]#SweepParameter", "1 to 32 values that vary"},
    {"sampling?", "=grid,random,latin_hypercube,sobol",
     "grid (default): every combination; else `samples` points"},
    {"samples?", "integer", "number of points, at most 10000"},
    {"seed?", "integer", "the same seed gives the same rows on every machine; default: 0"},
    {"csv?", "string", "instead of parameters: a line of paths, then a line for each run"},
    {"running?", "integer", "runs queued or running at once, 1 to 64; default: 4"},
    {"results?", "[]#SweepResult", "numbers of each run that the table shows, at most 32"},
    {"stop?", "#SweepStop", "start no further row after a run with such a result"},
    {"stop_runs?", "#RunStop", "end a run early when one of its records is past the bound"},
    {"fit?", "#Fit", "search for parameter values with which runs match measurements"},
    {0},
};
static const pl_reply_field fit_fields[] = {
    {"measured", "[]#FitSeries", "1 to 16 series, at most 5000 points together"},
    {"method?", "=bobyqa,cobyla,nelder_mead,subplex,direct",
     "default: bobyqa, or cobyla for one parameter"},
    {"evaluations?", "integer",
     "maximum number of runs, with the samples, 1 to 1000; default: 200"},
    {"tolerance?", "number",
     "converged when all parameters change by less, as a fraction of their intervals; default: "
     "1e-4"},
    {0},
};
static const pl_reply_field fit_series_fields[] = {
    {"probe?", "string", "measured quantity: one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {"against?", "#FitQuantity", "quantity of the first number of a point; default: the time"},
    {"points?", "[]any", "points [x, y]"},
    {"csv?", "string", "instead of points: two numbers in each line"},
    {"weight?", "number", "weight of the series in the misfit; default: 1"},
    {0},
};
static const pl_reply_field fit_quantity_fields[] = {
    {"probe?", "string", "one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {0},
};
static const pl_reply_field sweep_parameter_fields[] = {
    {"path", "string", "JSON pointer to a value of the scene"},
    {"name?", "string", "column of the table; default: the path without its first slash"},
    {"values?", "[]any", "values"},
    {"range?", "[]number", "first and last value, instead of values"},
    {"min?", "number", "smallest value, instead of range"},
    {"max?", "number", "largest value, with min"},
    {"count?", "integer", "number of values of a range in a grid"},
    {"scale?", "=linear,log", "spacing of an interval; default: linear"},
    {"integer?", "boolean", "round the values of an interval"},
    {0},
};
static const pl_reply_field sweep_result_fields[] = {
    {"name?", "string", "column of the table; default: derived from its other keys"},
    {"metric?", "string", "path in a metrics record, such as energy/kinetic"},
    {"probe?", "string", "name of one of output.probes, instead of metric"},
    {"expect?", "any",
     "name of one of the scene's expectations, or true for all: 1 if it holds, else 0"},
    {"at?", "=last,min,max,mean", "frames it is taken from; default: last"},
    {0},
};
static const pl_reply_field sweep_stop_fields[] = {
    {"result", "string", "name of a result"},
    {"above?", "number", "bound"},
    {"below?", "number", "bound, instead of above"},
    {0},
};
static const pl_reply_field run_stop_fields[] = {
    {"probe?", "string", "one of output.probes"},
    {"metric?", "string", "or a number of the metrics record, by its path"},
    {"above?", "number", "bound"},
    {"below?", "number", "bound, instead of above"},
    {0},
};
static const pl_reply_field sweep_column_fields[] = {
    {"name", "string", "column of the table"},
    {"path", "string", "JSON pointer into the scene"},
    {"log", "boolean", "true if its values are spaced logarithmically"},
    {0},
};
static const pl_reply_field sweep_counts_fields[] = {
    {"waiting", "integer", "rows not started"},
    {"checking", "integer", "sessions in this state; the same below"},
    {"queued", "integer", ""},
    {"running", "integer", ""},
    {"paused", "integer", ""},
    {"succeeded", "integer", ""},
    {"failed", "integer", ""},
    {"rejected", "integer", ""},
    {"cancelled", "integer", ""},
    {"skipped", "integer", "rows that will not be started"},
    {"refused", "integer", "rows for whose scene no session could be created"},
    {"deleted", "integer", "rows whose session was deleted before it ended"},
    {"stopped", "integer", "rows ended by the condition of stop_runs"},
    {0},
};
static const pl_reply_field sweep_fields[] = {
    {"id", "string", "32 hex digits"},
    {"name", "string", "display name"},
    {"state", "=running,done,cancelling,cancelled,stopped", "stopped: by the condition of stop"},
    {"message", "string", "why the next row waits, or what stopped it"},
    {"created", "string", "RFC 3339"},
    {"owner", "string", "the user who submitted it"},
    {"group", "string?", "group whose members share it and its sessions"},
    {"rows", "integer", "number of runs"},
    {"running", "integer", "maximum number of runs queued or running at once"},
    {"sampling", "=grid,random,latin_hypercube,sobol,csv", "source of the rows"},
    {"seed", "integer", "seed of the samples"},
    {"parameters", "[]#SweepColumn", "varied parameters"},
    {"results", "[]string", "names of the results"},
    {"stop", "#SweepStop?", "condition that ends it early"},
    {"stop_runs", "#RunStop?", "condition that ends a run"},
    {"counts", "#SweepCounts", "number of rows in each state"},
    {"warned", "integer", "rows that succeeded with warnings"},
    {"fit", "#FitProgress?", "search of a fit; null for other sweeps"},
    {0},
};
static const pl_reply_field fit_progress_fields[] = {
    {"method", "string", "method of NLopt"},
    {"phase", "=sampling,searching,converged,exhausted,lost",
     "exhausted: no evaluations left; lost: no run to continue from"},
    {"samples", "integer", "number of runs before the search"},
    {"ended", "integer", "number of runs that have ended"},
    {"evaluations", "integer", "maximum number of runs"},
    {"tolerance", "number", "tolerance of the parameters, as a fraction of their intervals"},
    {"points", "integer", "number of measured points"},
    {"best", "#FitBest?", "run with the smallest misfit"},
    {0},
};
static const pl_reply_field fit_best_fields[] = {
    {"row", "integer", "row of the table"},
    {"session", "string", "ID of its session"},
    {"misfit", "number", "root mean square difference, in standard deviations of the measurements"},
    {"values", "[]number", "values of the parameters, in their order"},
    {0},
};
static const pl_reply_field fit_residuals_fields[] = {
    {"row", "integer", "row of the best run"},
    {"session", "string", "ID of its session"},
    {"misfit", "number", "its misfit"},
    {"series", "[]#FitResidualSeries", "as in fit.measured"},
    {0},
};
static const pl_reply_field fit_residual_series_fields[] = {
    {"name", "string", "probe or metric"},
    {"against", "string", "time, probe or metric"},
    {"weight", "number", "weight of the series in the misfit"},
    {"points", "[]any", "[x, measured, value of the run, their difference]"},
    {0},
};
static const pl_reply_field sweep_list_fields[] = {
    {"items", "[]#Sweep", "newest first"},
    {"next", "string?", "cursor of the next page; null: the list is complete"},
    {0},
};
static const pl_reply_field sweep_row_fields[] = {
    {"row", "integer", "from 0"},
    {"session", "string?", "ID of its newest session"},
    {"state", "string", "waiting, skipped, refused, deleted, stopped, or a session's state"},
    {"tries", "integer", "number of sessions created for it"},
    {"message", "string", "why it did not succeed"},
    {"warnings", "[]#Warning", "warnings of its session, after its end"},
    {"values", "[]any", "values of the parameters, in their order"},
    {"results", "[]any", "results, in their order; null: it has not ended, or has none"},
    {0},
};
static const pl_reply_field sweep_results_fields[] = {
    {"parameters", "[]string", "names of the parameters"},
    {"results", "[]string", "names of the results"},
    {"items", "[]#SweepRow", "rows, in order"},
    {"rows", "integer", "number of rows of the sweep"},
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
static const pl_reply_field export_format_fields[] = {
    {"name", "string", "value of `format`"},
    {"media_type", "string", "media type of the file"},
    {"series", "boolean", "true if each frame is a file; a .zip holds all of them"},
    {"bodies", "boolean", "true if it supports `body` and `vertices`"},
    {0},
};
static const pl_reply_field capabilities_fields[] = {
    {"version", "string", "version of the daemon"},
    {"materials", "[]string", "models of materials"},
    {"methods", "[]string", "methods of the solver"},
    {"obstacle_methods", "{}[]string", "methods by their kind of obstacles: hard, energy"},
    {"carries", "{}object",
     "for each method, its materials, and if it supports hard constraints and contact"},
    {"integrators", "[]string", "time integrators"},
    {"devices", "[]object",
     "the CPU, then each GPU; `cores_by` and `memory_by` of the CPU say what limits them: option, "
     "machine, affinity or control_group"},
    {"exports", "[]#ExportFormat", "formats of GET /v1/sessions/{id}/export"},
    {"mesh_sources", "[]string", "sources of a body's mesh"},
    {"mesh_formats", "[]string", "formats of mesh files"},
    {"selections", "[]string", "ways to select vertices"},
    {"shapes", "[]string", "initial shapes of a body"},
    {"obstacles", "[]string", "shapes of obstacles"},
    {"limits", "{}number", "limits of this daemon"},
    {"scene_limits", "{}integer", "limits of every scene"},
    {"parameters", "{}object", "tables of parameters: each key with type, unit, range and default"},
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
static const pl_reply_field fault_fields[] = {
    {"pointer", "string", "JSON pointer into the body, or /query/KEY"},
    {"code", "string", "kind, as a word"},
    {"got", "string", "value found"},
    {"expected", "string", "value expected"},
    {"hint", "string", "advice, or empty"},
    {0},
};
static const pl_reply_field validation_fields[] = {
    {"valid", "boolean", "always true; faults are a problem reply"},
    {"estimate", "#Estimate", "cost of a run"},
    {"bodies", "[]#Body", "bodies and their sizes"},
    {"warnings", "[]#Warning", "warnings its session would start with"},
    {"remarks", "[]string", "notes on unusual but harmless properties"},
    {"geometry?", "#Geometry?", "with geometry=true; null: larger than 8 MiB"},
    {0},
};
static const pl_reply_field geometry_fields[] = {
    {"topology", "#Topology", "as for a session"},
    {"surface", "[]integer", "vertices used by drawn elements"},
    {"positions", "[]number", "their rest positions, three numbers per vertex, m"},
    {0},
};
static const pl_reply_field estimate_fields[] = {
    {"vertices", "integer", "vertices of all bodies"},
    {"tets", "integer", "tetrahedra of all bodies"},
    {"frames", "integer?", "number of the last frame; null: endless"},
    {"memory_bytes", "number", "peak memory, bytes"},
    {"gpu_memory_bytes", "number", "GPU memory without the driver's; 0 on the CPU"},
    {"setup_seconds", "number", "time before the first step, on this machine"},
    {"seconds_per_frame", "number",
     "time of a frame on one core, corrected by the measured times of such runs on this machine"},
    {"frame_bytes", "number", "size of a stored frame"},
    {"cores", "integer", "useful number of cores: the maximum that the session gets by default"},
    {0},
};
static const pl_reply_field mesh_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "size of the file"},
    {"format", "string", "format of the file"},
    {"vertices", "integer?", "null for the TetGen file without vertices"},
    {"tets", "integer?", "null for the TetGen file without elements"},
    {"triangles", "integer", "triangles of sheets"},
    {"edges", "integer", "edges of ropes"},
    {"box", "[][]number?", "smallest and largest coordinates, m"},
    {"volume", "number?", "m^3"},
    {"area?", "number", "m^2"},
    {"length?", "number", "m"},
    {"quality", "#Quality?", "quality of tetrahedra; 1 is regular"},
    {"components", "integer?", "connected parts"},
    {"tags", "[]#MeshTag", "groups that scenes may name"},
    {"fields", "[]#MeshField", "fields of element values"},
    {"repaired", "integer", "tetrahedra with reordered vertices, from negative volume"},
    {"unused", "integer", "nodes without an element"},
    {"faults", "[]#Fault", "empty for a stored file"},
    {"faults_total", "integer", "0"},
    {0},
};
static const pl_reply_field mesh_item_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "size of the file"},
    {"format", "string", "format of the file"},
    {"vertices", "integer?", "as in the upload's reply"},
    {"tets", "integer?", "as in the upload's reply"},
    {"triangles", "integer?", "as in the upload's reply"},
    {"edges", "integer?", "as in the upload's reply"},
    {"uploaded", "string", "RFC 3339"},
    {"last_used", "string", "time of the last upload or session, RFC 3339"},
    {"groups", "[]string", "your groups that hold it"},
    {"yours", "boolean", "true if you hold it yourself"},
    {0},
};
static const pl_reply_field mesh_list_fields[] = {
    {"items", "[]#MeshItem", "by hash"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field queue_fields[] = {
    {"running", "integer", "number of running sessions"},
    {"queued", "integer", "number of waiting sessions, including those that wait for a restart"},
    {"checking", "integer", "number of sessions being checked"},
    {"items", "[]#Session", "waiting sessions you can see, next first"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field device_fields[] = {
    {"device", "string", "cpu, or a GPU's UUID"},
    {"name", "string", "name of the device"},
    {"capability?", "string", "compute capability of a GPU"},
    {"cores?", "integer", "cores for sessions (CPU)"},
    {"cores_used?", "integer", "cores in use by running sessions (CPU)"},
    {"memory", "integer", "bytes"},
    {"memory_used", "integer", "bytes reserved for running sessions"},
    {"memory_others?", "integer", "bytes in use by other programs (GPU)"},
    {"sessions", "integer", "number of running sessions"},
    {"draining", "boolean", "true if no more sessions are started"},
    {"lost?", "boolean", "true if the driver no longer finds the GPU"},
    {0},
};
static const pl_reply_field device_list_fields[] = {
    {"items", "[]#Device", "all devices"},
    {"next", "string?", "always null"},
    {0},
};
static const pl_reply_field quality_fields[] = {
    {"worst", "number?", "smallest quality"},
    {"mean", "number?", "mean quality"},
    {0},
};
static const pl_reply_field mesh_tag_fields[] = {
    {"tag", "integer", "number of the group"},
    {"dimension", "integer", "dimension of its elements"},
    {"name", "string?", "name, if it has one"},
    {0},
};
static const pl_reply_field mesh_field_fields[] = {
    {"name", "string", "name for a body's fields"},
    {"components", "integer", "values per element"},
    {0},
};
static const pl_reply_field gallery_scene_fields[] = {
    {"name", "string", "name in its address"},
    {"title", "string", "name of the scene"},
    {"scene", "#Scene", "the scene itself"},
    {"links", "{}string", "addresses of the scene"},
    {0},
};
static const pl_reply_field gallery_fields[] = {
    {"items", "[]#GalleryScene", "by name"},
    {"next", "string?", "null: the list is complete"},
    {0},
};
static const pl_reply_field version_fields[] = {
    {"name", "string", "pliant"},
    {"version", "string", "version of the daemon"},
    {"api", "integer", "version of this API"},
    {"scene", "integer", "version of scenes"},
    {"record", "integer", "version of stream records"},
    {0},
};
static const pl_reply_field health_fields[] = {
    {"status", "string", "ok or ready"},
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
static const pl_reply_field me_fields[] = {
    {"user", "string", "user of the credential"},
    {"by", "string", "kind of credential"},
    {"credential", "string?", "ID of the credential"},
    {"expires", "string?", "RFC 3339"},
    {"scopes", "[]string", "scopes of the credential"},
    {"groups", "[]#Membership", "groups of the user"},
    {"limits", "#Limits", "limits of the user; null: none"},
    {0},
};
static const pl_reply_field membership_fields[] = {
    {"name", "string", "name of the group"},
    {"role", "=view,manage", "permission for its sessions"},
    {0},
};
static const pl_reply_field login_fields[] = {
    {"user", "string", "user who is logged in"},
    {"expires", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field logged_in_fields[] = {
    {"user", "string?", "user who is logged in; null: nobody"},
    {0},
};
static const pl_reply_field login_request_fields[] = {
    {"token?", "string", "token"},
    {"code?", "string", "or one-time code"},
    {0},
};
static const pl_reply_field login_code_fields[] = {
    {"code", "string", "one-time code"},
    {"url", "string", "address of the dashboard, with the code in the fragment"},
    {"expires_in", "integer", "lifetime, s"},
    {0},
};
static const pl_reply_field link_fields[] = {
    {"id", "string", "ID, for revoking it"}, {"name", "string", "display name"},
    {"created", "string", "RFC 3339"},       {"expires", "string?", "RFC 3339"},
    {"by", "string", "user who created it"}, {0},
};
static const pl_reply_field link_list_fields[] = {
    {"items", "[]#Link", "by id"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field new_link_fields[] = {
    {"id", "string", "ID, for revoking it"},
    {"secret", "string", "shown once"},
    {"url", "string", "address of the dashboard, with the secret in the fragment"},
    {"session", "string", "ID of the session it shows"},
    {"expires", "string?", "RFC 3339"},
    {0},
};
static const pl_reply_field link_request_fields[] = {
    {"name?", "string", "display name"},
    {"expires_in?", "integer", "lifetime, s, from 60 to a year; default: a week"},
    {0},
};
static const pl_reply_field link_secret_fields[] = {
    {"secret", "string", "secret from the fragment of the link"},
    {0},
};
static const pl_reply_field sign_request_fields[] = {
    {"path", "string", "path below the session, with its query, unescaped"},
    {0},
};
static const pl_reply_field signed_fields[] = {
    {"url", "string", "address for one GET"},
    {"expires_in", "integer", "lifetime, s"},
    {0},
};
static const pl_reply_field limits_fields[] = {
    {"sessions", "integer?", "sessions that have not ended"},
    {"queued", "integer?", "sessions being checked or waiting"},
    {"cores", "integer?", "cores of running sessions"},
    {"bytes", "integer?", "bytes of sessions"},
    {"mesh_bytes", "integer?", "bytes of meshes"},
    {"requests", "integer?", "requests per second; bursts may be ten times as large"},
    {"running", "integer?", "running sessions"},
    {"gpus", "integer?", "running sessions on a GPU"},
    {"share", "integer?", "share of the machine when others want it too; null: 1"},
    {0},
};
static const pl_reply_field group_limits_fields[] = {
    {"sessions", "integer?", "sessions that have not ended"},
    {"queued", "integer?", "sessions being checked or waiting"},
    {"cores", "integer?", "cores of running sessions"},
    {"bytes", "integer?", "bytes of sessions"},
    {"running", "integer?", "running sessions"},
    {"gpus", "integer?", "running sessions on a GPU"},
    {"share", "integer?", "share of the machine when others want it too; null: 1"},
    {0},
};
static const pl_reply_field usage_fields[] = {
    {"user", "string", "name of the user"},
    {"used", "#Limits", "usage, requests over about ten seconds; null: not counted"},
    {"limits", "#Limits", "limits; null: no limit"},
    {"by?", "string", "with ?by=: grouping of the items"},
    {"from?", "string", "first day counted, UTC"},
    {"to?", "string", "last day counted"},
    {"items?", "[]#UsageItem", "rows, most core-seconds or first day first"},
    {"machine?", "#UsageSum", "all users together"},
    {0},
};
static const pl_reply_field usage_item_fields[] = {
    {"user?", "string", "by=user: name of the user"},
    {"group?", "string?", "by=group: name of the group; null: without a group"},
    {"day?", "string", "by=day: a day, UTC"},
    {"core_seconds", "number", "cores times seconds of sessions that ran or run"},
    {"gpu_seconds", "number", "seconds that sessions had a GPU"},
    {"runs", "integer", "number of times a session started to run"},
    {"bytes", "integer", "bytes of sessions stored, on the last day that was sampled"},
    {0},
};
static const pl_reply_field usage_sum_fields[] = {
    {"core_seconds", "number", "cores times seconds of sessions that ran or run"},
    {"gpu_seconds", "number", "seconds that sessions had a GPU"},
    {"runs", "integer", "number of times a session started to run"},
    {"bytes", "integer", "bytes of sessions stored, on the last day that was sampled"},
    {0},
};
static const pl_reply_field usage_spans_fields[] = {
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339"},
    {"cores", "integer", "cores that sessions may use"},
    {"devices", "[]#UsageDevice", "GPUs"},
    {"items", "[]#UsageSpan",
     "runs of sessions you can see, by start; a run across midnight (UTC) is one item per day"},
    {"others", "[]#UsageOthers", "all other sessions together, if any"},
    {"truncated", "boolean", "true if the oldest runs are omitted: there are more than 5,000"},
    {0},
};
static const pl_reply_field usage_device_fields[] = {
    {"uuid", "string", "UUID of the GPU"},
    {"name", "string", "name of the GPU"},
    {0},
};
static const pl_reply_field usage_span_fields[] = {
    {"session", "string", "ID of the session"},
    {"name", "string?", "name of the session; null: it was deleted"},
    {"user", "string", "its owner"},
    {"group", "string?", "its group; null: none"},
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339; now, if it still runs"},
    {"running", "boolean", "true if it still runs"},
    {"cores", "integer", "cores; 0 where another session's worker runs it"},
    {"gpu", "string?", "UUID of its GPU"},
    {0},
};
static const pl_reply_field usage_others_fields[] = {
    {"from", "string", "RFC 3339"},
    {"to", "string", "RFC 3339"},
    {"cores", "integer", "cores in use by others"},
    {"gpus", "integer", "sessions of others on a GPU"},
    {0},
};
static const pl_reply_field audit_fields[] = {
    {"seq", "integer", "ascending number"},
    {"at", "string", "RFC 3339"},
    {"user", "string", "user; uid N for a command"},
    {"by", "string", "kind of credential"},
    {"credential", "string", "ID of the credential; empty for the owner's token"},
    {"action", "string", "method and route, or the command"},
    {"target", "string", "ID or name of the changed thing"},
    {"status", "integer", "status of the reply; 0 for a command"},
    {"address", "string", "address of the client"},
    {0},
};
static const pl_reply_field audit_list_fields[] = {
    {"items", "[]#AuditRow", "newest first"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field token_fields[] = {
    {"id", "string", "32 hex digits; not the secret"},
    {"kind", "string", "token, login or link"},
    {"user", "string", "owner of the credential"},
    {"name", "string", "display name"},
    {"scopes", "[]string", "scopes of the credential"},
    {"session", "string?", "ID of the session a link shows"},
    {"created", "string?", "RFC 3339"},
    {"expires", "string?", "RFC 3339; null: never"},
    {0},
};
static const pl_reply_field new_token_fields[] = {
    {"id", "string", "ID, for revoking it"},
    {"token", "string", "secret, shown once"},
    {"user", "string", "owner of the credential"},
    {"name", "string", "display name"},
    {"scopes", "[]string", "scopes of the credential"},
    {"expires", "string?", "RFC 3339; null: never"},
    {0},
};
static const pl_reply_field token_request_fields[] = {
    {"name?", "string", "display name"},
    {"user?", "string", "owner, for administrators; default: you"},
    {"scopes?", "string", "read submit admin metrics, separated by spaces; default: read submit"},
    {"expires_in?", "integer", "lifetime, s; 0: never expires"},
    {0},
};
static const pl_reply_field token_list_fields[] = {
    {"items", "[]#Token", "by id"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field user_fields[] = {
    {"name", "string", "name in tokens and sessions"},
    {"created", "string?", "RFC 3339"},
    {"disabled", "boolean", "true if its credentials are rejected"},
    {"uid", "integer?", "uid on a unix socket"},
    {"limits", "#Limits", "limits; null: the daemon's default"},
    {0},
};
static const pl_reply_field user_request_fields[] = {
    {"name?", "string", "name of a new user"},
    {"disabled?", "boolean", "true if its credentials are rejected"},
    {"uid?", "integer?", "uid on a unix socket"},
    {"sessions?", "integer?", "sessions at once"},
    {"queued?", "integer?", "waiting sessions"},
    {"cores?", "integer?", "cores at once"},
    {"bytes?", "integer?", "bytes of sessions"},
    {"mesh_bytes?", "integer?", "bytes of meshes"},
    {"requests?", "integer?", "requests per second, from 1"},
    {"running?", "integer?", "running sessions, from 1"},
    {"gpus?", "integer?", "running sessions on a GPU"},
    {"share?", "integer?", "share of the machine when others want it too, from 1"},
    {0},
};
static const pl_reply_field group_request_fields[] = {
    {"name?", "string", "name of a new group"},
    {"sessions?", "integer?", "sessions at once"},
    {"queued?", "integer?", "waiting sessions"},
    {"running?", "integer?", "running sessions, from 1"},
    {"cores?", "integer?", "cores at once"},
    {"gpus?", "integer?", "running sessions on a GPU"},
    {"bytes?", "integer?", "bytes of sessions"},
    {"share?", "integer?", "share of the machine when others want it too, from 1"},
    {0},
};
static const pl_reply_field user_list_fields[] = {
    {"items", "[]#User", "by name"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field group_fields[] = {
    {"name", "string", "name in sessions"},
    {"created", "string?", "RFC 3339"},
    {"members", "[]#Member", "users and their roles"},
    {"limits", "#GroupLimits", "limits of the group's sessions together; null: none"},
    {0},
};
static const pl_reply_field member_fields[] = {
    {"user", "string", "name of the user"},
    {"role", "=view,manage", "permission for the group's sessions"},
    {0},
};
static const pl_reply_field member_request_fields[] = {
    {"role", "=view,manage", "permission for the group's sessions"},
    {0},
};
static const pl_reply_field group_list_fields[] = {
    {"items", "[]#Group", "by name"},
    {"next", "string?", "cursor of the next page"},
    {0},
};
static const pl_reply_field named_fields[] = {
    {"name", "string", "name of the user or group"},
    {0},
};

/* One per line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_reply_tables[] = {
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
    {"Fault", "One mistake in a request.", fault_fields},
    {"Validation", "A scene that can be run.", validation_fields},
    {"Geometry", "Bodies of a scene before it runs.", geometry_fields},
    {"Estimate", "The estimated cost of a run.", estimate_fields},
    {"Mesh", "Contents of a mesh file.", mesh_fields},
    {"MeshItem", "A mesh in a list.", mesh_item_fields},
    {"MeshList", "A page of meshes.", mesh_list_fields},
    {"Queue", "Running and waiting sessions.", queue_fields},
    {"Device", "A device that sessions run on.", device_fields},
    {"DeviceList", "Devices that sessions run on.", device_list_fields},
    {"Quality", "Shape of the tetrahedra.", quality_fields},
    {"MeshTag", "A group of elements.", mesh_tag_fields},
    {"MeshField", "Values of elements.", mesh_field_fields},
    {"GalleryScene", "An example scene.", gallery_scene_fields},
    {"Gallery", "Example scenes.", gallery_fields},
    {"Version", "Versions.", version_fields},
    {"Health", "Liveness of the daemon.", health_fields},
    {"Topology", "Bodies, obstacles and triangles to draw.", topology_fields},
    {"Event", "An event of a session.", event_fields},
    {"EventList", "A list of events.", event_list_fields},
    {"Me", "The user of the request.", me_fields},
    {"Login", "A browser's login.", login_fields},
    {"LoggedIn", "The user who is logged in.", logged_in_fields},
    {"LoginRequest", "A token or a one-time code.", login_request_fields},
    {"LoginCode", "A one-time code for logging in.", login_code_fields},
    {"Link", "A share link, without its secret.", link_fields},
    {"LinkList", "A page of links.", link_list_fields},
    {"NewLink", "A share link with its secret.", new_link_fields},
    {"LinkRequest", "Properties of a new link.", link_request_fields},
    {"LinkSecret", "A link's secret.", link_secret_fields},
    {"SignRequest", "An address to sign.", sign_request_fields},
    {"SignedAddress", "An address that needs no credential.", signed_fields},
    {"Limits", "Limits of a user.", limits_fields},
    {"Usage", "Usage and limits of a user, and on request the usage of the machine.", usage_fields},
    {"UsageItem", "Usage of a user, a group or a day.", usage_item_fields},
    {"UsageSum", "Usage of all users.", usage_sum_fields},
    {"UsageSpans", "Use of cores and devices over time.", usage_spans_fields},
    {"UsageDevice", "A GPU.", usage_device_fields},
    {"UsageSpan", "A session that ran without a break.", usage_span_fields},
    {"UsageOthers", "Total use of other users.", usage_others_fields},
    {"AuditRow", "A change, with its user.", audit_fields},
    {"AuditList", "A page of changes.", audit_list_fields},
    {"Membership", "Membership in a group.", membership_fields},
    {"Token", "A credential, without its secret.", token_fields},
    {"NewToken", "A credential with its secret.", new_token_fields},
    {"TokenRequest", "Properties of a new token.", token_request_fields},
    {"TokenList", "A page of credentials.", token_list_fields},
    {"User", "A user.", user_fields},
    {"UserRequest", "Properties of a user; null restores the default limit.", user_request_fields},
    {"UserList", "A page of users.", user_list_fields},
    {"Group", "A group.", group_fields},
    {"GroupLimits", "Limits of a group.", group_limits_fields},
    {"GroupRequest", "Properties of a group; null removes a limit.", group_request_fields},
    {"Member", "A member of a group.", member_fields},
    {"MemberRequest", "Role of a member.", member_request_fields},
    {"GroupList", "A page of groups.", group_list_fields},
    {"Named", "The user or group created or changed.", named_fields},
    {"Control", "An accepted control.", control_fields},
    {"Controlled", "A control and its first frame.", controlled_fields},
    {"ControlList", "A page of controls.", control_list_fields},
    {"BranchRequest", "Start of a branch, and changes of its scene.", branch_request_fields},
    {"ControlRequest", "Changes to make: parameters.control of GET /v1/capabilities.", NULL},
    {"Step", "An accepted step.", step_fields},
    {"Snapshot", "A named state of a session.", snapshot_fields},
    {"SnapshotRequest", "Frame and name of a new snapshot.", snapshot_request_fields},
    {"SnapshotList", "A session's snapshots.", snapshot_list_fields},
    {"SweepRequest", "A scene with parameters that vary.", sweep_request_fields},
    {"SweepParameter", "A varied parameter: values, range, or min and max.",
     sweep_parameter_fields},
    {"SweepResult", "A number of each run: metric, probe or expect.", sweep_result_fields},
    {"SweepStop", "A bound on a result.", sweep_stop_fields},
    {"RunStop", "A bound on a number of a run's records.", run_stop_fields},
    {"SweepColumn", "A parameter of a sweep.", sweep_column_fields},
    {"SweepCounts", "Rows by state.", sweep_counts_fields},
    {"Sweep", "Many sessions that differ in parameters.", sweep_fields},
    {"Fit", "Measurements, and settings of the search.", fit_fields},
    {"FitSeries", "Measured points: probe or metric, and points or csv.", fit_series_fields},
    {"FitQuantity", "A number of each frame: probe or metric.", fit_quantity_fields},
    {"FitProgress", "Progress of a fit.", fit_progress_fields},
    {"FitBest", "The best run of a fit so far.", fit_best_fields},
    {"FitResiduals", "The best run of a fit compared with the measurements.", fit_residuals_fields},
    {"FitResidualSeries", "A series of measured points.", fit_residual_series_fields},
    {"SweepList", "Sweeps.", sweep_list_fields},
    {"SweepRow", "A run of a sweep.", sweep_row_fields},
    {"SweepResults", "The table of a sweep.", sweep_results_fields},
    {"SessionFile", "A file of a session's directory.", session_file_fields},
    {"SessionFiles", "The files a session keeps on disk.", session_files_fields},
    {"Scene", "A scene; GET /v1/schema/scene has its schema.", NULL},
    {"ExportFormat", "A format of exports.", export_format_fields},
    {"Capabilities", "Features of this version, and every parameter of a scene.",
     capabilities_fields},
    {"Schema", "A JSON Schema (2020-12).", NULL},
    {"OpenApi", "An OpenAPI 3.1 document.", NULL},
    {0},
};
/* clang-format on */
