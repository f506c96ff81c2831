/* golden_hashes.h - written by tests/physics/golden. Hashes of positions and velocities at the end
 * of golden_test.c's scenes. */
#ifndef PLIANT_TESTS_PHYSICS_GOLDEN_HASHES_H
#define PLIANT_TESTS_PHYSICS_GOLDEN_HASHES_H

#include <stdint.h>

typedef struct golden_hash {
    const char *machine; /* architecture, OpenBLAS core type */
    const char *scene;
    uint64_t hash;
} golden_hash;

static const golden_hash GOLDEN[] = {
    {"x86-64 Haswell", "collapsed", 0xAD1765D13E2BFCE9},
    {"x86-64 Haswell", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Haswell", "contact", 0x48AF7582922216BB},
    {"x86-64 Haswell", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Haswell", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Haswell", "laws", 0xD28FEA62965D7A2D},
    {"x86-64 Haswell", "materials", 0x10744BDA30864A0E},
    {"x86-64 Haswell", "newton", 0x1B6E45FFF8DA8839},
    {"x86-64 Haswell", "projective", 0x6515215B14211817},
    {"x86-64 Haswell", "supernodal", 0xE41E156CBCFF4463},
    {"x86-64 Haswell", "twist", 0x1140BC6D45952C97},
    {"x86-64 Sandybridge", "collapsed", 0xAD1765D13E2BFCE9},
    {"x86-64 Sandybridge", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Sandybridge", "contact", 0x48AF7582922216BB},
    {"x86-64 Sandybridge", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Sandybridge", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Sandybridge", "laws", 0xD28FEA62965D7A2D},
    {"x86-64 Sandybridge", "materials", 0x10744BDA30864A0E},
    {"x86-64 Sandybridge", "newton", 0x3DB216D4E397C520},
    {"x86-64 Sandybridge", "projective", 0x6515215B14211817},
    {"x86-64 Sandybridge", "supernodal", 0x8B71F49BB726801D},
    {"x86-64 Sandybridge", "twist", 0x1140BC6D45952C97},
    {"x86-64 SkylakeX", "collapsed", 0xAD1765D13E2BFCE9},
    {"x86-64 SkylakeX", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 SkylakeX", "contact", 0x48AF7582922216BB},
    {"x86-64 SkylakeX", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 SkylakeX", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 SkylakeX", "laws", 0xD28FEA62965D7A2D},
    {"x86-64 SkylakeX", "materials", 0x10744BDA30864A0E},
    {"x86-64 SkylakeX", "newton", 0x725A2C4F6B9409D6},
    {"x86-64 SkylakeX", "projective", 0x6515215B14211817},
    {"x86-64 SkylakeX", "supernodal", 0xE0AAFD5FF9A18B21},
    {"x86-64 SkylakeX", "twist", 0x1140BC6D45952C97},
    {"x86-64 Zen", "collapsed", 0xAD1765D13E2BFCE9},
    {"x86-64 Zen", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Zen", "contact", 0x48AF7582922216BB},
    {"x86-64 Zen", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Zen", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Zen", "laws", 0xD28FEA62965D7A2D},
    {"x86-64 Zen", "materials", 0x10744BDA30864A0E},
    {"x86-64 Zen", "newton", 0x1B6E45FFF8DA8839},
    {"x86-64 Zen", "projective", 0x6515215B14211817},
    {"x86-64 Zen", "supernodal", 0xE41E156CBCFF4463},
    {"x86-64 Zen", "twist", 0x1140BC6D45952C97},
};

#endif
