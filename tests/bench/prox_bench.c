/* Nanoseconds an element of each material's prox with its signed singular value decomposition, on one
 * core, double precision, for each instruction set that this processor has: 2048 elements, F near
 * the identity (entries off by up to 0.2), E = 1e7, nu = 0.399, k = 2 mu. The best of 40 passes. */
#include "tests/support/kernels_probe.h"
#include "tests/support/lanes_random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ELEMENTS = 2048, ROWS_IN = 12, ROWS_OUT = 21, PASSES = 40 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fill(double *in, int lanes, int stretches)
{
    const double young = 1e7, poisson = 0.399, mu = young / (2 * (1 + poisson));
    uint64_t state = 1;
    for (int e = 0; e < ELEMENTS; e++) {
        double *row = in + e / lanes * ROWS_IN * lanes + e % lanes;
        for (int i = 0; i < 9; i++)
            row[i * lanes] = (i % 4 == 0) + random_between(&state, -0.2, 0.2);
        for (int i = 0; i < 3 && stretches; i++)
            row[i * lanes] = 1.3 - 0.2 * i + random_between(&state, -0.1, 0.1);
        row[9 * lanes] = mu;
        row[10 * lanes] = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
        row[11 * lanes] = 2 * mu;
    }
}

static double best(void (*kernel)(const double *, double *, long), const double *in, double *out,
                   int lanes)
{
    double least = 1e9;
    for (int pass = 0; pass < PASSES; pass++) {
        const double start = seconds();
        kernel(in, out, ELEMENTS / lanes);
        const double taken = (seconds() - start) / ELEMENTS * 1e9;
        if (taken < least)
            least = taken;
    }
    return least;
}

int main(void)
{
    double *in = aligned_alloc(64, sizeof *in * ELEMENTS * ROWS_IN);
    double *stretches = aligned_alloc(64, sizeof *in * ELEMENTS * ROWS_IN);
    double *out = aligned_alloc(64, sizeof *in * ELEMENTS * ROWS_OUT);
    puts("Nanoseconds an element, one core, double precision");
    puts(
        "  instructions    neo-Hookean    corotated    ARAP    svd alone    neo-Hookean stretches");
    for (const pl_kernels_probe *p = pl_kernels_probes(); p->name; p++) {
        fill(in, p->lanes, 0);
        fill(stretches, p->lanes, 1);
        printf("  %-12s    %11.0f    %9.0f    %4.0f    %9.0f    %21.0f\n", p->name,
               best(p->prox[PL_PROBE_NEO_HOOKEAN], in, out, p->lanes),
               best(p->prox[PL_PROBE_COROTATED], in, out, p->lanes),
               best(p->prox[PL_PROBE_ARAP], in, out, p->lanes), best(p->svd, in, out, p->lanes),
               best(p->stretch_prox, stretches, out, p->lanes));
    }
    free(in);
    free(stretches);
    free(out);
    return 0;
}
