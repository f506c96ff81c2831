#include "tests/support/pliant_fixture.h"

#include "tests/support/built_path.h"

#include <check.h>
#include <ftw.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

daemon_fixture pliant_fixture;
char pliant_out[1 << 18], pliant_err[1 << 16];
static char program[BUILT_PATH_MAX];

static const char scene[] =
    "{\"pliant\": 1, \"name\": \"small bar\", \"time\": {\"step\": 0.01, \"steps\": %d},"
    " \"solver\": {\"method\": \"admm\", \"iterations\": 4},"
    " \"materials\": {\"rubber\": {\"model\": \"neo_hookean\", \"young\": 1e5, \"poisson\": 0.4,"
    " \"density\": 1000}},"
    " \"bodies\": [{\"name\": \"bar\", \"mesh\": %s, \"material\": \"rubber\"}],"
    " \"pins\": [{\"body\": \"bar\", \"select\": {\"side\": \"-x\"}}],"
    " \"obstacles\": [{\"plane\": {\"normal\": [0, 1, 0], \"offset\": -2}}]}";

const char PLIANT_CUBE[] =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n"
    "5 0 0 1\n6 1 0 1\n7 0 1 1\n8 1 1 1\n$EndNodes\n$Elements\n6\n"
    "1 4 2 1 1 1 2 4 8\n2 4 2 1 1 1 4 3 8\n3 4 2 1 1 1 3 7 8\n4 4 2 1 1 1 7 5 8\n"
    "5 4 2 1 1 1 5 6 8\n6 4 2 1 1 1 6 2 8\n$EndElements\n";

static void find_program(void)
{
    built_path("pliant", X_OK, program);
}

const char *pliant_emulated_plugin(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/tests/libpliant_emulated.so",
             (int)(strrchr(program, '/') - program), program);
    return path;
}

void pliant_setup(void)
{
    find_program();
    daemon_fixture_start(&pliant_fixture, NULL);
}

void pliant_setup_beside(const daemon_fixture *d)
{
    find_program();
    pliant_fixture = *d;
}

void pliant_setup_here(void)
{
    find_program();
    pliant_fixture = (daemon_fixture){.directory = "/tmp/pliant-here-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(pliant_fixture.directory));
    snprintf(pliant_fixture.state, sizeof pliant_fixture.state, "%s/state",
             pliant_fixture.directory);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *place)
{
    return remove(path);
}

void pliant_teardown(void)
{
    if (pliant_fixture.keeper)
        daemon_fixture_stop(&pliant_fixture);
    else
        nftw(pliant_fixture.directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *pliant_path(const char *name)
{
    static char paths[4][400];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, 400, "%s/%s", pliant_fixture.directory, name);
    return path;
}

void pliant_write(const char *name, const char *text)
{
    FILE *f = fopen(pliant_path(name), "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

void pliant_write_scene(const char *name, int steps, const char *mesh)
{
    char text[2048];
    snprintf(text, sizeof text, scene, steps, mesh);
    pliant_write(name, text);
}

void pliant_read(const char *name, char *text, size_t room)
{
    FILE *f = fopen(pliant_path(name), "rb");
    size_t size = f ? fread(text, 1, room - 1, f) : 0;
    text[size] = '\0';
    if (f)
        fclose(f);
}

static int run(bool state, const char *format, va_list arguments)
{
    char words[1024], command[PATH_MAX + 3072], option[300] = "";
    vsnprintf(words, sizeof words, format, arguments);
    if (state)
        snprintf(option, sizeof option, "--state '%s'", pliant_fixture.state);
    snprintf(
        command, sizeof command,
        "cd '%s' && env -u PLIANT_SERVER -u PLIANT_TOKEN -u PLIANT_TOKEN_FILE -u XDG_STATE_HOME"
        " HOME='%s' PLIANT_CONFIG='%s/config' '%s' %s %s >out 2>err </dev/null",
        pliant_fixture.directory, pliant_fixture.directory, pliant_fixture.directory, program,
        option, words);
    int status = system(command);
    pliant_read("out", pliant_out, sizeof pliant_out);
    pliant_read("err", pliant_err, sizeof pliant_err);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int pliant(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = run(true, format, arguments);
    va_end(arguments);
    return status;
}

int pliant_elsewhere(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int status = run(false, format, arguments);
    va_end(arguments);
    return status;
}

const char *pliant_submit(int steps)
{
    static char id[40];
    pliant_write_scene("scene.json", steps, PLIANT_BOX);
    ck_assert_msg(pliant("submit scene.json") == 0, "%s", pliant_err);
    ck_assert_uint_eq(strlen(pliant_out), 33);
    snprintf(id, sizeof id, "%.32s", pliant_out);
    return id;
}

pid_t pliant_start(const char *const *words)
{
    unlink(pliant_path("err")); /* from an earlier run: only this run's output must be read */
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("PLIANT_CONFIG", pliant_path("config"), 1);
        char *argv[32] = {program, "--state", pliant_fixture.state};
        for (int i = 0; words[i]; i++)
            argv[3 + i] = (char *)words[i];
        if (chdir(pliant_fixture.directory) == 0 && freopen("err", "w", stderr) &&
            freopen("out", "w", stdout))
            execv(program, argv);
        _exit(127);
    }
    return pid;
}

int pliant_interrupt(pid_t pid)
{
    int status;
    kill(pid, SIGINT);
    waitpid(pid, &status, 0);
    pliant_read("err", pliant_err, sizeof pliant_err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int pliant_interrupt_at(const char *text, const char *const *words)
{
    pid_t pid = pliant_start(words);
    pliant_err[0] = '\0';
    for (double end = daemon_fixture_clock() + 60;
         !strstr(pliant_err, text) && daemon_fixture_clock() < end; daemon_fixture_nap())
        pliant_read("err", pliant_err, sizeof pliant_err);
    return pliant_interrupt(pid);
}
