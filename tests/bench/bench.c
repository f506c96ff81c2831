#include "tests/bench/bench.h"

#include <arpa/inet.h>
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void (*measure_it)(void);

START_TEST(measure)
{
    measure_it();
}
END_TEST

int bench_run(const char *name, void (*measure_all)(void))
{
    measure_it = measure_all;
    Suite *suite = suite_create(name);
    TCase *one = tcase_create(name);
    tcase_add_test(one, measure);
    suite_add_tcase(suite, one);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    if (failed)
        srunner_print(runner, CK_NORMAL);
    srunner_free(runner);
    return failed != 0;
}

/* ---- samples ---- */

void bench_add(bench_samples *s, double value)
{
    ck_assert_int_lt(s->count, BENCH_SAMPLES);
    s->value[s->count++] = value;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_rank(double *values, int count, double q)
{
    ck_assert_int_gt(count, 0);
    qsort(values, (size_t)count, sizeof *values, by_size);
    double at = q * (count - 1);
    int below = (int)at, above = below + 1 < count ? below + 1 : below;
    double weight = at - below;
    return (1 - weight) * values[below] + weight * values[above];
}

double bench_quantile(const bench_samples *s, double q)
{
    bench_samples sorted = *s;
    return bench_rank(sorted.value, sorted.count, q);
}

/* ---- downloads ---- */

enum { PATIENCE_MS = 60000, BLOCK = 256 << 10 };

int bench_connect(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_msg(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect: %s",
                  strerror(errno));
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

int64_t bench_download(int port, const char *token, const char *target)
{
    static char block[BLOCK];
    char request[512];
    int fd = bench_connect(port);
    int n = snprintf(request, sizeof request,
                     "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n%s%s%s\r\n",
                     target, port, token ? "Authorization: Bearer " : "", token ? token : "",
                     token ? "\r\n" : "");
    ck_assert_int_lt(n, (int)sizeof request);
    ck_assert_int_eq(send(fd, request, (size_t)n, MSG_NOSIGNAL), n);
    int64_t total = 0;
    for (ssize_t got; (got = recv(fd, block, sizeof block, 0)) != 0; total += got) {
        ck_assert_msg(got > 0, "%s: %s", target, strerror(errno));
        ck_assert_msg(total > 0 || memcmp(block, "HTTP/1.1 200 ", 13) == 0, "%s: %.*s", target,
                      (int)got, block);
    }
    close(fd);
    return total;
}

/* ---- processor time ---- */

/* The first number of a thread's schedstat is the nanoseconds that it has run; the times in stat
 * are counted in ticks of 10 ms. */
double bench_cpu_seconds(pid_t pid)
{
    char path[300];
    double ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    ck_assert_msg(threads != NULL, "%s: %s", path, strerror(errno));
    for (struct dirent *e; (e = readdir(threads));) {
        double ran = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%.200s/schedstat", (int)pid, e->d_name);
        FILE *file = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
        if (file && fscanf(file, "%lf", &ran) == 1)
            ns += ran;
        if (file)
            fclose(file);
    }
    closedir(threads);
    return 1e-9 * ns;
}
