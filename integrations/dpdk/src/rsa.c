/* RSA operations: what is signed, and what comes back. */
#include "asym.h"

#include <rte_version.h>

enum {
    /* Of PKCS #1 v1.5: two bytes before the padding, at least eight of it, one after. */
    OVERHEAD = 11,
};

/* A digest's name in DER, as PKCS #1 v1.5 signs it before the digest. */
struct digest_info {
    uint8_t hash, digest_len, len;
    uint8_t prefix[19];
};

#define SHA2_INFO(last, digest, total) \
    { 0x30, total, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, last, 0x05, 0x00, \
      0x04, digest }

static const struct digest_info infos[] = {
    { RTE_CRYPTO_AUTH_MD5, 16, 18,
      { 0x30, 0x20, 0x30, 0x0c, 0x06, 0x08, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x05, 0x05, 0x00, 0x04,
        0x10 } },
    { RTE_CRYPTO_AUTH_SHA1, 20, 15,
      { 0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14 } },
    { RTE_CRYPTO_AUTH_SHA224, 28, 19, SHA2_INFO(4, 28, 0x2d) },
    { RTE_CRYPTO_AUTH_SHA256, 32, 19, SHA2_INFO(1, 32, 0x31) },
    { RTE_CRYPTO_AUTH_SHA384, 48, 19, SHA2_INFO(2, 48, 0x41) },
    { RTE_CRYPTO_AUTH_SHA512, 64, 19, SHA2_INFO(3, 64, 0x51) },
};

static const struct rsa_session *session_of(const struct rte_crypto_op *op)
{
    return &asym_session_of(op)->rsa;
}

static enum rte_crypto_rsa_padding_type padding_of(const struct rte_crypto_op *op)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
    return session_of(op)->padding;
#else
    return op->asym->rsa.padding.type;
#endif
}

static uint32_t hash_of(const struct rte_crypto_op *op)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
    return session_of(op)->hash;
#else
    return op->asym->rsa.padding.hash;
#endif
}

/* A number as long as the modulus; false if the message is longer. */
static bool widen(const rte_crypto_param *message, uint8_t *block, size_t len)
{
    if (message->length > len)
        return false;
    memset(block, 0, len - message->length);
    memcpy(block + len - message->length, message->data, message->length);
    return true;
}

/* What is signed. Without a hash that has a name the message is signed as it is. */
static bool represent(const struct rte_crypto_op *op, uint8_t *block, size_t len)
{
    const rte_crypto_param *message = &op->asym->rsa.message;
    const struct digest_info *info = NULL;
    if (padding_of(op) == RTE_CRYPTO_RSA_PADDING_NONE)
        return widen(message, block, len);
    for (size_t i = 0; i < RTE_DIM(infos); i++)
        if (infos[i].hash == hash_of(op))
            info = &infos[i];
    size_t prefix = info ? info->len : 0;
    if (padding_of(op) != RTE_CRYPTO_RSA_PADDING_PKCS1_5 || prefix + message->length + OVERHEAD > len ||
        (info && message->length != info->digest_len))
        return false;
    size_t at = len - message->length;
    memcpy(block + at, message->data, message->length);
    if (info)
        memcpy(block + (at -= prefix), info->prefix, prefix);
    block[0] = 0;
    block[1] = 1;
    memset(block + 2, 0xff, at - 3);
    block[at - 1] = 0;
    return true;
}

/* What is read is copied first, since what is written may be the same memory. */
bool rsa_describe(struct asym_place *place, const struct rte_crypto_op *op)
{
    const struct rsa_session *session = session_of(op);
    const struct rte_crypto_rsa_op_param *rsa = &op->asym->rsa;
    bool raw = padding_of(op) == RTE_CRYPTO_RSA_PADDING_NONE;
    uint8_t *input = place->input, *output;
    size_t len = session->len, input_len = len;
    const lanelock_key_session *use;
    if (!raw && padding_of(op) != RTE_CRYPTO_RSA_PADDING_PKCS1_5)
        return false;
    switch (rsa->op_type) {
    case RTE_CRYPTO_ASYM_OP_SIGN:
        use = session->uses[RSA_RAW_SECRET];
        output = rsa->sign.data;
        if (!represent(op, input, len))
            return false;
        break;
    case RTE_CRYPTO_ASYM_OP_VERIFY:
        use = session->uses[RSA_RAW_PUBLIC];
        output = place->output;
        if (rsa->sign.length != len)
            return false;
        memcpy(input, rsa->sign.data, len);
        break;
    case RTE_CRYPTO_ASYM_OP_ENCRYPT:
        use = session->uses[raw ? RSA_RAW_PUBLIC : RSA_ENCRYPT];
        output = rsa->cipher.data;
        if (!widen(&rsa->message, input, len))
            return false;
        if (!raw) {
            input_len = rsa->message.length;
            input += len - input_len;
        }
        break;
    case RTE_CRYPTO_ASYM_OP_DECRYPT:
        use = session->uses[raw ? RSA_RAW_SECRET : RSA_DECRYPT];
        output = rsa->message.data;
        if (!widen(&rsa->cipher, input, len))
            return false;
        break;
    default:
        return false;
    }
    if (!use || !output)
        return false;
    lanelock_key_op_init(place->op, use, input, input_len, output, len);
    return true;
}

/* The length of the result, or whether the signature is the message's. */
uint8_t rsa_conclude(const struct asym_place *place, struct rte_crypto_op *op)
{
    struct rte_crypto_rsa_op_param *rsa = &op->asym->rsa;
    const lanelock_key_op *ran = place->op;
    uint8_t expected[RSA_LONGEST];
    switch (rsa->op_type) {
    case RTE_CRYPTO_ASYM_OP_SIGN:
        rsa->sign.length = ran->written;
        return RTE_CRYPTO_OP_STATUS_SUCCESS;
    case RTE_CRYPTO_ASYM_OP_ENCRYPT:
        rsa->cipher.length = ran->written;
        return RTE_CRYPTO_OP_STATUS_SUCCESS;
    case RTE_CRYPTO_ASYM_OP_DECRYPT:
        rsa->message.length = ran->written;
        return RTE_CRYPTO_OP_STATUS_SUCCESS;
    default:
        break;
    }
    if (padding_of(op) == RTE_CRYPTO_RSA_PADDING_NONE && rsa->cipher.data) {
        memcpy(rsa->cipher.data, place->output, ran->written);
        rsa->cipher.length = ran->written;
    }
    if (!represent(op, expected, ran->written))
        return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
    return memcmp(expected, place->output, ran->written) == 0 ? RTE_CRYPTO_OP_STATUS_SUCCESS
                                                                     : RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
}
