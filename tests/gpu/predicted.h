/* Written by tests/gpu/predict: microseconds an iteration of chebyshev_descent. */
#include <stdbool.h>

/* clang-format off */
static const struct predicted {
    const char *card, *body;
    bool single;
    double us;
} PREDICTED[] = {
    {"H100", "helix, 41 k", true, 12.9},
    {"H100", "helix, 41 k", false, 14.1},
    {"H100", "helix, 83 k", true, 16.2},
    {"H100", "helix, 83 k", false, 19.0},
    {"H100", "helix, 316 k", true, 41.7},
    {"H100", "helix, 316 k", false, 61.9},
    {"H100", "box, 1 M", true, 113.1},
    {"H100", "box, 1 M", false, 175.9},
    {"H100", "box, 5 M", true, 531.7},
    {"H100", "box, 5 M", false, 844.6},
    {"H100", "64 boxes of 5 k", true, 64.2},
    {"H200", "helix, 41 k", true, 12.9},
    {"H200", "helix, 41 k", false, 14.1},
    {"H200", "helix, 83 k", true, 16.2},
    {"H200", "helix, 83 k", false, 19.0},
    {"H200", "helix, 316 k", true, 40.6},
    {"H200", "helix, 316 k", false, 54.4},
    {"H200", "box, 1 M", true, 110.0},
    {"H200", "box, 1 M", false, 153.0},
    {"H200", "box, 5 M", true, 516.7},
    {"H200", "box, 5 M", false, 730.6},
    {"H200", "64 boxes of 5 k", true, 62.9},
};
