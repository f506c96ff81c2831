#include "clients/cli/base/report_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pl_report_files_write(const pl_cli *cli, const char *directory, const pl_report_file *parts,
                          int count, const void *context)
{
    if (pl_make_directories(directory) != PL_OK)
        return pl_cli_fail(cli, PL_EXIT_FILE, "%s: %s", directory, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", directory, parts[i].name) < 0)
            return pl_cli_fail(cli, PL_EXIT_FAILED, "out of memory");
        pl_status status = parts[i].write(path, context);
        if (status == PL_NO_MEMORY)
            pl_cli_fail(cli, 0, "%s: out of memory", path);
        else if (status != PL_OK)
            pl_cli_fail(cli, 0, "%s: %s", path, strerror(errno));
        free(path);
        if (status != PL_OK)
            return PL_EXIT_FILE;
    }
    return PL_EXIT_OK;
}
