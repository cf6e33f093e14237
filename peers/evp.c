/*
 * lanelock-peer-evp: OpenSSL 3 at its best through the public EVP interface.
 *
 * Algorithms are fetched once per engine and each session keeps one keyed
 * context, so a message costs a new IV (or a MAC restart) and its data, and
 * nothing else.
 */
#include "evp.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <stdio.h>
#include <stdlib.h>

/* How a name is spelled in OpenSSL. An HMAC is built on `md`, other MACs on `cipher`. */
struct row {
    const char *name;
    const char *cipher, *mac, *md;
    const struct route *forward, *reverse;
};

/* clang-format off */
#define CIPHER_ROW(name, spelling) \
    { name, spelling, NULL, NULL, evp_cipher_encrypt, evp_cipher_decrypt }
#define ECB_ROW(name, spelling) \
    { name, spelling, NULL, NULL, evp_ecb_encrypt, evp_ecb_decrypt }
#define HMAC_ROW(name, md) \
    { name, NULL, "HMAC", md, evp_hmac_compute, evp_hmac_verify }
#define CMAC_ROW(name, spelling) \
    { name, spelling, "CMAC", NULL, evp_cmac_compute, evp_cmac_verify }
#define HASH_ROW(name, spelling) \
    { name, NULL, NULL, spelling, evp_hash_compute, NULL }
#define AEAD_ROW(name, spelling) \
    { name, spelling, NULL, NULL, evp_aead_encrypt, evp_aead_decrypt }
#define CCM_ROW(name, spelling) \
    { name, spelling, NULL, NULL, evp_ccm_encrypt, evp_ccm_decrypt }
#define CHAIN_ROW(name, spelling, md) \
    { name, spelling, "HMAC", md, evp_chain_encrypt, evp_chain_decrypt }

static const struct row rows[] = {
    CIPHER_ROW("aes-128-cbc", "AES-128-CBC"),
    CIPHER_ROW("aes-192-cbc", "AES-192-CBC"),
    CIPHER_ROW("aes-256-cbc", "AES-256-CBC"),
    CIPHER_ROW("aes-128-ctr", "AES-128-CTR"),
    CIPHER_ROW("aes-192-ctr", "AES-192-CTR"),
    CIPHER_ROW("aes-256-ctr", "AES-256-CTR"),
    CIPHER_ROW("aes-128-cfb", "AES-128-CFB"),
    CIPHER_ROW("aes-192-cfb", "AES-192-CFB"),
    CIPHER_ROW("aes-256-cfb", "AES-256-CFB"),
    CIPHER_ROW("aes-128-ofb", "AES-128-OFB"),
    CIPHER_ROW("aes-192-ofb", "AES-192-OFB"),
    CIPHER_ROW("aes-256-ofb", "AES-256-OFB"),
    ECB_ROW("aes-128-ecb", "AES-128-ECB"),
    ECB_ROW("aes-192-ecb", "AES-192-ECB"),
    ECB_ROW("aes-256-ecb", "AES-256-ECB"),
    CIPHER_ROW("aes-128-xts", "AES-128-XTS"),
    CIPHER_ROW("aes-256-xts", "AES-256-XTS"),
    CIPHER_ROW("3des-cbc", "DES-EDE3-CBC"),
    { "3des-ctr", "DES-EDE3-ECB", NULL, NULL, evp_counter, evp_counter },
    CIPHER_ROW("chacha20", "ChaCha20"),
    HMAC_ROW("hmac-md5", "MD5"),
    HMAC_ROW("hmac-sha1", "SHA1"),
    HMAC_ROW("hmac-sha224", "SHA2-224"),
    HMAC_ROW("hmac-sha256", "SHA2-256"),
    HMAC_ROW("hmac-sha384", "SHA2-384"),
    HMAC_ROW("hmac-sha512", "SHA2-512"),
    CMAC_ROW("aes-128-cmac", "AES-128-CBC"),
    CMAC_ROW("aes-256-cmac", "AES-256-CBC"),
    { "aes-128-gmac", "AES-128-GCM", "GMAC", NULL, evp_gmac_compute, evp_gmac_verify },
    HASH_ROW("sha1", "SHA1"),
    HASH_ROW("sha256", "SHA2-256"),
    HASH_ROW("sha512", "SHA2-512"),
    AEAD_ROW("aes-128-gcm", "AES-128-GCM"),
    AEAD_ROW("aes-192-gcm", "AES-192-GCM"),
    AEAD_ROW("aes-256-gcm", "AES-256-GCM"),
    CCM_ROW("aes-128-ccm", "AES-128-CCM"),
    CCM_ROW("aes-256-ccm", "AES-256-CCM"),
    AEAD_ROW("chacha20-poly1305", "ChaCha20-Poly1305"),
    CHAIN_ROW("aes-128-cbc+hmac-sha1", "AES-128-CBC", "SHA1"),
    CHAIN_ROW("aes-128-cbc+hmac-sha256", "AES-128-CBC", "SHA2-256"),
    CHAIN_ROW("aes-128-cbc+hmac-sha512", "AES-128-CBC", "SHA2-512"),
    CHAIN_ROW("aes-256-cbc+hmac-sha1", "AES-256-CBC", "SHA1"),
    CHAIN_ROW("aes-256-cbc+hmac-sha256", "AES-256-CBC", "SHA2-256"),
    CHAIN_ROW("aes-256-cbc+hmac-sha512", "AES-256-CBC", "SHA2-512"),
    CHAIN_ROW("aes-128-ctr+hmac-sha1", "AES-128-CTR", "SHA1"),
    CHAIN_ROW("aes-128-ctr+hmac-sha256", "AES-128-CTR", "SHA2-256"),
    CHAIN_ROW("aes-256-ctr+hmac-sha256", "AES-256-CTR", "SHA2-256"),
};
/* clang-format on */

