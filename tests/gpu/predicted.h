/* Written by tests/gpu/predict: microseconds an iteration of chebyshev_descent. */
#include <stdbool.h>

/* clang-format off */
static const struct predicted {
    const char *card, *body;
    bool single;
    double us;
} PREDICTED[] = {
    {"H100", "helix, 41 k", true, 12.8},
    {"H100", "helix, 41 k", false, 14.1},
    {"H100", "helix, 83 k", true, 16.0},
    {"H100", "helix, 83 k", false, 18.9},
    {"H100", "helix, 316 k", true, 39.5},
    {"H100", "helix, 316 k", false, 59.7},
    {"H100", "box, 1 M", true, 106.2},
    {"H100", "box, 1 M", false, 169.0},
    {"H100", "box, 5 M", true, 494.2},
    {"H100", "box, 5 M", false, 808.0},
    {"H100", "64 boxes of 5 k", true, 62.7},
    {"H200", "helix, 41 k", true, 12.8},
    {"H200", "helix, 41 k", false, 14.1},
    {"H200", "helix, 83 k", true, 16.0},
    {"H200", "helix, 83 k", false, 18.9},
    {"H200", "helix, 316 k", true, 38.4},
    {"H200", "helix, 316 k", false, 52.2},
    {"H200", "box, 1 M", true, 103.1},
    {"H200", "box, 1 M", false, 146.1},
    {"H200", "box, 5 M", true, 478.6},
    {"H200", "box, 5 M", false, 693.1},
    {"H200", "64 boxes of 5 k", true, 61.4},
};
