/* Many sessions, two queue pairs, two threads, the synchronous call. */
#include "check.h"

#include <rte_launch.h>
#include <rte_lcore.h>

/* More sessions than a burst has operations, on two queue pairs, each used on both. */
void check_sessions(void)
{
    enum { MANY = 200 };
    static uint8_t plain[LEN], tags[2][MANY][TAG];
    static void *with[MANY];
    struct rte_crypto_op *ops[2][MANY], *done;
    start(2);
    for (int i = 0; i < MANY; i++) {
        struct rte_crypto_sym_xform xform = gcm(false, (uint8_t)i);
        with[i] = session(&xform);
    }
    for (uint16_t queue = 0; queue < 2; queue++)
        for (int i = 0; i < MANY; i++) {
            ops[queue][i] = operation(with[i], message(plain, LEN, 1), NULL, 0, LEN, tags[queue][i]);
            if (rte_cryptodev_enqueue_burst(device, queue, &ops[queue][i], 1) == 1)
                continue;
            /* What has run already may come first: then there is no room yet. */
            while (finish(queue, &done, 1, 1) == 1 &&
                   rte_cryptodev_enqueue_burst(device, queue, &ops[queue][i], 1) == 0)
                ;
        }
    for (uint16_t queue = 0; queue < 2; queue++)
        while (finish(queue, &done, 1, 1))
            ;
    for (int i = 0; i < MANY; i++) {
        EXPECT(ops[0][i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS, "session %d: %u", i, ops[0][i]->status);
        EXPECT(!memcmp(tags[0][i], tags[1][i], TAG), "session %d", i);
        EXPECT(!i || memcmp(tags[0][i], tags[0][i - 1], TAG), "session %d is another's", i);
        drop(ops[0][i]);
        drop(ops[1][i]);
        rte_cryptodev_sym_session_free(device, with[i]);
    }
}

enum { STREAM = 200000, WINDOW = 256 };

static int take_out(void *expected)
{
    struct rte_crypto_op *done[32];
    for (uint64_t next = 0; next < STREAM;) {
        uint16_t got = rte_cryptodev_dequeue_burst(device, 0, done, RTE_DIM(done));
        for (uint16_t i = 0; i < got; i++, next++) {
            uint64_t number;
            memcpy(&number, rte_crypto_op_ctod_offset(done[i], void *, IV_AT + 16), sizeof number);
            if (number != next || done[i]->status != RTE_CRYPTO_OP_STATUS_SUCCESS)
                ++*(uint64_t *)expected;
            drop(done[i]);
        }
    }
    return 0;
}

/* One thread puts in what another takes out: all of it, once, in order. */
void check_threads(void)
{
    static uint8_t plain[64];
    struct rte_crypto_sym_xform xform = gcm(false, 4);
    void *with = session(&xform);
    uint64_t wrong = 0;
    unsigned int other = rte_get_next_lcore(-1, 1, 0);
    start(1);
    EXPECT(rte_eal_remote_launch(take_out, &wrong, other) == 0, "lcore %u", other);
    for (uint64_t number = 0; number < STREAM; number++) {
        while (rte_mempool_avail_count(ops_pool) < OPS - WINDOW)
            rte_pause();
        struct rte_mbuf *mbuf = message(plain, sizeof plain + TAG <= LEN ? sizeof plain : 0, 1);
        uint8_t *tag = (uint8_t *)rte_pktmbuf_append(mbuf, TAG);
        struct rte_crypto_op *op = operation(with, mbuf, NULL, 0, sizeof plain, tag);
        memcpy(rte_crypto_op_ctod_offset(op, void *, IV_AT + 16), &number, sizeof number);
        while (rte_cryptodev_enqueue_burst(device, 0, &op, 1) != 1)
            rte_pause();
    }
    rte_eal_wait_lcore(other);
    EXPECT(wrong == 0, "%lu of %u lost, failed or out of order", wrong, STREAM);
    rte_cryptodev_sym_session_free(device, with);
}

/* The synchronous call: a status for each, and good ones run beside bad ones. */
void check_synchronous(void)
{
    enum { GIVEN = 100 };
    static uint8_t plain[GIVEN][LEN], out[GIVEN][LEN], tags[GIVEN][TAG], iv[16];
    static struct rte_crypto_vec in_pieces[GIVEN][2], out_pieces[GIVEN];
    static struct rte_crypto_sgl from[GIVEN], to[GIVEN];
    static struct rte_crypto_va_iova_ptr ivs[GIVEN], digests[GIVEN], aads[GIVEN];
    static int32_t status[GIVEN];
    struct rte_crypto_sym_xform xform = gcm(false, 5);
    void *with = session(&xform);
    union rte_crypto_sym_ofs ranges = { .ofs.cipher = { 3, 4 } };
    for (uint32_t i = 0; i < GIVEN; i++) {
        uint32_t cut = 1 + chance(LEN - 2);
        in_pieces[i][0] = (struct rte_crypto_vec){ .base = plain[i], .len = cut };
        in_pieces[i][1] = (struct rte_crypto_vec){ .base = plain[i] + cut, .len = LEN - cut };
        out_pieces[i] = (struct rte_crypto_vec){ .base = out[i], .len = i % 10 == 9 ? LEN / 2 : LEN };
        from[i] = (struct rte_crypto_sgl){ in_pieces[i], 2 };
        to[i] = (struct rte_crypto_sgl){ &out_pieces[i], 1 };
        ivs[i].va = iv;
        digests[i].va = tags[i];
    }
    struct rte_crypto_sym_vec vec = { .num = GIVEN,    .src_sgl = from,  .dest_sgl = to,   .iv = ivs,
                                      .digest = digests, .aad = aads, .status = status };
    uint32_t succeeded = rte_cryptodev_sym_cpu_crypto_process(device, with, ranges, &vec);
    EXPECT(succeeded == GIVEN / 10 * 9, "%u", succeeded);
    for (uint32_t i = 0; i < GIVEN; i++) {
        EXPECT((status[i] == 0) == (i % 10 != 9), "%u: %d", i, status[i]);
        if (!status[i])
            EXPECT(!memcmp(tags[i], tags[0], TAG) && !memcmp(out[i], out[0], LEN) && out[i][0] == 0 &&
                       out[i][3] != 0,
                   "%u", i);
    }
    rte_cryptodev_sym_session_free(device, with);
}
