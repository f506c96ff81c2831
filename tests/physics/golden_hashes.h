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
    {"x86-64 Haswell", "collapsed", 0xC6BEC02CB8E93EA2},
    {"x86-64 Haswell", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Haswell", "contact", 0xB229D5FC72D856B8},
    {"x86-64 Haswell", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Haswell", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Haswell", "laws", 0x89D254339EDB9872},
    {"x86-64 Haswell", "materials", 0x8005AAFCD8049458},
    {"x86-64 Haswell", "newton", 0x59DBEAFFCE9462FD},
    {"x86-64 Haswell", "projective", 0x56B2D6D9B8675430},
    {"x86-64 Haswell", "supernodal", 0xDE0E5E974CDDC4F6},
    {"x86-64 Haswell", "twist", 0xABC66AEEF64434E7},
    {"x86-64 Nehalem", "collapsed", 0xC6BEC02CB8E93EA2},
    {"x86-64 Nehalem", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Nehalem", "contact", 0xB229D5FC72D856B8},
    {"x86-64 Nehalem", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Nehalem", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Nehalem", "laws", 0x89D254339EDB9872},
    {"x86-64 Nehalem", "materials", 0x8005AAFCD8049458},
    {"x86-64 Nehalem", "newton", 0x8382F9F778F1D7C4},
    {"x86-64 Nehalem", "projective", 0x56B2D6D9B8675430},
    {"x86-64 Nehalem", "supernodal", 0x77CF6BC1827D2E80},
    {"x86-64 Nehalem", "twist", 0xABC66AEEF64434E7},
    {"x86-64 Prescott", "collapsed", 0xC6BEC02CB8E93EA2},
    {"x86-64 Prescott", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Prescott", "contact", 0xB229D5FC72D856B8},
    {"x86-64 Prescott", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Prescott", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Prescott", "laws", 0x89D254339EDB9872},
    {"x86-64 Prescott", "materials", 0x8005AAFCD8049458},
    {"x86-64 Prescott", "newton", 0x15CA3899BA8B30DE},
    {"x86-64 Prescott", "projective", 0x56B2D6D9B8675430},
    {"x86-64 Prescott", "supernodal", 0xDAF159D0982DF8DB},
    {"x86-64 Prescott", "twist", 0xABC66AEEF64434E7},
    {"x86-64 Sandybridge", "collapsed", 0xC6BEC02CB8E93EA2},
    {"x86-64 Sandybridge", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Sandybridge", "contact", 0xB229D5FC72D856B8},
    {"x86-64 Sandybridge", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Sandybridge", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Sandybridge", "laws", 0x89D254339EDB9872},
    {"x86-64 Sandybridge", "materials", 0x8005AAFCD8049458},
    {"x86-64 Sandybridge", "newton", 0xA678685927BEA71A},
    {"x86-64 Sandybridge", "projective", 0x56B2D6D9B8675430},
    {"x86-64 Sandybridge", "supernodal", 0x3CD33E5C875C65BE},
    {"x86-64 Sandybridge", "twist", 0xABC66AEEF64434E7},
    {"x86-64 Zen", "collapsed", 0xC6BEC02CB8E93EA2},
    {"x86-64 Zen", "conjugate", 0xA4B660CD838E9FD9},
    {"x86-64 Zen", "contact", 0xB229D5FC72D856B8},
    {"x86-64 Zen", "descent", 0x6C71C8BF2FAF8B1A},
    {"x86-64 Zen", "jacobi", 0xCB22A25A6561427B},
    {"x86-64 Zen", "laws", 0x89D254339EDB9872},
    {"x86-64 Zen", "materials", 0x8005AAFCD8049458},
    {"x86-64 Zen", "newton", 0x59DBEAFFCE9462FD},
    {"x86-64 Zen", "projective", 0x56B2D6D9B8675430},
    {"x86-64 Zen", "supernodal", 0xDE0E5E974CDDC4F6},
    {"x86-64 Zen", "twist", 0xABC66AEEF64434E7},
};

#endif
