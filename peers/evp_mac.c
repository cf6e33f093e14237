/*
 * HMAC, CMAC, GMAC and plain hashes over EVP, and encrypt-then-MAC chains.
 *
 * Two of them have a second way that OpenSSL 3.0 rewards: HMAC by copying
 * saved pad states (no parameter look-ups, but a copy that allocates), and
 * GMAC as GCM without a payload. The bench tries both and keeps the faster.
 */
#include "evp.h"

enum way { BY_MAC, BY_MD_COPY };

/* Restarts from the kept key; `to` has room for a full, untruncated tag. */
static inline bool by_mac(EVP_MAC_CTX *ctx, const OSSL_PARAM *params, const struct message *m,
                          const uint8_t *in, uint8_t *to)
{
    size_t size;
    return EVP_MAC_init(ctx, NULL, 0, params) && EVP_MAC_update(ctx, in, m->len) &&
           EVP_MAC_final(ctx, to, &size, TAG_SLOT);
}

static inline bool by_md_copy(struct engine *engine, const struct message *m, const uint8_t *in,
                              uint8_t *to)
{
    const struct session *session = &engine->sessions[m->session];
    EVP_MD_CTX *work = engine->work;
    unsigned size;
    return EVP_MD_CTX_copy_ex(work, session->inner) && EVP_DigestUpdate(work, in, m->len) &&
           EVP_DigestFinal_ex(work, to, &size) && EVP_MD_CTX_copy_ex(work, session->outer) &&
           EVP_DigestUpdate(work, to, size) && EVP_DigestFinal_ex(work, to, &size);
}

static inline bool authenticate(struct engine *engine, const struct message *m, const uint8_t *in,
                                uint8_t *to, enum way way)
{
    return way == BY_MAC ? by_mac(engine->sessions[m->session].mac, NULL, m, in, to)
                         : by_md_copy(engine, m, in, to);
}

static inline bool check(struct engine *engine, const struct message *m, struct reason *why)
{
    return tags_match(engine->computed, m->tag, engine->tag) ||
           refuse(why, "verify: the tag does not match");
}

static inline bool compute(struct engine *engine, const struct message *m, size_t count,
                           struct reason *why, enum way way)
{
    for (; count > 0; count--, m++)
        if (!authenticate(engine, m, m->in, m->tag, way))
            return evp_refuse(why, "compute");
    return true;
}

static inline bool verify(struct engine *engine, const struct message *m, size_t count,
                          struct reason *why, enum way way)
{
    for (; count > 0; count--, m++) {
        if (!authenticate(engine, m, m->in, engine->computed, way))
            return evp_refuse(why, "verify");
        if (!check(engine, m, why))
            return false;
    }
    return true;
}

static inline bool encrypt(struct engine *engine, const struct message *m, size_t count,
                           struct reason *why, enum way way)
{
    for (; count > 0; count--, m++)
        if (!evp_encrypt(engine->sessions[m->session].cipher, m) ||
            !authenticate(engine, m, m->out, m->tag, way))
            return evp_refuse(why, "encrypt");
    return true;
}

static inline bool decrypt(struct engine *engine, const struct message *m, size_t count,
                           struct reason *why, enum way way)
{
    for (; count > 0; count--, m++) {
        if (!authenticate(engine, m, m->in, engine->computed, way))
            return evp_refuse(why, "verify");
        if (!check(engine, m, why))
            return false;
        if (!evp_decrypt(engine->sessions[m->session].cipher, m))
            return evp_refuse(why, "decrypt");
    }
    return true;
}

#define BURST(name, step, way)                                                                   \
    static bool name(struct engine *engine, const struct message *m, size_t count,               \
                     struct reason *why)                                                         \
    {                                                                                            \
        return step(engine, m, count, why, way);                                                 \
    }

