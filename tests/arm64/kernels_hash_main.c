/* Prints kernels_hash.h's text: run it on another processor, or an emulator of it, and compare. */
#include "tests/support/kernels_hash.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *text = pl_kernels_hash_text();
    fputs(text, stdout);
    free(text);
    return 0;
}
