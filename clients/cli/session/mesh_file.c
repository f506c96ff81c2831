#include "clients/cli/session/mesh_file.h"

#include "clients/cli/base/outfile.h"
#include "clients/cli/session/run_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_MAX = 1 << 18, PATH_ROOM = 4096, ARGUMENTS_ROOM = 12 };

/* The arguments of pliant-preflight before those that say what to do with the mesh. */
typedef struct file_names {
    char node[PATH_ROOM], ele[PATH_ROOM];
    const char *arguments[ARGUMENTS_ROOM];
    int count;
} file_names;

static void add(file_names *n, const char *word)
{
    n->arguments[n->count++] = word;
    n->arguments[n->count] = NULL;
}

static bool find_pair(const char *path, file_names *n)
{
    size_t length = strlen(path);
    size_t stem = length > 5 && strcmp(path + length - 5, ".node") == 0  ? length - 5
                  : length > 4 && strcmp(path + length - 4, ".ele") == 0 ? length - 4
                                                                         : 0;
    if (stem == 0 || stem + 6 > PATH_ROOM)
        return false;
    snprintf(n->node, sizeof n->node, "%.*s.node", (int)stem, path);
    snprintf(n->ele, sizeof n->ele, "%.*s.ele", (int)stem, path);
    return access(n->node, R_OK) == 0 && access(n->ele, R_OK) == 0;
}

static void name_files(const char *path, file_names *n)
{
    n->count = 0;
    add(n, "--mesh");
    if (!find_pair(path, n)) {
        add(n, path);
        return;
    }
    add(n, n->node);
    add(n, "--ele");
    add(n, n->ele);
    add(n, "--format");
    add(n, "tetgen");
}

void pl_mesh_file_print_faults(const pl_cli *cli, const char *path, const pl_json *report)
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

int pl_mesh_file_report(pl_cli *cli, const char *path, bool shapes, char **text, pl_json **report)
{
    file_names names;
    *report = NULL;
    *text = calloc(1, REPORT_MAX);
    if (!*text)
        return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
    if (access(path, R_OK) != 0)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", path, strerror(errno));
    name_files(path, &names);
    if (shapes)
        add(&names, "--shapes");
    pl_status status = pl_run_session_ask("pliant-preflight", names.arguments, *text, REPORT_MAX);
    int saved = errno;
    *report = pl_json_parse(*text, strlen(*text), NULL);
    if (!*report)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: it could not be checked: %s", path,
                           status == PL_OK ? "no report" : strerror(saved));
    return pl_json_integer(*report, "faults_total", 0) == 0 ? PL_EXIT_OK : PL_EXIT_FAILED;
}

static int save(pl_cli *cli, const char *path, const char *kind, const char *format,
                const char *out)
{
    file_names names;
    pl_outfile file;
    name_files(path, &names);
    if (names.count == 2) {
        add(&names, "--format");
        add(&names, kind);
    }
    add(&names, "--write");
    add(&names, format);
    if (pl_outfile_open(&file, out) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", out, strerror(errno));
    if (pl_run_session_save("pliant-preflight", names.arguments, &file) != PL_OK) {
        pl_outfile_abandon(&file);
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s could not be written as %s", path, format);
    }
    return pl_outfile_commit(&file) == PL_OK
               ? PL_EXIT_OK
               : pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", out, strerror(errno));
}

int pl_mesh_file_write(pl_cli *cli, const char *path, const char *format, const char *out)
{
    char *text;
    pl_json *report;
    int status = pl_mesh_file_report(cli, path, false, &text, &report);
    if (report && status != PL_EXIT_OK)
        pl_mesh_file_print_faults(cli, path, report);
    const char *kind = pl_json_string(report, "format", "");
    if (status == PL_EXIT_OK && strncmp(kind, "tetgen_", 7) == 0)
        status = pl_cli_fail(cli, PL_EXIT_FILE,
                             "%s is half a mesh: a TetGen mesh needs .node and .ele", path);
    if (status == PL_EXIT_OK)
        status = save(cli, path, kind, format, out);
    pl_json_free(report);
    free(text);
    return status;
}
