/* sha256.h - SHA-256 of a growing input, and HMAC with it, through libcrypto. */
#ifndef PLIANT_PROTOCOL_TEXT_SHA256_H
#define PLIANT_PROTOCOL_TEXT_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_sha256 pl_sha256;
pl_sha256 *pl_sha256_create(void); /* NULL if out of memory */
void pl_sha256_update(pl_sha256 *s, const void *data, size_t size);
/* 64 lower-case hex digits and a NUL; destroys s. */
void pl_sha256_finish(pl_sha256 *s, char hex[65]);
void pl_sha256_hex(const void *data, size_t size, char hex[65]);
/* HMAC-SHA256 (RFC 2104) in hex; false, and "", if out of memory. */
bool pl_hmac_sha256_hex(const void *key, size_t key_size, const void *data, size_t size,
                        char hex[65]);
/* SHA-256 of an open file from its beginning; *bytes its size. False with errno if it cannot be read. */
bool pl_sha256_file(int fd, char hex[65], uint64_t *bytes);

#endif
