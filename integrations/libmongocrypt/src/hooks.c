/* The hooks: one primitive each, from the document's burst where it has the answer. */
#include "call.h"
#include "document.h"
#include <errno.h>
#include <sys/random.h>

typedef struct _mongocrypt_binary_t binary;

enum { IV_LEN = 16, BLOCK_LEN = 16, SHA_256_LEN = 32, SHA_512_LEN = 64 };

static const struct purpose CBC_ENCRYPT = {LANELOCK_AES_CBC, LANELOCK_FORWARD};
static const struct purpose CBC_DECRYPT = {LANELOCK_AES_CBC, LANELOCK_REVERSE};
static const struct purpose CTR_ENCRYPT = {LANELOCK_AES_CTR, LANELOCK_FORWARD};
static const struct purpose CTR_DECRYPT = {LANELOCK_AES_CTR, LANELOCK_REVERSE};
static const struct purpose ECB_ENCRYPT = {LANELOCK_AES_ECB, LANELOCK_FORWARD};

/* What all ciphers demand of their arguments. */
static bool cipher_check(const struct call *call, const binary *key, const binary *iv,
                         const binary *in, const binary *out, uint32_t block) {
    if (key->len != KEY_LEN) {
        return call_fail(call, "key: %u bytes given; 32 are needed", key->len);
    }
    if (iv != NULL && iv->len != IV_LEN) {
        return call_fail(call, "IV: %u bytes given; 16 are needed", iv->len);
    }
    if (in->len % block != 0) {
        return call_fail(call, "input: %u bytes given; multiples of 16 are needed", in->len);
    }
    if (out->len < in->len) {
        return call_fail(call, "output: %u bytes given; %u are needed", out->len, in->len);
    }
    return true;
}

static bool cipher_run(const struct call *call, struct purpose purpose, const binary *key,
                       const binary *iv, const binary *in, const binary *out) {
    lanelock_error error;
    const lanelock_session *session;
    lanelock_op op;

    session = thread_session(call->thread, purpose, key->data, &error);
    if (session == NULL) {
        return call_fail(call, "%s", error.text);
    }
    lanelock_op_separate(&op, session, in->data, in->len, out->data, in->len);
    if (iv != NULL) {
        lanelock_op_iv(&op, iv->data, iv->len);
    }
    return call_run(call, &op);
}

static bool cipher(const char *what, struct purpose purpose, void *ctx, const binary *key,
                   const binary *iv, const binary *in, const binary *out, uint32_t *bytes_written,
                   struct _mongocrypt_status_t *status) {
    uint32_t block = purpose.algorithm == LANELOCK_AES_CTR ? 1 : BLOCK_LEN;
    struct call call;

    *bytes_written = 0;
    if (!call_begin(&call, what, ctx, status) ||
        !cipher_check(&call, key, iv, in, out, block)) {
        return false;
    }
    if (in->len != 0 && !document_cipher(call.thread, purpose, key->data, iv, in, out) &&
        !cipher_run(&call, purpose, key, iv, in, out)) {
        return false;
    }
    *bytes_written = in->len;
    return true;
}

bool lanelock_mongocrypt_aes_256_cbc_encrypt(void *ctx, binary *key, binary *iv, binary *in,
                                             binary *out, uint32_t *bytes_written,
                                             struct _mongocrypt_status_t *status) {
    return cipher("AES-256-CBC encryption", CBC_ENCRYPT, ctx, key, iv, in, out, bytes_written,
                  status);
}

bool lanelock_mongocrypt_aes_256_cbc_decrypt(void *ctx, binary *key, binary *iv, binary *in,
                                             binary *out, uint32_t *bytes_written,
                                             struct _mongocrypt_status_t *status) {
    return cipher("AES-256-CBC decryption", CBC_DECRYPT, ctx, key, iv, in, out, bytes_written,
                  status);
}

bool lanelock_mongocrypt_aes_256_ctr_encrypt(void *ctx, binary *key, binary *iv, binary *in,
                                             binary *out, uint32_t *bytes_written,
                                             struct _mongocrypt_status_t *status) {
    return cipher("AES-256-CTR encryption", CTR_ENCRYPT, ctx, key, iv, in, out, bytes_written,
                  status);
}

bool lanelock_mongocrypt_aes_256_ctr_decrypt(void *ctx, binary *key, binary *iv, binary *in,
                                             binary *out, uint32_t *bytes_written,
                                             struct _mongocrypt_status_t *status) {
    return cipher("AES-256-CTR decryption", CTR_DECRYPT, ctx, key, iv, in, out, bytes_written,
                  status);
}