bool evp_refuse(struct reason *why, const char *what)
{
    const char *words = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return words ? refuse(why, "%s: OpenSSL: %s", what, words) : refuse(why, "%s", what);
}

/* IV and tag lengths come before the key: CCM derives its first block from them. */
static bool key_cipher(struct session *session, const struct engine *engine,
                       const struct shape *shape, bool reverse, const uint8_t *key)
{
    EVP_CIPHER_CTX *ctx = session->cipher = EVP_CIPHER_CTX_new();
    if (!ctx || !EVP_CipherInit_ex2(ctx, engine->cipher, NULL, NULL, !reverse, NULL))
        return false;
    bool nonce = shape->spec->kind == AEAD || shape->spec->kind == MAC;
    if (nonce && shape->iv > 0 &&
        (EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, (int)shape->iv, NULL) <= 0 ||
         (EVP_CIPHER_get_mode(engine->cipher) == EVP_CIPH_CCM_MODE &&
          EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, (int)shape->tag, NULL) <= 0)))
        return false;
    return EVP_CipherInit_ex2(ctx, NULL, key, NULL, !reverse, NULL) &&
           EVP_CIPHER_CTX_set_padding(ctx, 0);
}

static bool key_mac(struct session *session, const struct engine *engine, const struct row *row,
                    const uint8_t *key, size_t len)
{
    OSSL_PARAM params[] = {
        row->md ? OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)row->md, 0)
                : OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)row->cipher, 0),
        OSSL_PARAM_construct_end(),
    };
    session->mac = EVP_MAC_CTX_new(engine->mac);
    return session->mac && EVP_MAC_init(session->mac, key, len, params);
}

/* The state of a digest that has read the key XORed with `pad`. */
static EVP_MD_CTX *absorb(const EVP_MD *md, uint8_t pad, const uint8_t *key, size_t len)
{
    uint8_t block[128];
    size_t size = (size_t)EVP_MD_get_block_size(md);
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < len; i++)
        block[i] ^= key[i];
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (ctx && size <= sizeof block && EVP_DigestInit_ex2(ctx, md, NULL) &&
        EVP_DigestUpdate(ctx, block, size))
        return ctx;
    EVP_MD_CTX_free(ctx);
    return NULL;
}

