/*
 * State of the ipsec-mb contestant: a manager of its own, key schedules made
 * once, and job descriptors whose constant fields are filled in once.
 */
#ifndef LANELOCK_PEERS_MB_H
#define LANELOCK_PEERS_MB_H

#include "bench.h"

#define NO_COMPAT_IMB_API_053
#include <intel-ipsec-mb.h>

/* Version 2.0 added the session call and widened the synchronous burst calls. */
#define MB_AT_LEAST_2 (IMB_VERSION_NUM >= IMB_VERSION(2, 0, 0))

/* Pointers a job takes from its session; the schedules follow in the same block. */
struct session {
    const void *enc, *dec;
    const void *auth[3];
    _Alignas(64) uint8_t schedules[];
};

/* Expands a key into `at` and points the session at the result. */
struct schedule {
    size_t bytes;
    bool (*expand)(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                   struct session *session);
};

extern const struct schedule mb_aes, mb_3des, mb_raw, mb_gcm, mb_hmac, mb_cmac;

struct row {
    const char *name;
    IMB_CIPHER_MODE cipher;
    IMB_HASH_ALG hash;
    const struct schedule *key, *mac_key;
    const struct route *forward, *reverse;
    uint32_t most; /* longest message, or 0 for no limit */
};

struct engine {
    IMB_MGR *manager;
    const struct row *row;
    const struct route *routes;
    bool reverse;
    IMB_CIPHER_DIRECTION direction;
    uint32_t key, iv, aad, tag;
    uint8_t *sessions;
    size_t session_bytes;
    IMB_JOB *jobs;                     /* a burst of descriptors for the synchronous calls */
    IMB_JOB *slots[IMB_MAX_BURST_SIZE]; /* the manager's own descriptors */
    uint8_t *computed;                 /* a tag slot per message, when verifying */
    aes_gcm_enc_dec_t gcm;
    aes_gmac_init_t gmac_init;
    aes_gmac_update_t gmac_update;
    aes_gmac_finalize_t gmac_finalize;
    hash_fn_t digest;
    struct gcm_context_data gcm_context;
    struct chacha20_poly1305_context_data chacha_context;
};

static inline const struct session *mb_session(const struct engine *engine, const struct message *m)
{
    return (const struct session *)(const void *)(engine->sessions +
                                                  m->session * engine->session_bytes);
}

/* Where the tag of message i of a burst is computed. */
static inline uint8_t *mb_tag(const struct engine *engine, const struct message *m, size_t i)
{
    return engine->reverse ? engine->computed + i * TAG_SLOT : m->tag;
}

bool mb_verify(const struct engine *engine, const struct message *m, size_t count,
               struct reason *why);

extern const struct route mb_block_routes[], mb_ecb_routes[], mb_cipher_routes[],
    mb_chacha_routes[];
extern const struct route mb_hmac_routes[], mb_md5_routes[], mb_cmac_routes[], mb_gmac_routes[],
    mb_hash_routes[];
extern const struct route mb_gcm_routes[], mb_ccm_routes[], mb_chacha_poly_routes[];
extern const struct route mb_chain_encrypt[], mb_chain_decrypt[];

extern burst_fn mb_direct_gcm, mb_direct_gmac, mb_direct_chacha_poly, mb_direct_hash;

#endif
