/* uploads.h - uploads a scene's mesh files to the daemon. */
#ifndef PLIANT_CLIENTS_CLI_COMMANDS_UPLOADS_H
#define PLIANT_CLIENTS_CLI_COMMANDS_UPLOADS_H

#include "clients/cli/net/api.h"
#include "clients/cli/session/scene_files.h"

/* Read the scene at a path ("-": standard input). Errors in it or its mesh files are printed. Returns an exit
 * status. */
int pl_upload_read(pl_cli *cli, const char *path, pl_scene_files *scene);
/* Upload each file that the daemon does not have, or says this user may not use. */
int pl_upload_files(pl_cli *cli, const pl_scene_files *scene);

#endif
