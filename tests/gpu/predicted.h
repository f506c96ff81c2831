/* Written by tests/gpu/predict: microseconds an iteration of chebyshev_descent. */
#include <stdbool.h>

/* clang-format off */
static const struct predicted {
    const char *card, *body;
    bool single;
    double us;
} PREDICTED[] = {
    {"H100", "helix, 41 k", true, 18.5},
    {"H100", "helix, 41 k", false, 19.7},
    {"H100", "helix, 83 k", true, 21.8},
    {"H100", "helix, 83 k", false, 24.6},
    {"H100", "helix, 316 k", true, 47.3},
    {"H100", "helix, 316 k", false, 67.6},
    {"H100", "box, 1 M", true, 118.7},
    {"H100", "box, 1 M", false, 181.5},
    {"H100", "box, 5 M", true, 537.3},
    {"H100", "box, 5 M", false, 850.3},
    {"H100", "64 boxes of 5 k", true, 69.6},
    {"H200", "helix, 41 k", true, 18.5},
    {"H200", "helix, 41 k", false, 19.7},
    {"H200", "helix, 83 k", true, 21.8},
    {"H200", "helix, 83 k", false, 24.6},
    {"H200", "helix, 316 k", true, 46.2},
    {"H200", "helix, 316 k", false, 60.1},
    {"H200", "box, 1 M", true, 115.7},
    {"H200", "box, 1 M", false, 158.6},
    {"H200", "box, 5 M", true, 522.3},
    {"H200", "box, 5 M", false, 736.2},
    {"H200", "64 boxes of 5 k", true, 68.3},
};
