/* pliant-preflight: judge a session before it is accepted, or one mesh file. */
#include "server/worker/mesh_check.h"
#include "server/worker/preflight.h"
#include "server/worker/sandbox.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "usage: pliant-preflight --session DIR\n"
    "       pliant-preflight --mesh FILE [--format "
    "auto|gmsh|tetgen_node|tetgen_ele|medit|obj|vtk|vtu|\n"
    "                        vega|abaqus|stl|ply] [--write gmsh|medit|vtk|obj|stl]\n"
    "\n"
    "Checks the scene in DIR (scene.json, meshes/HASH) and writes effective.json, topology.json,\n"
    "triangles.npy, tets.npy and preflight.json beside it; or checks one mesh file and prints "
    "what\n"
    "is in it as one line of JSON, or writes it to standard output in another format.\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 accepted, 1 refused (the faults say why), 2 usage or a file that can not be\n"
    "read or written.\n";

int main(int argc, char **argv)
{
    static const struct option options[] = {{"session", required_argument, NULL, 's'},
                                            {"mesh", required_argument, NULL, 'm'},
                                            {"format", required_argument, NULL, 'f'},
                                            {"write", required_argument, NULL, 'w'},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    const char *session = NULL, *mesh = NULL, *format = "auto", *write = NULL;
    pl_sandbox_close_inherited();
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 's':
            session = optarg;
            break;
        case 'm':
            mesh = optarg;
            break;
        case 'f':
            format = optarg;
            break;
        case 'w':
            write = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        case 'v':
            puts("pliant-preflight " PLIANT_VERSION);
            return 0;
        default:
            fputs("Try pliant-preflight --help.\n", stderr);
            return PL_PREFLIGHT_ERROR;
        }
    if (!session == !mesh || optind != argc) {
        fputs(usage, stderr);
        return PL_PREFLIGHT_ERROR;
    }
    return session ? (int)pl_preflight_session(session) : pl_mesh_check_file(mesh, format, write);
}
