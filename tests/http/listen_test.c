/* The daemon's listeners: a unix socket that identifies users by uid, and an address with TLS whose certificate is
 * reloaded at SIGHUP; and invalid combinations.
 */
#include "tests/support/one_daemon.h"
#include "tests/support/session_client.h"
#include "tests/support/suite.h"
#include "tests/support/tenant_client.h"

#include <check.h>
#include <curl/curl.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], socket_option[96], certificate[80], key[80];

static void set_up(void)
{
    snprintf(folder, sizeof folder, "/tmp/pliant-listen-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chmod(folder, 0755), 0);
    snprintf(socket_option, sizeof socket_option, "unix:%s/socket", folder);
    snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
}

static void take_down(void)
{
    daemon_fixture_stop(d);
    unlink(certificate);
    unlink(key);
    unlink(socket_option + 5);
    rmdir(folder);
}

/* ---- requests ---- */

typedef struct answer {
    long status; /* 0: no connection, or no trust */
    char body[4096];
    size_t length;
} answer;

static size_t take(char *data, size_t one, size_t size, void *context)
{
    answer *a = context;
    size_t n = size < sizeof a->body - 1 - a->length ? size : sizeof a->body - 1 - a->length;
    memcpy(a->body + a->length, data, n);
    a->length += n;
    return size;
}

/* GET; over a unix socket if `path` is not NULL, trusting only `authority` if that is not NULL. */
static answer fetch(const char *url, const char *path, const char *authority, long tls)
{
    answer a = {0};
    CURL *curl = curl_easy_init();
    ck_assert_ptr_nonnull(curl);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (path)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, path);
    if (authority)
        curl_easy_setopt(curl, CURLOPT_CAINFO, authority);
    if (tls)
        curl_easy_setopt(curl, CURLOPT_SSLVERSION, tls);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a.status);
    curl_easy_cleanup(curl);
    return a;
}

/* ---- a unix socket ---- */

/* The same asked by a process of another uid: its status. */
static long fetch_as(uid_t uid, const char *words)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (setgid(uid) != 0 || setuid(uid) != 0)
            _exit(99);
        answer a = fetch("http://localhost/v1/me", socket_option + 5, NULL, 0);
        _exit(a.status == 200 && !strstr(a.body, words) ? 98 : (int)(a.status / 10));
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status) * 10;
}

START_TEST(a_peer_is_known_by_uid)
{
    const char *const options[] = {"--cores", "2", "--listen", socket_option, NULL};
    set_up();
    daemon_fixture_start(d, options);
    answer a = fetch("http://localhost/v1/me", socket_option + 5, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    ck_assert_ptr_nonnull(strstr(a.body, "\"user\":\"owner\",\"by\":\"peer\""));
    a = fetch("http://evil.example/v1/me", socket_option + 5, NULL, 0);
    ck_assert_int_eq(a.status, 421);
    char url[64]; /* on the address nobody has a uid */
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/me", d->port);
    ck_assert_int_eq(fetch(url, NULL, NULL, 0).status, 401);
    if (geteuid() == 0) {
        ck_assert_int_eq(fetch_as(12345, ""), 400);
        http_reply *r = tenant_call(d, d->token, "POST", "/v1/users", NULL,
                                    "{\"name\": \"alice\", \"uid\": 12345}");
        http_expect(r, 201);
        http_reply_free(r);
        ck_assert_int_eq(fetch_as(12345, "\"user\":\"alice\",\"by\":\"peer\""), 200);
        ck_assert_int_eq(fetch_as(12346, ""), 400);
        r = tenant_call(d, d->token, "PATCH", "/v1/users/alice", NULL, "{\"uid\": null}");
        http_expect(r, 200);
        http_reply_free(r);
        ck_assert_int_eq(fetch_as(12345, ""), 400);
    }
    ck_assert_int_eq(daemon_fixture_end(d, SIGKILL), 128 + SIGKILL);
    ck_assert_int_eq(access(socket_option + 5, F_OK),
                     0); /* a killed daemon's does not stay in the way */
    daemon_fixture_resume(d);
    ck_assert_int_eq(fetch("http://localhost/v1/me", socket_option + 5, NULL, 0).status, 200);
    ck_assert_int_eq(daemon_fixture_end(d, SIGTERM), 0);
    ck_assert_int_ne(access(socket_option + 5, F_OK), 0);
    take_down();
}
END_TEST

/* ---- TLS ---- */

static void save(const char *path, EVP_PKEY *private, X509 *public)
{
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    if (private)
        ck_assert_int_eq(PEM_write_PrivateKey(file, private, NULL, NULL, 0, NULL, NULL), 1);
    else
        ck_assert_int_eq(PEM_write_X509(file, public), 1);
    fclose(file);
}

/* A certificate of localhost, signed by itself, and its key. */
static void make_kind(const char *cert_path, const char *key_path, bool rsa)
{
    EVP_PKEY *pair = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    X509 *x = X509_new();
    ck_assert(pair && x);
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), random() % 1000000 + 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -60);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, pair);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               (const unsigned char *)"localhost", -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_EXTENSION *names = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name,
                                                "DNS:localhost,IP:127.0.0.1");
    X509_add_ext(x, names, -1);
    X509_EXTENSION_free(names);
    ck_assert_int_gt(X509_sign(x, pair, EVP_sha256()), 0);
    if (key_path)
        save(key_path, pair, NULL);
    save(cert_path, NULL, x);
    X509_free(x);
    EVP_PKEY_free(pair);
}

