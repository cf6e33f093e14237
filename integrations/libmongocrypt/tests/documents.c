/* Documents encrypted and decrypted with libmongocrypt's own cryptography, with the hooks, and with
 * the hooks and the document: the same bytes, the same errors. */
#include "crypt.h"
#include <pthread.h>

static mongocrypt_t *native, *hooks;
static bson_t *data_key;

static const char *const ALGORITHMS[] = {DETERMINISTIC, RANDOM, UNINDEXED};
enum { ALGORITHM_COUNT = 3 };

/* Field number `i`, as it was before it was encrypted; some are longer than a block of the hash. */
static const char *value(int i, char text[TEXT_ROOM]) {
    snprintf(text, TEXT_ROOM, "value %04d%.*s", i, i % 7 == 3 ? i % 300 : 0,
             "................................................................................"
             "................................................................................"
             "................................................................................"
             "............................................................");
    return text;
}

/* A document of so many fields, some of them in documents and arrays in it. */
struct pair {
    bson_t plain, encrypted;
};

static void append(struct pair *pair, const char *name, int i, const bson_t *encrypted) {
    char text[TEXT_ROOM];
    bson_iter_t at;

    CHECK(bson_append_utf8(&pair->plain, name, -1, value(i, text), -1));
    CHECK(bson_iter_init_find(&at, encrypted, "v"));
    CHECK(bson_append_iter(&pair->encrypted, name, -1, &at));
}

/* `algorithm` is an index, or ALGORITHM_COUNT for all in turns. */
static void pair_init(struct pair *pair, mongocrypt_t *by, int count, int algorithm) {
    struct pair inner;
    char name[20], text[TEXT_ROOM];
    int i;

    bson_init(&pair->plain);
    bson_init(&pair->encrypted);
    for (i = 0; i < count; i++) {
        int kind = algorithm == ALGORITHM_COUNT ? i % ALGORITHM_COUNT : algorithm;
        bson_t *encrypted = encrypt(by, data_key, ALGORITHMS[kind], value(i, text));

        if (kind == 0) {
            bson_t *again = encrypt(by == native ? hooks : native, data_key, DETERMINISTIC, text);
            CHECK(bson_equal(encrypted, again));
            bson_destroy(again);
        }
        snprintf(name, sizeof name, "key%04d", i);
        if (i % 5 == 4) {
            bson_init(&inner.plain);
            bson_init(&inner.encrypted);
            append(&inner, "0", i, encrypted);
            CHECK(bson_append_int32(&inner.plain, "1", -1, i) &&
                  bson_append_int32(&inner.encrypted, "1", -1, i));
            if (i % 2) {
                bson_append_array(&pair->plain, name, -1, &inner.plain);
                bson_append_array(&pair->encrypted, name, -1, &inner.encrypted);
            } else {
                bson_append_document(&pair->plain, name, -1, &inner.plain);
                bson_append_document(&pair->encrypted, name, -1, &inner.encrypted);
            }
            bson_destroy(&inner.plain);
            bson_destroy(&inner.encrypted);
        } else {
            append(pair, name, i, encrypted);
        }
        /* The same value twice: the same bytes, where it is deterministic. */
        if (i % 11 == 6) {
            snprintf(name, sizeof name, "again%04d", i);
            append(pair, name, i, encrypted);
        }
        bson_destroy(encrypted);
    }
}

static void pair_destroy(struct pair *pair) {
    bson_destroy(&pair->plain);
    bson_destroy(&pair->encrypted);
}

static int field_count(const bson_t *bson) {
    bson_iter_t at;
    int count = 0;

    CHECK(bson_iter_init(&at, bson));
    while (bson_iter_next(&at)) {
        count++;
    }
    return count;
}

static void expect(struct result result, const bson_t *plain) {
    bson_t *decrypted = succeeded(result);
    CHECK(bson_equal(decrypted, plain));
    bson_destroy(decrypted);
}

static void same_bytes(void) {
    static const int counts[] = {1, 2, 100, 1500};
    size_t n, answered;
    int algorithm, by;

    for (n = 0; n < sizeof counts / sizeof *counts; n++) {
        for (algorithm = 0; algorithm <= ALGORITHM_COUNT; algorithm++) {
            for (by = 0; by < 2; by++) {
                struct pair pair;
                pair_init(&pair, by ? hooks : native, counts[n], algorithm);
                expect(decrypt(native, data_key, &pair.encrypted, NULL), &pair.plain);
                expect(decrypt(hooks, data_key, &pair.encrypted, NULL), &pair.plain);
                expect(decrypt(hooks, data_key, &pair.encrypted, &answered), &pair.plain);
                /* Two hooks for each field. */
                CHECK(answered ==
                      (counts[n] == 1 ? 0 : 2 * (size_t)field_count(&pair.encrypted)));
                pair_destroy(&pair);
            }
        }
    }
}

