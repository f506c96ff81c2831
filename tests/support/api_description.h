/* api_description.h - every reply that a test gets is held against the daemon's own description,
 * /openapi.json: an undescribed status, media type, key or problem fails the test.
 */
#ifndef PLIANT_TESTS_SUPPORT_API_DESCRIPTION_H
#define PLIANT_TESTS_SUPPORT_API_DESCRIPTION_H

#include "tests/support/http_client.h"

/* With its body, where `whole`. A method or target of NULL: of a request that is none. */
void api_check_reply(const daemon_fixture *d, const char *method, const char *target,
                     const http_reply *r, bool whole);
/* The description of this daemon; borrowed. */
const json_t *api_description(const daemon_fixture *d);

#endif
