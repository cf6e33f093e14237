/* Names of algorithms, and the table of capabilities, which is what the engines of this machine say. */
#include "asym_session.h"

#include <rte_version.h>

#include <pthread.h>

/* An algorithm in cryptodev's terms and in lanelock's. */
struct name {
    enum rte_crypto_sym_xform_type type;
    int cryptodev;
    uint32_t lanelock;
    uint16_t block; /* what cryptodev calls the block size: of an HMAC, the hash's */
};

#define CIPHER(name, algorithm, block) \
    { RTE_CRYPTO_SYM_XFORM_CIPHER, RTE_CRYPTO_CIPHER_##name, LANELOCK_##algorithm, block }
#define AUTH(name, algorithm, block) \
    { RTE_CRYPTO_SYM_XFORM_AUTH, RTE_CRYPTO_AUTH_##name, LANELOCK_##algorithm, block }
#define HASH(name, algorithm, block) \
    AUTH(name, algorithm, block), AUTH(name##_HMAC, HMAC_##algorithm, block)
#define AEAD(name, algorithm, block) \
    { RTE_CRYPTO_SYM_XFORM_AEAD, RTE_CRYPTO_AEAD_##name, LANELOCK_##algorithm, block }

static const struct name names[] = {
    CIPHER(AES_CBC, AES_CBC, 16),
    CIPHER(AES_CTR, AES_CTR, 16),
    CIPHER(AES_ECB, AES_ECB, 16),
    CIPHER(AES_XTS, AES_XTS, 16),
    CIPHER(AES_DOCSISBPI, AES_DOCSIS, 16),
    CIPHER(3DES_CBC, 3DES_CBC, 8),
    CIPHER(3DES_CTR, 3DES_CTR, 8),
    CIPHER(DES_CBC, DES_CBC, 8),
    CIPHER(DES_DOCSISBPI, DES_DOCSIS, 8),
    HASH(MD5, MD5, 64),
    HASH(SHA1, SHA1, 64),
    HASH(SHA224, SHA224, 64),
    HASH(SHA256, SHA256, 64),
    HASH(SHA384, SHA384, 128),
    HASH(SHA512, SHA512, 128),
    HASH(SHA3_224, SHA3_224, 144),
    HASH(SHA3_256, SHA3_256, 136),
    HASH(SHA3_384, SHA3_384, 104),
    HASH(SHA3_512, SHA3_512, 72),
#if RTE_VERSION >= RTE_VERSION_NUM(23, 3, 0, 0)
    AUTH(SHAKE_128, SHAKE128, 168),
    AUTH(SHAKE_256, SHAKE256, 136),
#endif
    AUTH(AES_CMAC, AES_CMAC, 16),
    AUTH(AES_GMAC, AES_GMAC, 16),
    AEAD(AES_GCM, AES_GCM, 16),
    AEAD(AES_CCM, AES_CCM, 16),
    AEAD(CHACHA20_POLY1305, CHACHA20_POLY1305, 64),
};

#define KEY(name, operations, ...) \
    { .xform_type = RTE_CRYPTO_ASYM_XFORM_##name, .op_types = operations, .modlen = { __VA_ARGS__ } }
#define SIGNS (1u << RTE_CRYPTO_ASYM_OP_SIGN | 1u << RTE_CRYPTO_ASYM_OP_VERIFY)
#define ENCRYPTS (1u << RTE_CRYPTO_ASYM_OP_ENCRYPT | 1u << RTE_CRYPTO_ASYM_OP_DECRYPT)
#define AGREES (1u << RTE_CRYPTO_ASYM_KE_SHARED_SECRET_COMPUTE)

static const struct rte_cryptodev_asymmetric_xform_capability keys[] = {
    KEY(RSA, SIGNS | ENCRYPTS, RSA_SHORTEST, RSA_LONGEST, 1),
    KEY(ECDSA, SIGNS, 0, 0, 0),
    KEY(ECDH, AGREES, 0, 0, 0),
    KEY(DSA, SIGNS, 64, LONGEST_NUMBER, 1),
    KEY(DH, AGREES | 1u << RTE_CRYPTO_ASYM_KE_PRIV_KEY_GENERATE | 1u << RTE_CRYPTO_ASYM_KE_PUB_KEY_GENERATE, 64,
        LONGEST_NUMBER, 1),
    KEY(MODEX, 0, 1, LONGEST_NUMBER, 1),
    KEY(MODINV, 0, 1, LONGEST_NUMBER, 1),
};

/* Each algorithm, the two that are NULL, those with keys in pairs, and the end. */
static struct rte_cryptodev_capabilities table[RTE_DIM(names) + RTE_DIM(keys) + 3];

static uint32_t find(enum rte_crypto_sym_xform_type type, int algorithm)
{
    for (size_t i = 0; i < RTE_DIM(names); i++)
        if (names[i].type == type && names[i].cryptodev == algorithm)
            return names[i].lanelock;
    return 0;
}

uint32_t algorithm_of_cipher(enum rte_crypto_cipher_algorithm cipher)
{
    return find(RTE_CRYPTO_SYM_XFORM_CIPHER, cipher);
}

uint32_t algorithm_of_auth(enum rte_crypto_auth_algorithm auth)
{
    return find(RTE_CRYPTO_SYM_XFORM_AUTH, auth);
}

uint32_t algorithm_of_aead(enum rte_crypto_aead_algorithm aead)
{
    return find(RTE_CRYPTO_SYM_XFORM_AEAD, aead);
}

bool algorithm_is_hash(uint32_t algorithm)
{
    return algorithm >= LANELOCK_MD5 && algorithm <= LANELOCK_BLAKE2S_256;
}

/* A length of its own, or of lengths from `min` to `max` with `step` between them. */
static void admit(struct rte_crypto_param_range *range, bool *any, const lanelock_sizes *sizes)
{
    uint32_t max = RTE_MIN(sizes->max, UINT16_MAX);
    if (!sizes->step)
        return;
    if (!*any) {
        *range = (struct rte_crypto_param_range){
            .min = (uint16_t)sizes->min,
            .max = (uint16_t)max,
            .increment = (uint16_t)(max > sizes->min ? sizes->step : 0),
        };
        *any = true;
        return;
    }
    if (sizes->min < range->min) {
        range->increment = range->min - (uint16_t)sizes->min;
        range->min = (uint16_t)sizes->min;
    }
    /* A single length above those so far, as far away as they are from each other. */
    if (max > range->max) {
        range->increment = (uint16_t)(max - range->max);
        range->max = (uint16_t)max;
    }
}

/* What any engine has of the algorithm; false if none has it. */
static bool gather(uint32_t algorithm, struct rte_crypto_param_range *key,
                   struct rte_crypto_param_range *iv, struct rte_crypto_param_range *tag,
                   struct rte_crypto_param_range *aad)
{
    const lanelock_device *device = driver_device();
    bool has_key = false, has_iv = false, has_tag = false, found = false;
    for (ptrdiff_t e = 0; e < lanelock_device_engines(device); e++) {
        lanelock_capability row = { .size = sizeof row };
        for (size_t i = 0; lanelock_device_capability(device, (size_t)e, i, &row) == LANELOCK_OK; i++) {
            if (row.algorithm != algorithm)
                continue;
            found = true;
            for (size_t r = 0; r < RTE_DIM(row.key); r++) {
                admit(key, &has_key, &row.key[r]);
                admit(iv, &has_iv, &row.iv[r]);
                admit(tag, &has_tag, &row.tag[r]);
            }
            if (row.max_aad)
                *aad = (struct rte_crypto_param_range){ 0, UINT16_MAX, 1 };
        }
    }
    return found;
}

static bool describe(const struct name *name, struct rte_cryptodev_symmetric_capability *sym)
{
    struct rte_crypto_param_range key = { 0 }, iv = { 0 }, tag = { 0 }, aad = { 0 };
    if (!gather(name->lanelock, &key, &iv, &tag, &aad))
        return false;
    sym->xform_type = name->type;
    switch (name->type) {
    case RTE_CRYPTO_SYM_XFORM_CIPHER:
        /* A nonce, to which the driver appends the counter; and three keys that are the same. */
        if (name->lanelock == LANELOCK_AES_CTR)
            iv = (struct rte_crypto_param_range){ 12, 16, 4 };
        if (name->lanelock == LANELOCK_3DES_CBC || name->lanelock == LANELOCK_3DES_CTR)
            key.min = 8;
        sym->cipher.algo = (enum rte_crypto_cipher_algorithm)name->cryptodev;
        sym->cipher.block_size = name->block;
        sym->cipher.key_size = key;
        sym->cipher.iv_size = iv;
        return true;
    case RTE_CRYPTO_SYM_XFORM_AUTH:
        sym->auth.algo = (enum rte_crypto_auth_algorithm)name->cryptodev;
        sym->auth.block_size = name->block;
        sym->auth.key_size = key;
        sym->auth.digest_size = tag;
        sym->auth.iv_size = iv;
        return true;
    default:
        sym->aead.algo = (enum rte_crypto_aead_algorithm)name->cryptodev;
        sym->aead.block_size = name->block;
        sym->aead.key_size = key;
        sym->aead.digest_size = tag;
        sym->aead.aad_size = aad;
        sym->aead.iv_size = iv;
        return true;
    }
}

static void fill(void)
{
    struct rte_cryptodev_capabilities *next = table;
    for (size_t i = 0; i < RTE_DIM(names); i++) {
        next->op = RTE_CRYPTO_OP_TYPE_SYMMETRIC;
        if (describe(&names[i], &next->sym))
            next++;
    }
    next->op = RTE_CRYPTO_OP_TYPE_SYMMETRIC;
    next->sym.xform_type = RTE_CRYPTO_SYM_XFORM_CIPHER;
    next->sym.cipher.algo = RTE_CRYPTO_CIPHER_NULL;
    next++->sym.cipher.block_size = 1;
    next->op = RTE_CRYPTO_OP_TYPE_SYMMETRIC;
    next->sym.xform_type = RTE_CRYPTO_SYM_XFORM_AUTH;
    next->sym.auth.algo = RTE_CRYPTO_AUTH_NULL;
    next++->sym.auth.block_size = 1;
    for (size_t i = 0; i < RTE_DIM(keys); i++) {
        next->op = RTE_CRYPTO_OP_TYPE_ASYMMETRIC;
        next++->asym.xform_capa = keys[i];
    }
    next->op = RTE_CRYPTO_OP_TYPE_UNDEFINED;
}

const struct rte_cryptodev_capabilities *capabilities(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    return table;
}
