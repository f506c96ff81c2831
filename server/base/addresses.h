/* addresses.h - the addresses that the daemon may call on a user's behalf: those of the public internet, and those that
 * the operator allows. A tenant's URL must not reach addresses that only this machine can reach.
 */
#ifndef PLIANT_SERVER_BASE_ADDRESSES_H
#define PLIANT_SERVER_BASE_ADDRESSES_H

#include <stdbool.h>
#include <sys/socket.h>

/* True for unicast addresses of the public internet: not loopback, link-local, private, shared, documentation or
 * multicast, nor an IPv6 address that stands for such an IPv4 address. */
bool pl_address_public(const struct sockaddr *address);
/* True if the address is in a range "10.1.0.0/16" or "fd00::/8"; a single address is its own range. */
bool pl_address_in(const struct sockaddr *address, const char *range);
bool pl_address_range_well_formed(const char *range);

#endif
