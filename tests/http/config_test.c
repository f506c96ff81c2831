/* Options from a file: allowed contents, errors, overrides by the command line, and SIGHUP. */
#include "tests/support/built_path.h"
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char example[] = "deploy/pliantd.conf";
static char folder[64], config[96];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/pliant-config-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(config, sizeof config, "%s/pliantd.conf", folder);
}

static void take_down(void)
{
    unlink(config);
    rmdir(folder);
}

__attribute__((format(printf, 1, 2))) static void write_config(const char *format, ...)
{
    va_list args;
    FILE *file = fopen(config, "we");
    ck_assert_ptr_nonnull(file);
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* Run pliantd with these arguments to its end: returns its exit status; `said` gets all of its output. */
static int pliantd(const char *const *arguments, char *said, size_t size)
{
    static char path[BUILT_PATH_MAX];
    const char *argv[16] = {built_path("pliantd", X_OK, path)};
    int ends[2], status, n = 0;
    size_t at = 0;
    for (; arguments[n]; n++)
        argv[n + 1] = arguments[n];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execv(argv[0], (char **)argv);
        _exit(127);
    }
    close(ends[1]);
    for (ssize_t got; at + 1 < size && (got = read(ends[0], said + at, size - 1 - at)) > 0;)
        at += (size_t)got;
    said[at] = 0;
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int check_config(const char *path, char *said, size_t size)
{
    return pliantd((const char *const[]){"--config", path, "--check-config", NULL}, said, size);
}

/* ---- the example ---- */

/* Whether a line of the example has the option, in effect or as a comment. */
static bool shows(const char *text, const char *name)
{
    char line[80], comment[80];
    snprintf(line, sizeof line, "\n%s = ", name);
    snprintf(comment, sizeof comment, "\n#%s = ", name);
    return strstr(text, line) || strstr(text, comment);
}

static void read_example(char *text, size_t size)
{
    FILE *file = fopen(example, "re");
    ck_assert_ptr_nonnull(file);
    size_t n = fread(text, 1, size - 1, file);
    text[n] = 0;
    fclose(file);
}

/* The example file is valid, and has every option of --help that a file may contain. */
START_TEST(test_example)
{
    static char text[8192], help[16384], said[512];
    static const char *const command[] = {"config", "check-config", "reindex", "openapi",
                                          "help",   "man",          "version", NULL};
    read_example(text, sizeof text);
    ck_assert_msg(check_config(example, said, sizeof said) == 0, "%s", said);
    ck_assert_int_eq(pliantd((const char *const[]){"--help", NULL}, help, sizeof help), 0);
    int options = 0;
    for (char *at = help; (at = strstr(at, "\n  --"));) {
        char name[64];
        at += 5;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " \n"), at);
        bool alone = false;
        for (int i = 0; command[i]; i++)
            alone = alone || strcmp(command[i], name) == 0;
        ck_assert_msg(shows(text, name) == !alone, "%s", name);
        options++;
    }
    ck_assert_int_gt(options, 40);
}
END_TEST

/* Each commented line is valid with the rest of the file, except those that need files or root. */
START_TEST(test_example_comments)
{
    static char text[8192], said[512];
    read_example(text, sizeof text);
    set_up();
    int tried = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        bool wants = strstr(line, "tls-") || strstr(line, "token-file") ||
                     strstr(line, "worker-uids");
        if (line[0] != '#' || !line[1] || line[1] == ' ' || wants)
            continue;
        write_config("state = /nowhere\n%s\n", line + 1);
        ck_assert_msg(check_config(config, said, sizeof said) == 0, "%s: %s", line, said);
        tried++;
    }
    ck_assert_int_gt(tried, 20);
    take_down();
}
END_TEST

/* ---- errors ---- */

