#include "server/http/tls.h"

#include "server/base/logger.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 8, GENERATIONS = 4 };

typedef struct generation {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned int length;
    gnutls_privkey_t key;
} generation;

/* The callback has no context, and its result is used for the rest of a handshake. So an old generation is kept until
 * several newer ones exist. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static generation *generations[GENERATIONS]; /* the newest first */

static void generation_free(generation *g)
{
    if (g) {
        for (unsigned int i = 0; i < g->length; i++) {
            gnutls_pcert_deinit(&g->chain[i]);
        }
        gnutls_privkey_deinit(g->key);
        free(g);
    }
}

static bool read_pair(generation *g, const char *certificate, const char *key, const char **what)
{
    gnutls_datum_t text;
    unsigned int count = CHAIN_MAX;
    *what = certificate;
    int status = gnutls_load_file(certificate, &text);
    if (status >= 0) {
        status = gnutls_pcert_list_import_x509_raw(g->chain, &count, &text, GNUTLS_X509_FMT_PEM, 0);
        gnutls_free(text.data);
    }
    g->length = status >= 0 ? count : 0;
    if (status >= 0) {
        *what = key;
        status = gnutls_load_file(key, &text);
    }
    if (status >= 0) {
        status = gnutls_privkey_import_x509_raw(g->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
        memset(text.data, 0, text.size);
        gnutls_free(text.data);
    }
    if (status < 0) {
        pl_logf(PL_LEVEL_ERROR, "%s: %s", *what, gnutls_strerror(status));
    }
    return status >= 0;
}

/* True if the key belongs to the certificate. */
static bool fits(generation *g, const char *key)
{
    unsigned char of_key[64], of_certificate[64];
    size_t key_size = sizeof of_key, certificate_size = sizeof of_certificate;
    gnutls_pubkey_t public;
    bool good = gnutls_pubkey_init(&public) >= 0;
    good = good && gnutls_pubkey_import_privkey(public, g->key, 0, 0) >= 0 &&
           gnutls_pubkey_get_key_id(public, GNUTLS_KEYID_USE_SHA256, of_key, &key_size) >= 0 &&
           gnutls_pubkey_get_key_id(g->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, of_certificate,
                                    &certificate_size) >= 0 &&
           key_size == certificate_size && memcmp(of_key, of_certificate, key_size) == 0;
    gnutls_pubkey_deinit(public);
    if (!good) {
        pl_logf(PL_LEVEL_ERROR, "%s is not the key of the certificate", key);
    }
    return good;
}

int64_t pl_tls_ends(const char *certificate)
{
    gnutls_datum_t text;
    gnutls_x509_crt_t first;
    int64_t ends = -1;
    if (gnutls_load_file(certificate, &text) < 0) {
        return -1;
    }
    if (gnutls_x509_crt_init(&first) >= 0) {
        if (gnutls_x509_crt_import(first, &text, GNUTLS_X509_FMT_PEM) >= 0) {
            ends = (int64_t)gnutls_x509_crt_get_expiration_time(first);
        }
        gnutls_x509_crt_deinit(first);
    }
    gnutls_free(text.data);
    return ends;
}

bool pl_tls_load(const char *certificate, const char *key)
{
    const char *what;
    generation *g = calloc(1, sizeof *g);
    if (!g || gnutls_privkey_init(&g->key) < 0) {
        free(g);
        return false;
    }
    if (!read_pair(g, certificate, key, &what) || !fits(g, key)) {
        generation_free(g);
        return false;
    }
    pthread_mutex_lock(&mutex);
    generation *oldest = generations[GENERATIONS - 1];
    memmove(generations + 1, generations, sizeof *generations * (GENERATIONS - 1));
    generations[0] = g;
    pthread_mutex_unlock(&mutex);
    generation_free(oldest);
    return true;
}

static int give(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
                const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                gnutls_pcert_st **chain, unsigned int *length, gnutls_privkey_t *key)
{
    pthread_mutex_lock(&mutex);
    generation *g = generations[0];
    pthread_mutex_unlock(&mutex);
    if (!g) {
        return -1;
    }
    *chain = g->chain;
    *length = g->length;
    *key = g->key;
    return 0;
}

void *pl_tls_callback(void)
{
    gnutls_certificate_retrieve_function2 *callback = give;
    return (void *)callback;
}

void pl_tls_clear(void)
{
    for (int i = 0; i < GENERATIONS; i++) {
        generation_free(generations[i]);
        generations[i] = NULL;
    }
}
