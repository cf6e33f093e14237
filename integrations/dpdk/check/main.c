/*
 * What DPDK's own tests leave out: full queues, failures among other operations, messages in many
 * pieces, many sessions, two queue pairs, two threads, and the counters.
 *
 *     check -d librte_crypto_lanelock.so --vdev crypto_lanelock OPTIONS
 */
#include "check.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <stdlib.h>

enum { ROOM = 2048 };

struct rte_mempool *ops_pool, *mbufs, *sessions;
uint8_t device;
unsigned int failures;

uint32_t chance(uint32_t below)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

void start(uint16_t queues)
{
    struct rte_cryptodev_config config = { .nb_queue_pairs = queues, .socket_id = SOCKET_ID_ANY };
    struct rte_cryptodev_qp_conf pair = { .nb_descriptors = DESCRIPTORS, .mp_session = sessions };
    rte_cryptodev_stop(device);
    EXPECT(rte_cryptodev_configure(device, &config) == 0, "%u queue pairs", queues);
    for (uint16_t id = 0; id < queues; id++)
        EXPECT(rte_cryptodev_queue_pair_setup(device, id, &pair, SOCKET_ID_ANY) == 0, "queue pair %u", id);
    EXPECT(rte_cryptodev_start(device) == 0, "start");
    rte_cryptodev_stats_reset(device);
}

struct rte_crypto_sym_xform gcm(bool opens, uint8_t key)
{
    static uint8_t keys[256][16];
    memset(keys[key], key, 16);
    return (struct rte_crypto_sym_xform){
        .type = RTE_CRYPTO_SYM_XFORM_AEAD,
        .aead = { .op = opens ? RTE_CRYPTO_AEAD_OP_DECRYPT : RTE_CRYPTO_AEAD_OP_ENCRYPT,
                  .algo = RTE_CRYPTO_AEAD_AES_GCM,
                  .key = { keys[key], 16 },
                  .iv = { IV_AT, 12 },
                  .digest_length = TAG },
    };
}

void *session(struct rte_crypto_sym_xform *xform)
{
    void *made = rte_cryptodev_sym_session_create(device, xform, sessions);
    EXPECT(made, "session: %s", rte_strerror(rte_errno));
    return made;
}

struct rte_mbuf *message(const uint8_t *bytes, uint32_t len, uint32_t pieces)
{
    struct rte_mbuf *first = NULL;
    uint32_t left = len, at = 0;
    for (uint32_t i = 0; i < pieces; i++) {
        uint32_t others = pieces - 1 - i;
        uint32_t most = left > others ? left - others : left;
        uint32_t part = others ? RTE_MIN(1 + chance(2 * RTE_MAX(len / pieces, 1u)), most) : left;
        struct rte_mbuf *piece = rte_pktmbuf_alloc(mbufs);
        uint8_t *place = (uint8_t *)rte_pktmbuf_append(piece, (uint16_t)part);
        if (bytes)
            memcpy(place, bytes + at, part);
        else
            memset(place, 0, part);
        at += part;
        left -= part;
        if (!first)
            first = piece;
        else
            EXPECT(rte_pktmbuf_chain(first, piece) == 0, "chain of %u", i);
    }
    return first;
}

struct rte_crypto_op *operation(void *with, struct rte_mbuf *from, struct rte_mbuf *to,
                                       uint32_t at, uint32_t len, uint8_t *tag)
{
    struct rte_crypto_op *op = rte_crypto_op_alloc(ops_pool, RTE_CRYPTO_OP_TYPE_SYMMETRIC);
    if (with)
        rte_crypto_op_attach_sym_session(op, with);
    op->sym->m_src = from;
    op->sym->m_dst = to;
    op->sym->aead.data.offset = at;
    op->sym->aead.data.length = len;
    op->sym->aead.digest.data = tag;
    memset(rte_crypto_op_ctod_offset(op, uint8_t *, IV_AT), 7, 16);
    return op;
}

void drop(struct rte_crypto_op *op)
{
    rte_pktmbuf_free(op->sym->m_src);
    rte_pktmbuf_free(op->sym->m_dst);
    rte_crypto_op_free(op);
}

uint32_t finish(uint16_t queue, struct rte_crypto_op **done, uint32_t wanted, uint16_t at_once)
{
    uint32_t got = 0, more;
    while (got < wanted &&
           (more = rte_cryptodev_dequeue_burst(device, queue, done + got,
                                               (uint16_t)RTE_MIN(wanted - got, at_once))) > 0)
        got += more;
    return got;
}

int main(int argc, char **argv)
{
    int id = rte_eal_init(argc, argv) < 0 ? -1 : rte_cryptodev_get_dev_id("crypto_lanelock");
    if (id < 0)
        rte_exit(EXIT_FAILURE, "no --vdev crypto_lanelock\n");
    device = (uint8_t)id;
    ops_pool = rte_crypto_op_pool_create("ops", RTE_CRYPTO_OP_TYPE_SYMMETRIC, OPS - 1, 0, 64, SOCKET_ID_ANY);
    mbufs = rte_pktmbuf_pool_create("mbufs", 2 * OPS - 1, 0, 0, ROOM + RTE_PKTMBUF_HEADROOM, SOCKET_ID_ANY);
    /* Room for another driver's, too. */
    sessions = rte_cryptodev_sym_session_pool_create("sessions", 512, 512, 0, 0, SOCKET_ID_ANY);
    if (!ops_pool || !mbufs || !sessions)
        rte_exit(EXIT_FAILURE, "memory: %s\n", rte_strerror(rte_errno));
    static void (*const checks[])(void) = { check_full_queue, check_failures, check_refusals,
                                            check_pieces,     check_sessions, check_threads,
                                            check_synchronous, check_keys };
    for (size_t i = 0; i < RTE_DIM(checks); i++)
        checks[i]();
    unsigned int lost = OPS - 1 - rte_mempool_avail_count(ops_pool);
    EXPECT(lost == 0, "%u operations", lost);
    rte_cryptodev_stop(device);
    rte_cryptodev_close(device);
    printf("%u failures\n", failures);
    rte_eal_cleanup();
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
