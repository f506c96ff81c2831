#include "engine/contact/search.h"

#include "engine/isa.h"

#include <stdlib.h>

static pl_contact_search_part *part_now(void)
{
    static pl_contact_search_part *const PARTS[PL_ISA_COUNT] = PL_ISA_TABLE(pl_contact_search_part);
    return PARTS[pl_isa_current()];
}

pl_status pl_contact_search_run(const pl_contact_search *search, int threads, pl_contact_keys *out)
{
    pl_contact_keys *part = calloc((size_t)threads, sizeof *part);
    *out = (pl_contact_keys){.bits = pl_contact_keys_bits(search->trees->surface)};
    if (!part)
        return PL_NO_MEMORY;
    for (int p = 0; p < threads; p++)
        part[p].bits = out->bits;
    pl_contact_search_part *search_part = part_now();
    int next = 0;
#pragma omp parallel num_threads(threads)
    {
        int own;
#pragma omp atomic capture
        own = next++;
        search_part(search, &part[own]);
    }
    pl_status status = pl_contact_keys_gather(part, threads, threads, out);
    free(part);
    return status;
}
