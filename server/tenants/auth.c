#include "server/tenants/auth.h"

#include "protocol/log/session_dir.h"
#include "protocol/text/sha256.h"
#include "server/store/row.h"
#include "server/tenants/login.h"
#include "server/tenants/tenants.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct pl_auth {
    pl_tenants *tenants;
    bool open;                  /* --no-auth */
    pl_principal *owner, *peer; /* the same user, by token and by uid */
    char token_hash[65];
};

static int random_hex(char *out, size_t bytes)
{
    unsigned char raw[32];
    if (getrandom(raw, bytes, 0) != (ssize_t)bytes) {
        return -1;
    }
    for (size_t i = 0; i < bytes; i++) {
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
    }
    return 0;
}

int pl_random_id(char out[33])
{
    return random_hex(out, 16);
}

static bool token_well_formed(const char *text, size_t length)
{
    return length == 64 && strspn(text, "0123456789abcdef") == 64;
}

static int token_create(int state_fd, char token[65])
{
    char line[66];
    if (random_hex(token, 32) != 0) {
        return -1;
    }
    snprintf(line, sizeof line, "%s\n", token);
    int fd = openat(state_fd, "token.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    bool good = fchmod(fd, 0600) == 0 && write(fd, line, 65) == 65 && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    return good && renameat(state_fd, "token.new", state_fd, "token") == 0 && fsync(state_fd) == 0
               ? 0
               : -1;
}

/* Read the 64 digits of a file; `shown` is its name in the log. */
static int token_read(int dir_fd, const char *name, const char *shown, char token[65])
{
    char *text;
    size_t size;
    if (pl_file_read(dir_fd, name, 4096, &text, &size) != PL_OK) {
        return -1;
    }
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) {
        size--;
    }
    bool good = token_well_formed(text, size);
    if (good) {
        memcpy(token, text, 64);
        token[64] = 0;
    } else {
        pl_logf(PL_LEVEL_ERROR, "%s: must contain 64 hex digits; remove it to get a new one",
                shown);
        errno = EINVAL;
    }
    explicit_bzero(text, size);
    free(text);
    return good ? 0 : -1;
}

static int token_load(int state_fd, char token[65])
{
    struct stat st;
    if (fstatat(state_fd, "token", &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? token_create(state_fd, token) : -1;
    }
    if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || st.st_uid != geteuid()) {
        pl_logf(PL_LEVEL_ERROR, "STATE/token: must be a file of this user with mode 0600");
        errno = EPERM;
        return -1;
    }
    return token_read(state_fd, "token", "STATE/token", token);
}

/* Read a file of the operator, or a credential, which belongs to root. */
static int token_given(const char *path, char token[65])
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return -1;
    }
    if (!S_ISREG(st.st_mode) || st.st_mode & 07) {
        pl_logf(PL_LEVEL_ERROR, "%s: must be a file that others cannot read or write", path);
        errno = EPERM;
        return -1;
    }
    return token_read(AT_FDCWD, path, path, token);
}

pl_auth *pl_auth_create(int state_fd, const pl_options *options, pl_tenants *tenants)
{
    pl_auth *auth = calloc(1, sizeof *auth);
    char token[65];
    if (!auth || (options->token_file ? token_given(options->token_file, token)
                                      : token_load(state_fd, token)) != 0) {
        pl_logf(PL_LEVEL_ERROR, "the owner's token could not be read or created: %s",
                strerror(errno));
        free(auth);
        return NULL;
    }
    auth->owner = pl_principal_create(PL_CAME_OWNER, PL_DEFAULT_OWNER, PL_SCOPES_ALL, NULL, 0);
    auth->peer = pl_principal_create(PL_CAME_PEER, PL_DEFAULT_OWNER, PL_SCOPES_ALL, NULL, 0);
    if (!auth->owner || !auth->peer) {
        pl_auth_destroy(auth);
        return NULL;
    }
    pl_sha256_hex(token, 64, auth->token_hash);
    explicit_bzero(token, sizeof token);
    if (auth->token_hash[0] == '-') {
        pl_logf(PL_LEVEL_ERROR, "out of memory for the owner's token");
        pl_auth_destroy(auth);
        return NULL;
    }
    auth->open = options->no_auth;
    auth->tenants = tenants;
    return auth;
}

void pl_auth_destroy(pl_auth *auth)
{
    if (auth) {
        pl_principal_release(auth->owner);
        pl_principal_release(auth->peer);
        free(auth);
    }
}

/* The loop's length and its memory accesses do not depend on where the texts differ. A hash of dashes, used when memory
 * ran out, never matches. */
bool pl_auth_same_hash(const char *a, const char *b)
{
    volatile unsigned char difference = a[0] == '-' || b[0] == '-';
    for (int i = 0; i < 64; i++) {
        difference |= (unsigned char)(a[i] ^ b[i]);
    }
    return difference == 0;
}

pl_principal *pl_auth_owner(const pl_auth *auth)
{
    return pl_principal_acquire(auth->owner);
}

pl_principal *pl_auth_token(const pl_auth *auth, const char *token)
{
    size_t length = strlen(token);
    if (length > 256) {
        return NULL;
    }
    char hash[65];
    pl_sha256_hex(token, length, hash);
    if (hash[0] == '-') {
        errno = ENOMEM;
        return NULL;
    }
    return pl_auth_same_hash(hash, auth->token_hash) ? pl_principal_acquire(auth->owner)
                                                     : pl_tenants_find(auth->tenants, hash);
}

/* The principal of a cookie, which must be of this kind: a token is not accepted as a cookie, nor a link as a login. */
static pl_principal *by_cookie(const pl_auth *auth, const char *header, const char *name,
                               pl_came came)
{
    char secret[128];
    pl_principal *p = pl_cookie_find(header, name, secret, sizeof secret)
                          ? pl_auth_token(auth, secret)
                          : NULL;
    if (p && p->came != came) {
        pl_principal_release(p);
        p = NULL;
    }
    return p;
}

pl_principal *pl_auth_principal(void *context, const pl_claims *claims)
{
    const pl_auth *auth = context;
    const char *bearer = claims->authorization;
    if (auth->open) {
        return pl_principal_acquire(auth->owner);
    }
    if (bearer) {
        return strncasecmp(bearer, "Bearer ", 7) == 0
                   ? pl_auth_token(auth, bearer + 7 + strspn(bearer + 7, " "))
                   : NULL;
    }
    pl_principal *p = by_cookie(auth, claims->cookie, PL_LOGIN_COOKIE, PL_CAME_COOKIE);
    p = p ? p : by_cookie(auth, claims->cookie, PL_LINK_COOKIE, PL_CAME_LINK);
    if (p || claims->uid < 0) {
        return p;
    }
    bool own = claims->uid == 0 || claims->uid == (int64_t)geteuid();
    return own ? pl_principal_acquire(auth->peer)
               : pl_tenants_peer(auth->tenants, (uid_t)claims->uid);
}
