#include "clients/cli/session/tetrahedralise.h"

#include "engine/clock.h"
#include "clients/cli/session/mesh_file.h"
#include "clients/cli/base/outfile.h"
#include "clients/cli/session/run_session.h"
#include "clients/cli/session/scene_files.h"
#include "clients/cli/base/temp_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATH_ROOM = 160 };

typedef struct fill {
    pl_cli *cli;
    bool gmsh; /* else tetgen */
    double volume, quality;
    int64_t limit;
    pl_temp_dir scratch;
    char surface[PATH_ROOM], made[PATH_ROOM]; /* the program's input and output */
} fill;

static const char *name_of(const fill *f)
{
    return f->gmsh ? "gmsh" : "tetgen";
}

/* ---- one of the programs ---- */

typedef struct deadline {
    pid_t pid;
    int64_t end_ms; /* on pl_monotonic_ms */
    bool passed;
} deadline;

static void look(void *context, bool stopping)
{
    deadline *d = context;
    if (pl_monotonic_ms() < d->end_ms || d->passed)
        return;
    d->passed = true;
    kill(d->pid, SIGKILL); /* our child, not yet reaped while this is called */
}

static int start(const fill *f, char *const *argv, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return pl_cli_fail(f->cli, PL_EXIT_FILE, "%s is not installed (Debian: apt install %s)",
                           argv[0], argv[0]);
    if (error)
        return pl_cli_fail(f->cli, PL_EXIT_FAILED, "%s: %s", argv[0], strerror(error));
    return PL_EXIT_OK;
}

/* Run the program, discarding its output except errors. */
static int run(const fill *f, char *const *argv)
{
    deadline d = {.passed = false};
    int status = start(f, argv, &d.pid);
    if (status != PL_EXIT_OK)
        return status;
    d.end_ms = pl_monotonic_ms() + 1000 * (int64_t)f->limit;
    bool interrupted;
    int state = pl_run_session_wait(d.pid, look, &d, &interrupted);
    if (interrupted)
        return PL_EXIT_INTERRUPTED;
    if (d.passed)
        return pl_cli_fail(f->cli, PL_EXIT_FAILED,
                           "%s took more than %" PRId64
                           " s: use a larger --limit or a larger --volume",
                           argv[0], f->limit);
    if (state != 0 || access(f->made, R_OK) != 0)
        return pl_cli_fail(f->cli, PL_EXIT_FAILED,
                           "%s could not fill the surface: is it closed, and free of triangles "
                           "that cross each other?",
                           argv[0]);
    return PL_EXIT_OK;
}

static int run_tetgen(fill *f)
{
    char options[80];
    int used = snprintf(options, sizeof options, "-pQq%.6g", f->quality);
    if (f->volume > 0)
        snprintf(options + used, sizeof options - (size_t)used, "a%.9g", f->volume);
    snprintf(f->made, sizeof f->made, "%s/surface.1.ele", f->scratch.path);
    return run(f, (char *[]){"tetgen", options, f->surface, NULL});
}

/* The surface becomes the boundary of a volume. No edge may be longer than that of the regular tetrahedron with the
 * largest allowed volume, sqrt 2 L^3 / 12. */
static int run_gmsh(fill *f)
{
    char script[PATH_ROOM];
    snprintf(script, sizeof script, "%s/fill.geo", f->scratch.path);
    snprintf(f->made, sizeof f->made, "%s/filled.msh", f->scratch.path);
    FILE *out = fopen(script, "we");
    if (!out)
        return pl_cli_fail(f->cli, PL_EXIT_FILE, "%s: %s", script, strerror(errno));
    fputs("Merge \"surface.stl\";\nSurface Loop(1) = {Surface{:}};\nVolume(1) = {1};\n"
          "Mesh.Optimize = 1;\n",
          out);
    if (f->volume > 0)
        fprintf(out, "Mesh.CharacteristicLengthMax = %.9g;\n", cbrt(6 * sqrt(2) * f->volume));
    if (fclose(out) != 0)
        return pl_cli_fail(f->cli, PL_EXIT_FILE, "%s: %s", script, strerror(errno));
    return run(f, (char *[]){"gmsh", "-3", "-v", "1", "-nt", "1", "-format", "msh22", "-o", f->made,
                             script, NULL});
}

/* ---- choosing a program, and its result ---- */

