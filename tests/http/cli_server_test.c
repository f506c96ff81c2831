/* Daemons by name, and which token goes where. */
#include "tests/support/pliant_fixture.h"
#include "tests/support/suite.h"

#include "protocol/text/json.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The daemon under a name, with its token by standard input, by a file or not at all. */
static void add(const char *name, const char *token)
{
    ck_assert_msg(pliant_elsewhere("%s server add %s http://127.0.0.1:%d", token, name,
                                   pliant_fixture.port) == 0,
                  "%s", pliant_err);
}

START_TEST(named_and_meant)
{
    char token[120], command[700];
    struct stat st;
    snprintf(token, sizeof token, "--token %s", pliant_fixture.token);
    add("lab", token);
    ck_assert_int_eq(stat(pliant_path("lab.token"), &st), 0);
    ck_assert_int_eq(st.st_mode & 077, 0);
    ck_assert_msg(pliant_elsewhere("--server lab list") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant_elsewhere("--server lba list"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean lab?"));
    ck_assert_int_eq(pliant_elsewhere("server default lab"), 0);
    ck_assert_msg(pliant_elsewhere("whoami") == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant_elsewhere("server list --json"), 0);
    ck_assert_ptr_null(strstr(pliant_out, pliant_fixture.token));
    pl_json *list = pl_json_parse(pliant_out, strlen(pliant_out), NULL);
    ck_assert_str_eq(pl_json_string(list, "items/0/name", ""), "lab");
    ck_assert(pl_json_boolean(list, "items/0/default", false));
    pl_json_free(list);
    /* A token file that others may read is not used; the environment's name counts like the option. */
    chmod(pliant_path("lab.token"), 0644);
    ck_assert_int_eq(pliant_elsewhere("list"), 4);
    ck_assert_ptr_nonnull(strstr(pliant_err, "chmod 600"));
    chmod(pliant_path("lab.token"), 0600);
    snprintf(command, sizeof command, "server add file http://127.0.0.1:%d --token-file '%s/token'",
             pliant_fixture.port, pliant_fixture.state);
    ck_assert_msg(pliant_elsewhere("%s", command) == 0, "%s", pliant_err);
    ck_assert_int_eq(pliant_elsewhere("--server file list"), 0);
    ck_assert_int_eq(pliant_elsewhere("server remove lab"), 0);
    ck_assert_int_ne(stat(pliant_path("lab.token"), &st), 0);
    ck_assert_int_eq(pliant_elsewhere("server remove lab"), 5);
    ck_assert_int_eq(pliant_elsewhere("server remove file"), 0);
    snprintf(command, sizeof command, "%s/token", pliant_fixture.state);
    ck_assert_int_eq(stat(command, &st), 0); /* the old file stays */
}
END_TEST

START_TEST(what_can_not_be_named)
{
    ck_assert_int_eq(pliant_elsewhere("server add a/b http://a"), 2);
    ck_assert_int_eq(pliant_elsewhere("server add a nonsense"), 2);
    ck_assert_int_eq(pliant_elsewhere("server add a http://a --token-file -"), 2);
    ck_assert_int_eq(pliant_elsewhere("server add a http://a --token-file none"), 7);
    ck_assert_int_eq(pliant_elsewhere("server default a"), 5);
    ck_assert_int_eq(pliant_elsewhere("server"), 0); /* its list */
    ck_assert_int_eq(pliant_elsewhere("server lst"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "did you mean list?"));
    ck_assert_int_eq(pliant_elsewhere("server add a"), 2);
    ck_assert_ptr_nonnull(strstr(pliant_err, "server add NAME URL"));
    pliant_write("config", "[a\n");
    ck_assert_int_eq(pliant_elsewhere("list"), 7);
    ck_assert_ptr_nonnull(strstr(pliant_err, "line 1"));
}
END_TEST

/* Whether a request to this address brings the owner's token of the state directory. */
static bool brings_token(const char *words)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t size = sizeof address;
    char text[2048] = "", head[600];
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(head, sizeof head, "--server http://%s:%d", words, ntohs(address.sin_port));
    pid_t pid = fork();
    if (pid == 0) { /* gives one reply, and writes the request to a file */
        char answer[] = "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        alarm(30);
        int fd = accept(listener, NULL, NULL);
        ssize_t n = recv(fd, text, sizeof text - 1, 0);
        FILE *f = fopen(pliant_path("asked"), "w");
        fwrite(text, 1, n > 0 ? (size_t)n : 0, f);
        fclose(f);
        (void)!write(fd, answer, sizeof answer - 1);
        _exit(0);
    }
    close(listener);
    pliant_elsewhere("%s list", head);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    pliant_read("asked", text, sizeof text);
    ck_assert_msg(strstr(text, "GET /v1/sessions"), "%s: %s", text, pliant_err);
    return strstr(text, "Authorization: Bearer secret");
}

/* The owner's token of a daemon here goes to no other machine. */
START_TEST(the_owners_token_stays_here)
{
    char folder[400];
    snprintf(folder, sizeof folder, "%s/.local", pliant_fixture.directory);
    mkdir(folder, 0700);
    strcat(folder, "/state");
    mkdir(folder, 0700);
    strcat(folder, "/pliant");
    mkdir(folder, 0700);
    pliant_write(".local/state/pliant/token", "secret\n");
    ck_assert(brings_token("127.0.0.1"));
    ck_assert(brings_token("localhost"));
    ck_assert(!brings_token("0.0.0.0"));
    ck_assert(!brings_token("localhost:x@0.0.0.0"));
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("servers");
    tcase_set_timeout(c, 180);
    tcase_add_checked_fixture(c, pliant_setup, pliant_teardown);
    tcase_add_test(c, named_and_meant);
    tcase_add_test(c, what_can_not_be_named);
    tcase_add_test(c, the_owners_token_stays_here);
    return run_cases("pliant server", c);
}
