/* bench.h - shared by the service's benchmarks: samples and their quantiles, a download that costs the client as little
 * as possible, and a server's processor time.
 */
#ifndef PLIANT_TESTS_BENCH_BENCH_H
#define PLIANT_TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <sys/types.h>

/* The body of a benchmark's main(). It runs as one test, in this process, so that what fails in a
 * fixture fails the program with a message. */
int bench_run(const char *name, void (*measure)(void));

enum { BENCH_SAMPLES = 256 };
typedef struct bench_samples {
    int count;
    double value[BENCH_SAMPLES];
} bench_samples; /* zero-initialise */
void bench_add(bench_samples *s, double value);
/* Interpolates between the two nearest samples; q = 0.5 is the median. */
double bench_quantile(const bench_samples *s, double q);
/* The same for several quantiles; sorts the samples. */
double bench_rank(double *values, int count, double q);

/* A connection to 127.0.0.1 whose reads give up after a minute. */
int bench_connect(int port);

/* GET from 127.0.0.1 and drop what comes, to the connection's end: bytes of head and body, chunk
 * sizes included. `token` may be NULL. */
int64_t bench_download(int port, const char *token, const char *target);

/* Seconds that the threads of a process have run. */
double bench_cpu_seconds(pid_t pid);

#endif
