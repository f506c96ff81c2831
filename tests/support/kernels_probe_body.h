/* kernels_probe_body.h - what each kernels_probe_*.c compiles; PROBE is the name of its table row.
 */
#include "tests/support/kernels_probe.h"

#include "engine/kernels/arap.h"
#include "engine/kernels/corotated.h"
#include "engine/kernels/neo_hookean.h"

#include <stddef.h>

extern const pl_kernels_probe PROBE;

static void load_matrix(const double *in, pl_mat3 *F)
{
    for (int i = 0; i < 9; i++)
        F->m[i] = pl_load(in + i * PL_LANES);
}

static void store_rows(double *out, const pl_real *rows, int count)
{
    for (int i = 0; i < count; i++)
        pl_store(out + i * PL_LANES, rows[i]);
}

#define PROBE_PROX(model)                                                                          \
    static void probe_##model##_prox(const double *in, double *out, long blocks)                   \
    {                                                                                              \
        for (long b = 0; b < blocks; b++, in += 12 * PL_LANES, out += 9 * PL_LANES) {              \
            const pl_##model m = {pl_load(in + 9 * PL_LANES), pl_load(in + 10 * PL_LANES)};        \
            pl_mat3 F_tilde, F;                                                                    \
            load_matrix(in, &F_tilde);                                                             \
            pl_##model##_prox(&m, pl_load(in + 11 * PL_LANES), &F_tilde, &F);                      \
            store_rows(out, F.m, 9);                                                               \
        }                                                                                          \
    }
PROBE_PROX(neo_hookean)
PROBE_PROX(corotated)
PROBE_PROX(arap)

static void probe_svd(const double *in, double *out, long blocks)
{
    for (long b = 0; b < blocks; b++, in += 12 * PL_LANES, out += 21 * PL_LANES) {
        pl_mat3 F, U, V;
        pl_real s[3];
        load_matrix(in, &F);
        pl_svd3(&F, &U, s, &V);
        store_rows(out, U.m, 9);
        store_rows(out + 9 * PL_LANES, s, 3);
        store_rows(out + 12 * PL_LANES, V.m, 9);
    }
}

static void probe_stretch_prox(const double *in, double *out, long blocks)
{
    for (long b = 0; b < blocks; b++, in += 12 * PL_LANES, out += 9 * PL_LANES) {
        const pl_neo_hookean m = {pl_load(in + 9 * PL_LANES), pl_load(in + 10 * PL_LANES)};
        const pl_real s_tilde[3] = {pl_load(in), pl_load(in + PL_LANES),
                                    pl_load(in + 2 * PL_LANES)};
        pl_real s[3];
        pl_neo_hookean_stretch_prox(&m, pl_load(in + 11 * PL_LANES), s_tilde, s);
        store_rows(out, s, 3);
    }
}

static void probe_log_exp(const double *in, double *out, long blocks)
{
    for (long b = 0; b < blocks; b++, in += PL_LANES, out += 2 * PL_LANES) {
        const pl_real x = pl_load(in);
        pl_store(out, pl_log(x));
        pl_store(out + PL_LANES, pl_exp(x));
    }
}

const pl_kernels_probe PROBE = {
    PROBE_NAME, PL_LANES,           {probe_neo_hookean_prox, probe_corotated_prox, probe_arap_prox},
    probe_svd,  probe_stretch_prox, probe_log_exp};
