/* kernels_hash.h - results of the kernels on one fixed set of numbers, as text: a line "name hash" for each function.
 * Two machines that print the same text compute the same bits. The numbers are made by exactly rounded operations
 * alone, so they are the same everywhere too; all NaNs count as equal, because their sign and payload depend on the
 * processor.
 */
#ifndef PLIANT_TESTS_SUPPORT_KERNELS_HASH_H
#define PLIANT_TESTS_SUPPORT_KERNELS_HASH_H

/* malloc'ed. */
char *pl_kernels_hash_text(void);

#endif
