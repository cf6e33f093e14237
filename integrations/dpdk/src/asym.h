/* Public-key operations of a queue pair, which run in batches of their own. */
#ifndef LANELOCK_DPDK_ASYM_H
#define LANELOCK_DPDK_ASYM_H

#include "asym_session.h"

enum {
    EC_LONGEST = 66, /* of a coordinate */
};

/* One operation of lanelock, with what it reads and what the driver has yet to look at. */
struct asym_place {
    lanelock_key_op *op;
    uint8_t *input, *output;   /* LONGEST_NUMBER bytes each */
    lanelock_key_session *own; /* for this operation alone, or NULL */
};

struct asym_burst;

/* Adds an operation; false if it did not, and then the operation has its status. The burst is made with
 * the first. */
bool asym_add(struct asym_burst **burst, struct rte_crypto_op *op, uint8_t driver);

/* Runs what was added: each has its status. Returns how many did not succeed. */
uint32_t asym_run(struct asym_burst *burst);

void asym_burst_free(struct asym_burst *burst);

static inline const struct asym_session *asym_session_of(const struct rte_crypto_op *op)
{
    return (const struct asym_session *)(const void *)op->asym->session->sess_private_data;
}

/* By kind: fill in an operation of lanelock, or refuse it; then take over its result, and say which
 * status that makes. */
bool rsa_describe(struct asym_place *place, const struct rte_crypto_op *op);
uint8_t rsa_conclude(const struct asym_place *place, struct rte_crypto_op *op);
bool ecdsa_describe(struct asym_place *place, const struct rte_crypto_op *op);
uint8_t ecdsa_conclude(const struct asym_place *place, struct rte_crypto_op *op);
bool ecdh_describe(struct asym_place *place, const struct rte_crypto_op *op);
uint8_t ecdh_conclude(const struct asym_place *place, struct rte_crypto_op *op);
bool dsa_describe(struct asym_place *place, const struct rte_crypto_op *op);
uint8_t dsa_conclude(const struct asym_place *place, struct rte_crypto_op *op);

/* The length of a curve's coordinates, and its number; 0 for curves that lanelock does not have. */
size_t ec_len(int curve);
/* A point without compression, of 2 * ec_len + 1 bytes; false if a coordinate is too long. */
bool ec_point(int curve, const struct rte_crypto_ec_point *point, uint8_t *bytes);
/* The session that signs. */
int dsa_prepare(struct asym_session *session);

/* The generator to the power of the secret; false if that failed. `result` has the length of P. */
bool modular_public(const lanelock_bytes *p, const lanelock_bytes *g, const lanelock_bytes *x,
                    uint8_t *result);
/* Runs MODEX, MODINV or DH at once: libcrypto's arithmetic. */
uint8_t modular_run(struct rte_crypto_op *op);

#endif
