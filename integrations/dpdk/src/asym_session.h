#ifndef LANELOCK_DPDK_ASYM_SESSION_H
#define LANELOCK_DPDK_ASYM_SESSION_H

#include "driver.h"

/* What a session of lanelock does with an RSA key. Signatures are raw: cryptodev leaves it to each
 * operation what is signed. */
enum rsa_use { RSA_RAW_PUBLIC, RSA_RAW_SECRET, RSA_ENCRYPT, RSA_DECRYPT, RSA_USES };

enum {
    RSA_SHORTEST = 64,
    RSA_LONGEST = 512, /* bytes of a modulus */
    LONGEST_NUMBER = 1024,
};

struct rsa_session {
    lanelock_key_session *uses[RSA_USES];
    uint16_t len;    /* of the modulus */
    uint8_t padding; /* where the session has it: enum rte_crypto_rsa_padding_type */
    uint8_t hash;
};

/* Numbers of a session, which are copied from its transform. */
enum number {
    NUMBER_P, /* or another modulus */
    NUMBER_Q,
    NUMBER_G,
    NUMBER_X, /* a secret: an exponent or a scalar */
    NUMBER_POINT, /* uncompressed */
    NUMBERS,
};

/* A session of cryptodev for public keys, as far as it is the driver's. */
struct asym_session {
    enum rte_crypto_asym_xform_type type;
    int curve; /* enum rte_crypto_curve_id */
    union {
        struct rsa_session rsa;
        struct {
            lanelock_bytes numbers[NUMBERS];
            uint8_t *copies;
            size_t copied;
            lanelock_key_session *signs; /* DSA */
        };
    };
};

/* 0, or a negative errno. */
int rsa_prepare(struct rsa_session *session, const struct rte_crypto_rsa_xform *xform);
void rsa_drop(struct rsa_session *session);

unsigned int asym_session_size(struct rte_cryptodev *dev);
int asym_session_configure(struct rte_cryptodev *dev, struct rte_crypto_asym_xform *xform,
                           struct rte_cryptodev_asym_session *generic);
void asym_session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_asym_session *generic);

#endif
