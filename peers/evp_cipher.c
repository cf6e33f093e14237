/* Plain ciphers over EVP. */
#include "evp.h"

static bool encrypt(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    for (; count > 0; count--, m++)
        if (!evp_encrypt(engine->sessions[m->session].cipher, m))
            return evp_refuse(why, "encrypt");
    return true;
}

static bool decrypt(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    for (; count > 0; count--, m++)
        if (!evp_decrypt(engine->sessions[m->session].cipher, m))
            return evp_refuse(why, "decrypt");
    return true;
}

/* ECB carries nothing from message to message: not even an IV has to be set. */
static bool ecb_encrypt(struct engine *engine, const struct message *m, size_t count,
                        struct reason *why)
{
    for (; count > 0; count--, m++) {
        int len;
        if (!EVP_EncryptUpdate(engine->sessions[m->session].cipher, m->out, &len, m->in,
                               (int)m->len) || (uint32_t)len != m->len)
            return evp_refuse(why, "encrypt");
    }
    return true;
}

static bool ecb_decrypt(struct engine *engine, const struct message *m, size_t count,
                        struct reason *why)
{
    for (; count > 0; count--, m++) {
        int len;
        if (!EVP_DecryptUpdate(engine->sessions[m->session].cipher, m->out, &len, m->in,
                               (int)m->len) || (uint32_t)len != m->len)
            return evp_refuse(why, "decrypt");
    }
    return true;
}

static uint64_t big_endian(uint64_t value)
{
    const uint16_t probe = 1;
    return *(const uint8_t *)&probe ? __builtin_bswap64(value) : value;
}

static void xor(uint8_t *out, const uint8_t *in, const uint8_t *stream, size_t len)
{
    size_t at = 0;
    for (; at + 8 <= len; at += 8) {
        uint64_t a, b;
        memcpy(&a, in + at, 8);
        memcpy(&b, stream + at, 8);
        a ^= b;
        memcpy(out + at, &a, 8);
    }
    for (; at < len; at++)
        out[at] = in[at] ^ stream[at];
}

/*
 * OpenSSL has no 3DES-CTR. The best substitute encrypts many counter blocks
 * by one ECB call, which costs one EVP call for a message of up to 4 KiB.
 */
static bool counter(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    uint8_t *stream = engine->keystream;
    for (; count > 0; count--, m++) {
        EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
        uint64_t block;
        memcpy(&block, m->iv, sizeof block);
        block = big_endian(block);
        for (uint32_t at = 0; at < m->len; at += KEYSTREAM) {
            uint32_t len = m->len - at < KEYSTREAM ? m->len - at : KEYSTREAM;
            int whole = (int)((len + 7) / 8 * 8), written;
            for (int i = 0; i < whole; i += 8, block++) {
                uint64_t bytes = big_endian(block);
                memcpy(stream + i, &bytes, sizeof bytes);
            }
            if (!EVP_EncryptUpdate(ctx, stream, &written, stream, whole) || written != whole)
                return evp_refuse(why, "counter blocks");
            xor(m->out + at, m->in + at, stream, len);
        }
    }
    return true;
}

const struct route evp_cipher_encrypt[] = { { "evp-cipher", encrypt }, { 0 } };
const struct route evp_cipher_decrypt[] = { { "evp-cipher", decrypt }, { 0 } };
const struct route evp_ecb_encrypt[] = { { "evp-cipher", ecb_encrypt }, { 0 } };
const struct route evp_ecb_decrypt[] = { { "evp-cipher", ecb_decrypt }, { 0 } };
const struct route evp_counter[] = { { "evp-ecb-xor", counter }, { 0 } };
