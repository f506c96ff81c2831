/* tenant_client.h - users, groups and tokens made over HTTP by the daemon's owner, and requests by others. What goes
 * wrong fails the test.
 */
#ifndef PLIANT_TESTS_SUPPORT_TENANT_CLIENT_H
#define PLIANT_TESTS_SUPPORT_TENANT_CLIENT_H

#include "tests/support/http_client.h"

enum { TENANT_SECRET = 80 };

void tenant_user(const daemon_fixture *d, const char *name);
void tenant_group(const daemon_fixture *d, const char *name);
void tenant_member(const daemon_fixture *d, const char *group, const char *user, const char *role);
/* A token of a user (NULL: the owner's own), with its id unless that is NULL. */
void tenant_token(const daemon_fixture *d, const char *user, const char *scopes,
                  char secret[TENANT_SECRET], char id[33]);
/* A whole request with this token (NULL: with none); `more` are header lines or NULL; a body is JSON. */
http_reply *tenant_call(const daemon_fixture *d, const char *secret, const char *method,
                        const char *target, const char *more, const char *json);
/* A session of the user, in a group or (NULL) none. */
void tenant_session(const daemon_fixture *d, const char *secret, const char *group, char id[33]);

#endif
