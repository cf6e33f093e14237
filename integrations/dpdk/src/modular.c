/* MODEX, MODINV and DH, one at a time: libcrypto's arithmetic, as lanelock has no more of it than its
 * algorithms need. */
#include "asym.h"

#include <openssl/bn.h>

static BIGNUM *number(const uint8_t *bytes, size_t len)
{
    return len <= LONGEST_NUMBER ? BN_bin2bn(bytes, (int)len, NULL) : NULL;
}

static BIGNUM *held(const lanelock_bytes *bytes)
{
    return number(bytes->data, bytes->len);
}

/* In a time that does not depend on the exponent where the modulus is odd: only such are of keys. */
static BIGNUM *power(const BIGNUM *base, BIGNUM *exponent, const BIGNUM *modulus, BN_CTX *context)
{
    BIGNUM *result = BN_new();
    if (BN_is_odd(modulus))
        BN_set_flags(exponent, BN_FLG_CONSTTIME);
    if (result && BN_mod_exp(result, base, exponent, modulus, context))
        return result;
    BN_clear_free(result);
    return NULL;
}

bool modular_public(const lanelock_bytes *p, const lanelock_bytes *g, const lanelock_bytes *x,
                    uint8_t *result)
{
    BN_CTX *context = BN_CTX_new();
    BIGNUM *modulus = held(p), *base = held(g), *exponent = held(x), *made = NULL;
    if (context && modulus && base && exponent && BN_is_odd(modulus))
        made = power(base, exponent, modulus, context);
    bool fits = made && BN_bn2binpad(made, result, (int)p->len) >= 0;
    BN_clear_free(made);
    BN_clear_free(exponent);
    BN_free(base);
    BN_free(modulus);
    BN_CTX_free(context);
    return fits;
}

/* Base to the power of the exponent, or its inverse without one. */
static uint8_t modular(const struct asym_session *session, struct rte_crypto_mod_op_param *op)
{
    BN_CTX *context = BN_CTX_new();
    const lanelock_bytes *power_of = &session->numbers[NUMBER_X];
    BIGNUM *modulus = held(&session->numbers[NUMBER_P]), *base = number(op->base.data, op->base.length);
    BIGNUM *exponent = NULL, *made = NULL;
    uint8_t status = RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
    if (context && modulus && base && !BN_is_zero(modulus)) {
        if (session->type == RTE_CRYPTO_ASYM_XFORM_MODINV)
            made = BN_mod_inverse(NULL, base, modulus, context);
        else if ((exponent = held(power_of)))
            made = power(base, exponent, modulus, context);
    }
    if (made) {
        /* The caller has room for a number as long as the modulus. */
        op->result.length = (size_t)BN_bn2bin(made, op->result.data);
        status = RTE_CRYPTO_OP_STATUS_SUCCESS;
    }
    BN_clear_free(made);
    BN_clear_free(exponent);
    BN_clear_free(base);
    BN_free(modulus);
    BN_CTX_free(context);
    return status;
}

/* A secret from 2 to P - 2, which is as long as P. */
static bool choose(const lanelock_bytes *p, rte_crypto_uint *secret)
{
    BIGNUM *limit = held(p), *chosen = BN_secure_new();
    bool made = limit && chosen && BN_num_bits(limit) > 2 && BN_sub_word(limit, 3) &&
                BN_priv_rand_range(chosen, limit) && BN_add_word(chosen, 2) &&
                BN_bn2binpad(chosen, secret->data, (int)p->len) >= 0;
    if (made)
        secret->length = p->len;
    BN_clear_free(chosen);
    BN_free(limit);
    return made;
}

/* 0, 1 and P - 1 are of order 1 or 2, and what is not below P is nobody's. */
static bool is_element(const lanelock_bytes *p, const rte_crypto_uint *peer)
{
    BIGNUM *last = held(p), *value = number(peer->data, peer->length);
    bool fits = last && value && BN_sub_word(last, 1) && BN_num_bits(value) > 1 && BN_cmp(value, last) < 0;
    BN_free(value);
    BN_free(last);
    return fits;
}

static uint8_t agree(const struct asym_session *session, struct rte_crypto_dh_op_param *op)
{
    const lanelock_bytes *p = &session->numbers[NUMBER_P], *base = &session->numbers[NUMBER_G];
    lanelock_bytes peer = { op->pub_key.data, op->pub_key.length };
    rte_crypto_uint *result = &op->pub_key;
    switch (op->ke_type) {
    case RTE_CRYPTO_ASYM_KE_PRIV_KEY_GENERATE:
        return choose(p, &op->priv_key) ? RTE_CRYPTO_OP_STATUS_SUCCESS : RTE_CRYPTO_OP_STATUS_ERROR;
    case RTE_CRYPTO_ASYM_KE_PUB_KEY_GENERATE:
        if (!op->priv_key.length && !choose(p, &op->priv_key))
            return RTE_CRYPTO_OP_STATUS_ERROR;
        break;
    case RTE_CRYPTO_ASYM_KE_SHARED_SECRET_COMPUTE:
        if (!is_element(p, &op->pub_key))
            return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
        base = &peer;
        result = &op->shared_secret;
        break;
    default:
        return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
    }
    lanelock_bytes secret = { op->priv_key.data, op->priv_key.length };
    if (!modular_public(p, base, &secret, result->data))
        return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
    result->length = p->len;
    return RTE_CRYPTO_OP_STATUS_SUCCESS;
}

uint8_t modular_run(struct rte_crypto_op *op)
{
    const struct asym_session *session = asym_session_of(op);
    switch (session->type) {
    case RTE_CRYPTO_ASYM_XFORM_MODEX:
        return modular(session, &op->asym->modex);
    case RTE_CRYPTO_ASYM_XFORM_MODINV:
        return modular(session, &op->asym->modinv);
    default:
        return agree(session, &op->asym->dh);
    }
}
