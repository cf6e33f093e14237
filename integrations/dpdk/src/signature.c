/* ECDSA, ECDH and DSA. The number k of a signature is lanelock's to choose: one that is given is not
 * looked at. Where cryptodev brings a key with each operation, a session of lanelock is made
 * for that operation alone; those of a burst still run together. */
#include "asym.h"

#include <rte_version.h>

#include <errno.h>

enum {
    DSA_LONGEST_ORDER = 32,
    LONGEST_DIGEST = 64,
};

static uint32_t kind_of_curve(int curve)
{
    switch (curve) {
    case RTE_CRYPTO_EC_GROUP_SECP256R1:
        return LANELOCK_KEY_P256;
    case RTE_CRYPTO_EC_GROUP_SECP384R1:
        return LANELOCK_KEY_P384;
    case RTE_CRYPTO_EC_GROUP_SECP521R1:
        return LANELOCK_KEY_P521;
    default:
        return 0;
    }
}

size_t ec_len(int curve)
{
    switch (kind_of_curve(curve)) {
    case LANELOCK_KEY_P256:
        return 32;
    case LANELOCK_KEY_P384:
        return 48;
    case LANELOCK_KEY_P521:
        return EC_LONGEST;
    default:
        return 0;
    }
}

/* A number with zeros before it; false if it is longer. */
static bool widen(const rte_crypto_uint *number, uint8_t *bytes, size_t len)
{
    const uint8_t *data = number->data;
    size_t has = number->length;
    for (; has > len && !*data; has--)
        data++;
    if (has > len)
        return false;
    memset(bytes, 0, len - has);
    memcpy(bytes + len - has, data, has);
    return true;
}

bool ec_point(int curve, const struct rte_crypto_ec_point *point, uint8_t *bytes)
{
    size_t len = ec_len(curve);
    bytes[0] = 4;
    return widen(&point->x, bytes + 1, len) && widen(&point->y, bytes + 1 + len, len);
}

/* What is signed of a message: the first bytes of a digest that is longer than the order, and the number
 * itself of one that is shorter. Returns its length, which is a hash's, or 0. */
static size_t represent(const rte_crypto_param *message, size_t order, uint8_t *digest)
{
    size_t len = RTE_MIN(order, (size_t)LONGEST_DIGEST);
    rte_crypto_param first = *message;
    if (message->length > order)
        first.length = order;
    return first.length <= len && widen(&first, digest, len) ? len : 0;
}

/* A hash with digests of this length: signatures are the same for all of them. */
static uint32_t hash_of_len(size_t len)
{
    switch (len) {
    case 20:
        return LANELOCK_SHA1;
    case 28:
        return LANELOCK_SHA224;
    case 32:
        return LANELOCK_SHA256;
    case 48:
        return LANELOCK_SHA384;
    default:
        return LANELOCK_SHA512;
    }
}

static lanelock_key_session *prepare(const lanelock_key_parts *parts, uint32_t operation, uint32_t scheme,
                                     uint32_t hash)
{
    lanelock_error error;
    lanelock_key *key = NULL;
    lanelock_key_session *session = NULL;
    lanelock_key_transform transform;
    if (lanelock_key_new(parts, &key, &error) == LANELOCK_OK) {
        lanelock_key_transform_init(&transform, operation, key, scheme, hash);
        if (scheme)
            transform.flags = LANELOCK_KEY_DIGEST | LANELOCK_KEY_FIXED;
        if (lanelock_key_session_new(driver_device(), &transform, &session, &error) == LANELOCK_OK) {
            lanelock_key_free(key);
            return session;
        }
    }
    DRIVER_LOG(DEBUG, "%s", error.text);
    lanelock_key_free(key);
    return NULL;
}

/* What signing and verifying have in common: `order` is the length of r and of s. */
static bool describe(struct asym_place *place, const lanelock_key_session *session,
                     const rte_crypto_param *message, bool signs, const rte_crypto_uint *r,
                     const rte_crypto_uint *s, size_t order)
{
    size_t len = represent(message, order, place->input);
    if (!session || !len)
        return false;
    if (signs) {
        lanelock_key_op_init(place->op, session, place->input, len, place->output, LONGEST_NUMBER);
        return true;
    }
    lanelock_key_op_init(place->op, session, place->input, len, NULL, 0);
    lanelock_key_op_signature(place->op, place->output, 2 * order);
    return widen(r, place->output, order) && widen(s, place->output + order, order);
}

static uint8_t conclude(const struct asym_place *place, bool signed_now, rte_crypto_uint *r,
                        rte_crypto_uint *s)
{
    size_t order = place->op->written / 2;
    if (!signed_now)
        return RTE_CRYPTO_OP_STATUS_SUCCESS;
    memcpy(r->data, place->output, order);
    memcpy(s->data, place->output + order, order);
    r->length = s->length = order;
    return RTE_CRYPTO_OP_STATUS_SUCCESS;
}

