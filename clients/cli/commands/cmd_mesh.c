/* mesh: the contents of a mesh file, the quality of its elements, conversion to another format, and a surface filled
 * with tetrahedra. pliant-preflight reads the files in its sandbox, like uploads. */
#include "clients/cli/commands/commands.h"
#include "clients/cli/session/mesh_file.h"
#include "clients/cli/session/tetrahedralise.h"
#include "clients/cli/session/mesh_quality.h"
#include "clients/cli/session/scene_files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static int tell(pl_cli *cli, const char *path, bool shapes)
{
    char *text;
    pl_json *report;
    int status = pl_mesh_file_report(cli, path, shapes, &text, &report);
    const pl_json *found = pl_json_at(report, "shapes");
    if (report && cli->json) {
        fputs(text, stdout);
    } else if (report) {
        if (found)
            pl_mesh_quality_print(found, &cli->out);
        else if (status == PL_EXIT_OK)
            print_report(report);
        pl_mesh_file_print_faults(cli, path, report);
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
            return pl_mesh_file_write(cli, path, format, out);
    return pl_cli_fail(cli, PL_EXIT_USAGE,
                       "--out: '%s' does not end in .msh, .mesh, .vtk, .obj or .stl", out);
}

int pl_command_mesh(pl_cli *cli)
{
    const char *verb = cli->arguments[0], *path = cli->arguments[1];
    const char *out = pl_cli_option(cli, "--out");
    if (strcmp(verb, "info") == 0 || strcmp(verb, "quality") == 0)
        return tell(cli, path, strcmp(verb, "quality") == 0);
    bool converts = strcmp(verb, "convert") == 0;
    if (!converts && strcmp(verb, "tetrahedralise") != 0)
        return pl_cli_fail(cli, PL_EXIT_USAGE,
                           "mesh: got '%s', expected info, quality, convert or tetrahedralise",
                           verb);
    if (!out || !*out)
        return pl_cli_fail(cli, PL_EXIT_USAGE, "--out FILE is missing");
    return converts ? convert(cli, path, out) : pl_tetrahedralise(cli, path, out);
}
