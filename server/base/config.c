#include "server/base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { LINE_MAX_BYTES = 4096, LINES_MAX = 10000 };

/* Kept for ever, because options point to the values. */
typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static const char *keep(const char *text)
{
    static kept *all;
    size_t size = strlen(text) + 1;
    kept *one = malloc(sizeof *one + size);
    if (!one) {
        return NULL;
    }
    memcpy(one->text, text, size);
    one->next = all;
    all = one;
    return one->text;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = 0;
    }
    return text;
}

static bool is_secret(const char *name)
{
    static const char *const words[] = {"token", "password", "secret", "key"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(name, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool complain_name(const char *place, const char *name)
{
    const char *near = pl_option_nearest(name);
    const pl_option_row *known = pl_option_find(name);
    if (known) {
        fprintf(stderr, "pliantd: %s: '%s' is allowed on the command line only\n", place, name);
    } else if (is_secret(name)) {
        fprintf(stderr,
                "pliantd: %s: secrets are not allowed here: token-file = FILE, tls-key = FILE, or "
                "credential:NAME in place of a file\n",
                place);
    } else {
        fprintf(stderr, "pliantd: %s: '%s' is not an option%s%s%s\n", place, name,
                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return false;
}

/* A flag is given alone, or as true or false. */
static bool take_flag(pl_config_take take, void *context, const pl_option_row *option,
                      const char *value, const char *place)
{
    if (value && strcmp(value, "false") == 0) {
        return true;
    }
    if (value && strcmp(value, "true") != 0) {
        fprintf(stderr, "pliantd: %s: %s: got '%s', expected true or false\n", place,
                option->shown.name + 2, value);
        return false;
    }
    return take(context, option, NULL, place);
}

static bool take_line(char *line, pl_config_take take, void *context, const char *place)
{
    char *equals = strchr(line, '=');
    char *value = equals ? trim(equals + 1) : NULL;
    if (equals) {
        *equals = 0;
    }
    const char *name = trim(line);
    const pl_option_row *option = pl_option_find(name);
    if (!option || option->flags & PL_OPTION_COMMAND) {
        return complain_name(place, name);
    }
    if (!option->shown.value) {
        return take_flag(take, context, option, value, place);
    }
    if (!value || !*value) {
        fprintf(stderr, "pliantd: %s: %s: expected '%s = %s'\n", place, name, name,
                option->shown.value);
        return false;
    }
    const char *lasting = keep(value);
    return lasting && take(context, option, lasting, place);
}

bool pl_config_read(const char *path, pl_config_take take, void *context)
{
    char line[LINE_MAX_BYTES], place[PL_CONFIG_PLACE_MAX];
    struct stat st;
    FILE *file = fopen(path, "re");
    if (!file || fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
        fprintf(stderr, "pliantd: --config: %s: %s\n", path, file ? "no file" : strerror(errno));
        if (file) {
            fclose(file);
        }
        return false;
    }
    bool good = true;
    if (st.st_mode & S_IWOTH) {
        fprintf(stderr, "pliantd: --config: %s: writable by everybody; chmod o-w it\n", path);
        good = false;
    }
    for (int number = 1; number <= LINES_MAX && fgets(line, sizeof line, file); number++) {
        snprintf(place, sizeof place, "%.280s:%d", path, number);
        if (strlen(line) + 1 == sizeof line) {
            fprintf(stderr, "pliantd: %s: the line is too long\n", place);
            good = false;
            break;
        }
        char *text = trim(line);
        if (*text && *text != '#' && !take_line(text, take, context, place)) {
            good = false;
        }
    }
    fclose(file);
    return good;
}