/* Decrypts damaged bytes in all three ways; whether it fails. */
static int fails_alike(const bson_t *key, const uint8_t *bytes, uint32_t len) {
    bson_t encrypted;
    struct result theirs, ours;
    int failed, with_document;
    size_t answered;

    CHECK(bson_init_static(&encrypted, bytes, len));
    theirs = decrypt(native, key, &encrypted, NULL);
    failed = theirs.bson == NULL;
    for (with_document = 0; with_document < 2; with_document++) {
        ours = decrypt(hooks, key, &encrypted, with_document ? &answered : NULL);
        if (strcmp(theirs.text, ours.text) != 0) {
            fprintf(stderr, "native: %s\nhooks: %s\n", theirs.text, ours.text);
            exit(1);
        }
        CHECK(failed ? ours.bson == NULL : bson_equal(theirs.bson, ours.bson));
        bson_destroy(ours.bson);
    }
    bson_destroy(theirs.bson);
    return failed;
}

/* Every byte changed, one at a time. */
static void damaged(void) {
    static const int counts[] = {1, 12};
    int algorithm, failed = 0, tried = 0;
    size_t n;

    for (n = 0; n < 2; n++) {
        for (algorithm = 0; algorithm <= ALGORITHM_COUNT; algorithm++) {
            struct pair pair;
            uint8_t *bytes;
            uint32_t i, len;

            pair_init(&pair, native, counts[n], algorithm);
            len = pair.encrypted.len;
            bytes = bson_malloc(len);
            memcpy(bytes, bson_get_data(&pair.encrypted), len);
            /* All but the length and the end, which libbson looks at. */
            for (i = 4; i + 1 < len; i++) {
                bytes[i] ^= 0x10;
                failed += fails_alike(data_key, bytes, len);
                tried++;
                bytes[i] ^= 0x10;
            }
            bson_free(bytes);
            pair_destroy(&pair);
        }
    }
    CHECK(failed > tried / 2 && failed < tried);
}

/* The last of three values, cut to every length. */
static void truncated(void) {
    char text[TEXT_ROOM];
    int algorithm, failed = 0;

    for (algorithm = 0; algorithm < ALGORITHM_COUNT; algorithm++) {
        bson_t *encrypted = encrypt(native, data_key, ALGORITHMS[algorithm], value(1, text));
        bson_iter_t at;
        bson_subtype_t subtype;
        uint32_t len, cut;
        const uint8_t *bytes;

        CHECK(bson_iter_init_find(&at, encrypted, "v"));
        bson_iter_binary(&at, &subtype, &len, &bytes);
        for (cut = 1; cut < len; cut++) {
            bson_t document = BSON_INITIALIZER;
            bson_append_iter(&document, "a", -1, &at);
            bson_append_iter(&document, "b", -1, &at);
            bson_append_binary(&document, "c", -1, subtype, bytes, cut);
            failed += fails_alike(data_key, bson_get_data(&document), document.len);
            bson_destroy(&document);
        }
        CHECK(failed > 0);
        bson_destroy(encrypted);
    }
}

/* Another key under the same identifier, and one that nobody has. */
static void wrong_keys(void) {
    bson_t *other = data_key_new(native), *kept = data_key, *one;
    mongocrypt_t *right;
    struct result wrong;
    struct pair pair, same;
    bson_iter_t at;
    int i;

    pair_init(&pair, native, 20, ALGORITHM_COUNT);
    /* Those that have the key in their cache do not ask for it. */
    mongocrypt_destroy(native);
    mongocrypt_destroy(hooks);
    native = crypt_new(false);
    hooks = crypt_new(true);
    CHECK(fails_alike(other, bson_get_data(&pair.encrypted), pair.encrypted.len));
    memcpy(data_key_id(other), data_key_id(kept), 16);
    CHECK(fails_alike(other, bson_get_data(&pair.encrypted), pair.encrypted.len));
    mongocrypt_destroy(native);
    native = crypt_new(false);
    /* The right key and then the wrong one, which is in the cache of `hooks`, for the same field. */
    pair_init(&same, native, 0, 0);
    right = crypt_new(true);
    one = encrypt(native, kept, DETERMINISTIC, "the same");
    CHECK(bson_iter_init_find(&at, one, "v"));
    for (i = 0; i < 3; i++) {
        bson_append_iter(&same.encrypted, "same", -1, &at);
    }
    lanelock_mongocrypt_document_begin(bson_get_data(&same.encrypted), same.encrypted.len);
    bson_destroy(succeeded(decrypt(right, kept, &same.encrypted, NULL)));
    wrong = decrypt(hooks, other, &same.encrypted, NULL);
    CHECK(wrong.bson == NULL && strcmp(wrong.text, "HMAC validation failure") == 0);
    CHECK(lanelock_mongocrypt_document_end() == 6);
    pair_destroy(&same);
    bson_destroy(one);
    mongocrypt_destroy(right);
    mongocrypt_destroy(hooks);
    hooks = crypt_new(true);
    CHECK(!fails_alike(kept, bson_get_data(&pair.encrypted), pair.encrypted.len));
    pair_destroy(&pair);
    bson_destroy(other);
}