bool lanelock_mongocrypt_aes_256_ecb_encrypt(void *ctx, binary *key, binary *iv, binary *in,
                                             binary *out, uint32_t *bytes_written,
                                             struct _mongocrypt_status_t *status) {
    (void)iv;
    return cipher("AES-256-ECB encryption", ECB_ENCRYPT, ctx, key, NULL, in, out, bytes_written,
                  status);
}

/* Keys of other lengths than 32 bytes are of requests to a KMS, seldom, and not kept. */
static bool hmac_once(const struct call *call, uint32_t algorithm, const binary *key,
                      lanelock_op *op) {
    lanelock_error error;
    const lanelock_device *from = device(&error);
    lanelock_transform transform;
    lanelock_session *session;
    bool done;

    lanelock_transform_init(&transform, algorithm, LANELOCK_FORWARD, key->data, key->len);
    if (from == NULL || lanelock_session_new(from, &transform, &session, &error) != LANELOCK_OK) {
        return call_fail(call, "%s", error.text);
    }
    op->session = session;
    done = call_run(call, op);
    lanelock_session_free(session);
    return done;
}

static bool hmac(const char *what, uint32_t algorithm, uint32_t tag_len, void *ctx,
                 const binary *key, const binary *in, const binary *out,
                 struct _mongocrypt_status_t *status) {
    const struct purpose purpose = {algorithm, LANELOCK_FORWARD};
    lanelock_error error;
    struct call call;
    lanelock_op op;

    if (!call_begin(&call, what, ctx, status)) {
        return false;
    }
    if (out->len < tag_len) {
        return call_fail(&call, "output: %u bytes given; %u are needed", out->len, tag_len);
    }
    lanelock_op_read_only(&op, NULL, in->data, in->len);
    lanelock_op_tag(&op, out->data, tag_len);
    if (key->len != KEY_LEN) {
        return hmac_once(&call, algorithm, key, &op);
    }
    if (document_mac(call.thread, algorithm, key->data, in, out)) {
        return true;
    }
    op.session = thread_session(call.thread, purpose, key->data, &error);
    if (op.session == NULL) {
        return call_fail(&call, "%s", error.text);
    }
    if (!call_run(&call, &op)) {
        return false;
    }
    document_computed(call.thread, algorithm, key->data, in, out);
    return true;
}

bool lanelock_mongocrypt_hmac_sha_512(void *ctx, binary *key, binary *in, binary *out,
                                      struct _mongocrypt_status_t *status) {
    return hmac("HMAC-SHA-512", LANELOCK_HMAC_SHA512, SHA_512_LEN, ctx, key, in, out, status);
}

bool lanelock_mongocrypt_hmac_sha_256(void *ctx, binary *key, binary *in, binary *out,
                                      struct _mongocrypt_status_t *status) {
    return hmac("HMAC-SHA-256", LANELOCK_HMAC_SHA256, SHA_256_LEN, ctx, key, in, out, status);
}

bool lanelock_mongocrypt_sha_256(void *ctx, binary *in, binary *out,
                                 struct _mongocrypt_status_t *status) {
    /* A hash has no key: that of zeros is what tells its session from others. */
    static const struct purpose purpose = {LANELOCK_SHA256, LANELOCK_FORWARD};
    static const uint8_t no_key[KEY_LEN];
    lanelock_error error;
    struct call call;
    lanelock_op op;

    if (!call_begin(&call, "SHA-256", ctx, status)) {
        return false;
    }
    if (out->len < SHA_256_LEN) {
        return call_fail(&call, "output: %u bytes given; 32 are needed", out->len);
    }
    lanelock_op_read_only(&op, thread_session(call.thread, purpose, no_key, &error), in->data,
                          in->len);
    lanelock_op_tag(&op, out->data, SHA_256_LEN);
    return op.session != NULL ? call_run(&call, &op) : call_fail(&call, "%s", error.text);
}

bool lanelock_mongocrypt_random(void *ctx, binary *out, uint32_t count,
                                struct _mongocrypt_status_t *status) {
    const struct call call = {"random bytes", ctx, status, NULL};
    uint32_t at = 0;

    if (out->len < count) {
        return call_fail(&call, "output: %u bytes given; %u are needed", out->len, count);
    }
    while (at < count) {
        ssize_t got = getrandom((uint8_t *)out->data + at, count - at, 0);
        if (got < 0 && errno != EINTR) {
            return call_fail(&call, "%s", strerror(errno));
        }
        at += got > 0 ? (uint32_t)got : 0;
    }
    return true;
}
