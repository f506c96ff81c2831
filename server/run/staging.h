/* staging.h - the directory of a session in the making: built in STATE/incoming/ID, where a starting daemon would
 * remove it, and moved to STATE/sessions/xx/ID once the scene is accepted.
 */
#ifndef PLIANT_SERVER_RUN_STAGING_H
#define PLIANT_SERVER_RUN_STAGING_H

#include "server/run/admission_state.h"

/* Each returns false after a reply. */
bool pl_staging_create(pl_admission *a);
bool pl_staging_publish(pl_admission *a); /* durable when it returns */

#endif
