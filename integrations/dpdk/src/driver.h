/* What the files of the driver share. */
#ifndef LANELOCK_DPDK_DRIVER_H
#define LANELOCK_DPDK_DRIVER_H

#include <lanelock.h>

#include <cryptodev_pmd.h>
#include <rte_cryptodev.h>
#include <rte_log.h>

#include <stdbool.h>
#include <stdint.h>

extern int driver_log_type;
#define DRIVER_LOG(level, format, ...) \
    rte_log(RTE_LOG_##level, driver_log_type, "crypto_lanelock: " format "\n", __VA_ARGS__)

/* Every device of the process is a view of this one: DPDK lets a session run on each device of its
 * driver. Opened with the first, and then there until the process ends. */
lanelock_device *driver_device(void);

/* What cryptodev calls the status of one of lanelock's operations, of either kind. */
static inline uint8_t status_of(uint8_t status)
{
    switch (status) {
    case LANELOCK_SUCCESS:
        return RTE_CRYPTO_OP_STATUS_SUCCESS;
    case LANELOCK_AUTH_FAILED:
        return RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
    case LANELOCK_INVALID_ARGS:
        return RTE_CRYPTO_OP_STATUS_INVALID_ARGS;
    default:
        return RTE_CRYPTO_OP_STATUS_ERROR;
    }
}

/* What the algorithms of cryptodev are called in lanelock. 0 for those that it does not have. */
uint32_t algorithm_of_cipher(enum rte_crypto_cipher_algorithm cipher);
uint32_t algorithm_of_auth(enum rte_crypto_auth_algorithm auth);
uint32_t algorithm_of_aead(enum rte_crypto_aead_algorithm aead);
bool algorithm_is_hash(uint32_t algorithm);
const struct rte_cryptodev_capabilities *capabilities(void);

/* What of an operation a session works on. */
enum shape {
    SHAPE_CIPHER,
    SHAPE_AUTH,
    SHAPE_AEAD,
    SHAPE_CHAIN,
    SHAPE_NULL, /* nothing runs: NULL, alone or with itself */
};

enum {
    SESSION_VERIFIES = 1,   /* the digest is compared, not written */
    SESSION_COMPARES = 2,   /* by the driver: the digest is of a plain hash */
    SESSION_COPIES = 4,     /* the cipher is NULL: out of place, its range is copied */
    SESSION_COUNTER = 8,    /* the IV is a nonce of 12 bytes, and the counter starts at 1 */
    SESSION_MAC_FIRST = 16, /* the digest may lie in what is encrypted */
    SESSION_CRC = 32,       /* the cipher is DOCSIS's, and the frame has a CRC in it */
    SESSION_CHECKS_CRC = 64,
};

/* A session of cryptodev, as far as it is the driver's: one cache line. */
struct session {
    lanelock_session *lane;
    uint16_t iv_offset; /* from the operation */
    uint16_t aad_len;
    uint16_t digest_len;
    uint16_t op_flags; /* of each operation of lanelock's */
    uint8_t iv_skip; /* to the IV, in what the operation has for it */
    uint8_t aad_skip;
    uint8_t iv_len;
    uint8_t shape; /* enum shape */
    uint8_t flags;
};

/* 0, or a negative errno. */
int session_prepare(struct session *session, const struct rte_crypto_sym_xform *xform);
void session_drop(struct session *session);

unsigned int session_size(struct rte_cryptodev *dev);
int session_configure(struct rte_cryptodev *dev, struct rte_crypto_sym_xform *xform,
                      struct rte_cryptodev_sym_session *generic);
void session_clear(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *generic);

int queue_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
                int socket);
int queue_release(struct rte_cryptodev *dev, uint16_t id);
uint16_t queue_enqueue(void *queue, struct rte_crypto_op **ops, uint16_t count);
uint16_t queue_dequeue(void *queue, struct rte_crypto_op **ops, uint16_t count);
void queue_stats(struct rte_cryptodev *dev, struct rte_cryptodev_stats *stats);
void queue_stats_reset(struct rte_cryptodev *dev);

/* rte_security's part of a device. */
void *docsis_context(struct rte_cryptodev *dev);
/* Writes the CRC of a frame, if it has one and is to be encrypted; false if its ranges do not fit. */
bool docsis_begin(const struct rte_crypto_op *op, const struct session *session);
/* Whether a frame that was decrypted has the CRC that it should have. */
bool docsis_matches(const struct rte_crypto_op *op);

uint32_t cpu_process(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *generic,
                     union rte_crypto_sym_ofs ranges, struct rte_crypto_sym_vec *vec);

#endif
