#include "engine/solvers/phases.h"

#include <math.h>

/* Lengths change by this many iterations, and are no shorter. */
enum { STEP = 8 };
static const double BETWEEN = 3, RHO_MOST = 0.99999;
/* An error that falls by less than this does not justify another round. */
static const double WORTH = 1e-3;

pl_phases pl_phases_default(int32_t count)
{
    pl_phases p = {.count = count};
    for (int32_t i = 0; i < count; i++) {
        p.end[i] = STEP * ((INT64_C(2) << i) - 1);
        p.factor[i] = pow(BETWEEN, count - 1 - i);
    }
    return p;
}

int32_t pl_phases_at(const pl_phases *phases, int64_t iteration)
{
    int32_t at = 0;
    while (at + 1 < phases->count && iteration >= phases->end[at])
        at++;
    return at;
}

double pl_phases_rho(const pl_phases *phases, int32_t phase, double slow)
{
    return fmin(fmax(0, 1 - phases->factor[phase] * slow), RHO_MOST);
}

double pl_phases_omega(double rho, double omega, int64_t since)
{
    return since == 0 ? 1 : since == 1 ? 2 / (2 - rho * rho) : 4 / (4 - rho * rho * omega);
}

/* The trials, by number: first every factor down and up, then every end. False: not possible. */
static bool change(pl_phases *p, int32_t number, double epsilon)
{
    int32_t which = number / 2, sign = number % 2 ? 1 : -1;
    if (which < p->count) {
        p->factor[which] *= 1 + sign * epsilon;
        return true;
    }
    which -= p->count;
    p->end[which] += sign * STEP;
    int64_t before = which > 0 ? p->end[which - 1] : 0;
    return p->end[which] >= before + STEP &&
           (which + 2 >= p->count || p->end[which + 1] >= p->end[which] + STEP);
}

pl_phases pl_phases_tune(pl_phases phases, double (*error)(const pl_phases *, void *), void *user,
                         int32_t rounds)
{
    double least = error(&phases, user), epsilon = 0.4;
    int32_t changes = 2 * (2 * phases.count - 1);
    for (int32_t round = 0; round < rounds && least > 0; round++) {
        pl_phases best = phases;
        double lowest = least;
        for (int32_t c = 0; c < changes; c++) {
            pl_phases tried = phases;
            if (!change(&tried, c, epsilon))
                continue;
            double found = error(&tried, user);
            if (found < lowest) {
                lowest = found;
                best = tried;
            }
        }
        if (!isfinite(least) || lowest < (1 - WORTH) * least) {
            least = lowest;
            phases = best;
        } else if (epsilon > 0.06) {
            epsilon /= 2;
        } else {
            break;
        }
    }
    return phases;
}

void pl_phases_save(const pl_phases *phases, pl_bytes_out *out)
{
    pl_bytes_put_i64(out, phases->count);
    for (int32_t i = 0; i < phases->count; i++) {
        pl_bytes_put_i64(out, phases->end[i]);
        pl_bytes_put_f64(out, phases->factor[i]);
    }
}

bool pl_phases_restore(pl_phases *phases, int32_t count, pl_bytes_in *in)
{
    pl_phases p = {.count = count};
    if (pl_bytes_get_i64(in) != count)
        return false;
    for (int32_t i = 0; i < count; i++) {
        p.end[i] = pl_bytes_get_i64(in);
        p.factor[i] = pl_bytes_get_f64(in);
        if (in->failed || p.end[i] <= 0 || (i > 0 && p.end[i] <= p.end[i - 1]) ||
            !(p.factor[i] > 0 && p.factor[i] < 1e12))
            return false;
    }
    *phases = p;
    return true;
}