static bool key_session(struct session *session, const struct engine *engine,
                        const struct row *row, const struct shape *shape, bool reverse,
                        const uint8_t *key, const uint8_t *mac_key)
{
    bool chain = shape->spec->kind == CHAIN;
    bool inside = row->forward == evp_cmac_compute; /* its cipher lives in the MAC context */
    if (row->cipher && !inside && !key_cipher(session, engine, shape, reverse, key))
        return false;
    if (!row->mac)
        return true;
    const uint8_t *authentic = chain ? mac_key : key;
    size_t len = chain ? shape->mac_key : shape->key;
    if (!key_mac(session, engine, row, authentic, len))
        return false;
    if (!row->md)
        return true;
    session->inner = absorb(engine->md, 0x36, authentic, len);
    session->outer = absorb(engine->md, 0x5c, authentic, len);
    return session->inner && session->outer;
}

static void evp_close(struct engine *engine)
{
    for (uint32_t s = 0; s < engine->session_count; s++) {
        EVP_CIPHER_CTX_free(engine->sessions[s].cipher);
        EVP_MAC_CTX_free(engine->sessions[s].mac);
        EVP_MD_CTX_free(engine->sessions[s].inner);
        EVP_MD_CTX_free(engine->sessions[s].outer);
    }
    EVP_CIPHER_free(engine->cipher);
    EVP_MAC_free(engine->mac);
    EVP_MD_free(engine->md);
    EVP_MD_CTX_free(engine->work);
    free(engine->sessions);
    free(engine);
}

static enum verdict give_up(struct engine *engine, enum verdict verdict)
{
    evp_close(engine);
    return verdict;
}

static enum verdict evp_open(const struct shape *shape, bool reverse, const struct keys *keys,
                             struct engine **opened, struct reason *why)
{
    const struct row *row = rows, *end = rows + sizeof rows / sizeof *rows;
    while (row < end && strcmp(row->name, shape->spec->name) != 0)
        row++;
    if (row == end) {
        refuse(why, "the EVP loop has no %s", shape->spec->name);
        return UNSUPPORTED;
    }

    /* 3DES-CTR decrypts, and GMAC verifies, with a context that encrypts. */
    bool backward = reverse && row->forward != row->reverse && shape->spec->kind != MAC;
    struct engine *engine = calloc(1, sizeof *engine);
    struct session *sessions = calloc(shape->sessions, sizeof *sessions);
    if (!engine || !sessions) {
        free(engine);
        free(sessions);
        refuse(why, "sessions=%u: out of memory; lower sessions", shape->sessions);
        return FAILED;
    }
    engine->routes = reverse ? row->reverse : row->forward;
    engine->sessions = sessions;
    engine->session_count = shape->sessions;
    engine->aad = shape->aad;
    engine->tag = shape->tag;
    engine->gcm_param[0] =
        OSSL_PARAM_construct_octet_string(OSSL_CIPHER_PARAM_AEAD_TAG, NULL, shape->tag);
    engine->param[0] = shape->spec->kind == MAC
        ? OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, NULL, shape->iv)
        : engine->gcm_param[0];
    engine->param[1] = engine->gcm_param[1] = OSSL_PARAM_construct_end();

    if ((row->cipher && !(engine->cipher = EVP_CIPHER_fetch(NULL, row->cipher, NULL))) ||
        (row->mac && !(engine->mac = EVP_MAC_fetch(NULL, row->mac, NULL))) ||
        (row->md && !(engine->md = EVP_MD_fetch(NULL, row->md, NULL)))) {
        evp_refuse(why, row->name);
        return give_up(engine, UNSUPPORTED);
    }
    engine->work = EVP_MD_CTX_new();
    if (!engine->work || (engine->md && !EVP_DigestInit_ex2(engine->work, engine->md, NULL))) {
        evp_refuse(why, row->name);
        return give_up(engine, FAILED);
    }
    for (uint32_t s = 0; s < shape->sessions; s++)
        if (!key_session(&sessions[s], engine, row, shape, backward,
                         keys->key + (size_t)s * shape->key,
                         keys->mac_key + (size_t)s * shape->mac_key)) {
            evp_refuse(why, "key");
            return give_up(engine, FAILED);
        }
    *opened = engine;
    return READY;
}

static const struct route *evp_routes(const struct engine *engine)
{
    return engine->routes;
}

static const char *evp_library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "OpenSSL %s", OpenSSL_version(OPENSSL_VERSION_STRING));
    return text;
}

int main(void)
{
    static const struct peer peer = { "evp", false, evp_library, evp_open, evp_routes, evp_close };
    return bench_main(&peer);
}
