#include "server/sessions/search_key.h"

#include "protocol/log/record.h"

#include <string.h>

void pl_signature_add(pl_signature *signature, const char *text)
{
    const unsigned char *at = (const unsigned char *)(text ? text : "");
    for (size_t left = strlen((const char *)at); left >= 3; left--, at++) {
        uint32_t three = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        uint32_t bit = three * 2654435761u >> 25; /* Knuth's multiplicative hash, 7 bits */
        signature->word[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

bool pl_signature_has(const pl_signature *signature, const pl_signature *other)
{
    return ((other->word[0] & ~signature->word[0]) | (other->word[1] & ~signature->word[1])) == 0;
}

uint32_t pl_search_hash(const char *name)
{
    return name ? pl_crc32c(0, name, strlen(name)) | 1 : 0;
}

pl_search_key pl_search_key_of(const pl_session *s)
{
    pl_search_key key = {.owner = pl_search_hash(s->owner), .group = pl_search_hash(s->group)};
    pl_signature_add(&key.name, s->name);
    pl_signature_add(&key.labels, s->labels);
    return key;
}
