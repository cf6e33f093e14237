/* Each hook by itself: against OpenSSL, with what it refuses, with more keys than are kept. */
#include "condition.h"
#include <lanelock_mongocrypt.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 300 };

static uint8_t input[LONGEST], key[256], iv[16];

/* A view of some bytes. */
static mongocrypt_binary_t *view(const void *bytes, size_t len) {
    mongocrypt_binary_t *made =
        mongocrypt_binary_new_from_data((uint8_t *)(uintptr_t)bytes, (uint32_t)len);
    CHECK(made != NULL);
    return made;
}

static void *errors(void) {
    return (void *)(uintptr_t)mongocrypt_status_set;
}

/* The text of a status, which is freed. */
static const char *text_of(mongocrypt_status_t *status) {
    static char text[700];
    snprintf(text, sizeof text, "%s", mongocrypt_status_message(status, NULL));
    mongocrypt_status_destroy(status);
    return text;
}

struct cipher_call {
    lanelock_mongocrypt_cipher *hook;
    size_t key_len, iv_len, in_len, out_len;
};

/* Calls a cipher's hook; the text of its error, or NULL. */
static const char *cipher(struct cipher_call call, uint8_t *out) {
    mongocrypt_binary_t *keys = view(key, call.key_len), *ivs = view(iv, call.iv_len);
    mongocrypt_binary_t *in = view(input, call.in_len), *outs = view(out, call.out_len);
    mongocrypt_status_t *status = mongocrypt_status_new();
    uint32_t written = 77;
    bool done = call.hook(errors(), keys, ivs, in, outs, &written, status);

    CHECK(written == (done ? call.in_len : 0));
    CHECK(done == mongocrypt_status_ok(status));
    mongocrypt_binary_destroy(keys);
    mongocrypt_binary_destroy(ivs);
    mongocrypt_binary_destroy(in);
    mongocrypt_binary_destroy(outs);
    if (!done) {
        CHECK(mongocrypt_status_type(status) == MONGOCRYPT_STATUS_ERROR_CLIENT);
        CHECK(mongocrypt_status_code(status) == 1);
        return text_of(status);
    }
    mongocrypt_status_destroy(status);
    return NULL;
}

static void openssl_cipher(const EVP_CIPHER *kind, int encrypts, size_t len, uint8_t *out) {
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int written, rest;

    CHECK(EVP_CipherInit_ex(ctx, kind, NULL, key, iv, encrypts) == 1);
    EVP_CIPHER_CTX_set_padding(ctx, 0);
    CHECK(EVP_CipherUpdate(ctx, out, &written, input, (int)len) == 1);
    CHECK(EVP_CipherFinal_ex(ctx, out + written, &rest) == 1);
    EVP_CIPHER_CTX_free(ctx);
}

static void ciphers(void) {
    const struct {
        lanelock_mongocrypt_cipher *hook;
        const EVP_CIPHER *kind;
        int encrypts;
        size_t step;
    } all[] = {
        {lanelock_mongocrypt_aes_256_cbc_encrypt, EVP_aes_256_cbc(), 1, 16},
        {lanelock_mongocrypt_aes_256_cbc_decrypt, EVP_aes_256_cbc(), 0, 16},
        {lanelock_mongocrypt_aes_256_ctr_encrypt, EVP_aes_256_ctr(), 1, 1},
        {lanelock_mongocrypt_aes_256_ctr_decrypt, EVP_aes_256_ctr(), 0, 1},
        {lanelock_mongocrypt_aes_256_ecb_encrypt, EVP_aes_256_ecb(), 1, 16},
    };
    uint8_t ours[LONGEST + 1], theirs[LONGEST];
    size_t i, len;

    for (i = 0; i < sizeof all / sizeof *all; i++) {
        for (len = 0; len <= LONGEST; len += all[i].step) {
            ours[len] = 99;
            CHECK(cipher((struct cipher_call){all[i].hook, 32, 16, len, len}, ours) == NULL);
            openssl_cipher(all[i].kind, all[i].encrypts, len, theirs);
            CHECK(memcmp(ours, theirs, len) == 0 && ours[len] == 99);
        }
    }
}

static void refused_ciphers(void) {
    lanelock_mongocrypt_cipher *cbc = lanelock_mongocrypt_aes_256_cbc_decrypt;
    uint8_t out[LONGEST];

    CHECK(strcmp(cipher((struct cipher_call){cbc, 16, 16, 32, 32}, out),
                 "lanelock: AES-256-CBC decryption: key: 16 bytes given; 32 are needed") == 0);
    CHECK(strcmp(cipher((struct cipher_call){cbc, 32, 12, 32, 32}, out),
                 "lanelock: AES-256-CBC decryption: IV: 12 bytes given; 16 are needed") == 0);
    CHECK(strcmp(cipher((struct cipher_call){cbc, 32, 16, 33, 48}, out),
                 "lanelock: AES-256-CBC decryption: input: 33 bytes given; multiples of 16 are "
                 "needed") == 0);
    CHECK(strcmp(cipher((struct cipher_call){cbc, 32, 16, 32, 31}, out),
                 "lanelock: AES-256-CBC decryption: output: 31 bytes given; 32 are needed") == 0);
}

