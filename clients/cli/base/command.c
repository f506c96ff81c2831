/* Helpers for command-line options and error messages, used by all commands. */
#include "clients/cli/base/command.h"

#include "protocol/text/problem.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int pl_cli_fail(const pl_cli *cli, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%spliant:%s ", pl_style_on(&cli->err, PL_STYLE_RED), pl_style_off(&cli->err));
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return status;
}

int pl_cli_fail_value(const pl_cli *cli, const char *option, const char *value,
                      const char *const *known, size_t count)
{
    char list[400] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "",
                                   known[i]);
    const char *nearest = pl_nearest(value, known, count);
    return pl_cli_fail(cli, PL_EXIT_USAGE, "%s: got '%s', expected one of %s%s%s%s", option, value,
                       list, nearest ? "; did you mean " : "", nearest ? nearest : "",
                       nearest ? "?" : "");
}

void pl_cli_note(const pl_cli *cli, const char *text)
{
    if (!cli->json)
        fprintf(stderr, "%snote:%s %s\n", pl_style_on(&cli->err, PL_STYLE_YELLOW),
                pl_style_off(&cli->err), text);
}

static void warn(const pl_cli *cli, const char *code, const char *detail)
{
    if (!cli->json)
        fprintf(stderr, "%swarning: %s:%s %s\n", pl_style_on(&cli->err, PL_STYLE_YELLOW), code,
                pl_style_off(&cli->err), detail);
}

void pl_cli_warn(const pl_cli *cli, const pl_warnings *list)
{
    for (int32_t i = 0; i < list->count; i++)
        warn(cli, pl_warning_name(list->items[i].code), list->items[i].detail);
}

void pl_cli_warn_of(const pl_cli *cli, const pl_json *list)
{
    for (size_t i = 0; i < pl_json_count(list); i++)
        warn(cli, pl_json_string(pl_json_item(list, i), "code", ""),
             pl_json_string(pl_json_item(list, i), "detail", ""));
}

static int option_index(const pl_cli *cli, const char *name)
{
    for (int i = 0; i < PL_OPTIONS_MAX && cli->command->options[i].name; i++)
        if (strcmp(cli->command->options[i].name, name) == 0)
            return i;
    return -1;
}

const char *pl_cli_option(const pl_cli *cli, const char *name)
{
    int i = option_index(cli, name);
    return i < 0 ? NULL : cli->values[i];
}

bool pl_cli_flag(const pl_cli *cli, const char *name)
{
    return pl_cli_option(cli, name) != NULL;
}

bool pl_cli_number(const pl_cli *cli, const char *name, double minimum, double maximum,
                   double fallback, double *out)
{
    const char *text = pl_cli_option(cli, name);
    char *end = NULL;
    double value = text ? strtod(text, &end) : fallback;
    bool good = !text || (end > text && !*end && value >= minimum && value <= maximum);
    *out = good ? value : fallback;
    if (!good)
        pl_cli_fail(cli, PL_EXIT_USAGE, "%s: got '%s', expected a number from %g to %g", name, text,
                    minimum, maximum);
    return good;
}

static void fail_integer(const pl_cli *cli, const char *name, const char *text, int64_t minimum,
                         int64_t maximum)
{
    if (maximum > INT64_MAX / 8)
        pl_cli_fail(cli, 0, "%s: got '%s', expected a whole number of at least %" PRId64, name,
                    text, minimum);
    else
        pl_cli_fail(cli, 0, "%s: got '%s', expected a whole number from %" PRId64 " to %" PRId64,
                    name, text, minimum, maximum);
}

bool pl_cli_integer(const pl_cli *cli, const char *name, int64_t minimum, int64_t maximum,
                    int64_t fallback, int64_t *out)
{
    const char *text = pl_cli_option(cli, name);
    char *end = NULL;
    errno = 0;
    int64_t value = text ? strtoll(text, &end, 10) : fallback;
    bool good = !text || (end > text && !*end && !errno && value >= minimum && value <= maximum);
    *out = good ? value : fallback;
    if (!good)
        fail_integer(cli, name, text, minimum, maximum);
    return good;
}
