#include "engine/lanes/lanes.h"
#include "engine/model/groups/project.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

enum { MOST = PL_PROJECT_MOST, MOST_ENTRIES = MOST * (MOST + 1) / 2, SWEEPS = 16 };
/* Tolerance for semidefinite, relative to the mean diagonal; and negligible off-diagonal sums of squares, relative
 * to the whole matrix's. */
static const double SLACK = 1e-10, DIAGONAL = 1e-26;

static inline int at(int i, int j)
{
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/* True if H + SLACK (mean diagonal) I has a Cholesky factor L D L^T with D > 0 in every lane. */
static bool is_semidefinite(const double *H, int n)
{
    pl_real L[MOST_ENTRIES], trace = pl_zero();
    for (int i = 0; i < n; i++)
        trace += pl_load(H + at(i, i) * PL_BLOCK);
    const pl_real slack = pl_max(trace * pl_set1(SLACK / n), pl_set1(PL_SCALAR_MIN));
    for (int j = 0; j < n; j++) {
        pl_real d = pl_load(H + at(j, j) * PL_BLOCK) + slack;
        for (int k = 0; k < j; k++)
            d -= L[at(j, k)] * L[at(j, k)] * L[at(k, k)];
        if (pl_any(pl_not(pl_gt(d, pl_zero()))))
            return false;
        L[at(j, j)] = d;
        const pl_real inverse = pl_one() / d;
        for (int i = j + 1; i < n; i++) {
            pl_real e = pl_load(H + at(i, j) * PL_BLOCK);
            for (int k = 0; k < j; k++)
                e -= L[at(i, k)] * L[at(j, k)] * L[at(k, k)];
            L[at(i, j)] = e * inverse;
        }
    }
    return true;
}

/* Jacobi's rotation in the plane of p < q, which makes A_pq zero:
 * t = tan of the smaller angle = 2 A_pq / (d +- (d^2 + 4 A_pq^2)^(1/2)), d = A_qq - A_pp. */
static inline void rotate(pl_real *A, pl_real *V, int n, int p, int q)
{
    const pl_real x = pl_set1(2) * A[at(q, p)], d = A[at(q, q)] - A[at(p, p)];
    const pl_real size = pl_abs(d) + pl_sqrt(d * d + x * x);
    const pl_mask nothing = pl_le(size, pl_zero());
    const pl_real t = pl_flip_sign(x, d) / pl_select(nothing, pl_one(), size);
    const pl_real c = pl_one() / pl_sqrt(t * t + pl_one()), s = t * c;
    const pl_real half = pl_set1(0.5) * x;
    A[at(p, p)] -= t * half;
    A[at(q, q)] += t * half;
    A[at(q, p)] = pl_zero();
    for (int k = 0; k < n; k++) {
        if (k != p && k != q) {
            const pl_real kp = A[at(k, p)], kq = A[at(k, q)];
            A[at(k, p)] = c * kp - s * kq;
            A[at(k, q)] = s * kp + c * kq;
        }
        const pl_real vp = V[k * n + p], vq = V[k * n + q];
        V[k * n + p] = c * vp - s * vq;
        V[k * n + q] = s * vp + c * vq;
    }
}

static bool is_diagonal(const pl_real *A, int n)
{
    pl_real off = pl_zero(), all = pl_set1(PL_SCALAR_MIN);
    for (int i = 0; i < n; i++) {
        all += A[at(i, i)] * A[at(i, i)];
        for (int j = 0; j < i; j++)
            off += A[at(i, j)] * A[at(i, j)];
    }
    return !pl_any(pl_gt(off, pl_set1(DIAGONAL) * all));
}

/* H + sum max(0, -e) v v^T over the eigenpairs (e, v) of H: only negative eigenvalues change. */
static void project(double *H, int n)
{
    pl_real A[MOST_ENTRIES], V[MOST * MOST];
    for (int i = 0; i < n * (n + 1) / 2; i++)
        A[i] = pl_load(H + i * PL_BLOCK);
    for (int i = 0; i < n * n; i++)
        V[i] = i % (n + 1) == 0 ? pl_one() : pl_zero();
    for (int sweep = 0; sweep < SWEEPS && !is_diagonal(A, n); sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                rotate(A, V, n, p, q);
    for (int k = 0; k < n; k++) {
        const pl_real lift = pl_max(-A[at(k, k)], pl_zero());
        if (!pl_any(pl_gt(lift, pl_zero())))
            continue;
        for (int i = 0; i < n; i++) {
            const pl_real vi = lift * V[i * n + k];
            for (int j = 0; j <= i; j++) {
                double *h = H + at(i, j) * PL_BLOCK;
                pl_store(h, pl_load(h) + vi * V[j * n + k]);
            }
        }
    }
}

static void semidefinite(double *H, int32_t size, int64_t b0, int64_t b1)
{
    int64_t entries = (int64_t)size * (size + 1) / 2;
    for (int64_t b = b0; b < b1; b++) {
        double *h = H + b * entries * PL_BLOCK;
        if (!is_semidefinite(h, size))
            project(h, size);
    }
}

const pl_project_ops JOIN(pl_project_ops_, PL_ISA) = {semidefinite};