static void macs(void) {
    uint8_t ours[64], theirs[64];
    size_t key_len, len;
    int wide;

    for (key_len = 1; key_len <= sizeof key; key_len += key_len < 32 ? 31 : 32) {
        for (len = 0; len <= LONGEST; len += 7) {
            for (wide = 0; wide < 2; wide++) {
                mongocrypt_binary_t *keys = view(key, key_len), *in = view(input, len);
                mongocrypt_binary_t *out = view(ours, wide ? 64 : 32);
                mongocrypt_status_t *status = mongocrypt_status_new();
                lanelock_mongocrypt_hmac *hook =
                    wide ? lanelock_mongocrypt_hmac_sha_512 : lanelock_mongocrypt_hmac_sha_256;
                CHECK(hook(errors(), keys, in, out, status));
                HMAC(wide ? EVP_sha512() : EVP_sha256(), key, (int)key_len, input, len, theirs,
                     NULL);
                CHECK(memcmp(ours, theirs, wide ? 64 : 32) == 0);
                mongocrypt_binary_destroy(keys);
                mongocrypt_binary_destroy(in);
                mongocrypt_binary_destroy(out);
                mongocrypt_status_destroy(status);
            }
        }
    }
}

static void hash_and_random(void) {
    uint8_t ours[64] = {0}, theirs[32], zeros[64] = {0};
    mongocrypt_binary_t *in = view(input, 100), *out = view(ours, 32), *small = view(ours, 31);
    mongocrypt_status_t *status = mongocrypt_status_new();

    CHECK(lanelock_mongocrypt_sha_256(errors(), in, out, status));
    CHECK(EVP_Digest(input, 100, theirs, NULL, EVP_sha256(), NULL) == 1);
    CHECK(memcmp(ours, theirs, 32) == 0);
    memset(ours, 0, sizeof ours);
    CHECK(lanelock_mongocrypt_random(errors(), out, 32, status));
    CHECK(memcmp(ours, zeros, 32) != 0 && memcmp(ours + 32, zeros, 32) == 0);
    CHECK(mongocrypt_status_ok(status));
    CHECK(!lanelock_mongocrypt_sha_256(errors(), in, small, status));
    CHECK(strcmp(mongocrypt_status_message(status, NULL),
                 "lanelock: SHA-256: output: 31 bytes given; 32 are needed") == 0);
    CHECK(!lanelock_mongocrypt_random(errors(), small, 32, status));
    CHECK(strcmp(mongocrypt_status_message(status, NULL),
                 "lanelock: random bytes: output: 31 bytes given; 32 are needed") == 0);
    /* Nobody has said how to report it. */
    mongocrypt_status_destroy(status);
    status = mongocrypt_status_new();
    CHECK(!lanelock_mongocrypt_random(NULL, small, 32, status) && mongocrypt_status_ok(status));
    mongocrypt_status_destroy(status);
    mongocrypt_binary_destroy(in);
    mongocrypt_binary_destroy(out);
    mongocrypt_binary_destroy(small);
}

/* More keys, in turns, than a thread or the table holds. */
static void *many_keys(void *first) {
    static const size_t counts[] = {3, 17, 70, 200};
    uint8_t ours[64], theirs[64], own[32] = {0};
    size_t round, i, n;

    for (n = 0; n < sizeof counts / sizeof *counts; n++) {
        for (round = 0; round < 2; round++) {
            for (i = 0; i < counts[n]; i++) {
                mongocrypt_binary_t *keys = view(own, 32), *in = view(input, 50);
                mongocrypt_binary_t *out = view(ours, 64);
                own[0] = (uint8_t)i;
                own[31] = *(const uint8_t *)first;
                CHECK(lanelock_mongocrypt_hmac_sha_512(errors(), keys, in, out, NULL));
                HMAC(EVP_sha512(), own, 32, input, 50, theirs, NULL);
                CHECK(memcmp(ours, theirs, 64) == 0);
                mongocrypt_binary_destroy(keys);
                mongocrypt_binary_destroy(in);
                mongocrypt_binary_destroy(out);
            }
        }
    }
    return NULL;
}

static void threads(void) {
    /* Four have keys of their own, four share them. */
    static uint8_t first[8] = {1, 2, 3, 4, 5, 5, 5, 5};
    pthread_t thread[8];
    int i;

    for (i = 0; i < 8; i++) {
        CHECK(pthread_create(&thread[i], NULL, many_keys, &first[i]) == 0);
    }
    for (i = 0; i < 8; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
}

static void child(void) {
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        ciphers();
        threads();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void) {
    uint8_t none = 0;
    size_t i;

    for (i = 0; i < sizeof input; i++) {
        input[i] = (uint8_t)(i * 7 + 3);
    }
    for (i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)(i * 5 + 1);
    }
    memset(iv, 0xfe, sizeof iv); /* counters that carry */
    ciphers();
    refused_ciphers();
    macs();
    hash_and_random();
    many_keys(&none);
    threads();
    child();
    ciphers();
    puts("hooks: all as it should be");
    return 0;
}
