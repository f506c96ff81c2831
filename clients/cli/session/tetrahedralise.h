/* tetrahedralise.h - fills a closed surface with tetrahedra, using tetgen or gmsh, which must be installed. */
#ifndef PLIANT_CLIENTS_CLI_SESSION_TETRAHEDRALISE_H
#define PLIANT_CLIENTS_CLI_SESSION_TETRAHEDRALISE_H

#include "clients/cli/base/command.h"

/* Uses the command's options --with, --volume, --quality and --limit; `out` ends in .node, .msh, .mesh or .vtk. Returns
 * an exit status, after printing what went wrong. */
int pl_tetrahedralise(pl_cli *cli, const char *path, const char *out);

#endif
