/* Sessions: a chain of cryptodev's transforms becomes one of lanelock's. */
#include "driver.h"

#include <errno.h>

enum {
    DES_KEY = 8,
    COUNTER_IV = 16,
    COUNTER_NONCE = 12,
    LONGEST_COMPARED = 64,
    /* Where CCM's nonce and additional data begin in what the operation has: cryptodev keeps room for
     * what drivers put before them. */
    CCM_NONCE_AT = 1,
    CCM_AAD_AT = 18,
};

/* The parts of a chain; at least one of them is there. */
struct parts {
    const struct rte_crypto_cipher_xform *cipher;
    const struct rte_crypto_auth_xform *auth;
    const struct rte_crypto_aead_xform *aead;
    bool cipher_first;
};

static bool split(const struct rte_crypto_sym_xform *xform, struct parts *parts)
{
    *parts = (struct parts){ 0 };
    for (; xform; xform = xform->next) {
        switch (xform->type) {
        case RTE_CRYPTO_SYM_XFORM_CIPHER:
            if (parts->cipher || parts->aead)
                return false;
            parts->cipher = &xform->cipher;
            parts->cipher_first = !parts->auth;
            break;
        case RTE_CRYPTO_SYM_XFORM_AUTH:
            if (parts->auth || parts->aead)
                return false;
            parts->auth = &xform->auth;
            break;
        case RTE_CRYPTO_SYM_XFORM_AEAD:
            if (parts->cipher || parts->auth || parts->aead)
                return false;
            parts->aead = &xform->aead;
            break;
        default:
            return false;
        }
    }
    return parts->cipher || parts->auth || parts->aead;
}

static bool is_null_cipher(const struct parts *parts)
{
    return parts->cipher && parts->cipher->algo == RTE_CRYPTO_CIPHER_NULL;
}

static bool is_null_auth(const struct parts *parts)
{
    return parts->auth && parts->auth->algo == RTE_CRYPTO_AUTH_NULL;
}

/* Which of the four chains it is: those that encrypt write a digest, those that decrypt compare one. */
static int direct(const struct parts *parts, uint32_t *direction, uint32_t *order)
{
    bool encrypts = parts->cipher->op == RTE_CRYPTO_CIPHER_OP_ENCRYPT;
    bool generates = parts->auth->op == RTE_CRYPTO_AUTH_OP_GENERATE;
    if (encrypts != generates)
        return -ENOTSUP;
    *direction = encrypts ? LANELOCK_FORWARD : LANELOCK_REVERSE;
    *order = encrypts == parts->cipher_first ? LANELOCK_ENCRYPT_THEN_MAC : LANELOCK_MAC_THEN_ENCRYPT;
    return 0;
}

static int prepare_cipher(struct session *session, lanelock_transform *transform,
                          const struct rte_crypto_cipher_xform *xform, uint8_t key[static 3 * DES_KEY])
{
    transform->algorithm = algorithm_of_cipher(xform->algo);
    if (!transform->algorithm || xform->dataunit_len)
        return -ENOTSUP;
    transform->direction =
        xform->op == RTE_CRYPTO_CIPHER_OP_ENCRYPT ? LANELOCK_FORWARD : LANELOCK_REVERSE;
    transform->key = xform->key.data;
    transform->key_len = xform->key.length;
    bool triple = xform->algo == RTE_CRYPTO_CIPHER_3DES_CBC || xform->algo == RTE_CRYPTO_CIPHER_3DES_CTR;
    if (triple && xform->key.length == DES_KEY) {
        for (int i = 0; i < 3; i++)
            memcpy(key + i * DES_KEY, xform->key.data, DES_KEY);
        transform->key = key;
        transform->key_len = 3 * DES_KEY;
    }
    if (xform->iv.length > UINT8_MAX)
        return -EINVAL;
    session->iv_offset = xform->iv.offset;
    session->iv_len = (uint8_t)xform->iv.length;
    if (transform->algorithm == LANELOCK_AES_CTR && xform->iv.length == COUNTER_NONCE) {
        session->iv_len = COUNTER_IV;
        session->flags |= SESSION_COUNTER;
    }
    /* What has no IV is given one by tests and applications that treat all ciphers alike. */
    if (transform->algorithm == LANELOCK_AES_ECB)
        session->iv_len = 0;
    transform->iv_len = session->iv_len;
    return 0;
}

static int prepare_auth(struct session *session, lanelock_transform *transform,
                        const struct rte_crypto_auth_xform *xform)
{
    uint32_t algorithm = algorithm_of_auth(xform->algo);
    if (!algorithm)
        return -ENOTSUP;
    transform->tag_len = xform->digest_length;
    bool verifies = xform->op == RTE_CRYPTO_AUTH_OP_VERIFY;
    if (verifies)
        session->flags |= SESSION_VERIFIES;
    if (transform->algorithm) { /* a chain */
        if (algorithm_is_hash(algorithm) || algorithm == LANELOCK_AES_GMAC)
            return -ENOTSUP;
        transform->mac = algorithm;
        transform->mac_key = xform->key.data;
        transform->mac_key_len = xform->key.length;
        return 0;
    }
    transform->algorithm = algorithm;
    transform->direction = verifies ? LANELOCK_REVERSE : LANELOCK_FORWARD;
    if (algorithm_is_hash(algorithm)) {
        transform->direction = LANELOCK_FORWARD;
        if (verifies && xform->digest_length > LONGEST_COMPARED)
            return -ENOTSUP;
        if (verifies)
            session->flags |= SESSION_COMPARES;
        return 0;
    }
    transform->key = xform->key.data;
    transform->key_len = xform->key.length;
    if (algorithm == LANELOCK_AES_GMAC) {
        if (!xform->iv.length || xform->iv.length > UINT8_MAX)
            return -ENOTSUP;
        session->iv_offset = xform->iv.offset;
        session->iv_len = (uint8_t)xform->iv.length;
        transform->iv_len = xform->iv.length;
    }
    return 0;
}

