/* Messages in many pieces. */
#include "check.h"

static struct rte_crypto_sym_xform cipher(enum rte_crypto_cipher_algorithm algorithm, uint16_t key_len,
                                          uint16_t iv_len)
{
    static uint8_t key[32] = "a key of thirty-two bytes, twice";
    return (struct rte_crypto_sym_xform){
        .type = RTE_CRYPTO_SYM_XFORM_CIPHER,
        .cipher = { .op = RTE_CRYPTO_CIPHER_OP_ENCRYPT,
                    .algo = algorithm,
                    .key = { key, key_len },
                    .iv = { IV_AT, iv_len } },
    };
}

static struct rte_crypto_sym_xform auth(enum rte_crypto_auth_algorithm algorithm, uint16_t key_len)
{
    static uint8_t key[32] = "another key, for authentication!";
    return (struct rte_crypto_sym_xform){
        .type = RTE_CRYPTO_SYM_XFORM_AUTH,
        .auth = { .op = RTE_CRYPTO_AUTH_OP_GENERATE,
                  .algo = algorithm,
                  .key = { key, key_len },
                  .digest_length = 12 },
    };
}

/* One message, cut in many ways on both sides: always the same result, and nothing beside it written. */
static void check_pieces_of(const char *name, struct rte_crypto_sym_xform *xform, uint32_t at,
                            uint32_t len, uint32_t auth_at, uint32_t auth_len, uint32_t pieces)
{
    static uint8_t plain[LEN], expected[LEN], got[LEN];
    uint8_t tag[TAG] = { 0 }, expected_tag[TAG] = { 0 };
    struct rte_crypto_op *done;
    void *with = session(xform);
    for (uint32_t i = 0; i < LEN; i++)
        plain[i] = (uint8_t)chance(256);
    for (uint32_t turn = 0; turn < 60; turn++) {
        bool separate = turn % 2;
        struct rte_mbuf *from = message(plain, LEN, turn ? 1 + chance(pieces) : 1);
        struct rte_mbuf *to = separate ? message(NULL, LEN, 1 + chance(pieces)) : NULL;
        struct rte_crypto_op *op = operation(with, from, to, at, len, tag);
        if (xform->type != RTE_CRYPTO_SYM_XFORM_AEAD) {
            op->sym->cipher.data.offset = at;
            op->sym->cipher.data.length = len;
            op->sym->auth.data.offset = auth_at;
            op->sym->auth.data.length = auth_len;
            op->sym->auth.digest.data = tag;
        }
        EXPECT(rte_cryptodev_enqueue_burst(device, 0, &op, 1) == 1, "room");
        EXPECT(finish(0, &done, 1, 1) == 1 && done->status == RTE_CRYPTO_OP_STATUS_SUCCESS, "%s: %u", name,
               op->status);
        const uint8_t *result = rte_pktmbuf_read(separate ? to : from, 0, LEN, got);
        if (!turn) {
            memcpy(expected, result, LEN);
            memcpy(expected_tag, tag, TAG);
            EXPECT(memcmp(expected + at, plain + at, len), "%s: nothing happened", name);
            EXPECT(!memcmp(expected, plain, at) && !memcmp(expected + at + len, plain + at + len, LEN - at - len),
                   "%s: beside the range", name);
        }
        EXPECT(!memcmp(result + at, expected + at, len), "%s: turn %u", name, turn);
        EXPECT(!memcmp(tag, expected_tag, TAG), "%s: tag in turn %u", name, turn);
        drop(op);
    }
    rte_cryptodev_sym_session_free(device, with);
}

void check_pieces(void)
{
    struct rte_crypto_sym_xform aead = gcm(false, 3);
    struct rte_crypto_sym_xform cbc = cipher(RTE_CRYPTO_CIPHER_AES_CBC, 16, 16);
    struct rte_crypto_sym_xform ctr = cipher(RTE_CRYPTO_CIPHER_AES_CTR, 32, 12);
    struct rte_crypto_sym_xform xts = cipher(RTE_CRYPTO_CIPHER_AES_XTS, 32, 16);
    struct rte_crypto_sym_xform des = cipher(RTE_CRYPTO_CIPHER_3DES_CBC, 24, 8);
    struct rte_crypto_sym_xform sha1 = auth(RTE_CRYPTO_AUTH_SHA1_HMAC, 20);
    struct rte_crypto_sym_xform cmac = auth(RTE_CRYPTO_AUTH_AES_CMAC, 16);
    start(1);
    check_pieces_of("aes-gcm", &aead, 17, 931, 0, 0, 40);
    check_pieces_of("aes-gcm in very many pieces", &aead, 17, 931, 0, 0, 900);
    check_pieces_of("aes-cbc", &cbc, 5, 928, 0, 0, 40);
    check_pieces_of("aes-ctr", &ctr, 1, 997, 0, 0, 40);
    check_pieces_of("aes-xts", &xts, 3, 515, 0, 0, 40);
    check_pieces_of("3des-cbc", &des, 3, 512, 0, 0, 40);
    cbc.next = &sha1;
    check_pieces_of("aes-cbc+hmac-sha1", &cbc, 24, 912, 3, 960, 40);
    ctr.next = &cmac;
    check_pieces_of("aes-ctr+aes-cmac", &ctr, 24, 900, 24, 900, 40);
}
