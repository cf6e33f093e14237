/* Sessions for public keys. */
#include "asym_session.h"

#include "asym.h"

#include <rte_version.h>

#include <errno.h>
#include <stdlib.h>

struct given {
    rte_crypto_uint numbers[NUMBERS];
};

static bool copy(struct asym_session *session, const struct given *given)
{
    uint8_t *next;
    size_t len = 0;
    for (int i = 0; i < NUMBERS; i++) {
        if (given->numbers[i].length > LONGEST_NUMBER)
            return false;
        len += given->numbers[i].length;
    }
    session->copies = next = malloc(len + 1);
    if (!next)
        return false;
    session->copied = len;
    for (int i = 0; i < NUMBERS; i++) {
        session->numbers[i] = (lanelock_bytes){ next, given->numbers[i].length };
        if (given->numbers[i].length)
            memcpy(next, given->numbers[i].data, given->numbers[i].length);
        next += given->numbers[i].length;
    }
    return true;
}

static void drop(struct asym_session *session)
{
    if (session->type == RTE_CRYPTO_ASYM_XFORM_RSA) {
        rsa_drop(&session->rsa);
    } else if (session->copies) {
        explicit_bzero(session->copies, session->copied);
        free(session->copies);
        lanelock_key_session_free(session->signs);
    }
    *session = (struct asym_session){ 0 };
}

static int prepare(struct asym_session *session, const struct rte_crypto_asym_xform *xform)
{
    struct given given = { 0 };
    uint8_t point[2 * EC_LONGEST + 1];
    switch (xform->xform_type) {
    case RTE_CRYPTO_ASYM_XFORM_RSA:
        return rsa_prepare(&session->rsa, &xform->rsa);
    case RTE_CRYPTO_ASYM_XFORM_MODEX:
        given.numbers[NUMBER_P] = xform->modex.modulus;
        given.numbers[NUMBER_X] = xform->modex.exponent;
        break;
    case RTE_CRYPTO_ASYM_XFORM_MODINV:
        given.numbers[NUMBER_P] = xform->modinv.modulus;
        break;
    case RTE_CRYPTO_ASYM_XFORM_DH:
        given.numbers[NUMBER_P] = xform->dh.p;
        given.numbers[NUMBER_G] = xform->dh.g;
        break;
    case RTE_CRYPTO_ASYM_XFORM_DSA:
        given.numbers[NUMBER_P] = xform->dsa.p;
        given.numbers[NUMBER_Q] = xform->dsa.q;
        given.numbers[NUMBER_G] = xform->dsa.g;
        given.numbers[NUMBER_X] = xform->dsa.x;
        break;
    case RTE_CRYPTO_ASYM_XFORM_ECDSA:
    case RTE_CRYPTO_ASYM_XFORM_ECDH:
        session->curve = xform->ec.curve_id;
        if (!ec_len(session->curve))
            return -ENOTSUP;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
        given.numbers[NUMBER_X] = xform->ec.pkey;
        if (xform->ec.q.x.length) {
            if (!ec_point(session->curve, &xform->ec.q, point))
                return -EINVAL;
            given.numbers[NUMBER_POINT] =
                (rte_crypto_uint){ .data = point, .length = 2 * ec_len(session->curve) + 1 };
        }
#endif
        break;
    default:
        return -ENOTSUP;
    }
    (void)point;
    if (!copy(session, &given))
        return -EINVAL;
    if (xform->xform_type == RTE_CRYPTO_ASYM_XFORM_DSA && session->numbers[NUMBER_X].len)
        return dsa_prepare(session);
    return 0;
}

unsigned int asym_session_size(struct rte_cryptodev *dev)
{
    (void)dev;
    return sizeof(struct asym_session);
}

int asym_session_configure(struct rte_cryptodev *dev, struct rte_crypto_asym_xform *xform,
                           struct rte_cryptodev_asym_session *generic)
{
    struct asym_session *session = (void *)generic->sess_private_data;
    (void)dev;
    *session = (struct asym_session){ .type = xform->xform_type };
    int failed = prepare(session, xform);
    if (failed)
        drop(session);
    return failed;
}

void asym_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_asym_session *generic)
{
    (void)dev;
    drop((struct asym_session *)(void *)generic->sess_private_data);
}
