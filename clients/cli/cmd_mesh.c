/* mesh: what is in a mesh file, the same in another format, and a surface filled with tetrahedra. The
 * file is read by pliant-preflight, in its sandbox, as an upload is; tetrahedra are tetgen's. */
#include "clients/cli/outfile.h"
#include "clients/cli/run_session.h"
#include "clients/cli/scene_files.h"
#include "clients/cli/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { REPORT_MAX = 1 << 18 };

/* ---- the report --------------------------------------------------------------------------------
 */

static void print_faults(const pl_cli *cli, const char *path, const pl_json *report)
{
    pl_faults faults = {0};
    const pl_json *list = pl_json_at(report, "faults");
    for (size_t i = 0; i < pl_json_count(list); i++) {
        const pl_json *f = pl_json_item(list, i);
        pl_faults_add(&faults, path, pl_json_string(f, "code", ""), pl_json_string(f, "got", ""),
                      pl_json_string(f, "expected", ""), pl_json_string(f, "hint", ""));
    }
    pl_cli_print_faults(cli, &faults);
    pl_faults_clear(&faults);
}

/* The preflight's line about the file, parsed; faults are said. *text: the line, to be freed. */
static int read_report(pl_cli *cli, const char *path, char **text, pl_json **report)
{
    const char *arguments[] = {"--mesh", path, NULL};
    *report = NULL;
    *text = calloc(1, REPORT_MAX);
    if (!*text)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (access(path, R_OK) != 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    pl_status status = pl_run_session_ask("pliant-preflight", arguments, *text, REPORT_MAX);
    int saved = errno;
    *report = pl_json_parse(*text, strlen(*text), NULL);
    if (!*report)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: it could not be checked: %s", path,
                           status == PL_OK ? "no report" : strerror(saved));
    return pl_json_integer(*report, "faults_total", 0) == 0 ? PL_EXIT_OK : PL_EXIT_FAILED;
}

static void print_list(const pl_json *report, const char *key, const char *number)
{
    const pl_json *list = pl_json_at(report, key);
    for (size_t i = 0; i < pl_json_count(list); i++) {
        const pl_json *item = pl_json_item(list, i);
        const char *name = pl_json_string(item, "name", "");
        printf("%-12s %s%s%" PRId64 "", i == 0 ? key : "", name, *name ? " " : "",
               pl_json_integer(item, number, 0));
        if (strcmp(key, "tags") == 0) {
            static const char *const of[] = {"points", "edges", "triangles", "tetrahedra"};
            int64_t dimension = pl_json_integer(item, "dimension", 0);
            printf(" of %s", of[dimension >= 0 && dimension <= 3 ? dimension : 0]);
        } else {
            printf(" numbers an element");
        }
        putchar('\n');
    }
}

static void print_report(const pl_json *r)
{
    static const char *const counts[] = {"vertices",   "tets",   "triangles", "edges",
                                         "components", "unused", "repaired"};
    printf("%-12s %s\n", "format", pl_json_string(r, "format", "?"));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        int64_t n = pl_json_integer(r, counts[k], 0);
        if (n > 0)
            printf("%-12s %" PRId64 "\n", counts[k], n);
    }
    if (pl_json_count(pl_json_at(r, "box")) == 2)
        printf("%-12s %.6g %.6g %.6g to %.6g %.6g %.6g m\n", "box", pl_json_number(r, "box/0/0", 0),
               pl_json_number(r, "box/0/1", 0), pl_json_number(r, "box/0/2", 0),
               pl_json_number(r, "box/1/0", 0), pl_json_number(r, "box/1/1", 0),
               pl_json_number(r, "box/1/2", 0));
    static const char *const sizes[][2] = {{"volume", "m^3"}, {"area", "m^2"}, {"length", "m"}};
    for (int k = 0; k < 3; k++) {
        double size = pl_json_number(r, sizes[k][0], 0);
        if (size > 0)
            printf("%-12s %.6g %s\n", sizes[k][0], size, sizes[k][1]);
    }
    if (pl_json_at(r, "quality/worst"))
        printf("%-12s worst %.3g, mean %.3g (1: regular, 0: flat)\n", "quality",
               pl_json_number(r, "quality/worst", 0), pl_json_number(r, "quality/mean", 0));
    print_list(r, "tags", "tag");
    print_list(r, "fields", "components");
}

static int info(pl_cli *cli, const char *path)
{
    char *text;
    pl_json *report;
    int status = read_report(cli, path, &text, &report);
    if (report && cli->json) {
        fputs(text, stdout);
    } else if (report) {
        if (status == PL_EXIT_OK)
            print_report(report);
        print_faults(cli, path, report);
    }
    pl_json_free(report);
    free(text);
    return status;
}

/* ---- writing -----------------------------------------------------------------------------------
 */

/* The file as `format` to `out`, after it was found good. */
static int write_as(pl_cli *cli, const char *path, const char *format, const char *out)
{
    char *text;
    pl_json *report;
    pl_outfile file;
    int status = read_report(cli, path, &text, &report);
    if (report && status != PL_EXIT_OK)
        print_faults(cli, path, report);
    const char *kind = pl_json_string(report, "format", "");
    if (status == PL_EXIT_OK && strncmp(kind, "tetgen", 6) == 0)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s is half a mesh: .node and .ele go together",
                             path);
    const char *arguments[] = {"--mesh", path, "--format", kind, "--write", format, NULL};
    if (status == PL_EXIT_OK && pl_outfile_open(&file, out) != PL_OK)
        status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", out, strerror(errno));
    else if (status == PL_EXIT_OK) {
        if (pl_run_session_save("pliant-preflight", arguments, &file) != PL_OK) {
            pl_outfile_abandon(&file);
            status = pl_cli_fail(cli, PL_EXIT_FILE, "%s could not be written as %s", path, format);
        } else if (pl_outfile_commit(&file) != PL_OK) {
            status = pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", out, strerror(errno));
        }
    }
    pl_json_free(report);
    free(text);
    return status;
}

