/* Key schedules: expanded once per session, in the form the jobs point at. */
#include "mb.h"

enum { AES_SCHEDULE = 15 * 16, MAX_BLOCK = 128 };

static bool expand_aes(IMB_MGR *manager, const uint8_t *key, size_t len, uint8_t *enc, uint8_t *dec)
{
    switch (len) {
    case 16:
        IMB_AES_KEYEXP_128(manager, key, enc, dec);
        return true;
    case 24:
        IMB_AES_KEYEXP_192(manager, key, enc, dec);
        return true;
    case 32:
        IMB_AES_KEYEXP_256(manager, key, enc, dec);
        return true;
    default:
        return false;
    }
}

static bool aes(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                struct session *session)
{
    (void)hash;
    session->enc = at;
    session->dec = at + AES_SCHEDULE;
    return expand_aes(manager, key, len, at, at + AES_SCHEDULE);
}

/* Three schedules, and the three pointers a job wants to see. */
static bool triple_des(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len,
                       uint8_t *at, struct session *session)
{
    (void)hash;
    const void **pointers = (const void **)(void *)(at + 3 * IMB_DES_KEY_SCHED_SIZE);
    if (len != 24)
        return false;
    for (int i = 0; i < 3; i++) {
        uint8_t *schedule = at + i * IMB_DES_KEY_SCHED_SIZE;
        if (IMB_DES_KEYSCHED(manager, (uint64_t *)(void *)schedule, key + 8 * i) != 0)
            return false;
        pointers[i] = schedule;
    }
    session->enc = session->dec = pointers;
    return true;
}

/* ChaCha20 has no schedule: jobs point at the key itself. */
static bool raw(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                struct session *session)
{
    (void)manager;
    (void)hash;
    memcpy(at, key, len);
    session->enc = session->dec = at;
    return true;
}

/* Serves the cipher of GCM and the authentication key of GMAC alike. */
static bool gcm(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                struct session *session)
{
    (void)hash;
    struct gcm_key_data *data = (struct gcm_key_data *)(void *)at;
    session->enc = session->dec = session->auth[0] = data;
    switch (len) {
    case 16:
        IMB_AES128_GCM_PRE(manager, key, data);
        return true;
    case 24:
        IMB_AES192_GCM_PRE(manager, key, data);
        return true;
    case 32:
        IMB_AES256_GCM_PRE(manager, key, data);
        return true;
    default:
        return false;
    }
}

static bool cmac(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                 struct session *session)
{
    uint8_t unused[AES_SCHEDULE] __attribute__((aligned(16)));
    uint8_t *first = at + AES_SCHEDULE, *second = first + 16;
    if (!expand_aes(manager, key, len, at, unused))
        return false;
    if (hash == IMB_AUTH_AES_CMAC_256)
        IMB_AES_CMAC_SUBKEY_GEN_256(manager, at, first, second);
    else
        IMB_AES_CMAC_SUBKEY_GEN_128(manager, at, first, second);
    session->auth[0] = at;
    session->auth[1] = first;
    session->auth[2] = second;
    return true;
}

/* The chaining values after the key XORed with `pad`; a key never exceeds a block here. */
static bool absorb(IMB_MGR *manager, IMB_HASH_ALG hash, uint8_t pad, const uint8_t *key, size_t len,
                   uint8_t *to)
{
    uint8_t block[MAX_BLOCK] __attribute__((aligned(64)));
    memset(block, pad, sizeof block);
    for (size_t i = 0; i < len; i++)
        block[i] ^= key[i];
    switch (hash) {
    case IMB_AUTH_MD5:
        IMB_MD5_ONE_BLOCK(manager, block, to);
        return true;
    case IMB_AUTH_HMAC_SHA_1:
        IMB_SHA1_ONE_BLOCK(manager, block, to);
        return true;
    case IMB_AUTH_HMAC_SHA_224:
        IMB_SHA224_ONE_BLOCK(manager, block, to);
        return true;
    case IMB_AUTH_HMAC_SHA_256:
        IMB_SHA256_ONE_BLOCK(manager, block, to);
        return true;
    case IMB_AUTH_HMAC_SHA_384:
        IMB_SHA384_ONE_BLOCK(manager, block, to);
        return true;
    case IMB_AUTH_HMAC_SHA_512:
        IMB_SHA512_ONE_BLOCK(manager, block, to);
        return true;
    default:
        return false;
    }
}

static bool hmac(IMB_MGR *manager, IMB_HASH_ALG hash, const uint8_t *key, size_t len, uint8_t *at,
                 struct session *session)
{
    uint8_t *outer = at + IMB_SHA512_DIGEST_SIZE_IN_BYTES;
    session->auth[0] = at;
    session->auth[1] = outer;
    return absorb(manager, hash, 0x36, key, len, at) &&
           absorb(manager, hash, 0x5c, key, len, outer);
}

const struct schedule mb_aes = { 2 * AES_SCHEDULE, aes };
const struct schedule mb_3des = { 3 * IMB_DES_KEY_SCHED_SIZE + 3 * sizeof(void *), triple_des };
const struct schedule mb_raw = { 64, raw };
const struct schedule mb_gcm = { sizeof(struct gcm_key_data), gcm };
const struct schedule mb_hmac = { 2 * IMB_SHA512_DIGEST_SIZE_IN_BYTES, hmac };
const struct schedule mb_cmac = { AES_SCHEDULE + 2 * 16, cmac };
