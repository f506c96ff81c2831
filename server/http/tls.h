/* tls.h - the daemon's certificate and key, which can be reloaded while it runs: new connections then get the new
 * certificate. Only tls.c uses gnutls.
 */
#ifndef PLIANT_SERVER_HTTP_TLS_H
#define PLIANT_SERVER_HTTP_TLS_H

#include <stdbool.h>
#include <stdint.h>

/* Protocols and ciphers, as gnutls writes them. */
#define PL_TLS_PRIORITIES                                                                          \
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"      \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD"

/* Read both files (PEM; the certificate's chain after it). False with a line in the log; the old certificate then stays
 * in use. */
bool pl_tls_load(const char *certificate, const char *key);
/* Expiry of the first certificate in a file, in s since 1970; -1 if unreadable. */
int64_t pl_tls_ends(const char *certificate);
/* The HTTP library's callback for the certificate, a gnutls_certificate_retrieve_function2. */
void *pl_tls_callback(void);
void pl_tls_clear(void);

#endif
