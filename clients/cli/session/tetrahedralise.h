/* tetrahedralise.h - a closed surface filled with tetrahedra, by tetgen or gmsh, which has to be installed.
 */
#ifndef PLIANT_CLIENTS_CLI_SESSION_TETRAHEDRALISE_H
#define PLIANT_CLIENTS_CLI_SESSION_TETRAHEDRALISE_H

#include "clients/cli/base/command.h"

/* By the command's options --with, --volume, --quality and --limit; `out` ends in .node, .msh, .mesh or
 * .vtk. An exit status; what went wrong was said. */
int pl_tetrahedralise(pl_cli *cli, const char *path, const char *out);

#endif