static int prepare_aead(struct session *session, lanelock_transform *transform,
                        const struct rte_crypto_aead_xform *xform)
{
    transform->algorithm = algorithm_of_aead(xform->algo);
    /* Without an IV, GCM would be given the counter block that comes of one. */
    if (!transform->algorithm || !xform->iv.length)
        return -ENOTSUP;
    if (xform->iv.length > UINT8_MAX)
        return -EINVAL;
    bool opens = xform->op == RTE_CRYPTO_AEAD_OP_DECRYPT;
    transform->direction = opens ? LANELOCK_REVERSE : LANELOCK_FORWARD;
    transform->key = xform->key.data;
    transform->key_len = xform->key.length;
    transform->iv_len = xform->iv.length;
    transform->tag_len = xform->digest_length;
    if (opens)
        session->flags |= SESSION_VERIFIES;
    session->iv_offset = xform->iv.offset;
    session->iv_len = (uint8_t)xform->iv.length;
    session->aad_len = xform->aad_length;
    if (transform->algorithm == LANELOCK_AES_CCM) {
        session->iv_skip = CCM_NONCE_AT;
        session->aad_skip = CCM_AAD_AT;
    }
    return 0;
}

static int translate(struct session *session, lanelock_transform *transform, struct parts *parts,
                     uint8_t key[static 3 * DES_KEY])
{
    lanelock_transform_init(transform, 0, 0, NULL, 0);
    if (parts->aead) {
        session->shape = SHAPE_AEAD;
        return prepare_aead(session, transform, parts->aead);
    }
    if (is_null_cipher(parts)) {
        session->flags |= SESSION_COPIES;
        parts->cipher = NULL;
    }
    if (is_null_auth(parts))
        parts->auth = NULL;
    if (!parts->cipher && !parts->auth) {
        session->shape = SHAPE_NULL;
        return 0;
    }
    session->shape = !parts->auth ? SHAPE_CIPHER : !parts->cipher ? SHAPE_AUTH : SHAPE_CHAIN;
    int failed = parts->cipher ? prepare_cipher(session, transform, parts->cipher, key) : 0;
    if (!failed && parts->auth)
        failed = prepare_auth(session, transform, parts->auth);
    if (!failed && session->shape == SHAPE_CHAIN) {
        failed = direct(parts, &transform->direction, &transform->order);
        if (transform->order == LANELOCK_MAC_THEN_ENCRYPT)
            session->flags |= SESSION_MAC_FIRST;
    }
    return failed;
}

static uint16_t op_flags(const struct session *session)
{
    uint16_t flags = 0;
    if (session->shape == SHAPE_AUTH)
        flags |= LANELOCK_OP_READ_ONLY;
    if (session->flags & SESSION_VERIFIES)
        flags |= LANELOCK_OP_TAG_CONST;
    return flags;
}

int session_prepare(struct session *session, const struct rte_crypto_sym_xform *xform)
{
    struct parts parts;
    lanelock_transform transform;
    lanelock_error error;
    uint8_t key[3 * DES_KEY];
    *session = (struct session){ 0 };
    if (!split(xform, &parts))
        return -ENOTSUP;
    int failed = translate(session, &transform, &parts, key);
    if (failed || session->shape == SHAPE_NULL)
        return failed;
    int made = lanelock_session_new(driver_device(), &transform, &session->lane, &error);
    explicit_bzero(key, sizeof key);
    if (made == LANELOCK_OK) {
        lanelock_session_info info = { .size = sizeof info };
        lanelock_session_describe(session->lane, &info);
        session->digest_len = (uint16_t)info.tag_len;
        session->op_flags = op_flags(session);
        return 0;
    }
    DRIVER_LOG(DEBUG, "%s", error.text);
    return made == LANELOCK_ERROR_UNSUPPORTED ? -ENOTSUP
           : made == LANELOCK_ERROR_ENGINE    ? -ENOMEM
                                              : -EINVAL;
}

void session_drop(struct session *session)
{
    lanelock_session_free(session->lane);
    *session = (struct session){ 0 };
}

unsigned int session_size(struct rte_cryptodev *dev)
{
    (void)dev;
    return sizeof(struct session);
}

int session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
                      struct rte_cryptodev_sym_session *generic)
{
    (void)dev;
    return session_prepare(CRYPTODEV_GET_SYM_SESS_PRIV(generic), xform);
}

void session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *generic)
{
    (void)dev;
    session_drop(CRYPTODEV_GET_SYM_SESS_PRIV(generic));
}
