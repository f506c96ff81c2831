/* sweep_file.h - a sweep's document in a file. "scene" may be the path of a scene file; "csv" may be {"file": PATH},
 * also in the series of "fit". Paths are relative to the document's folder; those in a scene file, to its own.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_SWEEP_FILE_H
#define PLIANT_CLIENTS_CLI_SESSION_SWEEP_FILE_H

#include "clients/cli/session/scene_files.h"

/* The document to post, in out->text, with the mesh files of its scene. PL_IO with errno and the path in *failed
 * (malloc'ed); PL_INVALID with faults, also if it is not a JSON object. */
pl_status pl_sweep_file_read(const char *path, pl_scene_files *out, pl_faults *faults,
                             char **failed);

#endif
