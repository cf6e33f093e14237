/* libmongocrypt with and without lanelock, and its state machine in as few words as the tests need. */
#ifndef CRYPT_H
#define CRYPT_H

#include "condition.h"
#include <bson/bson.h>
#include <lanelock_mongocrypt.h>

enum { MASTER_KEY_LEN = 96, TEXT_ROOM = 512 };

#define DETERMINISTIC "AEAD_AES_256_CBC_HMAC_SHA_512-Deterministic"
#define RANDOM "AEAD_AES_256_CBC_HMAC_SHA_512-Random"
#define UNINDEXED "Unindexed"

static uint8_t master_key[MASTER_KEY_LEN] = "a master key, of which nobody should say that it is a secret";

/* What a call of the state machine gives: a document, or the text of an error. */
struct result {
    bson_t *bson;
    char text[TEXT_ROOM];
};

static inline mongocrypt_binary_t *view_bytes(const uint8_t *bytes, uint32_t len) {
    mongocrypt_binary_t *view = mongocrypt_binary_new_from_data((uint8_t *)(uintptr_t)bytes, len);
    CHECK(view != NULL);
    return view;
}

static inline mongocrypt_binary_t *view_bson(const bson_t *bson) {
    return view_bytes(bson_get_data(bson), bson->len);
}

static inline bson_t *copy_bson(const mongocrypt_binary_t *view) {
    bson_t *bson = bson_new_from_data(mongocrypt_binary_data(view), mongocrypt_binary_len(view));
    CHECK(bson != NULL);
    return bson;
}

static inline mongocrypt_t *crypt_new(bool with_lanelock) {
    mongocrypt_t *crypt = mongocrypt_new();
    mongocrypt_binary_t *key = view_bytes(master_key, sizeof master_key);

    CHECK(mongocrypt_setopt_kms_provider_local(crypt, key));
    CHECK(!with_lanelock || lanelock_mongocrypt_install(crypt));
    CHECK(mongocrypt_init(crypt));
    mongocrypt_binary_destroy(key);
    return crypt;
}

/* Feeds the key where it is asked for, and finishes; `document` is begun for the last step, or NULL. */
static inline struct result finish(mongocrypt_ctx_t *ctx, bool started, const bson_t *data_key,
                                   const bson_t *document, size_t *answered) {
    struct result result = {NULL, ""};
    mongocrypt_binary_t *out = mongocrypt_binary_new(), *key;
    mongocrypt_status_t *status = mongocrypt_status_new();
    bool done = started;

    if (done && mongocrypt_ctx_state(ctx) == MONGOCRYPT_CTX_NEED_MONGO_KEYS) {
        key = view_bson(data_key);
        done = mongocrypt_ctx_mongo_feed(ctx, key) && mongocrypt_ctx_mongo_done(ctx);
        mongocrypt_binary_destroy(key);
    }
    if (document != NULL) {
        lanelock_mongocrypt_document_begin(bson_get_data(document), document->len);
    }
    done = done && mongocrypt_ctx_finalize(ctx, out);
    if (document != NULL) {
        *answered = lanelock_mongocrypt_document_end();
    }
    if (done) {
        result.bson = copy_bson(out);
    } else {
        mongocrypt_ctx_status(ctx, status);
        snprintf(result.text, sizeof result.text, "%s", mongocrypt_status_message(status, NULL));
        CHECK(result.text[0] != 0);
    }
    mongocrypt_status_destroy(status);
    mongocrypt_binary_destroy(out);
    mongocrypt_ctx_destroy(ctx);
    return result;
}

static inline bson_t *succeeded(struct result result) {
    if (result.bson == NULL) {
        fprintf(stderr, "%s\n", result.text);
        exit(1);
    }
    return result.bson;
}

static inline bson_t *data_key_new(mongocrypt_t *crypt) {
    mongocrypt_ctx_t *ctx = mongocrypt_ctx_new(crypt);
    return succeeded(finish(ctx,
                            mongocrypt_ctx_setopt_masterkey_local(ctx) &&
                                mongocrypt_ctx_datakey_init(ctx),
                            NULL, NULL, NULL));
}

/* The identifier of a data key, in its document. */
static inline uint8_t *data_key_id(const bson_t *data_key) {
    bson_iter_t at;
    bson_subtype_t subtype;
    uint32_t len;
    const uint8_t *id;

    CHECK(bson_iter_init_find(&at, data_key, "_id") && BSON_ITER_HOLDS_BINARY(&at));
    bson_iter_binary(&at, &subtype, &len, &id);
    CHECK(len == 16);
    return (uint8_t *)(uintptr_t)id;
}

/* {v: value} with the value encrypted. */
static inline bson_t *encrypt(mongocrypt_t *crypt, const bson_t *data_key, const char *algorithm,
                              const char *value) {
    mongocrypt_ctx_t *ctx = mongocrypt_ctx_new(crypt);
    bson_t *plain = BCON_NEW("v", BCON_UTF8(value)), *encrypted;
    mongocrypt_binary_t *in = view_bson(plain), *id = view_bytes(data_key_id(data_key), 16);

    encrypted = succeeded(finish(ctx,
                                 mongocrypt_ctx_setopt_key_id(ctx, id) &&
                                     mongocrypt_ctx_setopt_algorithm(ctx, algorithm, -1) &&
                                     mongocrypt_ctx_explicit_encrypt_init(ctx, in),
                                 data_key, NULL, NULL));
    mongocrypt_binary_destroy(in);
    mongocrypt_binary_destroy(id);
    bson_destroy(plain);
    return encrypted;
}

/* `answered` is NULL, or where to put how many hooks the document has answered. */
static inline struct result decrypt(mongocrypt_t *crypt, const bson_t *data_key,
                                    const bson_t *encrypted, size_t *answered) {
    mongocrypt_ctx_t *ctx = mongocrypt_ctx_new(crypt);
    mongocrypt_binary_t *in = view_bson(encrypted);
    struct result result = finish(ctx, mongocrypt_ctx_decrypt_init(ctx, in), data_key,
                                  answered == NULL ? NULL : encrypted, answered);

    mongocrypt_binary_destroy(in);
    return result;
}

#endif