static bool is_there(const char *program)
{
    const char *path = getenv("PATH");
    char place[4096];
    while (path && *path) {
        size_t length = strcspn(path, ":");
        int used = snprintf(place, sizeof place, "%.*s/%s", (int)length, path, program);
        if (length > 0 && (size_t)used < sizeof place && access(place, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

static int choose(fill *f, const char *out)
{
    const char *with = pl_cli_option(f->cli, "--with");
    if (with && strcmp(with, "tetgen") != 0 && strcmp(with, "gmsh") != 0)
        return pl_cli_fail(f->cli, PL_EXIT_USAGE, "--with: got '%s', expected tetgen or gmsh",
                           with);
    if (!with && !is_there("tetgen") && !is_there("gmsh"))
        return pl_cli_fail(f->cli, PL_EXIT_FILE,
                           "neither tetgen nor gmsh is installed (Debian: apt install tetgen)");
    f->gmsh = with ? strcmp(with, "gmsh") == 0 : !is_there("tetgen");
    if (f->gmsh && ends_in(out, ".node"))
        return pl_cli_fail(f->cli, with ? PL_EXIT_USAGE : PL_EXIT_FILE,
                           "gmsh makes no .node file%s: --out NAME.msh, .mesh or .vtk",
                           with ? "" : ", and tetgen is not installed");
    if (f->gmsh && pl_cli_option(f->cli, "--quality"))
        return pl_cli_fail(f->cli, PL_EXIT_USAGE, "--quality works with tetgen only");
    return PL_EXIT_OK;
}

static int copy_part(pl_cli *cli, const char *from, const char *to)
{
    char part[16384];
    pl_outfile out;
    FILE *in = fopen(from, "rbe");
    if (!in)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "tetgen wrote no %s", strrchr(to, '.'));
    if (pl_outfile_open(&out, to) != PL_OK) {
        fclose(in);
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", to, strerror(errno));
    }
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;)
        pl_outfile_write(&out, part, n);
    fclose(in);
    return pl_outfile_commit(&out) == PL_OK
               ? PL_EXIT_OK
               : pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", to, strerror(errno));
}

static int keep_pair(fill *f, const char *out)
{
    static const char *const endings[] = {".node", ".ele"};
    int status = PL_EXIT_OK;
    for (int k = 0; k < 2 && status == PL_EXIT_OK; k++) {
        char from[PATH_ROOM + 16], *to = NULL;
        snprintf(from, sizeof from, "%s/surface.1%s", f->scratch.path, endings[k]);
        if (asprintf(&to, "%.*s%s", (int)(strlen(out) - strlen(".node")), out, endings[k]) < 0)
            to = NULL;
        status = to ? copy_part(f->cli, from, to)
                    : pl_cli_fail(f->cli, PL_EXIT_FAILED, "out of memory");
        free(to);
    }
    return status;
}

/* A program that found no volume leaves only the surface. */
static int has_tets(fill *f)
{
    char *text;
    pl_json *report;
    int status = pl_mesh_file_report(f->cli, f->made, false, &text, &report);
    if (report && status != PL_EXIT_OK)
        pl_mesh_file_print_faults(f->cli, f->made, report);
    if (status == PL_EXIT_OK && pl_json_integer(report, "tets", 0) == 0)
        status = pl_cli_fail(f->cli, PL_EXIT_FAILED,
                             "%s found no volume inside the surface: is it closed?", name_of(f));
    pl_json_free(report);
    free(text);
    return status;
}

int pl_tetrahedralise(pl_cli *cli, const char *path, const char *out)
{
    fill f = {.cli = cli};
    bool pair = ends_in(out, ".node");
    const char *format = pair ? NULL : pl_mesh_format_of(out);
    if (!pair && !ends_in(out, ".msh") && !ends_in(out, ".mesh") && !ends_in(out, ".vtk"))
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "--out: '%s' does not end in .node, .msh, .mesh or .vtk", out);
    if (!pl_cli_number(cli, "--volume", 0, 1e30, 0, &f.volume) ||
        !pl_cli_number(cli, "--quality", 1, 100, 1.414, &f.quality) ||
        !pl_cli_integer(cli, "--limit", 1, 86400, 300, &f.limit))
        return PL_EXIT_USAGE;
    int status = choose(&f, out);
    if (status != PL_EXIT_OK)
        return status;
    if (!pl_temp_dir_create(&f.scratch))
        return pl_cli_fail(cli, PL_EXIT_FILE, "a temporary directory: %s", strerror(errno));
    snprintf(f.surface, sizeof f.surface, "%s/surface.stl", f.scratch.path);
    status = pl_mesh_file_write(cli, path, "stl", f.surface);
    if (status == PL_EXIT_OK)
        status = f.gmsh ? run_gmsh(&f) : run_tetgen(&f);
    if (status == PL_EXIT_OK)
        status = has_tets(&f);
    if (status == PL_EXIT_OK)
        status = pair ? keep_pair(&f, out) : pl_mesh_file_write(cli, f.made, format, out);
    pl_temp_dir_remove(&f.scratch);
    return status;
}
