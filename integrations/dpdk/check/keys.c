/* ECDSA and ECDH with a key of RFC 6979, a whole burst of each. */
#include "check.h"

#include <rte_version.h>

enum { MANY = 20, NUMBER = 32 };

/* RFC 6979, A.2.5: the private key and the two coordinates of the public one. */
static uint8_t secret[NUMBER] = { 0xc9, 0xaf, 0xa9, 0xd8, 0x45, 0xba, 0x75, 0x16, 0x6b, 0x5c, 0x21,
                               0x57, 0x67, 0xb1, 0xd6, 0x93, 0x4e, 0x50, 0xc3, 0xdb, 0x36, 0xe8,
                               0x9b, 0x12, 0x7b, 0x8a, 0x62, 0x2b, 0x12, 0x0f, 0x67, 0x21 };
static uint8_t x[NUMBER] = { 0x60, 0xfe, 0xd4, 0xba, 0x25, 0x5a, 0x9d, 0x31, 0xc9, 0x61, 0xeb,
                          0x74, 0xc6, 0x35, 0x6d, 0x68, 0xc0, 0x49, 0xb8, 0x92, 0x3b, 0x61,
                          0xfa, 0x6c, 0xe6, 0x69, 0x62, 0x2e, 0x60, 0xf2, 0x9f, 0xb6 };
static uint8_t y[NUMBER] = { 0x79, 0x03, 0xfe, 0x10, 0x08, 0xb8, 0xbc, 0x99, 0xa4, 0x1a, 0xe9,
                          0xe9, 0x56, 0x28, 0xbc, 0x64, 0xf2, 0xf1, 0xb2, 0x0c, 0x2d, 0x7e,
                          0x9f, 0x51, 0x77, 0xa3, 0xc2, 0x94, 0xd4, 0x46, 0x22, 0x99 };

static struct rte_crypto_op *ops[MANY];

static void run(void)
{
    struct rte_crypto_op *done[MANY];
    uint16_t got = 0, more;
    EXPECT(rte_cryptodev_enqueue_burst(device, 0, ops, MANY) == MANY, "room");
    while ((more = rte_cryptodev_dequeue_burst(device, 0, done + got, (uint16_t)(MANY - got))) > 0)
        got += more;
    EXPECT(got == MANY, "%u came back", got);
}

static void *agreed(struct rte_mempool *pool, enum rte_crypto_asym_xform_type type)
{
    void *made = NULL;
    struct rte_crypto_asym_xform xform = {
        .xform_type = type,
        .ec = { .curve_id = RTE_CRYPTO_EC_GROUP_SECP256R1,
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
                .pkey = { .data = secret, .length = NUMBER },
                .q = { { .data = x, .length = NUMBER }, { .data = y, .length = NUMBER } },
#endif
        },
    };
    EXPECT(rte_cryptodev_asym_session_create(device, &xform, pool, &made) == 0, "transform %d", type);
    for (int i = 0; i < MANY; i++)
        rte_crypto_op_attach_asym_session(ops[i], made);
    return made;
}

static void check_ecdsa(struct rte_mempool *pool)
{
    static uint8_t digest[MANY][NUMBER], r[MANY][NUMBER], s[MANY][NUMBER];
    void *made = agreed(pool, RTE_CRYPTO_ASYM_XFORM_ECDSA);
    for (int i = 0; i < MANY; i++) {
        digest[i][0] = (uint8_t)i;
        ops[i]->asym->ecdsa = (struct rte_crypto_ecdsa_op_param){
            .op_type = RTE_CRYPTO_ASYM_OP_SIGN,
            .message = { .data = digest[i], .length = NUMBER },
            .r = { .data = r[i] },
            .s = { .data = s[i] },
#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
            .pkey = { .data = secret, .length = NUMBER },
            .q = { { .data = x, .length = NUMBER }, { .data = y, .length = NUMBER } },
#endif
        };
    }
    run();
    for (int i = 0; i < MANY; i++) {
        EXPECT(ops[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS && ops[i]->asym->ecdsa.r.length == NUMBER, "%d", i);
        ops[i]->asym->ecdsa.op_type = RTE_CRYPTO_ASYM_OP_VERIFY;
        digest[i][1] = i % 5 == 4;
    }
    run();
    for (int i = 0; i < MANY; i++)
        EXPECT(ops[i]->status == (i % 5 == 4 ? RTE_CRYPTO_OP_STATUS_AUTH_FAILED : RTE_CRYPTO_OP_STATUS_SUCCESS),
               "%d: %u", i, ops[i]->status);
    rte_cryptodev_asym_session_free(device, made);
}

/* With 1 as one's own secret, the shared one is the peer's first coordinate. */
static void check_ecdh(struct rte_mempool *pool)
{
    static uint8_t one[NUMBER] = { [NUMBER - 1] = 1 }, out[MANY][NUMBER];
    void *made = agreed(pool, RTE_CRYPTO_ASYM_XFORM_ECDH);
    for (int i = 0; i < MANY; i++) {
        ops[i]->asym->ecdh = (struct rte_crypto_ecdh_op_param){
            .ke_type = RTE_CRYPTO_ASYM_KE_SHARED_SECRET_COMPUTE,
            .priv_key = { .data = one, .length = NUMBER },
            .pub_key = { { .data = x, .length = NUMBER }, { .data = i ? y : x, .length = NUMBER } },
            .shared_secret = { .x = { .data = out[i] } },
        };
    }
    run();
    /* The first peer is not on the curve. */
    EXPECT(ops[0]->status == RTE_CRYPTO_OP_STATUS_INVALID_ARGS, "%u", ops[0]->status);
    for (int i = 1; i < MANY; i++)
        EXPECT(ops[i]->status == RTE_CRYPTO_OP_STATUS_SUCCESS && !memcmp(out[i], x, NUMBER), "%d: %u", i,
               ops[i]->status);
    rte_cryptodev_asym_session_free(device, made);
}

void check_keys(void)
{
    struct rte_mempool *pool =
        rte_crypto_op_pool_create("keys", RTE_CRYPTO_OP_TYPE_ASYMMETRIC, 63, 0, 0, SOCKET_ID_ANY);
    struct rte_mempool *key_sessions =
        rte_cryptodev_asym_session_pool_create("key_sessions", 15, 0, 0, SOCKET_ID_ANY);
    EXPECT(pool && key_sessions, "memory");
    EXPECT(rte_crypto_op_bulk_alloc(pool, RTE_CRYPTO_OP_TYPE_ASYMMETRIC, ops, MANY) == MANY, "operations");
    check_ecdsa(key_sessions);
    check_ecdh(key_sessions);
    rte_mempool_put_bulk(pool, (void **)ops, MANY);
}
