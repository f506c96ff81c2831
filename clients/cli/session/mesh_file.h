/* mesh_file.h - a mesh file as pliant-preflight sees it, in its sandbox: what is in it, and the same in
 * another format. TetGen's two files are one mesh, named by either, where both are there.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_MESH_FILE_H
#define PLIANT_CLIENTS_CLI_SESSION_MESH_FILE_H

#include "clients/cli/base/command.h"

/* The report (server/worker/mesh_check.h) as text and parsed, both to be freed; *report is NULL where there
 * is none, which was said. PL_EXIT_FAILED with the faults in it, unsaid. */
int pl_mesh_file_report(pl_cli *cli, const char *path, bool shapes, char **text, pl_json **report);
void pl_mesh_file_print_faults(const pl_cli *cli, const char *path, const pl_json *report);

/* The file as gmsh, medit, vtk, obj or stl to `out`, which appears whole; faults are said. */
int pl_mesh_file_write(pl_cli *cli, const char *path, const char *format, const char *out);

#endif
