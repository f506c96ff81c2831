#include "protocol/text/sha256.h"

#include <errno.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pl_sha256 {
    EVP_MD_CTX *context;
    int failed; /* libcrypto ran out of memory: the digest is invalid */
};

pl_sha256 *pl_sha256_create(void)
{
    pl_sha256 *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->context = EVP_MD_CTX_new();
    if (!s->context || EVP_DigestInit_ex(s->context, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(s->context);
        free(s);
        return NULL;
    }
    return s;
}

void pl_sha256_update(pl_sha256 *s, const void *data, size_t size)
{
    if (EVP_DigestUpdate(s->context, data, size) != 1)
        s->failed = 1;
}

static void to_hex(const unsigned char digest[32], char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 32; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[64] = 0;
}

/* A failure inside libcrypto gives 64 dashes, which equal no hash that a client can name. */
void pl_sha256_finish(pl_sha256 *s, char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (!s->failed && EVP_DigestFinal_ex(s->context, digest, NULL) == 1) {
        to_hex(digest, hex);
    } else {
        memset(hex, '-', 64);
        hex[64] = 0;
    }
    EVP_MD_CTX_free(s->context);
    free(s);
}

void pl_sha256_hex(const void *data, size_t size, char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    if (EVP_Digest(data, size, digest, NULL, EVP_sha256(), NULL) == 1) {
        to_hex(digest, hex);
    } else {
        memset(hex, '-', 64);
        hex[64] = 0;
    }
}

bool pl_sha256_file(int fd, char hex[65], uint64_t *bytes)
{
    enum { PIECE = 256 << 10 };
    unsigned char *piece = malloc(PIECE);
    pl_sha256 *s = pl_sha256_create();
    ssize_t n = piece && s ? 1 : -1;
    *bytes = 0;
    while (n > 0) {
        n = pread(fd, piece, PIECE, (off_t)*bytes);
        if (n < 0 && errno == EINTR) {
            n = 1;
        } else if (n > 0) {
            pl_sha256_update(s, piece, (size_t)n);
            *bytes += (uint64_t)n;
        }
    }
    int kept = errno;
    if (s)
        pl_sha256_finish(s, hex);
    free(piece);
    errno = kept;
    return n == 0;
}

bool pl_hmac_sha256_hex(const void *key, size_t key_size, const void *data, size_t size,
                        char hex[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    bool good = key_size <= INT_MAX &&
                HMAC(EVP_sha256(), key, (int)key_size, data, size, digest, NULL);
    if (good)
        to_hex(digest, hex);
    else
        hex[0] = 0;
    return good;
}
