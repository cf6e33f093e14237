/*
 * State of the EVP contestant: everything fetched and keyed when the engine
 * opens, so that a message costs only the calls that depend on it.
 */
#ifndef LANELOCK_PEERS_EVP_H
#define LANELOCK_PEERS_EVP_H

#include "bench.h"

#include <openssl/evp.h>
#include <openssl/params.h>

enum { KEYSTREAM = 4096 };

/* Keyed once, for one direction; what an algorithm does not use stays NULL. */
struct session {
    EVP_CIPHER_CTX *cipher;
    EVP_MAC_CTX *mac;
    EVP_MD_CTX *inner, *outer; /* HMAC pads, absorbed */
};

struct engine {
    const struct route *routes;
    struct session *sessions;
    uint32_t session_count;
    uint32_t aad, tag;
    EVP_CIPHER *cipher;
    EVP_MAC *mac;
    EVP_MD *md;
    EVP_MD_CTX *work;        /* hashes every message of every session */
    OSSL_PARAM param[2];     /* one value per message: an AEAD's tag, or a GMAC's IV */
    OSSL_PARAM gcm_param[2]; /* the tag of a GMAC that runs as GCM */
    uint8_t computed[TAG_SLOT];
    uint8_t keystream[KEYSTREAM];
};

/* Refuses with OpenSSL's own words. */
bool evp_refuse(struct reason *why, const char *what);

extern const struct route evp_cipher_encrypt[], evp_cipher_decrypt[];
extern const struct route evp_ecb_encrypt[], evp_ecb_decrypt[];
extern const struct route evp_counter[];
extern const struct route evp_hmac_compute[], evp_hmac_verify[];
extern const struct route evp_cmac_compute[], evp_cmac_verify[];
extern const struct route evp_gmac_compute[], evp_gmac_verify[];
extern const struct route evp_hash_compute[];
extern const struct route evp_aead_encrypt[], evp_aead_decrypt[];
extern const struct route evp_ccm_encrypt[], evp_ccm_decrypt[];
extern const struct route evp_chain_encrypt[], evp_chain_decrypt[];

/* --- steps shared by plain ciphers and chains ------------------------------------- */

/*
 * A new IV is the only re-initialisation: the key schedule and the padding
 * flag stay. Final is not called, since without padding it has nothing left
 * to give.
 */
static inline bool evp_encrypt(EVP_CIPHER_CTX *ctx, const struct message *m)
{
    int len;
    return EVP_EncryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) &&
           EVP_EncryptUpdate(ctx, m->out, &len, m->in, (int)m->len) && (uint32_t)len == m->len;
}

static inline bool evp_decrypt(EVP_CIPHER_CTX *ctx, const struct message *m)
{
    int len;
    return EVP_DecryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) &&
           EVP_DecryptUpdate(ctx, m->out, &len, m->in, (int)m->len) && (uint32_t)len == m->len;
}

#endif
