/* axis.h - positions of an axis's labels. */
#ifndef PLIANT_CLIENTS_CLI_DRAW_AXIS_H
#define PLIANT_CLIENTS_CLI_DRAW_AXIS_H

#include <math.h>

/* 1, 2 or 5 times a power of ten, for about `count` steps over the span. */
static inline double pl_axis_step(double span, double count)
{
    double raw = span / count, power = pow(10, floor(log10(raw))), part = raw / power;
    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

#endif
