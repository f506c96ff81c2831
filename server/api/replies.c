#include "server/api/replies.h"

#include "server/http/problems.h"

#include <stdio.h>
#include <string.h>

#define STATES "checking,queued,running,paused,succeeded,failed,rejected,cancelled"

static const pl_reply_field session_fields[] = {
    {"id", "string", "32 hex digits"},
    {"name", "string", "for people"},
    {"state", "=" STATES, "nothing leads out of the last four"},
    {"reason", "string", "why it is in this state, as a word"},
    {"message", "string", "the same in a sentence"},
    {"since", "string", "when it came into this state, RFC 3339"},
    {"desired", "=paused,cancelled,deleted?", "what was asked for and is on its way"},
    {"paused", "#Paused?", "who paused it"},
    {"created", "string", "RFC 3339"},
    {"owner", "string", "the user who submitted it"},
    {"group", "string?", "whose members share it"},
    {"priority", "integer", "-100 to 100; in the queue a higher one goes first"},
    {"revision", "integer", "how often name, labels, ... were changed; the ETag"},
    {"labels", "{}string", "to find it by"},
    {"metadata?", "object", "the user's own; not in lists"},
    {"webhook", "#Webhook?", "whom its end is told"},
    {"retention", "#KeptFrames", "what is kept, as its scene said or PATCH did since"},
    {"attempt", "integer", "workers that it had"},
    {"progress", "#Progress", "how far it is"},
    {"queue", "#QueuePlace", "its place while it waits"},
    {"resources", "#Resources", "what it takes of the machine"},
    {"failure", "#Failure?", "what went wrong, where it failed or was rejected"},
    {"warnings", "[]#Warning",
     "what to know before trusting it: the check's, then what its frames show so far"},
    {"bodies", "[]#Body", "known once it was checked"},
    {"links", "{}string", "where its parts are"},
    {0},
};
static const pl_reply_field webhook_fields[] = {
    {"url", "string?",
     "that is sent a POST; null to who may only look at the session, and in events"},
    {"status", "=waiting,delivered,failed?", "null before the end"},
    {"message", "string", "what the last try came to"},
    {0},
};
static const pl_reply_field kept_fields[] = {
    {"last", "integer?", "newest frames that are all kept; null: as the scene says"},
    {"every", "integer?", "of older ones those that it divides; 0: none, or all where last is 0"},
    {"days", "number", "after its end it is removed; 0: it is not"},
    {0},
};
static const pl_reply_field webhook_secret_fields[] = {
    {"secret", "string", "the key of Pliant-Signature, 64 hex digits as they are"},
    {0},
};
static const pl_reply_field branch_request_fields[] = {
    {"frame?", "integer", "where it begins; left out: at the newest"},
    {"snapshot?", "string", "the same by a snapshot's name"},
    {"scene?", "object", "a merge patch (RFC 7396) on the session's scene"},
    {0},
};
static const pl_reply_field snapshot_fields[] = {
    {"name", "string", "to branch from it by"},
    {"session", "string", "which"},
    {"frame", "integer", "that it is of"},
    {"checkpoint", "integer?", "the frame that is computed from; null: the session's beginning"},
    {"bytes", "integer", "that it keeps, which count as the session's"},
    {"class", "string", "the numerics class of the checkpoint; empty without one"},
    {"created", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field snapshot_request_fields[] = {
    {"name", "string", "letters, digits, and after the first also . _ -, at most 64"},
    {"frame?", "integer", "left out: the newest"},
    {0},
};
static const pl_reply_field snapshot_list_fields[] = {
    {"items", "[]#Snapshot", "by name"},
    {"next", "string?", "null: all are here"},
    {0},
};
static const pl_reply_field session_file_fields[] = {
    {"name", "string", "path from the session's directory on"},
    {"bytes", "integer", "its size"},
    {"modified", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field session_files_fields[] = {
    {"items", "[]#SessionFile", "by name"},
    {"next", "string?", "null: all are here"},
    {"bytes", "integer", "sum of their sizes; meshes may be shared with other sessions"},
    {0},
};
static const pl_reply_field export_format_fields[] = {
    {"name", "string", "`format` of an export"},
    {"media_type", "string", "of its file"},
    {"series", "boolean", "each frame is a file; all of them come as a .zip"},
    {"bodies", "boolean", "takes `body` and `vertices`"},
    {0},
};
static const pl_reply_field capabilities_fields[] = {
    {"version", "string", "the daemon's"},
    {"materials", "[]string", "models of materials"},
    {"methods", "[]string", "methods of the solver"},
    {"obstacle_methods", "{}[]string", "methods by what an obstacle is to them: hard, energy"},
    {"carries", "{}object", "by method: the materials it carries, and whether hard constraints"},
    {"integrators", "[]string", "time integrators"},
    {"devices", "[]object", "the CPU, then each GPU"},
    {"exports", "[]#ExportFormat", "formats of GET /v1/sessions/{id}/export"},
    {"mesh_sources", "[]string", "what a body's mesh comes from"},
    {"mesh_formats", "[]string", "formats of mesh files"},
    {"selections", "[]string", "ways to select vertices"},
    {"shapes", "[]string", "initial shapes of a body"},
    {"obstacles", "[]string", "shapes of obstacles"},
    {"limits", "{}number", "of this daemon"},
    {"scene_limits", "{}integer", "of every scene"},
    {"parameters", "{}object", "by table: each key with type, unit, range and default"},
    {0},
};
static const pl_reply_field control_fields[] = {
    {"control_id", "integer",
     "its number, from 1; metrics of frames that it affects have it, or a "
     "later one's, as control"},
    {"session", "string", "which"},
    {"state", "=" STATES, "that it is in"},
    {"frame", "integer?", "the last that can be read; it affects none up to this one"},
    {0},
};
static const pl_reply_field controlled_fields[] = {
    {"control_id", "integer", "its number"},
    {"control", "object", "as it was sent"},
    {"frame", "integer?", "the first that it is in effect in; null: none yet"},
    {0},
};
static const pl_reply_field control_list_fields[] = {
    {"items", "[]#Controlled", "oldest first"},
    {"next", "integer?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field step_fields[] = {
    {"until", "integer", "the frame at which it pauses"},
    {"session", "string", "which"},
    {"state", "=" STATES, "that it is in"},
    {"frame", "integer?", "the last that can be read"},
    {0},
};
static const pl_reply_field paused_fields[] = {
    {"by", "string", "user, disk, priority or admin"},
    {0},
};
static const pl_reply_field progress_fields[] = {
    {"frame", "integer?", "the last that can be read; null before the first"},
    {"frames", "integer?", "the last that there will be; null: it goes on until it is ended"},
    {"rate", "number?", "s simulated in a second, lately, while it runs; 1 is real time"},
    {"time", "number", "s simulated"},
    {0},
};
static const pl_reply_field queue_place_fields[] = {
    {"position", "integer", "from 1; 0: it does not wait for a place"},
    {"reason", "string", "why it waits"},
    {0},
};
static const pl_reply_field resources_fields[] = {
    {"cores", "integer", "threads"},
    {"gpu", "string?", "UUID of the one that it runs on, or ran on last"},
    {"gpu_memory?", "integer", "bytes of it that are kept for the session"},
    {"memory", "integer", "bytes, as asked or estimated"},
    {"time_limit", "number?", "s"},
    {0},
};
static const pl_reply_field failure_fields[] = {
    {"code", "string", "what kind"},
    {"message", "string", "what happened"},
    {"advice?", "string", "what to try"},
    {"step?", "integer?", "time step"},
    {"frame?", "integer?", "last good frame"},
    {"body?", "integer?", "by its place in the scene"},
    {"element?", "integer?", "within the body"},
    {"vertex?", "integer?", "within the body"},
    {"signal?", "integer?", "that ended the worker"},
    {"restarts?", "integer", "how often it was started again"},
    {"log?", "string?", "the tail of the worker's log"},
    {"faults?", "[]#Fault", "of a scene that was rejected after it was accepted for checking"},
    {0},
};
static const pl_reply_field warning_fields[] = {
    {"code",
     "=unconverged,inverted,energy_gained,penetration,overlap,start_inside,thin_obstacle,"
     "few_elements,odd_size",
     "what it is about; the first four are of the run"},
    {"detail", "string", "a sentence with its numbers and what to do"},
    {"count", "integer", "frames of a run, vertices of start_inside, else bodies"},
    {"of", "integer", "so many there are"},
    {0},
};
static const pl_reply_field body_fields[] = {
    {"name", "string", "as in the scene"},
    {"vertices", "integer", "how many"},
    {"first_vertex", "integer", "their place in each frame"},
    {"tets", "integer", "tetrahedra"},
    {0},
};
static const pl_reply_field session_list_fields[] = {
    {"items", "[]#Session", "newest first"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field fault_fields[] = {
    {"pointer", "string", "JSON pointer into the body, or /query/KEY"},
    {"code", "string", "what kind"},
    {"got", "string", "what was there"},
    {"expected", "string", "what could be"},
    {"hint", "string", "what to do, where there is more to say"},
    {0},
};
static const pl_reply_field validation_fields[] = {
    {"valid", "boolean", "true: faults come as a problem"},
    {"estimate", "#Estimate", "what a run would take"},
    {"bodies", "[]#Body", "their sizes"},
    {"warnings", "[]#Warning", "what its session would begin with"},
    {"remarks", "[]string", "what is unusual and harmless, in sentences"},
    {0},
};
static const pl_reply_field estimate_fields[] = {
    {"vertices", "integer", "of all bodies"},
    {"tets", "integer", "of all bodies"},
    {"frames", "integer?", "the last frame's number; null: there is no end"},
    {"memory_bytes", "number", "at the most"},
    {"gpu_memory_bytes", "number", "on a GPU, beside what the driver takes; 0 on the CPU"},
    {"setup_seconds", "number", "before the first step, on this machine"},
    {"seconds_per_frame", "number", "on one core of this machine"},
    {"frame_bytes", "number", "of a stored frame"},
    {0},
};
static const pl_reply_field mesh_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "of the file"},
    {"format", "string", "as found"},
    {"vertices", "integer?", "null for half of a TetGen mesh that has none"},
    {"tets", "integer?", "null for the other half"},
    {"triangles", "integer", "of sheets"},
    {"edges", "integer", "of ropes"},
    {"box", "[][]number?", "corners: least and largest coordinates, m"},
    {"volume", "number?", "m^3"},
    {"area?", "number", "m^2"},
    {"length?", "number", "m"},
    {"quality", "#Quality?", "of tetrahedra, 1 is regular"},
    {"components", "integer?", "connected parts"},
    {"tags", "[]#MeshTag", "groups that scenes may name"},
    {"fields", "[]#MeshField", "values of the elements"},
    {"repaired", "integer", "tetrahedra that were inside out"},
    {"unused", "integer", "nodes of no element"},
    {"faults", "[]#Fault", "none, of a file that was kept"},
    {"faults_total", "integer", "0"},
    {0},
};
static const pl_reply_field mesh_item_fields[] = {
    {"hash", "string", "SHA-256 of the file"},
    {"bytes", "integer", "of the file"},
    {"format", "string", "as found"},
    {"vertices", "integer?", "as in the upload's reply"},
    {"tets", "integer?", "as in the upload's reply"},
    {"triangles", "integer?", "as in the upload's reply"},
    {"edges", "integer?", "as in the upload's reply"},
    {"uploaded", "string", "RFC 3339"},
    {"last_used", "string", "by an upload or a session, RFC 3339"},
    {"groups", "[]string", "of yours that hold it"},
    {"yours", "boolean", "whether you hold it yourself"},
    {0},
};
static const pl_reply_field mesh_list_fields[] = {
    {"items", "[]#MeshItem", "by hash"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field queue_fields[] = {
    {"running", "integer", "sessions that run"},
    {"queued", "integer", "sessions that wait, those for their restart too"},
    {"checking", "integer", "sessions that are checked"},
    {"items", "[]#Session", "of those that wait, what you may see, next first"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field device_fields[] = {
    {"device", "string", "cpu, or a GPU's UUID"},
    {"name", "string", "what it is"},
    {"capability?", "string", "of a GPU: its compute capability"},
    {"cores?", "integer", "of the CPU: that sessions may use"},
    {"cores_used?", "integer", "that running sessions use"},
    {"memory", "integer", "bytes"},
    {"memory_used", "integer", "bytes that running sessions were given"},
    {"memory_others?", "integer", "of a GPU: bytes that others were seen to use"},
    {"sessions", "integer", "that run"},
    {"draining", "boolean", "whether no more are started"},
    {"lost?", "boolean", "of a GPU: whether the driver does not find it any more"},
    {0},
};
static const pl_reply_field device_list_fields[] = {
    {"items", "[]#Device", "all of them"},
    {"next", "string?", "null: there are few"},
    {0},
};
static const pl_reply_field quality_fields[] = {
    {"worst", "number?", "the least"},
    {"mean", "number?", "over all"},
    {0},
};
static const pl_reply_field mesh_tag_fields[] = {
    {"tag", "integer", "its number"},
    {"dimension", "integer", "of its elements"},
    {"name", "string?", "where it has one"},
    {0},
};
static const pl_reply_field mesh_field_fields[] = {
    {"name", "string", "to be named in a body's fields"},
    {"components", "integer", "values an element"},
    {0},
};
static const pl_reply_field gallery_scene_fields[] = {
    {"name", "string", "of its address"},
    {"title", "string", "the scene's name: what it shows"},
    {"scene", "#Scene", "the scene itself"},
    {"links", "{}string", "where it is"},
    {0},
};
static const pl_reply_field gallery_fields[] = {
    {"items", "[]#GalleryScene", "by name"},
    {"next", "string?", "null: all are here"},
    {0},
};
static const pl_reply_field version_fields[] = {
    {"name", "string", "pliant"},
    {"version", "string", "of the daemon"},
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
    {"vertices", "integer", "of all bodies"},
    {"bodies", "[]object", "name, first_vertex, vertices, tets; triangles and edges to draw"},
    {"obstacles", "[]object", "as in the effective scene, surfaces from files written out"},
    {"obstacle_surfaces", "[]any",
     "triangles of each obstacle at time 0: inside, center, vertices, triangles; null for a plane"},
    {"pins", "[]object",
     "name, body, how many vertices, and which (`at`; none of more than 10,000)"},
    {"expect", "[]any", "vertices that expectations are about"},
    {"arrays", "object", "files for ?array="},
    {0},
};

static const pl_reply_field event_fields[] = {
    {"seq", "integer", "ascends, also over restarts of the daemon"},
    {"time", "string", "RFC 3339"},
    {"event", "=created,state,changed,deleted", "what happened"},
    {"session", "#Session", "as it then was"},
    {0},
};
static const pl_reply_field event_list_fields[] = {
    {"items", "[]#Event", "oldest first"},
    {"next", "integer", "for ?since="},
    {"missed", "boolean", "whether some are gone: look at the sessions themselves"},
    {0},
};
static const pl_reply_field me_fields[] = {
    {"user", "string", "whose credential came with the request"},
    {"by", "string", "how it came"},
    {"credential", "string?", "its id"},
    {"expires", "string?", "RFC 3339"},
    {"scopes", "[]string", "what it allows"},
    {"groups", "[]#Membership", "that the user belongs to"},
    {"limits", "#Limits", "null: none"},
    {0},
};
static const pl_reply_field membership_fields[] = {
    {"name", "string", "the group's"},
    {"role", "=view,manage", "what one may do with its sessions"},
    {0},
};
static const pl_reply_field login_fields[] = {
    {"user", "string", "who is logged in"},
    {"expires", "string", "RFC 3339"},
    {0},
};
static const pl_reply_field logged_in_fields[] = {
    {"user", "string?", "null: nobody"},
    {0},
};
static const pl_reply_field login_request_fields[] = {
    {"token?", "string", "a token"},
    {"code?", "string", "or a code that is good once"},
    {0},
};
static const pl_reply_field login_code_fields[] = {
    {"code", "string", "the secret"},
    {"url", "string", "the daemon's page with it in the fragment"},
    {"expires_in", "integer", "s"},
    {0},
};
static const pl_reply_field link_fields[] = {
    {"id", "string", "to revoke it by"},      {"name", "string", "for people"},
    {"created", "string", "RFC 3339"},        {"expires", "string?", "RFC 3339"},
    {"by", "string", "the user who made it"}, {0},
};
static const pl_reply_field link_list_fields[] = {
    {"items", "[]#Link", "by id"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field new_link_fields[] = {
    {"id", "string", "to revoke it by"},
    {"secret", "string", "shown once"},
    {"url", "string", "the daemon's page with the secret in the fragment"},
    {"session", "string", "the only one that it shows"},
    {"expires", "string?", "RFC 3339"},
    {0},
};
static const pl_reply_field link_request_fields[] = {
    {"name?", "string", "for people"},
    {"expires_in?", "integer", "s, 60 to a year; a week where left out"},
    {0},
};
static const pl_reply_field link_secret_fields[] = {
    {"secret", "string", "of the link's fragment"},
    {0},
};
static const pl_reply_field sign_request_fields[] = {
    {"path", "string", "below the session, with its query, without escapes"},
    {0},
};
static const pl_reply_field signed_fields[] = {
    {"url", "string", "to GET"},
    {"expires_in", "integer", "s"},
    {0},
};
static const pl_reply_field limits_fields[] = {
    {"sessions", "integer?", "that have not ended"},
    {"queued", "integer?", "of these, those that are checked or wait"},
    {"cores", "integer?", "of those that run"},
    {"bytes", "integer?", "of sessions"},
    {"mesh_bytes", "integer?", "of meshes"},
    {"requests", "integer?", "a second; ten seconds' worth may come at once"},
    {0},
};
static const pl_reply_field usage_fields[] = {
    {"user", "string", "whose"},
    {"used", "#Limits",
     "what there is of each, requests over about ten seconds; null: not counted"},
    {"limits", "#Limits", "what there may be; null: no limit"},
    {0},
};
static const pl_reply_field audit_fields[] = {
    {"seq", "integer", "later ones are larger"},
    {"at", "string", "RFC 3339"},
    {"user", "string", "who; uid N for a command"},
    {"by", "string", "how they came"},
    {"credential", "string", "its id; empty for the owner's token"},
    {"action", "string", "method and route, or the command"},
    {"target", "string", "what it was about"},
    {"status", "integer", "of the reply; 0 for a command"},
    {"address", "string", "the other end"},
    {0},
};
static const pl_reply_field audit_list_fields[] = {
    {"items", "[]#AuditRow", "newest first"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field token_fields[] = {
    {"id", "string", "32 hex digits; not the secret"},
    {"kind", "string", "token, login or link"},
    {"user", "string", "whose it is"},
    {"name", "string", "for people"},
    {"scopes", "[]string", "what it allows"},
    {"session", "string?", "the only one that it shows"},
    {"created", "string?", "RFC 3339"},
    {"expires", "string?", "RFC 3339; null: never"},
    {0},
};
static const pl_reply_field new_token_fields[] = {
    {"id", "string", "to revoke it by"},
    {"token", "string", "the secret: shown once"},
    {"user", "string", "whose it is"},
    {"name", "string", "for people"},
    {"scopes", "[]string", "what it allows"},
    {"expires", "string?", "RFC 3339; null: never"},
    {0},
};
static const pl_reply_field token_request_fields[] = {
    {"name?", "string", "for people"},
    {"user?", "string", "for administrators; otherwise you"},
    {"scopes?", "string", "read submit admin metrics, with spaces; read submit where left out"},
    {"expires_in?", "integer", "s; 0: never"},
    {0},
};
static const pl_reply_field token_list_fields[] = {
    {"items", "[]#Token", "by id"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field user_fields[] = {
    {"name", "string", "as in tokens and sessions"},
    {"created", "string?", "RFC 3339"},
    {"disabled", "boolean", "whether its credentials are refused"},
    {"uid", "integer?", "at the other end of a unix socket"},
    {"limits", "#Limits", "null: the daemon's own"},
    {0},
};
static const pl_reply_field user_request_fields[] = {
    {"name?", "string", "of a new one"},
    {"disabled?", "boolean", "whether its credentials are refused"},
    {"uid?", "integer?", "at the other end of a unix socket"},
    {"sessions?", "integer?", "at once"},
    {"queued?", "integer?", "waiting"},
    {"cores?", "integer?", "at once"},
    {"bytes?", "integer?", "stored"},
    {"mesh_bytes?", "integer?", "uploaded"},
    {"requests?", "integer?", "a second, from 1"},
    {0},
};
static const pl_reply_field user_list_fields[] = {
    {"items", "[]#User", "by name"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field group_fields[] = {
    {"name", "string", "as in sessions"},
    {"created", "string?", "RFC 3339"},
    {"members", "[]#Member", "users and what they may do"},
    {0},
};
static const pl_reply_field member_fields[] = {
    {"user", "string", "name"},
    {"role", "=view,manage", "what they may do with the group's sessions"},
    {0},
};
static const pl_reply_field member_request_fields[] = {
    {"role", "=view,manage", "what they may do with the group's sessions"},
    {0},
};
static const pl_reply_field group_list_fields[] = {
    {"items", "[]#Group", "by name"},
    {"next", "string?", "the cursor of the next page"},
    {0},
};
static const pl_reply_field named_fields[] = {
    {"name", "string", "of the user or group"},
    {0},
};

/* One a line, so that additions merge. */
/* clang-format off */
const pl_reply_table pl_reply_tables[] = {
    {"Session", "A session.", session_fields},
    {"Webhook", "Whom a session's end is told.", webhook_fields},
    {"KeptFrames", "What is kept of a session.", kept_fields},
    {"WebhookSecret", "What your webhooks are signed with.", webhook_secret_fields},
    {"Paused", "Who paused a session.", paused_fields},
    {"Progress", "How far a session is.", progress_fields},
    {"QueuePlace", "A session's place in the queue.", queue_place_fields},
    {"Resources", "What a session takes of the machine.", resources_fields},
    {"Failure", "What went wrong.", failure_fields},
    {"Body", "A body's place in the frames.", body_fields},
    {"Warning", "What to know before trusting a session.", warning_fields},
    {"SessionList", "A page of sessions.", session_list_fields},
    {"Fault", "One mistake in what was sent.", fault_fields},
    {"Validation", "A scene that can be run.", validation_fields},
    {"Estimate", "What a run would take.", estimate_fields},
    {"Mesh", "What a mesh file holds.", mesh_fields},
    {"MeshItem", "A mesh in a list.", mesh_item_fields},
    {"MeshList", "A page of meshes.", mesh_list_fields},
    {"Queue", "What runs and what waits.", queue_fields},
    {"Device", "What sessions run on.", device_fields},
    {"DeviceList", "What sessions run on.", device_list_fields},
    {"Quality", "Shape of the tetrahedra.", quality_fields},
    {"MeshTag", "A group of elements.", mesh_tag_fields},
    {"MeshField", "Values of elements.", mesh_field_fields},
    {"GalleryScene", "A scene to begin with.", gallery_scene_fields},
    {"Gallery", "Scenes to begin with.", gallery_fields},
    {"Version", "Versions.", version_fields},
    {"Health", "A sign of life.", health_fields},
    {"Topology", "What to draw.", topology_fields},
    {"Event", "Something that happened to a session.", event_fields},
    {"EventList", "What happened.", event_list_fields},
    {"Me", "Who asks.", me_fields},
    {"Login", "A browser's login.", login_fields},
    {"LoggedIn", "Whom a page's requests are from.", logged_in_fields},
    {"LoginRequest", "One of the two.", login_request_fields},
    {"LoginCode", "A code to log in with.", login_code_fields},
    {"Link", "A share link, without its secret.", link_fields},
    {"LinkList", "A page of links.", link_list_fields},
    {"NewLink", "A share link with its secret.", new_link_fields},
    {"LinkRequest", "What a new link is to be.", link_request_fields},
    {"LinkSecret", "A link's secret.", link_secret_fields},
    {"SignRequest", "What to sign.", sign_request_fields},
    {"SignedAddress", "An address that needs no credential.", signed_fields},
    {"Limits", "Numbers of what a user may have.", limits_fields},
    {"Usage", "What a user has.", usage_fields},
    {"AuditRow", "A change that somebody made.", audit_fields},
    {"AuditList", "A page of changes.", audit_list_fields},
    {"Membership", "A group of the user's.", membership_fields},
    {"Token", "A credential, without its secret.", token_fields},
    {"NewToken", "A credential with its secret.", new_token_fields},
    {"TokenRequest", "What a new token is to be.", token_request_fields},
    {"TokenList", "A page of credentials.", token_list_fields},
    {"User", "A user.", user_fields},
    {"UserRequest", "What a user is to be; null takes a limit back.", user_request_fields},
    {"UserList", "A page of users.", user_list_fields},
    {"Group", "A group.", group_fields},
    {"Member", "A member of a group.", member_fields},
    {"MemberRequest", "What a member may do.", member_request_fields},
    {"GroupList", "A page of groups.", group_list_fields},
    {"Named", "What was made or changed.", named_fields},
    {"Control", "A control that was taken.", control_fields},
    {"Controlled", "A control, and where it begins.", controlled_fields},
    {"ControlList", "A page of controls.", control_list_fields},
    {"BranchRequest", "Where a branch begins, and what is another in it.", branch_request_fields},
    {"ControlRequest", "What is to change: parameters.control of GET /v1/capabilities.", NULL},
    {"Step", "A step that was taken.", step_fields},
    {"Snapshot", "A state of a session that is kept by name.", snapshot_fields},
    {"SnapshotRequest", "What is to be kept, and how it is called.", snapshot_request_fields},
    {"SnapshotList", "A session's snapshots.", snapshot_list_fields},
    {"SessionFile", "A file of a session's directory.", session_file_fields},
    {"SessionFiles", "The files a session keeps on disk.", session_files_fields},
    {"Scene", "A scene; GET /v1/schema/scene has its schema.", NULL},
    {"ExportFormat", "A format that a session is exported in.", export_format_fields},
    {"Capabilities", "What this version can do, and every parameter of a scene.",
     capabilities_fields},
    {"Schema", "A JSON Schema (2020-12).", NULL},
    {"OpenApi", "An OpenAPI 3.1 document.", NULL},
    {0},
};
/* clang-format on */

/* ---- as JSON Schema ---- */

static void set_words(pl_json_writer *w, const char *words, size_t length, bool null)
{
    pl_json_key(w, "enum");
    pl_json_begin_array(w);
    for (size_t at = 0; at < length;) {
        char word[64];
        size_t n = strcspn(words + at, ",?");
        snprintf(word, sizeof word, "%.*s", (int)n, words + at);
        pl_json_put_string(w, word);
        at += n + 1;
    }
    if (null) {
        pl_json_put_null(w);
    }
    pl_json_end_array(w);
}

/* A type that may be null as well: one with a word for it, or either of two. */
static void set_simple(pl_json_writer *w, const char *name, bool null)
{
    if (!null) {
        pl_json_set_string(w, "type", name);
        return;
    }
    pl_json_key(w, "type");
    pl_json_begin_array(w);
    pl_json_put_string(w, name);
    pl_json_put_string(w, "null");
    pl_json_end_array(w);
}

static void set_reference(pl_json_writer *w, const char *name, bool null)
{
    char text[192];
    snprintf(text, sizeof text, "#/components/schemas/%s", name);
    if (null) {
        pl_json_key(w, "anyOf");
        pl_json_begin_array(w);
        pl_json_begin_object(w);
    }
    pl_json_set_string(w, "$ref", text);
    if (null) {
        pl_json_end_object(w);
        pl_json_put_raw(w, "{\"type\": \"null\"}");
        pl_json_end_array(w);
    }
}

void pl_reply_type_put(pl_json_writer *w, const char *type, const char *doc)
{
    size_t length = strlen(type);
    bool null = length > 0 && type[length - 1] == '?';
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(length - null), type);
    pl_json_begin_object(w);
    if (doc) {
        pl_json_set_string(w, "description", doc);
    }
    if (strncmp(name, "[]", 2) == 0 || strncmp(name, "{}", 2) == 0) {
        set_simple(w, name[0] == '[' ? "array" : "object", null);
        pl_json_key(w, name[0] == '[' ? "items" : "additionalProperties");
        pl_reply_type_put(w, name + 2, NULL);
    } else if (name[0] == '=') {
        set_words(w, name + 1, strlen(name) - 1, null);
    } else if (name[0] == '#') {
        set_reference(w, name + 1, null);
    } else if (strcmp(name, "any") != 0) {
        set_simple(w, name, null);
    }
    pl_json_end_object(w);
}

static bool is_optional(const pl_reply_field *f)
{
    return f->key[strlen(f->key) - 1] == '?';
}

void pl_reply_schema_put(pl_json_writer *w, const pl_reply_table *table)
{
    pl_json_begin_object(w);
    pl_json_set_string(w, "description", table->doc);
    pl_json_set_string(w, "type", "object");
    if (table->fields) {
        pl_json_set_boolean(w, "additionalProperties", false);
        pl_json_key(w, "required");
        pl_json_begin_array(w);
        for (const pl_reply_field *f = table->fields; f->key; f++) {
            if (!is_optional(f)) {
                pl_json_put_string(w, f->key);
            }
        }
        pl_json_end_array(w);
        pl_json_key(w, "properties");
        pl_json_begin_object(w);
        for (const pl_reply_field *f = table->fields; f->key; f++) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)(strlen(f->key) - is_optional(f)), f->key);
            pl_json_key(w, key);
            pl_reply_type_put(w, f->type, f->doc);
        }
        pl_json_end_object(w);
    }
    pl_json_end_object(w);
}
