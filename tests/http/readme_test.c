/* The curl transcript of clients/docs/http.md, run as printed: only the port, the state's folder and the session's id
 * are inserted. The output of each command must match the text below it. */
#include "tests/support/http_client.h"
#include "tests/support/one_daemon.h"
#include "tests/support/suite.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[PATH_MAX - 300], folder[300];

static void start(void)
{
    char from[PATH_MAX], to[400];
    static const char *const shown[] = {"clients", "tests"};
    daemon_fixture_start(d, NULL);
    snprintf(root, sizeof root, "%s", __FILE__);
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(root, '/');
        slash ? (void)(*slash = 0) : (void)strcpy(root, ".");
    }
    char *real = realpath(root, NULL);
    ck_assert_ptr_nonnull(real);
    snprintf(root, sizeof root, "%s", real);
    free(real);
    /* The folder for files that the commands write and read. */
    snprintf(folder, sizeof folder, "%s/readme", d->directory);
    char command[400];
    snprintf(command, sizeof command, "mkdir %s", folder);
    ck_assert_int_eq(system(command), 0);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        snprintf(from, sizeof from, "%s/%s", root, shown[i]);
        snprintf(to, sizeof to, "%s/%s", folder, shown[i]);
        ck_assert_int_eq(symlink(from, to), 0);
    }
}

/* ---- text ---- */

static char *replace(char *text, const char *from, const char *to)
{
    size_t n = strlen(from), size = strlen(text) + 1;
    char *at = strstr(text, from);
    if (!at || n == 0)
        return text;
    char *longer = malloc(size + strlen(to) * (size / n + 1));
    char *out = longer;
    const char *rest = text;
    for (; (at = strstr(rest, from)); rest = at + n) {
        memcpy(out, rest, (size_t)(at - rest));
        out += at - rest;
        out = stpcpy(out, to);
    }
    strcpy(out, rest);
    free(text);
    return longer;
}

static char *read_page(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/clients/docs/http.md", root);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    char *text = calloc(1, 1 << 20);
    ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
    fclose(file);
    return text;
}

/* True if the pieces of `wanted` between its dots occur in `text` in this order, the first at its beginning. */
static bool fits(const char *text, const char *wanted)
{
    const char *at = text;
    for (bool first = true; *wanted; first = false) {
        const char *dots = strstr(wanted, "...");
        size_t n = dots ? (size_t)(dots - wanted) : strlen(wanted);
        char *piece = strndup(wanted, n);
        const char *found = first ? (strncmp(at, piece, n) == 0 ? at : NULL) : strstr(at, piece);
        free(piece);
        if (!found)
            return false;
        at = found + n;
        wanted += n + (dots ? 3 : 0);
    }
    return true;
}

/* ---- commands ---- */

/* All output of the shell; its exit status must be 0. */
static char *run_shell(const char *assignments, const char *command)
{
    char *script = NULL, *text = calloc(1, 1 << 20);
    ck_assert_int_gt(asprintf(&script, "cd %s\n%s\n%s\n", folder, assignments, command), 0);
    char path[400];
    snprintf(path, sizeof path, "%s/script", d->directory);
    FILE *file = fopen(path, "w");
    fputs(script, file);
    fclose(file);
    char shell[500];
    snprintf(shell, sizeof shell, "bash -e %s 2>&1", path);
    FILE *pipe = popen(shell, "r");
    size_t n = fread(text, 1, (1 << 20) - 1, pipe);
    text[n] = 0;
    ck_assert_msg(pclose(pipe) == 0, "%s\n%s", command, text);
    free(script);
    return text;
}

typedef struct transcript {
    char assignments[2000], id[33], *said;
    int commands, answers;
} transcript;

static void take_command(transcript *t, const char *line)
{
    if (strncmp(line, "curl", 4) != 0) {
        snprintf(t->assignments + strlen(t->assignments),
                 sizeof t->assignments - strlen(t->assignments), "%s\n", line);
        return;
    }
    char *command = replace(strdup(line), "ID", t->id);
    free(t->said);
    t->said = run_shell(t->assignments, command);
    if (!t->id[0] && sscanf(t->said, "{\"id\":\"%32[0-9a-f]\"", t->id) != 1)
        ck_abort_msg("%s\n%s", command, t->said);
    free(command);
    t->commands++;
}

static void take_line(transcript *t, const char *line)
{
    if (line[0] != '{') {
        take_command(t, line);
        return;
    }
    ck_assert_msg(t->said && fits(t->said, line), "%s\nis not what came back:\n%.1500s", line,
                  t->said ? t->said : "");
    t->answers++;
}

START_TEST(test_transcript)
{
    char url[64];
    char *text = read_page();
    snprintf(url, sizeof url, "127.0.0.1:%d", d->port);
    text = replace(text, "127.0.0.1:8080", url);
    text = replace(text, "~/.local/state/pliant", d->state);
    text = replace(text, " \\\n         ", " ");
    transcript t = {0};
    char *rest = strstr(text, "\nWith curl");
    ck_assert_ptr_nonnull(rest);
    strtok_r(rest, "\n", &rest);
    for (char *line; (line = strtok_r(NULL, "\n", &rest)) && strncmp(line, "    ", 4) == 0;)
        take_line(&t, line + 4);
    ck_assert_int_ge(t.commands, 10);
    ck_assert_int_ge(t.answers, 6);
    free(t.said);
    free(text);
    static const char *const files[] = {"latest.npy", "run.frames", "surface.frames",
                                        "scene.schema.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        FILE *file = fopen(path, "r");
        ck_assert_msg(file != NULL, "%s", path);
        fseek(file, 0, SEEK_END);
        ck_assert_int_gt(ftell(file), 1000);
        fclose(file);
    }
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("readme");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, start, stop_daemon);
    tcase_add_test(tests, test_transcript);
    return run_cases("readme", tests);
}
