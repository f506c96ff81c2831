#include "server/api/replies.h"

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
    {"user", "string?", "the logged-in user; null without a login"},
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
const pl_reply_table pl_replies_of_tenants[] = {
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
    {0},
};
/* clang-format on */
