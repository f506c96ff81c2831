/* probes.h - a session's probes (output.probes) as a table, from its metrics records. */
#ifndef PLIANT_SERVER_STREAMS_PROBES_H
#define PLIANT_SERVER_STREAMS_PROBES_H

#include "server/http/http.h"

void pl_handle_probes(pl_request *r);

#endif