static void make_pair(const char *certificate_path, const char *key_path)
{
    make_kind(certificate_path, key_path, false);
}

static void await_status(const char *url, const char *authority, long status)
{
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        if (fetch(url, NULL, authority, 0).status == status)
            return;
        ck_assert_msg(daemon_fixture_clock() < end, "%s: not %ld", url, status);
    }
}

/* ---- what TLS there is ---- */

static size_t see_header(char *line, size_t one, size_t size, void *context)
{
    bool *found = context;
    *found = *found || strncasecmp(line, "Strict-Transport-Security: max-age=", 35) == 0;
    return size;
}

/* The status with TLS 1.2 and only these ciphers, 0 without a connection; and whether browsers are told to use TLS from
 * then on. */
static long fetch_by(const char *url, const char *ciphers, bool *strict)
{
    answer a = {0};
    CURL *curl = curl_easy_init();
    *strict = false;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &a);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, see_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, strict);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_CAINFO, certificate);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION,
                     CURL_SSLVERSION_TLSv1_2 | CURL_SSLVERSION_MAX_TLSv1_2);
    ck_assert_int_eq(curl_easy_setopt(curl, CURLOPT_SSL_CIPHER_LIST, ciphers), CURLE_OK);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &a.status);
    curl_easy_cleanup(curl);
    return a.status;
}

/* With keys of the kind that a cipher wants: an exchange that RSA alone keeps secret, and blocks in chains, are not
 * spoken. */
static void try_ciphers(bool rsa, const char *good, const char *const *bad)
{
    const char *const options[] = {"--tls-cert", certificate, "--tls-key", key, NULL};
    char url[160], line[128];
    bool strict;
    set_up();
    make_kind(certificate, key, rsa);
    daemon_fixture_start(d, options);
    FILE *file = fopen(daemon_fixture_path(d, "url"), "re");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(url, sizeof url, "%.*s/v1/version", (int)strcspn(line, "\n"), line);
    ck_assert_int_eq(fetch_by(url, good, &strict), 200);
    ck_assert(strict);
    for (; *bad; bad++)
        ck_assert_msg(fetch_by(url, *bad, &strict) == 0, "%s", *bad);
    take_down();
}

START_TEST(old_ciphers_are_not_spoken)
{
    try_ciphers(true, "ECDHE-RSA-AES128-GCM-SHA256",
                (const char *const[]){"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA",
                                      "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA384", NULL});
}
END_TEST

START_TEST(old_ciphers_are_not_spoken_with_curves)
{
    try_ciphers(false, "ECDHE-ECDSA-AES256-GCM-SHA384",
                (const char *const[]){"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", NULL});
}
END_TEST

