/* tenant_api.h - the requests about users, groups, tokens, and the caller. */
#ifndef PLIANT_SERVER_API_TENANT_API_H
#define PLIANT_SERVER_API_TENANT_API_H

#include "server/http/http.h"

void pl_handle_me(pl_request *r);
void pl_handle_tokens(pl_request *r);
void pl_handle_token_create(pl_request *r);
void pl_handle_token_revoke(pl_request *r);
void pl_handle_users(pl_request *r);
void pl_handle_user_create(pl_request *r);
void pl_handle_user_change(pl_request *r);
void pl_handle_user_remove(pl_request *r);
void pl_handle_groups(pl_request *r);
void pl_handle_group_create(pl_request *r);
void pl_handle_group_change(pl_request *r);
void pl_handle_group_remove(pl_request *r);
void pl_handle_member_put(pl_request *r);
void pl_handle_member_remove(pl_request *r);

#endif
