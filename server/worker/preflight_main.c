/* pliant-preflight: checks a session before it is accepted, or one mesh file. */
#include "server/worker/mesh_check.h"
#include "server/worker/preflight.h"
#include "server/worker/prepared.h"
#include "server/worker/sandbox.h"

#include <getopt.h>
#include <stdio.h>

static const char usage[] =
    "usage: pliant-preflight --session DIR | --preview DIR\n"
    "       pliant-preflight --mesh FILE [--format "
    "auto|gmsh|tetgen_node|tetgen_ele|tetgen|medit|obj|vtk|vtu|\n"
    "                        vega|abaqus|stl|ply] [--ele FILE] [--shapes]\n"
    "                        [--write gmsh|medit|vtk|obj|stl]\n"
    "\n"
    "--session checks the scene in DIR (scene.json, meshes/HASH) and writes effective.json,\n"
    "topology.json, triangles.npy, tets.npy, surface.npy and preflight.json into DIR. It does not\n"
    "sync them: its caller makes DIR durable as a whole. --preview also writes preview.json, "
    "which\n"
    "shows where the scene's bodies are.\n"
    "\n"
    "--mesh checks one mesh file and prints a summary as one line of JSON. --shapes adds the\n"
    "shapes of its elements. --write prints the mesh in another format instead. A TetGen mesh\n"
    "needs both of its files: --mesh NODES --ele ELEMENTS --format tetgen.\n"
    "\n"
    "--prepared ROOM links the libraries, waits, and forks a check for each message on standard\n"
    "output, a socket; ROOM is the space that shows their arguments.\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 accepted, 1 rejected (the faults say why), 2 wrong usage, or a file cannot be "
    "read\n"
    "or written.\n";

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"session", required_argument, NULL, 's'}, {"preview", required_argument, NULL, 'p'},
        {"mesh", required_argument, NULL, 'm'},    {"format", required_argument, NULL, 'f'},
        {"write", required_argument, NULL, 'w'},   {"ele", required_argument, NULL, 'e'},
        {"shapes", no_argument, NULL, 'q'},        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0}};
    const char *session = NULL;
    bool preview = false;
    pl_mesh_check_request mesh = {.format = "auto"};
    pl_prepared_run(&argc, &argv);
    pl_sandbox_close_inherited();
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (c) {
        case 'p':
        case 's':
            session = optarg;
            preview = c == 'p';
            break;
        case 'm':
            mesh.path = optarg;
            break;
        case 'f':
            mesh.format = optarg;
            break;
        case 'w':
            mesh.write = optarg;
            break;
        case 'e':
            mesh.ele = optarg;
            break;
        case 'q':
            mesh.shapes = true;
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
    if (!session == !mesh.path || optind != argc) {
        fputs(usage, stderr);
        return PL_PREFLIGHT_ERROR;
    }
    return pl_prepared_leave(session ? (int)pl_preflight_session(session, preview)
                                     : pl_mesh_check_file(&mesh));
}