START_TEST(an_address_speaks_tls)
{
    const char *const options[] = {"--listen",    "127.0.0.1:0", "--listen",
                                   socket_option, "--tls-cert",  certificate,
                                   "--tls-key",   key,           NULL};
    char url[128], line[128], other[160], old[96];
    set_up();
    make_pair(certificate, key);
    daemon_fixture_start(d, options);
    FILE *file = fopen(daemon_fixture_path(d, "url"), "re");
    ck_assert_ptr_nonnull(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(url, sizeof url, "%.*s/v1/version", (int)strcspn(line, "\n"), line);
    ck_assert_int_eq(strncmp(url, "https://127.0.0.1:", 18), 0);
    ck_assert_int_eq(fetch(url, NULL, certificate, 0).status, 200);
    ck_assert_int_eq(fetch(url, NULL, certificate, CURL_SSLVERSION_MAX_TLSv1_1).status, 0);
    ck_assert_int_eq(fetch(url, NULL, NULL, 0).status, 0); /* not of an authority that is known */
    snprintf(other, sizeof other, "http%s", url + 5);
    ck_assert_int_ne(fetch(other, NULL, NULL, 0).status, 200);
    snprintf(old, sizeof old, "%s.old", certificate);
    ck_assert_int_eq(link(certificate, old), 0);
    snprintf(other, sizeof other, "%s.other", certificate);
    make_pair(other, NULL); /* a certificate without its key changes nothing */
    ck_assert_int_eq(rename(other, certificate), 0);
    ck_assert_int_eq(kill(d->pid, SIGHUP), 0);
    while (!daemon_fixture_said(d, "is not the key of the certificate"))
        daemon_fixture_nap();
    ck_assert_int_eq(fetch(url, NULL, certificate, 0).status, 0);
    ck_assert_int_eq(fetch(url, NULL, old, 0).status, 200);
    unlink(certificate); /* which is not the old one, by another name */
    unlink(old);
    make_pair(certificate, key);
    ck_assert_int_eq(kill(d->pid, SIGHUP), 0);
    await_status(url, certificate, 200);
    ck_assert_int_eq(fetch("http://localhost/v1/me", socket_option + 5, NULL, 0).status, 200);
    take_down();
}
END_TEST

/* ---- behind a proxy ---- */

/* A proxy's information about its clients is trusted, and local-only documents are hidden from them. */
START_TEST(a_proxy_speaks_for_its_clients)
{
    static const char *const options[] = {"--cores", "2", "--behind-proxy", NULL};
    char reader[TENANT_SECRET], metrics[TENANT_SECRET], json[160];
    set_up();
    daemon_fixture_start(d, options);
    tenant_token(d, NULL, "read", reader, NULL);
    tenant_token(d, NULL, "metrics", metrics, NULL);
    const struct {
        const char *secret;
        int status;
    } asked[] = {{NULL, 401}, {reader, 403}, {metrics, 200}, {d->token, 200}};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        http_reply *r = tenant_call(d, asked[i].secret, "GET", "/metrics", NULL, NULL);
        http_expect(r, asked[i].status);
        http_reply_free(r);
    }
    snprintf(json, sizeof json, "{\"token\": \"%s\"}", reader);
    static const char *const schemes[] = {"http", "https"};
    for (int secure = 0; secure < 2; secure++) {
        char more[160];
        snprintf(more, sizeof more,
                 "X-Forwarded-Proto: %s\r\nX-Forwarded-For: 10.9.8.7, 203.0.113.%d\r\n",
                 schemes[secure], secure);
        http_reply *r = tenant_call(d, NULL, "POST", "/v1/login", more, json);
        http_expect(r, 200);
        bool marked = strstr(http_header(r, "Set-Cookie"), "; Secure") != NULL;
        ck_assert_int_eq(marked, secure);
        http_reply_free(r);
    }
    for (double end = daemon_fixture_clock() + HTTP_PATIENCE_S;; daemon_fixture_nap()) {
        http_reply *r = tenant_call(d, d->token, "GET", "/v1/audit", NULL, NULL);
        bool found = strstr(r->body, "\"address\":\"203.0.113.1\"") != NULL;
        ck_assert_ptr_null(strstr(r->body, "10.9.8.7"));
        http_reply_free(r);
        if (found)
            break;
        ck_assert_msg(daemon_fixture_clock() < end, "the proxy's word is not in the audit");
    }
    take_down();
}
END_TEST

START_TEST(cookies_are_secure_by_configuration)
{
    static const char *const options[] = {"--cores", "2", "--behind-proxy", "--secure-cookies",
                                          NULL};
    char reader[TENANT_SECRET], json[160];
    set_up();
    daemon_fixture_start(d, options);
    tenant_token(d, NULL, "read", reader, NULL);
    snprintf(json, sizeof json, "{\"token\": \"%s\"}", reader);
    http_reply *r = tenant_call(d, NULL, "POST", "/v1/login", NULL, json);
    http_expect(r, 200);
    ck_assert_ptr_nonnull(strstr(http_header(r, "Set-Cookie"), "; Secure"));
    http_reply_free(r);
    take_down();
}
END_TEST

/* ---- what may not be ---- */

#define REFUSED(...)                                                                               \
    ck_assert_int_eq(                                                                              \
        daemon_fixture_command(d, (const char *const[]){__VA_ARGS__, NULL}, said, sizeof said), 2)

START_TEST(tokens_do_not_travel_in_the_clear)
{
    char said[256];
    set_up();
    daemon_fixture_start(d, NULL);
    REFUSED("--listen", "0.0.0.0:0");
    REFUSED("--listen", "[::]:0");
    REFUSED("--listen", "0.0.0.0:0", "--no-auth", "--behind-proxy");
    REFUSED("--listen", "unix:relative");
    REFUSED("--listen", socket_option, "--no-auth");
    REFUSED("--tls-cert", certificate);
    REFUSED("--limit", "sessions");
    REFUSED("--limit", "sessions=-1");
    REFUSED("--limit", "things=1");
    take_down();
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("listening");
    tcase_set_timeout(c, 180);
    tcase_add_test(c, a_peer_is_known_by_uid);
    tcase_add_test(c, an_address_speaks_tls);
    tcase_add_test(c, old_ciphers_are_not_spoken);
    tcase_add_test(c, old_ciphers_are_not_spoken_with_curves);
    tcase_add_test(c, a_proxy_speaks_for_its_clients);
    tcase_add_test(c, cookies_are_secure_by_configuration);
    tcase_add_test(c, tokens_do_not_travel_in_the_clear);
    return run_cases("listening", c);
}
