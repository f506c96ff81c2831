/* The two triangular solves over panels; compiled once per instruction set.
 *
 * Forward:   y_J <- L_JJ^-1 y_J,   y_R <- y_R - L_RJ y_J Backward:  y_J <- L_JJ^-T (y_J - L_RJ^T y_R)
 *
 * for the columns J and the rows below R of each panel. One source gives functions of fixed widths, so that a
 * panel's part of y stays in registers.
 */
#include "engine/linear/panels.h"

typedef double quad __attribute__((vector_size(32)));

#define INLINE     static inline __attribute__((always_inline))
#define UNROLL     _Pragma("GCC unroll 8")
#define OPS__(isa) pl_panels_ops_##isa
#define OPS_(isa)  OPS__(isa)

INLINE quad times(double a, quad v)
{
    return (quad){a, a, a, a} * v;
}

INLINE void forward_rows(int w, const double *L, const int32_t *row, int32_t count, const quad *Y,
                         quad *y, int64_t first)
{
    for (int32_t i = 0; i < count; i++, L += w) {
        quad *to = y + (row[i] - first), r = *to;
        UNROLL for (int k = 0; k < w; k++) r -= times(L[k], Y[k]);
        *to = r;
    }
}

INLINE void forward_panel(int w, const pl_panels *f, const pl_panel *p, quad *y, quad *top,
                          int64_t first)
{
    const double *T = f->value + p->value, *L = T + w * (w + 1) / 2;
    const int32_t *row = f->row + p->row;
    quad Y[PL_PANEL];
    UNROLL for (int k = w - 1; k >= 0; k--)
    {
        quad r = times(T[k * (k + 1) / 2], y[p->column]);
        UNROLL for (int q = 1; q <= k; q++) r += times(T[k * (k + 1) / 2 + q], y[p->column + q]);
        Y[k] = r;
    }
    UNROLL for (int k = 0; k < w; k++) y[p->column + k] = Y[k];
    forward_rows(w, L, row, p->own, Y, y, 0);
    forward_rows(w, L + (int64_t)p->own * w, row + p->own, p->rows - p->own, Y, top, first);
}

/* Narrow panels keep two sums for each column; otherwise each row would wait for the previous one. */
INLINE void backward_panel(int w, const pl_panels *f, const pl_panel *p, quad *y)
{
    const double *T = f->value + p->value, *L = T + w * (w + 1) / 2;
    const int32_t *row = f->row + p->row;
    quad Y[PL_PANEL], S[PL_PANEL];
    UNROLL for (int k = 0; k < w; k++) Y[k] = y[p->column + k];
    int32_t i = 0;
    if (w <= 4) {
        UNROLL for (int k = 0; k < w; k++) S[k] = (quad){0};
        for (; i + 1 < p->rows; i += 2, L += 2 * w) {
            quad r = y[row[i]], s = y[row[i + 1]];
            UNROLL for (int k = 0; k < w; k++)
            {
                Y[k] -= times(L[k], r);
                S[k] += times(L[w + k], s);
            }
        }
        UNROLL for (int k = 0; k < w; k++) Y[k] -= S[k];
    }
    for (; i < p->rows; i++, L += w) {
        quad r = y[row[i]];
        UNROLL for (int k = 0; k < w; k++) Y[k] -= times(L[k], r);
    }
    UNROLL for (int k = 0; k < w; k++)
    {
        quad r = times(T[k * (k + 1) / 2 + k], Y[k]);
        UNROLL for (int q = k + 1; q < w; q++) r += times(T[q * (q + 1) / 2 + k], Y[q]);
        y[p->column + k] = r;
    }
}

#define EACH_WIDTH(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

static void forward(const pl_panels *f, int64_t p0, int64_t p1, double *y, double *top)
{
    int64_t first = f->column[f->part_count - 1];
    for (int64_t i = p0; i < p1; i++) {
        const pl_panel *p = &f->panel[i];
        switch (p->width) {
#define CASE(w)                                                                                    \
    case w:                                                                                        \
        forward_panel(w, f, p, (quad *)y, (quad *)top, first);                                     \
        break;
            EACH_WIDTH(CASE)
#undef CASE
        }
    }
}

static void backward(const pl_panels *f, int64_t p0, int64_t p1, double *y)
{
    for (int64_t i = p1 - 1; i >= p0; i--) {
        const pl_panel *p = &f->panel[i];
        switch (p->width) {
#define CASE(w)                                                                                    \
    case w:                                                                                        \
        backward_panel(w, f, p, (quad *)y);                                                        \
        break;
            EACH_WIDTH(CASE)
#undef CASE
        }
    }
}

const pl_panels_ops OPS_(PL_ISA) = {forward, backward};