/* What was begun is not what is decrypted: the hooks' own results. */
static void another_document(void) {
    struct pair one, two;
    size_t answered, i;
    bson_t nested = BSON_INITIALIZER;

    pair_init(&one, native, 30, ALGORITHM_COUNT);
    pair_init(&two, native, 40, ALGORITHM_COUNT);
    lanelock_mongocrypt_document_begin(bson_get_data(&one.encrypted), one.encrypted.len);
    expect(decrypt(hooks, data_key, &two.encrypted, NULL), &two.plain);
    expect(decrypt(hooks, data_key, &one.encrypted, NULL), &one.plain);
    CHECK(lanelock_mongocrypt_document_end() > 0);
    CHECK(lanelock_mongocrypt_document_end() == 0);
    /* Malformed ones, cut anywhere. */
    for (i = 0; i < one.encrypted.len; i++) {
        uint8_t *cut = malloc(i > 0 ? i : 1);
        memcpy(cut, bson_get_data(&one.encrypted), i);
        lanelock_mongocrypt_document_begin(cut, i);
        free(cut);
        lanelock_mongocrypt_document_end();
    }
    /* Deeper, and after values of every type. */
    BCON_APPEND(&nested, "s", "text", "d", BCON_DOUBLE(1.5), "n", BCON_NULL, "b", BCON_BOOL(true),
                "r", BCON_REGEX("a+", "i"), "t", BCON_DATE_TIME(5), "o", "{", "l", BCON_INT64(7),
                "x", "[", BCON_INT32(1), BCON_CODE("f()"), BCON_SYMBOL("y"), "]", "}", "m",
                BCON_MINKEY, "u", BCON_UNDEFINED, "z", BCON_TIMESTAMP(1, 2), "e",
                BCON_DOCUMENT(&one.encrypted), "w", BCON_BIN(0, (const uint8_t *)"abc", 3), "f",
                BCON_DOCUMENT(&two.encrypted));
    bson_destroy(succeeded(decrypt(hooks, data_key, &nested, &answered)));
    CHECK(answered == 2 * (size_t)(field_count(&one.encrypted) + field_count(&two.encrypted)));
    bson_destroy(&nested);
    pair_destroy(&one);
    pair_destroy(&two);
}

static struct pair shared;

static void *decrypt_often(void *number) {
    size_t answered, i;

    for (i = 0; i < 30; i++) {
        bool with_document = (i + *(const size_t *)number) % 3 != 0;
        expect(decrypt(hooks, data_key, &shared.encrypted, with_document ? &answered : NULL),
               &shared.plain);
    }
    return NULL;
}

static void threads(size_t count) {
    pthread_t thread[8];
    size_t number[8], i;

    for (i = 0; i < count; i++) {
        number[i] = i;
        CHECK(pthread_create(&thread[i], NULL, decrypt_often, &number[i]) == 0);
    }
    for (i = 0; i < count; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
    }
}

int main(void) {
    native = crypt_new(false);
    hooks = crypt_new(true);
    data_key = data_key_new(native);
    same_bytes();
    damaged();
    truncated();
    another_document();
    pair_init(&shared, hooks, 150, ALGORITHM_COUNT);
    threads(2);
    threads(8);
    pair_destroy(&shared);
    wrong_keys();
    bson_destroy(data_key);
    mongocrypt_destroy(native);
    mongocrypt_destroy(hooks);
    printf("documents, libmongocrypt %s: all as it should be\n", mongocrypt_version(NULL));
    return 0;
}
