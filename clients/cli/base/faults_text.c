/* The faults of a scene as blocks of text: where, found, expected, remedy. */
#include "clients/cli/base/command.h"

#include "protocol/text/problem.h"

#include <stdlib.h>

static void print_row(const pl_terminal *t, const char *label, const char *text)
{
    if (text && *text)
        fprintf(stderr, "    %s%-9s%s %s\n", pl_style_on(t, PL_STYLE_DIM), label, pl_style_off(t),
                text);
}

void pl_cli_print_faults(const pl_cli *cli, const pl_faults *faults)
{
    const pl_terminal *t = &cli->err;
    for (size_t i = 0; i < faults->count; i++) {
        const pl_fault *f = &faults->items[i];
        bool whole = !f->pointer || !*f->pointer;
        fprintf(stderr, "  %s%s%s  %s%s%s\n", pl_style_on(t, PL_STYLE_BOLD),
                whole ? "(the whole scene)" : f->pointer, pl_style_off(t),
                pl_style_on(t, PL_STYLE_RED), f->code, pl_style_off(t));
        print_row(t, "got", f->got);
        print_row(t, "expected", f->expected);
        print_row(t, "hint", f->hint);
    }
    if (faults->total > faults->count)
        fprintf(stderr, "  and %zu more\n", faults->total - faults->count);
}

int pl_cli_refuse(const pl_cli *cli, const char *detail, const pl_faults *faults)
{
    char *text = cli->json ? pl_problem_encode(422, "invalid_scene", "The scene is not valid",
                                               detail, faults)
                           : NULL;
    if (text) {
        puts(text);
    } else {
        if (detail)
            pl_cli_fail(cli, 0, "%s", detail);
        else
            pl_cli_fail(cli, 0, "the scene has %zu fault%s", faults->total,
                        faults->total == 1 ? "" : "s");
        pl_cli_print_faults(cli, faults);
    }
    free(text);
    return PL_EXIT_FAILED;
}
