/* The daemon's messages to a prepared process: a sent message is received, and one that does not fit is not sent. */
#include "protocol/log/start_message.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int channel[2], out_fd, err_fd;
static pl_start_message sent, got;

static void open_channel(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, channel), 0);
    out_fd = open("/dev/null", O_WRONLY);
    err_fd = open("/dev/zero", O_WRONLY);
    sent = (pl_start_message){.out_fd = out_fd, .err_fd = err_fd, .directory = (char *)"/"};
    CPU_ZERO(&sent.cpus);
    CPU_SET(3, &sent.cpus);
}

static void close_channel(void)
{
    close(channel[0]);
    close(channel[1]);
    close(out_fd);
    close(err_fd);
}

static dev_t device_of(int fd)
{
    struct stat st;
    ck_assert_int_eq(fstat(fd, &st), 0);
    return st.st_rdev;
}

START_TEST(test_there_and_back)
{
    char *arguments[] = {(char *)"/bin/x", (char *)"", (char *)"--session", (char *)"a b"};
    memcpy(sent.arguments, arguments, sizeof arguments);
    sent.count = 4;
    ck_assert(pl_start_message_send(channel[0], &sent));
    ck_assert(pl_start_message_receive(channel[1], &got));
    ck_assert_int_eq(got.count, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_str_eq(got.arguments[i], arguments[i]);
    ck_assert_ptr_null(got.arguments[4]);
    ck_assert_str_eq(got.directory, "/");
    ck_assert(CPU_EQUAL(&got.cpus, &sent.cpus));
    ck_assert_uint_eq(device_of(got.out_fd), device_of(out_fd));
    ck_assert_uint_eq(device_of(got.err_fd), device_of(err_fd));
    ck_assert_int_ne(fcntl(got.out_fd, F_GETFD) & FD_CLOEXEC, 0);
    close(got.out_fd);
    close(got.err_fd);
}
END_TEST

START_TEST(test_too_much)
{
    static char text[PL_START_TEXT_MAX + 1];
    memset(text, 'a', sizeof text - 1);
    sent.arguments[0] = text;
    sent.count = 1;
    ck_assert(!pl_start_message_send(channel[0], &sent));
    ck_assert_int_eq(errno, E2BIG);
    text[PL_START_TEXT_MAX - 3] = 0; /* with "/" and two NULs it fills the room */
    ck_assert(pl_start_message_send(channel[0], &sent));
    ck_assert(pl_start_message_receive(channel[1], &got));
    ck_assert_str_eq(got.arguments[0], text);
}
END_TEST

START_TEST(test_without_descriptors)
{
    char bytes[sizeof(cpu_set_t) + 4] = {0};
    memcpy(bytes + sizeof(cpu_set_t), "/\0x", 4);
    ck_assert_int_eq(send(channel[0], bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    ck_assert(!pl_start_message_receive(channel[1], &got));
}
END_TEST

START_TEST(test_end)
{
    shutdown(channel[0], SHUT_RDWR);
    ck_assert(!pl_start_message_receive(channel[1], &got));
    sent.arguments[0] = (char *)"x";
    sent.count = 1;
    ck_assert(!pl_start_message_send(channel[0], &sent));
}
END_TEST

START_TEST(test_answers)
{
    pid_t pid;
    int pidfd;
    ck_assert(!pl_start_answer_receive(channel[0], 1, &pid, &pidfd));
    ck_assert_int_eq(errno, ETIMEDOUT);
    ck_assert(pl_start_answer_send(channel[1], 77, out_fd));
    ck_assert(pl_start_answer_receive(channel[0], 1000, &pid, &pidfd));
    ck_assert_int_eq(pid, 77);
    ck_assert_uint_eq(device_of(pidfd), device_of(out_fd));
    close(pidfd);
    ck_assert(pl_start_answer_send(channel[1], -ENOMEM, -1));
    ck_assert(pl_start_answer_receive(channel[0], 1000, &pid, &pidfd));
    ck_assert_int_eq(pid, -ENOMEM);
    ck_assert_int_eq(pidfd, -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("start message");
    TCase *tests = tcase_create("start message");
    tcase_add_checked_fixture(tests, open_channel, close_channel);
    tcase_add_test(tests, test_there_and_back);
    tcase_add_test(tests, test_too_much);
    tcase_add_test(tests, test_without_descriptors);
    tcase_add_test(tests, test_end);
    tcase_add_test(tests, test_answers);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
