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
    {"x86-64 Haswell", "collapsed", 0x7298111DEA6BC27C},
    {"x86-64 Haswell", "contact", 0x5CF47AC52F37F10B},
    {"x86-64 Haswell", "descent", 0x94657EA8D1D15E50},
    {"x86-64 Haswell", "materials", 0xD6548FB5DDE8D29E},
    {"x86-64 Haswell", "supernodal", 0x1A699C76AD6CAE58},
    {"x86-64 Haswell", "twist", 0x1A91E60437D6350D},
    {"x86-64 Sandybridge", "collapsed", 0x7298111DEA6BC27C},
    {"x86-64 Sandybridge", "contact", 0x5CF47AC52F37F10B},
    {"x86-64 Sandybridge", "descent", 0x94657EA8D1D15E50},
    {"x86-64 Sandybridge", "materials", 0xD6548FB5DDE8D29E},
    {"x86-64 Sandybridge", "supernodal", 0x08DAE58804CDF4A9},
    {"x86-64 Sandybridge", "twist", 0x1A91E60437D6350D},
    {"x86-64 SkylakeX", "collapsed", 0x7298111DEA6BC27C},
    {"x86-64 SkylakeX", "contact", 0x5CF47AC52F37F10B},
    {"x86-64 SkylakeX", "descent", 0x94657EA8D1D15E50},
    {"x86-64 SkylakeX", "materials", 0xD6548FB5DDE8D29E},
    {"x86-64 SkylakeX", "supernodal", 0x8E3A925A16476EF6},
    {"x86-64 SkylakeX", "twist", 0x1A91E60437D6350D},
    {"x86-64 Zen", "collapsed", 0x7298111DEA6BC27C},
    {"x86-64 Zen", "contact", 0x5CF47AC52F37F10B},
    {"x86-64 Zen", "descent", 0x94657EA8D1D15E50},
    {"x86-64 Zen", "materials", 0xD6548FB5DDE8D29E},
    {"x86-64 Zen", "supernodal", 0x1A699C76AD6CAE58},
    {"x86-64 Zen", "twist", 0x1A91E60437D6350D},
};

#endif
