/* array.h - an array in the memory of a backend, which may be another device's: where its numbers lie, and
 * of what precision they are, that backend alone knows (numbers.h). Whoever else has one hands it on. */
#ifndef PLIANT_ENGINE_BACKENDS_ARRAY_H
#define PLIANT_ENGINE_BACKENDS_ARRAY_H

typedef struct pl_array pl_array;

#endif
