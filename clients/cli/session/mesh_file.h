/* mesh_file.h - reports on a mesh file, as pliant-preflight reads it in its sandbox, and converts it to another format.
 * TetGen's two files are one mesh, named by either, if both exist.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_MESH_FILE_H
#define PLIANT_CLIENTS_CLI_SESSION_MESH_FILE_H

#include "clients/cli/base/command.h"

/* The report (server/worker/mesh_check.h) as text and parsed, both for the caller to free; *report is NULL if it is
 * missing, which was printed. PL_EXIT_FAILED if the report contains faults, which are not printed. */
int pl_mesh_file_report(pl_cli *cli, const char *path, bool shapes, char **text, pl_json **report);
void pl_mesh_file_print_faults(const pl_cli *cli, const char *path, const pl_json *report);

/* Write the file as gmsh, medit, vtk, obj or stl to `out`, which appears whole; faults are printed. */
int pl_mesh_file_write(pl_cli *cli, const char *path, const char *format, const char *out);

#endif
