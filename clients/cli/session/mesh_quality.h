/* mesh_quality.h - prints the quality of a mesh's elements on a terminal: ranges, histograms, the worst. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_MESH_QUALITY_H
#define PLIANT_CLIENTS_CLI_SESSION_MESH_QUALITY_H

#include "clients/cli/base/terminal.h"

#include "protocol/text/json.h"

/* `shapes`: of a report (server/worker/mesh_quality.h). */
void pl_mesh_quality_print(const pl_json *shapes, const pl_terminal *terminal);

#endif
