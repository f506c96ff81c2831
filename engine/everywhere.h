/* everywhere.h - functions with one source for the host and for devices: compiled where they are used, by a C
 * compiler or by nvcc. They use only each other and <math.h>. */
#ifndef PLIANT_ENGINE_EVERYWHERE_H
#define PLIANT_ENGINE_EVERYWHERE_H

#ifdef __CUDACC__
#define PL_EVERYWHERE static __host__ __device__ inline
#else
#define PL_EVERYWHERE static inline
#endif

#endif
