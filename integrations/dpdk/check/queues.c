/* Full queues, and failures among other operations. */
#include "check.h"

#include <rte_errno.h>

/* What found no room is as it was, and runs once when it finds some. */
void check_full_queue(void)
{
    enum { GIVEN = DESCRIPTORS + 16 };
    static uint8_t plain[LEN], tags[GIVEN][TAG];
    struct rte_crypto_op *ops[GIVEN], *done[GIVEN];
    struct rte_crypto_sym_xform xform = gcm(false, 1);
    void *with = session(&xform);
    start(1);
    for (int i = 0; i < GIVEN; i++)
        ops[i] = operation(with, message(plain, LEN, 1), NULL, 0, LEN, tags[i]);
    /* From the middle of the ring on: what follows goes around its end. */
    struct rte_crypto_op *before[5];
    for (int i = 0; i < 5; i++)
        before[i] = operation(NULL, NULL, NULL, 0, 0, NULL);
    EXPECT(rte_cryptodev_enqueue_burst(device, 0, before, 5) == 5 && finish(0, done, 5, 5) == 5, "before");
    for (int i = 0; i < 5; i++)
        rte_crypto_op_free(before[i]);
    rte_cryptodev_stats_reset(device);
    uint16_t taken = rte_cryptodev_enqueue_burst(device, 0, ops, GIVEN);
    EXPECT(taken == DESCRIPTORS, "%u", taken);
    EXPECT(rte_cryptodev_enqueue_burst(device, 0, ops + taken, GIVEN - taken) == 0, "it was full");
    for (int i = taken; i < GIVEN; i++)
        EXPECT(ops[i]->status == RTE_CRYPTO_OP_STATUS_NOT_PROCESSED &&
                   !memcmp(rte_pktmbuf_mtod(ops[i]->sym->m_src, void *), plain, LEN),
               "operation %d was touched", i);
    EXPECT(finish(0, done, GIVEN, GIVEN) == taken, "those that were taken");
    EXPECT(rte_cryptodev_enqueue_burst(device, 0, ops + taken, GIVEN - taken) == GIVEN - taken, "room");
    EXPECT(finish(0, done + taken, GIVEN, GIVEN) == (uint32_t)GIVEN - taken, "the rest");
    for (int i = 0; i < GIVEN; i++) {
        EXPECT(done[i] == ops[i] && ops[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS, "operation %d", i);
        EXPECT(!memcmp(tags[i], tags[0], TAG) &&
                   !memcmp(rte_pktmbuf_mtod(ops[i]->sym->m_src, void *),
                           rte_pktmbuf_mtod(ops[0]->sym->m_src, void *), LEN),
               "operation %d ran twice, or not at all", i);
    }
    struct rte_cryptodev_stats stats;
    rte_cryptodev_stats_get(device, &stats);
    EXPECT(stats.enqueued_count == GIVEN && stats.dequeued_count == GIVEN && !stats.dequeue_err_count &&
               stats.enqueue_err_count == 2 * (GIVEN - DESCRIPTORS),
           "%lu %lu %lu %lu", stats.enqueued_count, stats.dequeued_count, stats.enqueue_err_count,
           stats.dequeue_err_count);
    for (int i = 0; i < GIVEN; i++)
        drop(ops[i]);
    rte_cryptodev_sym_session_free(device, with);
}

/* A session of another driver; NULL where DPDK has no crypto_null. */
static void *foreign_session(int other)
{
    struct rte_crypto_sym_xform xform = { .type = RTE_CRYPTO_SYM_XFORM_CIPHER,
                                          .cipher = { .algo = RTE_CRYPTO_CIPHER_NULL } };
    return other < 0 ? NULL : rte_cryptodev_sym_session_create((uint8_t)other, &xform, sessions);
}

/* Each has its own status, and none is kept from running by another. */
void check_failures(void)
{
    enum { GIVEN = 48 };
    static uint8_t plain[LEN], tags[GIVEN][TAG];
    struct rte_crypto_op *ops[GIVEN], *done[GIVEN];
    struct rte_crypto_sym_xform seal = gcm(false, 2), open = gcm(true, 2), none = gcm(false, 2);
    void *sealing = session(&seal), *opening = session(&open);
    int other = rte_cryptodev_get_dev_id("crypto_null");
    void *foreign = foreign_session(other);
    EXPECT((other < 0) == !foreign, "a session of crypto_null: %d", rte_errno);
    none.aead.digest_length = 99;
    start(1);
    for (int i = 0; i < GIVEN; i++) {
        ops[i] = operation(sealing, message(plain, LEN, 1 + i % 3), NULL, 0, LEN, tags[i]);
        switch (i % 8) {
        case 1: /* past the end */
            ops[i]->sym->aead.data.offset = 1;
            break;
        case 2: /* forged */
            rte_crypto_op_attach_sym_session(ops[i], opening);
            break;
        case 3: /* none, and another driver's */
            ops[i]->sym->session = i % 16 == 3 ? NULL : foreign;
            break;
        case 4: /* brings what a session is made of */
        case 5: /* and brings what none is */
            ops[i]->sess_type = RTE_CRYPTO_OP_SESSIONLESS;
            ops[i]->sym->xform = i % 8 == 4 ? &seal : &none;
            break;
        case 6: /* no room for the digest */
            ops[i]->sym->aead.digest.data = NULL;
            break;
        }
    }
    static const uint8_t expected[] = {
        RTE_CRYPTO_OP_STATUS_SUCCESS,      RTE_CRYPTO_OP_STATUS_INVALID_ARGS,
        RTE_CRYPTO_OP_STATUS_AUTH_FAILED,  RTE_CRYPTO_OP_STATUS_INVALID_SESSION,
        RTE_CRYPTO_OP_STATUS_SUCCESS,      RTE_CRYPTO_OP_STATUS_INVALID_SESSION,
        RTE_CRYPTO_OP_STATUS_INVALID_ARGS, RTE_CRYPTO_OP_STATUS_SUCCESS,
    };
    EXPECT(rte_cryptodev_enqueue_burst(device, 0, ops, GIVEN) == GIVEN, "room");
    EXPECT(finish(0, done, GIVEN, 5) == GIVEN, "all come back");
    for (int i = 0; i < GIVEN; i++) {
        EXPECT(done[i] == ops[i], "order: %d", i);
        EXPECT(ops[i]->status == expected[i % 8], "operation %d: %u", i, ops[i]->status);
        if (expected[i % 8] == RTE_CRYPTO_OP_STATUS_SUCCESS)
            EXPECT(!memcmp(tags[i], tags[0], TAG), "operation %d", i);
    }
    struct rte_cryptodev_stats stats;
    rte_cryptodev_stats_get(device, &stats);
    EXPECT(stats.dequeue_err_count == GIVEN / 8 * 5, "%lu", stats.dequeue_err_count);
    for (int i = 0; i < GIVEN; i++)
        drop(ops[i]);
    rte_cryptodev_sym_session_free(device, sealing);
    rte_cryptodev_sym_session_free(device, opening);
    if (foreign)
        rte_cryptodev_sym_session_free((uint8_t)other, foreign);
}

/* More operations without a session than a burst has, one at a time, that do not get far; and a digest to
 * compare that is not there. */
void check_refusals(void)
{
    static uint8_t plain[LEN], tag[TAG];
    struct rte_crypto_op *done;
    struct rte_crypto_sym_xform seal = gcm(false, 6);
    struct rte_crypto_sym_xform hash = { .type = RTE_CRYPTO_SYM_XFORM_AUTH,
                                         .auth = { .op = RTE_CRYPTO_AUTH_OP_VERIFY,
                                                   .algo = RTE_CRYPTO_AUTH_SHA256,
                                                   .digest_length = 32 } };
    start(1);
    for (int i = 0; i < 200; i++) {
        struct rte_crypto_op *op = operation(NULL, message(plain, LEN, 1), NULL, 1, LEN, tag);
        bool compares = i % 2;
        op->sess_type = RTE_CRYPTO_OP_SESSIONLESS;
        op->sym->xform = compares ? &hash : &seal;
        if (compares) {
            op->sym->auth.data.offset = 0;
            op->sym->auth.data.length = LEN;
            op->sym->auth.digest.data = NULL;
        }
        EXPECT(rte_cryptodev_enqueue_burst(device, 0, &op, 1) == 1 && finish(0, &done, 1, 1) == 1, "%d", i);
        EXPECT(op->status == RTE_CRYPTO_OP_STATUS_INVALID_ARGS, "operation %d: %u", i, op->status);
        drop(op);
    }
}