bool ecdsa_describe(struct asym_place *place, const struct rte_crypto_op *op)
{
    const struct asym_session *session = asym_session_of(op);
    const struct rte_crypto_ecdsa_op_param *ecdsa = &op->asym->ecdsa;
    bool signs = ecdsa->op_type == RTE_CRYPTO_ASYM_OP_SIGN;
    uint8_t point[2 * EC_LONGEST + 1];
    lanelock_key_parts parts = { .size = sizeof parts, .kind = kind_of_curve(session->curve) };
    size_t len = ec_len(session->curve);
    if (!signs && ecdsa->op_type != RTE_CRYPTO_ASYM_OP_VERIFY)
        return false;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
    (void)point;
    if (signs)
        parts.secret = session->numbers[NUMBER_X];
    else
        parts.public_value = session->numbers[NUMBER_POINT];
#else
    if (signs)
        parts.secret = (lanelock_bytes){ ecdsa->pkey.data, ecdsa->pkey.length };
    else if (!ec_point(session->curve, &ecdsa->q, point))
        return false;
    else
        parts.public_value = (lanelock_bytes){ point, 2 * len + 1 };
#endif
    place->own = prepare(&parts, signs ? LANELOCK_SIGN : LANELOCK_VERIFY, LANELOCK_SCHEME_ECDSA,
                         hash_of_len(len));
    return describe(place, place->own, &ecdsa->message, signs, &ecdsa->r, &ecdsa->s, len);
}

uint8_t ecdsa_conclude(const struct asym_place *place, struct rte_crypto_op *op)
{
    struct rte_crypto_ecdsa_op_param *ecdsa = &op->asym->ecdsa;
    return conclude(place, ecdsa->op_type == RTE_CRYPTO_ASYM_OP_SIGN, &ecdsa->r, &ecdsa->s);
}

bool ecdh_describe(struct asym_place *place, const struct rte_crypto_op *op)
{
    const struct asym_session *session = asym_session_of(op);
    const struct rte_crypto_ecdh_op_param *ecdh = &op->asym->ecdh;
    size_t len = ec_len(session->curve);
    lanelock_key_parts parts = { .size = sizeof parts, .kind = kind_of_curve(session->curve) };
    if (ecdh->ke_type != RTE_CRYPTO_ASYM_KE_SHARED_SECRET_COMPUTE ||
        !ec_point(session->curve, &ecdh->pub_key, place->input))
        return false;
    parts.secret = (lanelock_bytes){ ecdh->priv_key.data, ecdh->priv_key.length };
    place->own = prepare(&parts, LANELOCK_DERIVE, 0, 0);
    if (!place->own)
        return false;
    lanelock_key_op_init(place->op, place->own, place->input, 2 * len + 1, place->output, len);
    return true;
}

/* The secret is the first coordinate; lanelock computes no other. */
uint8_t ecdh_conclude(const struct asym_place *place, struct rte_crypto_op *op)
{
    struct rte_crypto_ec_point *secret = &op->asym->ecdh.shared_secret;
    memcpy(secret->x.data, place->output, place->op->written);
    secret->x.length = place->op->written;
    secret->y.length = 0;
    return RTE_CRYPTO_OP_STATUS_SUCCESS;
}

static lanelock_key_parts dsa_parts(const struct asym_session *session)
{
    return (lanelock_key_parts){
        .size = sizeof(lanelock_key_parts),
        .kind = LANELOCK_KEY_DSA,
        .p = session->numbers[NUMBER_P],
        .q = session->numbers[NUMBER_Q],
        .g = session->numbers[NUMBER_G],
    };
}

static size_t dsa_order(const lanelock_key_parts *parts)
{
    size_t order = parts->q.len;
    for (const uint8_t *first = parts->q.data; order && !*first; first++)
        order--;
    return order;
}

int dsa_prepare(struct asym_session *session)
{
    uint8_t value[LONGEST_NUMBER];
    lanelock_key_parts parts = dsa_parts(session);
    if (!modular_public(&parts.p, &parts.g, &session->numbers[NUMBER_X], value))
        return -EINVAL;
    parts.secret = session->numbers[NUMBER_X];
    parts.public_value = (lanelock_bytes){ value, parts.p.len };
    session->signs =
        prepare(&parts, LANELOCK_SIGN, LANELOCK_SCHEME_DSA, hash_of_len(dsa_order(&parts)));
    return session->signs ? 0 : -EINVAL;
}

bool dsa_describe(struct asym_place *place, const struct rte_crypto_op *op)
{
    const struct asym_session *session = asym_session_of(op);
    const struct rte_crypto_dsa_op_param *dsa = &op->asym->dsa;
    bool signs = dsa->op_type == RTE_CRYPTO_ASYM_OP_SIGN;
    lanelock_key_parts parts = dsa_parts(session);
    size_t order = dsa_order(&parts);
    if ((!signs && dsa->op_type != RTE_CRYPTO_ASYM_OP_VERIFY) || order > DSA_LONGEST_ORDER)
        return false;
    if (signs)
        return describe(place, session->signs, &dsa->message, true, NULL, NULL, order);
    parts.public_value = (lanelock_bytes){ dsa->y.data, dsa->y.length };
    place->own = prepare(&parts, LANELOCK_VERIFY, LANELOCK_SCHEME_DSA, hash_of_len(order));
    return describe(place, place->own, &dsa->message, false, &dsa->r, &dsa->s, order);
}

uint8_t dsa_conclude(const struct asym_place *place, struct rte_crypto_op *op)
{
    struct rte_crypto_dsa_op_param *dsa = &op->asym->dsa;
    return conclude(place, dsa->op_type == RTE_CRYPTO_ASYM_OP_SIGN, &dsa->r, &dsa->s);
}