/* All errors are reported at once, with line and remedy; never with the value of a secret. */
START_TEST(test_wrong)
{
    char said[2048];
    set_up();
    write_config("# a comment\nstate = /nowhere\ncorse = 3\ncores = many\n\ntoken = 0123456789\n"
                 "no-pin = maybe\nreindex = true\ncores\nno-auth\nlog-format = xml\n");
    ck_assert_int_eq(check_config(config, said, sizeof said), 2);
    static const char *const words[] = {
        "pliantd.conf:3: 'corse' is not an option; did you mean 'cores'?",
        "pliantd.conf:4: --cores: got 'many', expected a whole number from 1 to 4096",
        "pliantd.conf:6: secrets are not allowed here: token-file = FILE",
        "pliantd.conf:7: no-pin: got 'maybe', expected true or false",
        "pliantd.conf:8: 'reindex' is allowed on the command line only",
        "pliantd.conf:9: cores: expected 'cores = N'",
        "pliantd.conf:11: --log-format: got 'xml', expected text or json",
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        ck_assert_msg(strstr(said, words[i]), "%s: %s", words[i], said);
    ck_assert_ptr_null(strstr(said, "0123456789"));
    ck_assert_ptr_null(strstr(said, ":10:"));
    write_config("cores = 1\n");
    ck_assert_int_eq(check_config(config, said, sizeof said), 2);
    ck_assert_ptr_nonnull(strstr(said, "state = DIR"));
    write_config("state = /nowhere\n");
    ck_assert_int_eq(chmod(config, 0666), 0);
    ck_assert_int_eq(check_config(config, said, sizeof said), 2);
    ck_assert_ptr_nonnull(strstr(said, "writable by everybody"));
    ck_assert_int_eq(chmod(config, 0644), 0);
    write_config("state = /nowhere\ntoken-file = credential:token\n");
    unsetenv("CREDENTIALS_DIRECTORY");
    ck_assert_int_eq(check_config(config, said, sizeof said), 2);
    ck_assert_ptr_nonnull(strstr(said, "$CREDENTIALS_DIRECTORY is not set"));
    ck_assert_int_eq(check_config("/nowhere/at/all", said, sizeof said), 2);
    take_down();
}
END_TEST

/* ---- a daemon with one ---- */

static int64_t limit_of(const char *name)
{
    char path[64];
    http_reply *r = http_get(d, "/v1/capabilities");
    http_expect(r, 200);
    snprintf(path, sizeof path, "limits/%s", name);
    int64_t value = json_count(r->json, path);
    http_reply_free(r);
    return value;
}

/* The status of a body of so many bytes that is not a scene. */
static int post_bytes(size_t size)
{
    char *body = malloc(size + 1);
    memset(body, ' ', size);
    body[size] = 0;
    http_reply *r = http_post(d, "/v1/validate", body);
    int status = r->status;
    http_reply_free(r);
    free(body);
    return status;
}

static void await_said(const char *words)
{
    for (double last = daemon_fixture_clock() + HTTP_PATIENCE_S; !daemon_fixture_said(d, words);
         daemon_fixture_nap())
        ck_assert_msg(daemon_fixture_clock() < last, "not said: %s", words);
}

START_TEST(test_reload)
{
    set_up();
    write_config("max-body = 2048\ncores = 1\nexports = 3\nlisten = 127.0.0.1:1\nno-pin\n");
    const char *const options[] = {"--cores", "2", "--config", config, NULL};
    daemon_fixture_start(d, options);
    ck_assert_int_eq(limit_of("cores"), 2); /* the command line goes before */
    ck_assert_int_eq(limit_of("body_bytes"), 2048);
    ck_assert_int_eq(post_bytes(3000), 413);
    write_config("max-body = 4096\ncores = 1\nexports = 4\nno-pin = true\nlog-level = debug\n");
    ck_assert_int_eq(kill(d->pid, SIGHUP), 0);
    await_said("options reread: 3 changed");
    ck_assert(daemon_fixture_said(d, "max-body: 2048 -> 4096: in effect"));
    ck_assert(daemon_fixture_said(d, "exports: 3 -> 4: after a restart"));
    ck_assert(daemon_fixture_said(d, "log-level: default -> debug: in effect"));
    ck_assert(!daemon_fixture_said(d, "cores: "));
    ck_assert_int_eq(post_bytes(3000), 400);
    ck_assert_int_eq(post_bytes(5000), 413);
    write_config("max-body = 8192\nmax-boddy = 3\n");
    ck_assert_int_eq(kill(d->pid, SIGHUP), 0);
    await_said("rejected; nothing changed");
    ck_assert(daemon_fixture_said(d, "'max-boddy' is not an option"));
    ck_assert_int_eq(post_bytes(5000), 413);
    ck_assert_int_eq(post_bytes(3000), 400);
    daemon_fixture_stop(d);
    take_down();
}
END_TEST

/* The owner's token as a credential of the service manager. */
START_TEST(test_credential)
{
    char path[96], token[65], old[80];
    memset(token, 'a', 64);
    token[64] = 0;
    set_up();
    snprintf(path, sizeof path, "%s/owner", folder);
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    write_config("cores = 1\n");
    const char *const options[] = {"--config", config, NULL};
    daemon_fixture_start(d, options);
    snprintf(old, sizeof old, "%s", d->token);
    daemon_fixture_end(d, SIGTERM);
    FILE *file = fopen(path, "we");
    fprintf(file, "%s\n", token);
    fclose(file);
    ck_assert_int_eq(chmod(path, 0400), 0);
    write_config("cores = 1\ntoken-file = credential:owner\n");
    daemon_fixture_resume(d);
    const struct {
        const char *token;
        int status;
    } asked[] = {{token, 200}, {old, 401}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        http_reply *r = tenant_call(d, asked[i].token, "GET", "/v1/me", NULL, NULL);
        http_expect(r, asked[i].status);
        http_reply_free(r);
    }
    daemon_fixture_stop(d);
    unlink(path);
    take_down();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("config");
    tcase_set_timeout(tests, 180);
    tcase_add_test(tests, test_example);
    tcase_add_test(tests, test_example_comments);
    tcase_add_test(tests, test_wrong);
    tcase_add_test(tests, test_reload);
    tcase_add_test(tests, test_credential);
    return run_cases("config", tests);
}