static int convert(pl_cli *cli, const char *path, const char *out)
{
    static const char *const formats[] = {"gmsh", "medit", "vtk", "obj", "stl"};
    const char *format = pl_mesh_format_of(out);
    for (size_t k = 0; format && k < sizeof formats / sizeof *formats; k++)
        if (strcmp(format, formats[k]) == 0)
            return write_as(cli, path, format, out);
    return pl_cli_fail(cli, PL_EXIT_USAGE,
                       "--out: '%s' does not end in .msh, .mesh, .vtk, .obj or .stl", out);
}

/* ---- tetrahedra --------------------------------------------------------------------------------
 */

typedef struct deadline {
    pid_t pid;
    struct timespec end;
    bool passed;
} deadline;

static void look(void *context, bool stopping)
{
    deadline *d = context;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < d->end.tv_sec || d->passed)
        return;
    d->passed = true;
    kill(d->pid, SIGKILL); /* ours and not waited for, as long as this is called */
}

/* tetgen on the surface, with what it says left out. */
static int run_tetgen(pl_cli *cli, const char *options, const char *surface, int64_t limit)
{
    char *argv[] = {"tetgen", (char *)options, (char *)surface, NULL};
    posix_spawn_file_actions_t actions;
    deadline d = {.passed = false};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&d.pid, "tetgen", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == ENOENT)
        return pl_cli_fail(cli, PL_EXIT_FILE,
                           "tetgen is not installed (Debian: apt install tetgen); or mesh the "
                           "surface with another program, such as gmsh, and use its file");
    if (error)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "tetgen: %s", strerror(error));
    clock_gettime(CLOCK_MONOTONIC, &d.end);
    d.end.tv_sec += limit;
    bool interrupted;
    int state = pl_run_session_wait(d.pid, look, &d, &interrupted);
    if (interrupted)
        return PL_EXIT_INTERRUPTED;
    if (d.passed)
        return pl_cli_fail(cli, PL_EXIT_FAILED,
                           "tetgen took more than %" PRId64 " s: --limit, or a larger --volume",
                           limit);
    if (state != 0)
        return pl_cli_fail(cli, PL_EXIT_FAILED,
                           "tetgen could not fill the surface: is it closed, and free of triangles "
                           "that cross each other?");
    return PL_EXIT_OK;
}

static int copy_part(pl_cli *cli, const char *from, const char *to)
{
    char part[16384];
    pl_outfile out;
    FILE *in = fopen(from, "rbe");
    if (!in)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "tetgen left no %s", strrchr(to, '.'));
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

static int tetrahedralise(pl_cli *cli, const char *path, const char *out)
{
    static const char *const endings[] = {".node", ".ele"};
    double volume, quality;
    int64_t limit;
    size_t n = strlen(out);
    char options[80], surface[160];
    pl_scratch scratch;
    if (n < 6 || strcmp(out + n - 5, ".node") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out: '%s' does not end in .node", out);
    if (!pl_cli_number(cli, "--volume", 0, 1e30, 0, &volume) ||
        !pl_cli_number(cli, "--quality", 1, 100, 1.414, &quality) ||
        !pl_cli_integer(cli, "--limit", 1, 86400, 300, &limit))
        return PL_EXIT_USAGE;
    if (!pl_scratch_make(&scratch))
        return pl_cli_fail(cli, PL_EXIT_FILE, "a temporary directory: %s", strerror(errno));
    snprintf(surface, sizeof surface, "%s/surface.stl", scratch.path);
    int used = snprintf(options, sizeof options, "-pQq%.6g", quality);
    if (volume > 0)
        snprintf(options + used, sizeof options - (size_t)used, "a%.9g", volume);
    int status = write_as(cli, path, "stl", surface);
    if (status == PL_EXIT_OK)
        status = run_tetgen(cli, options, surface, limit);
    for (int k = 0; k < 2 && status == PL_EXIT_OK; k++) {
        char from[176], *to = NULL;
        snprintf(from, sizeof from, "%s/surface.1%s", scratch.path, endings[k]);
        if (asprintf(&to, "%.*s%s", (int)(n - 5), out, endings[k]) < 0)
            to = NULL;
        status = to ? copy_part(cli, from, to) : pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        free(to);
    }
    pl_scratch_remove(&scratch);
    return status;
}

int pl_command_mesh(pl_cli *cli)
{
    const char *verb = cli->arguments[0], *path = cli->arguments[1];
    const char *out = pl_cli_option(cli, "--out");
    if (strcmp(verb, "info") == 0)
        return info(cli, path);
    bool converts = strcmp(verb, "convert") == 0;
    if (!converts && strcmp(verb, "tetrahedralise") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "mesh: got '%s', expected info, convert or tetrahedralise", verb);
    if (!out || !*out)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out FILE is missing");
    return converts ? convert(cli, path, out) : tetrahedralise(cli, path, out);
}