BURST(compute_by_mac, compute, BY_MAC)
BURST(compute_by_copy, compute, BY_MD_COPY)
BURST(verify_by_mac, verify, BY_MAC)
BURST(verify_by_copy, verify, BY_MD_COPY)
BURST(encrypt_by_mac, encrypt, BY_MAC)
BURST(encrypt_by_copy, encrypt, BY_MD_COPY)
BURST(decrypt_by_mac, decrypt, BY_MAC)
BURST(decrypt_by_copy, decrypt, BY_MD_COPY)

/* --- GMAC: the one MAC that takes a parameter per message ------------------------- */

static inline bool gmac_by_mac(struct engine *engine, const struct message *m, uint8_t *to)
{
    engine->param[0].data = (void *)m->iv;
    return by_mac(engine->sessions[m->session].mac, engine->param, m, m->in, to);
}

static inline bool gmac_by_gcm(struct engine *engine, const struct message *m, uint8_t *to)
{
    EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
    int len;
    engine->gcm_param[0].data = to;
    return EVP_EncryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) &&
           EVP_EncryptUpdate(ctx, NULL, &len, m->in, (int)m->len) &&
           EVP_EncryptFinal_ex(ctx, engine->keystream, &len) &&
           EVP_CIPHER_CTX_get_params(ctx, engine->gcm_param);
}

#define GMAC_BURSTS(way)                                                                         \
    static bool compute_##way(struct engine *engine, const struct message *m, size_t count,      \
                              struct reason *why)                                                \
    {                                                                                            \
        for (; count > 0; count--, m++)                                                          \
            if (!way(engine, m, m->tag))                                                         \
                return evp_refuse(why, "compute");                                               \
        return true;                                                                             \
    }                                                                                            \
    static bool verify_##way(struct engine *engine, const struct message *m, size_t count,       \
                             struct reason *why)                                                 \
    {                                                                                            \
        for (; count > 0; count--, m++) {                                                        \
            if (!way(engine, m, engine->computed))                                               \
                return evp_refuse(why, "verify");                                                \
            if (!check(engine, m, why))                                                          \
                return false;                                                                    \
        }                                                                                        \
        return true;                                                                             \
    }

GMAC_BURSTS(gmac_by_mac)
GMAC_BURSTS(gmac_by_gcm)

static bool hash(struct engine *engine, const struct message *m, size_t count, struct reason *why)
{
    for (; count > 0; count--, m++)
        if (!EVP_DigestInit_ex2(engine->work, NULL, NULL) ||
            !EVP_DigestUpdate(engine->work, m->in, m->len) ||
            !EVP_DigestFinal_ex(engine->work, m->tag, NULL))
            return evp_refuse(why, "compute");
    return true;
}

const struct route evp_hmac_compute[] = {
    { "evp-mac", compute_by_mac }, { "evp-md-copy", compute_by_copy }, { 0 }
};
const struct route evp_hmac_verify[] = {
    { "evp-mac", verify_by_mac }, { "evp-md-copy", verify_by_copy }, { 0 }
};
const struct route evp_cmac_compute[] = { { "evp-mac", compute_by_mac }, { 0 } };
const struct route evp_cmac_verify[] = { { "evp-mac", verify_by_mac }, { 0 } };
const struct route evp_gmac_compute[] = {
    { "evp-mac", compute_gmac_by_mac }, { "evp-gcm", compute_gmac_by_gcm }, { 0 }
};
const struct route evp_gmac_verify[] = {
    { "evp-mac", verify_gmac_by_mac }, { "evp-gcm", verify_gmac_by_gcm }, { 0 }
};
const struct route evp_hash_compute[] = { { "evp-md", hash }, { 0 } };
const struct route evp_chain_encrypt[] = {
    { "evp-mac", encrypt_by_mac }, { "evp-md-copy", encrypt_by_copy }, { 0 }
};
const struct route evp_chain_decrypt[] = {
    { "evp-mac", decrypt_by_mac }, { "evp-md-copy", decrypt_by_copy }, { 0 }
};
