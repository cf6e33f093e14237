/* A document's plaintexts go when it ends, and a key when others have taken its place: neither is found
 * in the memory of the process. */
#include "condition.h"
#include <lanelock_mongocrypt.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>

enum { FIELDS = 3, TEXT_LEN = 48, HEADER_LEN = 18, BODY_LEN = HEADER_LEN + 16 + TEXT_LEN };
enum { VALUE_LEN = BODY_LEN + 32, DOCUMENT_LEN = 4 + FIELDS * (3 + 5 + VALUE_LEN) + 1 };

/* Turned over, so that what is looked for is not here. */
static uint8_t turned_text[TEXT_LEN], turned_key[32];

static uint8_t mac_key[32] = "of the MAC", key[32] = "of the cipher";
static uint8_t document[DOCUMENT_LEN];

static void turn_over(uint8_t *to, const uint8_t *from, size_t len) {
    size_t i;
    for (i = 0; i < len; i++) {
        to[i] = from[i] ^ 0xff;
    }
}

/* How often the bytes are in memory that the process can write. */
static int found(const uint8_t *turned, size_t len) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[300];
    int count = 0;

    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end, at;
        char mode[8];
        CHECK(sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3);
        if (strncmp(mode, "rw", 2) != 0 || strstr(line, "[v") != NULL) {
            continue;
        }
        for (at = start; at + len <= end; at++) {
            const volatile uint8_t *bytes = (const volatile uint8_t *)at;
            size_t i;
            for (i = 0; i < len && (bytes[i] ^ turned[i]) == 0xff; i++) {
            }
            count += i == len;
        }
    }
    fclose(maps);
    return count;
}

static void hmac(const uint8_t *value, uint8_t tag[64]) {
    uint8_t in[BODY_LEN + 8] = {0};
    memcpy(in, value, BODY_LEN);
    in[BODY_LEN + 7] = 8 * HEADER_LEN;
    HMAC(EVP_sha512(), mac_key, 32, in, sizeof in, tag, NULL);
}

/* A BSON document of deterministic fields; the last one's plaintext is to be found. */
static void make_document(void) {
    uint8_t *at = document, text[TEXT_LEN], tag[64];
    int field, written, i;

    *at++ = (uint8_t)(DOCUMENT_LEN & 255), *at++ = DOCUMENT_LEN >> 8, *at++ = 0, *at++ = 0;
    for (field = 0; field < FIELDS; field++) {
        EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
        uint8_t *value;
        *at++ = 5, *at++ = (uint8_t)('a' + field), *at++ = 0;
        *at++ = VALUE_LEN, *at++ = 0, *at++ = 0, *at++ = 0, *at++ = 6;
        value = at;
        memset(value, 1, HEADER_LEN);
        memset(value + HEADER_LEN, 50 + field, 16);
        for (i = 0; i < TEXT_LEN; i++) {
            text[i] = (uint8_t)(i * 37 + field * 11 + 5);
        }
        CHECK(EVP_EncryptInit_ex(ctx, EVP_aes_256_cbc(), NULL, key, value + HEADER_LEN) == 1);
        EVP_CIPHER_CTX_set_padding(ctx, 0);
        CHECK(EVP_EncryptUpdate(ctx, value + HEADER_LEN + 16, &written, text, TEXT_LEN) == 1);
        EVP_CIPHER_CTX_free(ctx);
        hmac(value, tag);
        memcpy(value + BODY_LEN, tag, 32);
        at += VALUE_LEN;
    }
    *at++ = 0;
    CHECK(at == document + DOCUMENT_LEN);
    turn_over(turned_text, text, sizeof text);
    explicit_bzero(text, sizeof text);
}

/* The hooks for the first field, which have the others computed too. */
static void first_field(void) {
    uint8_t *value = document + 4 + 8, in[BODY_LEN + 8] = {0}, tag[64], text[TEXT_LEN];
    mongocrypt_binary_t *mac_keys = mongocrypt_binary_new_from_data(mac_key, 32);
    mongocrypt_binary_t *keys = mongocrypt_binary_new_from_data(key, 32);
    mongocrypt_binary_t *mac_in = mongocrypt_binary_new_from_data(in, sizeof in);
    mongocrypt_binary_t *mac_out = mongocrypt_binary_new_from_data(tag, 64);
    mongocrypt_binary_t *ivs = mongocrypt_binary_new_from_data(value + HEADER_LEN, 16);
    mongocrypt_binary_t *text_in =
        mongocrypt_binary_new_from_data(value + HEADER_LEN + 16, TEXT_LEN);
    mongocrypt_binary_t *text_out = mongocrypt_binary_new_from_data(text, TEXT_LEN);
    uint32_t written;

    memcpy(in, value, BODY_LEN);
    in[BODY_LEN + 7] = 8 * HEADER_LEN;
    CHECK(lanelock_mongocrypt_hmac_sha_512(NULL, mac_keys, mac_in, mac_out, NULL));
    CHECK(lanelock_mongocrypt_aes_256_cbc_decrypt(NULL, keys, ivs, text_in, text_out, &written,
                                                  NULL));
    CHECK(memcmp(tag, value + BODY_LEN, 32) == 0 && text[1] - text[0] == 37);
    mongocrypt_binary_destroy(mac_keys);
    mongocrypt_binary_destroy(keys);
    mongocrypt_binary_destroy(mac_in);
    mongocrypt_binary_destroy(mac_out);
    mongocrypt_binary_destroy(ivs);
    mongocrypt_binary_destroy(text_in);
    mongocrypt_binary_destroy(text_out);
}

static void documents(void) {
    make_document();
    CHECK(found(turned_text, sizeof turned_text) == 0);
    CHECK(lanelock_mongocrypt_document_begin(document, sizeof document) == FIELDS);
    first_field();
    CHECK(found(turned_text, sizeof turned_text) > 0);
    CHECK(lanelock_mongocrypt_document_end() == 2);
    CHECK(found(turned_text, sizeof turned_text) == 0);
}

/* A MAC under a key that ends with this byte, and is wiped. */
static void use_key(uint8_t last) {
    uint8_t *own = malloc(32), tag[64];
    mongocrypt_binary_t *keys, *in = mongocrypt_binary_new_from_data(document, 40);
    mongocrypt_binary_t *out = mongocrypt_binary_new_from_data(tag, 64);

    turn_over(own, turned_key, 32);
    own[31] = last;
    keys = mongocrypt_binary_new_from_data(own, 32);
    CHECK(lanelock_mongocrypt_hmac_sha_512(NULL, keys, in, out, NULL));
    explicit_bzero(own, 32);
    free(own);
    mongocrypt_binary_destroy(keys);
    mongocrypt_binary_destroy(in);
    mongocrypt_binary_destroy(out);
}

static void *use_first_key(void *unused) {
    (void)unused;
    use_key(0);
    return NULL;
}

static void keys(void) {
    pthread_t thread;
    int i;

    for (i = 0; i < 31; i++) {
        turned_key[i] = (uint8_t)(i * 13 + 7);
    }
    turned_key[31] = 0xff;
    CHECK(pthread_create(&thread, NULL, use_first_key, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    /* For the next thread that uses it. */
    CHECK(found(turned_key, 32) > 0);
    for (i = 1; i <= 64; i++) {
        use_key((uint8_t)i);
    }
    CHECK(found(turned_key, 32) == 0);
}

int main(void) {
    documents();
    keys();
    puts("wiped: all as it should be");
    return 0;
}
