/* kernels_probe.h - the kernels compiled for one instruction set each, for tests and benchmarks
 * that compare them. Arrays hold blocks of PL_PROBE_LANES elements, aligned to 64 bytes, structure
 * of arrays inside a block.
 */
#ifndef PLIANT_TESTS_SUPPORT_KERNELS_PROBE_H
#define PLIANT_TESTS_SUPPORT_KERNELS_PROBE_H

/* The materials, in the order of `prox`. */
enum { PL_PROBE_NEO_HOOKEAN, PL_PROBE_COROTATED, PL_PROBE_ARAP, PL_PROBE_MATERIALS };

typedef struct pl_kernels_probe {
    const char *name; /* "x86-64-v3"; "baseline" is what this build's flags ask for */
    int lanes;
    /* rows 0-8 F~ (column-major), 9 mu, 10 lambda, 11 k -> rows 0-8 prox(F~): [blocks][12 or
     * 9][lanes] */
    void (*prox[PL_PROBE_MATERIALS])(const double *in, double *out, long blocks);
    /* rows 0-8 F -> rows 0-8 U, 9-11 s, 12-20 V */
    void (*svd)(const double *in, double *out, long blocks);
    /* rows 0-2 s~, 9 mu, 10 lambda, 11 k -> rows 0-2 s; neo-Hookean prox without decomposition */
    void (*stretch_prox)(const double *in, double *out, long blocks);
    /* one row x -> rows log x, exp x */
    void (*log_exp)(const double *in, double *out, long blocks);
} pl_kernels_probe;

/* Ends with a row whose name is NULL; only what this processor can run. */
const pl_kernels_probe *pl_kernels_probes(void);

#endif
