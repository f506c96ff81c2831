#include "server/base/addresses.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* IPv4 addresses are handled as ::ffff:a.b.c.d. */
static void map_v4(const void *v4, unsigned char out[16])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    memcpy(out, mapped, sizeof mapped);
    memcpy(out + 12, v4, 4);
}

static bool to_bytes(const struct sockaddr *address, unsigned char out[16])
{
    if (address->sa_family == AF_INET6) {
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    } else if (address->sa_family == AF_INET) {
        map_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr, out);
    } else {
        return false;
    }
    return true;
}

static bool shares(const unsigned char *a, const unsigned char *b, int bits)
{
    int whole = bits / 8, rest = bits % 8;
    unsigned char mask = (unsigned char)(0xff << (8 - rest));
    return memcmp(a, b, (size_t)whole) == 0 && (!rest || !((a[whole] ^ b[whole]) & mask));
}

/* "ADDRESS/BITS" as bytes and the number of leading bits of 128. */
static bool parse_range(const char *range, unsigned char out[16], int *bits)
{
    char text[64];
    struct in_addr v4;
    const char *slash = strchr(range, '/');
    size_t length = slash ? (size_t)(slash - range) : strlen(range);
    if (length >= sizeof text) {
        return false;
    }
    memcpy(text, range, length);
    text[length] = 0;
    bool is_v4 = inet_pton(AF_INET, text, &v4) == 1;
    if (is_v4) {
        map_v4(&v4, out);
    } else if (inet_pton(AF_INET6, text, out) != 1) {
        return false;
    }
    char *end = "";
    int most = is_v4 ? 32 : 128;
    long n = slash ? strtol(slash + 1, &end, 10) : most;
    *bits = (int)n + (is_v4 ? 96 : 0);
    return !*end && (!slash || slash[1]) && n >= 0 && n <= most;
}

static bool lies_in(const unsigned char bytes[16], const char *range)
{
    unsigned char base[16];
    int bits;
    return parse_range(range, base, &bits) && shares(bytes, base, bits);
}

bool pl_address_range_well_formed(const char *range)
{
    unsigned char bytes[16];
    int bits;
    return parse_range(range, bytes, &bits);
}

bool pl_address_in(const struct sockaddr *address, const char *range)
{
    unsigned char bytes[16], base[16];
    int bits;
    return to_bytes(address, bytes) && parse_range(range, base, &bits) && shares(bytes, base, bits);
}

/* IANA's special-purpose registries: addresses that are not globally reachable, and multicast. */
static bool is_special_v4(const unsigned char v4[4])
{
    static const char *const ranges[] = {
        "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"};
    unsigned char bytes[16];
    map_v4(v4, bytes);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (lies_in(bytes, ranges[i])) {
            return true;
        }
    }
    return false;
}

bool pl_address_public(const struct sockaddr *address)
{
    static const char *const inner[] = {"2001::/23", "2001:db8::/32", "3fff::/20"};
    unsigned char bytes[16];
    if (!to_bytes(address, bytes)) {
        return false;
    }
    if (lies_in(bytes, "::ffff:0:0/96") || lies_in(bytes, "64:ff9b::/96")) {
        return !is_special_v4(bytes + 12);
    }
    if (lies_in(bytes, "2002::/16")) { /* 6to4: the IPv4 address is in it */
        return !is_special_v4(bytes + 2);
    }
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (lies_in(bytes, inner[i])) {
            return false;
        }
    }
    return lies_in(bytes, "2000::/3");
}
