/* RSA keys: one session of cryptodev is one of lanelock for each use. */
#include "asym_session.h"

#include <openssl/bn.h>
#include <rte_version.h>

#include <errno.h>

/* cryptodev has no private exponent with the factors; lanelock wants it. NULL if it cannot be computed. */
static BIGNUM *private_exponent(const struct rte_crypto_rsa_xform *xform, BN_CTX *context)
{
    BIGNUM *p = BN_bin2bn(xform->qt.p.data, (int)xform->qt.p.length, NULL);
    BIGNUM *q = BN_bin2bn(xform->qt.q.data, (int)xform->qt.q.length, NULL);
    BIGNUM *e = BN_bin2bn(xform->e.data, (int)xform->e.length, NULL);
    BIGNUM *phi = BN_secure_new(), *d = NULL;
    if (p && q && e && phi && BN_sub_word(p, 1) && BN_sub_word(q, 1) && BN_mul(phi, p, q, context)) {
        BN_set_flags(phi, BN_FLG_CONSTTIME);
        d = BN_mod_inverse(NULL, e, phi, context);
    }
    BN_clear_free(p);
    BN_clear_free(q);
    BN_free(e);
    BN_clear_free(phi);
    return d;
}

static lanelock_bytes bytes(rte_crypto_uint number)
{
    return (lanelock_bytes){ number.data, number.length };
}

/* The secret key, or NULL with the reason in the log. */
static lanelock_key *secret_key(const struct rte_crypto_rsa_xform *xform)
{
    uint8_t exponent[RSA_LONGEST];
    lanelock_key *key = NULL;
    lanelock_error error = { .text = "the private exponent cannot be computed" };
    lanelock_key_parts parts = { .size = sizeof parts, .kind = LANELOCK_KEY_RSA };
    parts.n = bytes(xform->n);
    parts.e = bytes(xform->e);
    if (xform->key_type == RTE_RSA_KEY_TYPE_EXP) {
        parts.secret = bytes(xform->d);
    } else {
        BN_CTX *context = BN_CTX_secure_new();
        BIGNUM *d = context ? private_exponent(xform, context) : NULL;
        if (d && BN_num_bytes(d) <= RSA_LONGEST)
            parts.secret = (lanelock_bytes){ exponent, (size_t)BN_bn2bin(d, exponent) };
        BN_clear_free(d);
        BN_CTX_free(context);
        parts.p = bytes(xform->qt.p);
        parts.q = bytes(xform->qt.q);
        parts.dp = bytes(xform->qt.dP);
        parts.dq = bytes(xform->qt.dQ);
        parts.qinv = bytes(xform->qt.qInv);
    }
    if (!parts.secret.len || lanelock_key_new(&parts, &key, &error) != LANELOCK_OK)
        DRIVER_LOG(DEBUG, "%s", error.text);
    explicit_bzero(exponent, sizeof exponent);
    return key;
}

static lanelock_key *public_key(const struct rte_crypto_rsa_xform *xform)
{
    lanelock_key *key = NULL;
    lanelock_error error;
    lanelock_key_parts parts = { .size = sizeof parts, .kind = LANELOCK_KEY_RSA };
    parts.n = bytes(xform->n);
    parts.e = bytes(xform->e);
    if (lanelock_key_new(&parts, &key, &error) != LANELOCK_OK)
        DRIVER_LOG(DEBUG, "%s", error.text);
    return key;
}

static bool has_secret(const struct rte_crypto_rsa_xform *xform)
{
    return xform->key_type == RTE_RSA_KEY_TYPE_EXP ? xform->d.length != 0 : xform->qt.p.length != 0;
}

static bool prepare(struct rsa_session *session, enum rsa_use use, uint32_t operation,
                    const lanelock_key *key, uint32_t scheme)
{
    lanelock_error error;
    lanelock_key_transform transform;
    lanelock_key_transform_init(&transform, operation, key, scheme, 0);
    if (lanelock_key_session_new(driver_device(), &transform, &session->uses[use], &error) == LANELOCK_OK)
        return true;
    DRIVER_LOG(DEBUG, "%s", error.text);
    return false;
}

void rsa_drop(struct rsa_session *session)
{
    for (int use = 0; use < RSA_USES; use++)
        lanelock_key_session_free(session->uses[use]);
}

int rsa_prepare(struct rsa_session *session, const struct rte_crypto_rsa_xform *xform)
{
    size_t len = xform->n.length;
    for (const uint8_t *first = xform->n.data; len && !*first; first++)
        len--;
    if (len < RSA_SHORTEST || len > RSA_LONGEST)
        return -ENOTSUP;
    session->len = (uint16_t)len;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
    session->padding = (uint8_t)xform->padding.type;
    session->hash = (uint8_t)xform->padding.hash;
#endif
    bool secret = has_secret(xform);
    lanelock_key *public = public_key(xform), *private = secret ? secret_key(xform) : NULL;
    bool made = public && (!secret || private) &&
                prepare(session, RSA_RAW_PUBLIC, LANELOCK_ENCRYPT, public, LANELOCK_SCHEME_RSA_RAW) &&
                prepare(session, RSA_ENCRYPT, LANELOCK_ENCRYPT, public, LANELOCK_SCHEME_RSA_PKCS1);
    if (made && secret)
        made = prepare(session, RSA_RAW_SECRET, LANELOCK_DECRYPT, private, LANELOCK_SCHEME_RSA_RAW) &&
               prepare(session, RSA_DECRYPT, LANELOCK_DECRYPT, private, LANELOCK_SCHEME_RSA_PKCS1);
    lanelock_key_free(public);
    lanelock_key_free(private);
    if (!made)
        rsa_drop(session);
    return made ? 0 : -EINVAL;
}
