/* The plug-in on the stand-in exports one symbol more than every plug-in: a count for gpu-bench. */
#include "tests/gpu/standin/standin.h"

standin_counts pliant_standin_count(void);

standin_counts pliant_standin_count(void)
{
    return standin_count();
}
