/* Public keys: known answers, round trips in batches, queues, and what is refused. */
#include "check.h"
#include <poll.h>

enum { COUNT = 24 };

#define FAILS(code_, call) CHECK((call) == LANELOCK_ERROR_##code_)

static lanelock_device *device;
static lanelock_key_queue *queue;

static lanelock_key *key(uint32_t kind, const void *secret, size_t secret_len, const void *value,
                         size_t value_len) {
    lanelock_key_parts parts;
    lanelock_key *key;
    memset(&parts, 0, sizeof parts);
    parts.size = sizeof parts;
    parts.kind = kind;
    parts.secret.data = (const uint8_t *)secret, parts.secret.len = secret_len;
    parts.public_value.data = (const uint8_t *)value, parts.public_value.len = value_len;
    GOOD(lanelock_key_new(&parts, &key, &error));
    return key;
}

static lanelock_key_session *prepare(uint32_t operation, const lanelock_key *of, uint32_t scheme,
                                     uint32_t hash) {
    lanelock_key_transform transform;
    lanelock_key_session *session;
    lanelock_key_transform_init(&transform, operation, of, scheme, hash);
    GOOD(lanelock_key_session_new(device, &transform, &session, &error));
    return session;
}

/* RFC 7748, 6.1, and RFC 8032, 7.1, the first of each. */
static void answers(void) {
    static const unsigned char alice[32] = {
        0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d, 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45,
        0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a, 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a};
    static const unsigned char bob[32] = {
        0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1, 0xb4, 0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4, 0x35, 0x37,
        0x3f, 0x83, 0x43, 0xc8, 0x5b, 0x78, 0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14, 0x6f, 0x88, 0x2b, 0x4f};
    static const unsigned char shared[32] = {
        0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce, 0x2d, 0xe1, 0x72, 0x8e, 0x3b, 0xf4, 0x80, 0x35, 0x0f, 0x25,
        0xe0, 0x7e, 0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33, 0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16, 0x17, 0x42};
    static const unsigned char seed[32] = {
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
        0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60};
    static const unsigned char front[8] = {0xe5, 0x56, 0x43, 0x00, 0xc3, 0x60, 0xac, 0x72};
    unsigned char secret[32], signature[64];
    lanelock_key *mine = key(LANELOCK_KEY_X25519, alice, 32, NULL, 0);
    lanelock_key *signer = key(LANELOCK_KEY_ED25519, seed, 32, NULL, 0);
    lanelock_key_session *derive = prepare(LANELOCK_DERIVE, mine, 0, 0);
    lanelock_key_session *sign = prepare(LANELOCK_SIGN, signer, LANELOCK_SCHEME_EDDSA, 0);
    lanelock_key_op ops[2];

    /* Sessions do not need their keys any more. */
    CHECK(lanelock_key_free(mine) == LANELOCK_OK && lanelock_key_free(signer) == LANELOCK_OK);
    lanelock_key_op_init(&ops[0], derive, bob, 32, secret, 32);
    lanelock_key_op_init(&ops[1], sign, NULL, 0, signature, 64);
    CHECK(lanelock_key_process(queue, ops, 2) == 2);
    CHECK(ops[0].written == 32 && memcmp(secret, shared, 32) == 0);
    CHECK(ops[1].written == 64 && memcmp(signature, front, 8) == 0);
    CHECK(lanelock_key_process(queue, ops, 2) == 0 && ops[0].status == LANELOCK_SUCCESS);
    lanelock_key_session_free(derive);
    lanelock_key_session_free(sign);
}

static unsigned char message[COUNT][32], signature[COUNT][256];
static lanelock_key_op op[COUNT];

/* Signs and verifies COUNT messages, one signature of another message. */
static void signatures(const lanelock_key *secret, uint32_t scheme, uint32_t flags) {
    lanelock_key_transform transform;
    lanelock_key_session *sign, *verify;
    lanelock_key_session_info info;
    lanelock_key *public_half;
    int i;

    GOOD(lanelock_key_public(device, secret, &public_half, &error));
    lanelock_key_transform_init(&transform, LANELOCK_SIGN, secret, scheme, LANELOCK_SHA256);
    transform.flags = flags;
    GOOD(lanelock_key_session_new(device, &transform, &sign, &error));
    transform.operation = LANELOCK_VERIFY, transform.key = public_half;
    transform.flags = flags & ~(uint32_t)LANELOCK_KEY_UNBLINDED;
    GOOD(lanelock_key_session_new(device, &transform, &verify, &error));
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    CHECK(lanelock_key_session_describe(sign, &info) == LANELOCK_OK);
    CHECK(info.output_len <= 256 && info.lanes >= 1 && info.name[0] && info.engine[0]);

    for (i = 0; i < COUNT; i++) {
        message[i][0] = (unsigned char)i;
        lanelock_key_op_init(&op[i], sign, message[i], 32, signature[i], info.output_len);
    }
    CHECK(lanelock_key_process(queue, op, COUNT) == COUNT);
    for (i = 0; i < COUNT; i++) {
        size_t length = op[i].written;
        CHECK(length > 60 && length <= info.output_len);
        lanelock_key_op_init(&op[i], verify, message[i == 3 ? 4 : i], 32, NULL, 0);
        lanelock_key_op_signature(&op[i], signature[i], length);
    }
    CHECK(lanelock_key_process(queue, op, COUNT) == COUNT - 1);
    CHECK(op[3].status == LANELOCK_AUTH_FAILED);
    CHECK(op[3].reason == LANELOCK_KEY_REASON_WRONG_SIGNATURE);
    CHECK(strstr(lanelock_key_reason(op[3].reason), "signature"));
    lanelock_key_session_free(sign);
    lanelock_key_session_free(verify);
    lanelock_key_free(public_half);
}

/* An RSA key of the library's own making, through its containers. */
static lanelock_key *rsa(void) {
    static unsigned char secret[4096], public_half[2048];
    lanelock_key_transform transform;
    lanelock_key_session *generate;
    lanelock_key_session_info info;
    lanelock_key_info about = {sizeof about, 0, 0, 0};
    lanelock_key *key, *other;
    lanelock_key_op one;

    lanelock_key_transform_init(&transform, LANELOCK_GENERATE, NULL, 0, 0);
    transform.kind = LANELOCK_KEY_RSA, transform.bits = 1024;
    GOOD(lanelock_key_session_new(device, &transform, &generate, &error));
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    CHECK(lanelock_key_session_describe(generate, &info) == LANELOCK_OK);
    CHECK(info.output_len <= sizeof secret && info.second_len <= sizeof public_half);
    lanelock_key_op_init(&one, generate, NULL, 0, secret, sizeof secret);
    lanelock_key_op_second(&one, public_half, sizeof public_half);
    CHECK(lanelock_key_process(queue, &one, 1) == 1 && one.second_written > 100);
    GOOD(lanelock_key_read_secret(device, secret, one.written, NULL, 0, &key, &error));
    GOOD(lanelock_key_read_public(device, public_half, one.second_written, &other, &error));
    CHECK(lanelock_key_describe(other, &about) == LANELOCK_OK);
    CHECK(about.kind == LANELOCK_KEY_RSA && about.bits == 1024 && about.secret == 0);
    CHECK(lanelock_key_describe(key, &about) == LANELOCK_OK && about.secret == 1);
    CHECK(lanelock_key_read_public(device, secret, 5, &other, &error) == LANELOCK_ERROR_KEY);
    lanelock_key_free(other);
    lanelock_key_session_free(generate);
    return key;
}

static void encryption(const lanelock_key *secret) {
    static const uint32_t schemes[2] = {LANELOCK_SCHEME_RSA_OAEP, LANELOCK_SCHEME_RSA_PKCS1};
    unsigned char sealed[128], opened[128];
    lanelock_key *public_half;
    lanelock_key_op one;
    int i;

    GOOD(lanelock_key_public(device, secret, &public_half, &error));
    for (i = 0; i < 2; i++) {
        lanelock_key_session *encrypt, *decrypt;
        encrypt = prepare(LANELOCK_ENCRYPT, public_half, schemes[i], LANELOCK_SHA1);
        decrypt = prepare(LANELOCK_DECRYPT, secret, schemes[i], LANELOCK_SHA1);
        lanelock_key_op_init(&one, encrypt, "secret", 6, sealed, sizeof sealed);
        CHECK(lanelock_key_process(queue, &one, 1) == 1 && one.written == 128);
        lanelock_key_op_init(&one, decrypt, sealed, 128, opened, sizeof opened);
        CHECK(lanelock_key_process(queue, &one, 1) == 1 && one.written == 6);
        CHECK(memcmp(opened, "secret", 6) == 0);
        lanelock_key_session_free(encrypt);
        lanelock_key_session_free(decrypt);
    }
    lanelock_key_free(public_half);
}

static int readable(int descriptor, int milliseconds) {
    struct pollfd poll_for = {descriptor, POLLIN, 0};
    return poll(&poll_for, 1, milliseconds) == 1;
}

/* Operations that are enqueued, cancelled, polled and dequeued, with a descriptor. */
static void queues(void) {
    lanelock_key_queue_options options = {sizeof options, LANELOCK_KEY_QUEUE_PATIENT, COUNT, 0};
    lanelock_key_stats stats = {sizeof stats, 0, 0, 0, 0, 0, 0};
    lanelock_key *secret = key(LANELOCK_KEY_X25519, message[1], 32, NULL, 0);
    lanelock_key_session *derive = prepare(LANELOCK_DERIVE, secret, 0, 0);
    lanelock_key_session_info info;
    lanelock_key_queue *own;
    lanelock_key_op *pointer[COUNT + 1], extra;
    static const unsigned char peer[32] = {9};
    int descriptor, i;
    uint64_t due;

    options.deadline = UINT64_MAX;
    GOOD(lanelock_key_queue_new(device, &options, &own, &error));
    CHECK(lanelock_key_descriptor(own, &descriptor) == LANELOCK_OK && !readable(descriptor, 0));
    CHECK(lanelock_key_due(own, &due) == LANELOCK_OK && due == UINT64_MAX);
    for (i = 0; i < COUNT; i++) {
        lanelock_key_op_init(&op[i], derive, peer, 32, signature[i], 32);
        op[i].user_data = (uint64_t)i;
        pointer[i] = &op[i];
    }
    extra = op[0];
    pointer[COUNT] = &extra;
    CHECK(lanelock_key_enqueue(own, pointer, 3) == 3 && lanelock_key_in_flight(own) == 3);
    FAILS(UNKNOWN, lanelock_key_enqueue(own, pointer, 1));
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    CHECK(lanelock_key_session_describe(derive, &info) == LANELOCK_OK);
    if (info.lanes > 3) {
        CHECK(lanelock_key_poll(own, 3) == 0 && !readable(descriptor, 0));
    } else {
        CHECK(readable(descriptor, 0));
    }
    CHECK(lanelock_key_cancel(own, &op[1]) == LANELOCK_OK);
    FAILS(UNKNOWN, lanelock_key_cancel(own, &op[1]));
    CHECK(op[1].status == LANELOCK_NOT_PROCESSED);
    CHECK(lanelock_key_flush(own) == 2 && readable(descriptor, 0));
    CHECK(lanelock_key_due(own, &due) == LANELOCK_OK && due == 0);
    memset(pointer, 0, sizeof pointer);
    CHECK(lanelock_key_dequeue(own, pointer, COUNT) == 2 && pointer[1] == &op[2]);
    CHECK(op[2].status == LANELOCK_SUCCESS && op[2].written == 32 && op[2].user_data == 2);
    CHECK(!readable(descriptor, 0) && lanelock_key_dequeue(own, pointer, COUNT) == 0);

    /* As many as fill a batch are due at once. */
    for (i = 0; i < COUNT; i++) {
        lanelock_key_op_rearm(&op[i]);
        pointer[i] = &op[i];
    }
    CHECK(info.lanes <= COUNT);
    CHECK(lanelock_key_enqueue(own, pointer, info.lanes) == (ptrdiff_t)info.lanes);
    CHECK(readable(descriptor, 0) && lanelock_key_poll(own, 0) == (ptrdiff_t)info.lanes);
    CHECK(lanelock_key_dequeue(own, pointer, COUNT) == (ptrdiff_t)info.lanes);
    CHECK(!readable(descriptor, 0));

    /* Full: what there is no room for is untouched; what is refused is finished. */
    op[5].session = NULL, op[6].output_len = 31, op[7].input = NULL;
    for (i = 0; i < COUNT; i++) {
        lanelock_key_op_rearm(&op[i]);
        pointer[i] = &op[i];
    }
    pointer[COUNT] = &extra;
    CHECK(lanelock_key_enqueue(own, pointer, COUNT + 1) == COUNT);
    CHECK(lanelock_key_enqueue(own, &pointer[COUNT], 1) == 0 && readable(descriptor, 0));
    CHECK(lanelock_key_flush(own) == COUNT - 3);
    CHECK(lanelock_key_dequeue(own, pointer, COUNT + 1) == COUNT && lanelock_key_in_flight(own) == 0);
    CHECK(op[5].reason == LANELOCK_REASON_SESSION_NULL && op[5].status == LANELOCK_INVALID_ARGS);
    CHECK(op[6].reason == LANELOCK_KEY_REASON_OUTPUT_TOO_SHORT);
    CHECK(op[7].reason == LANELOCK_REASON_POINTER_NULL);
    CHECK(memcmp(signature[0], signature[23], 32) == 0 && op[23].status == LANELOCK_SUCCESS);
    CHECK(lanelock_key_queue_stats(own, &stats) == LANELOCK_OK);
    CHECK(stats.in_lanes + stats.single == COUNT - 3 + 2 + info.lanes && stats.cancelled == 1);
    /* With operations in it, it may go. */
    CHECK(lanelock_key_enqueue(own, &pointer[COUNT], 1) == 1);
    pointer[COUNT] = &extra;
    CHECK(lanelock_key_queue_free(own) == LANELOCK_OK);

    /* A deadline makes the descriptor readable. */
    options.deadline = 1000, options.depth = 0;
    GOOD(lanelock_key_queue_new(device, &options, &own, &error));
    CHECK(lanelock_key_descriptor(own, &descriptor) == LANELOCK_OK);
    lanelock_key_op_rearm(&extra);
    pointer[0] = &extra;
    CHECK(lanelock_key_enqueue(own, pointer, 1) == 1 && readable(descriptor, -1));
    CHECK(lanelock_key_poll(own, 0) == 1 && lanelock_key_dequeue(own, pointer, 1) == 1);
    CHECK(extra.status == LANELOCK_SUCCESS && !readable(descriptor, 0));
    CHECK(lanelock_key_queue_free(own) == LANELOCK_OK);
    lanelock_key_session_free(derive);
    lanelock_key_free(secret);
}

static void misuse(void) {
    lanelock_key_queue *own;
    lanelock_key_queue_options options = {sizeof options, 4, 0, 0};
    lanelock_key *secret = key(LANELOCK_KEY_X25519, message[1], 32, NULL, 0), *result;
    lanelock_key_session *derive = prepare(LANELOCK_DERIVE, secret, 0, 0), *made;
    lanelock_key_transform transform;
    lanelock_key_parts parts;
    lanelock_key_info about = {15, 0, 0, 0};
    lanelock_key_capability row;
    lanelock_key_session_info info;
    size_t last = (size_t)lanelock_device_engines(device) - 1;
    lanelock_key_stats stats = {0, 0, 0, 0, 0, 0, 0};
    lanelock_key_op one, *pointer = NULL;
    uint64_t due;
    int descriptor;

    memset(&parts, 0, sizeof parts);
    FAILS(SIZE, lanelock_key_new(&parts, &result, &error));
    parts.size = sizeof parts;
    FAILS(UNKNOWN, lanelock_key_new(&parts, &result, &error));
    parts.kind = LANELOCK_KEY_X25519;
    FAILS(LENGTH, lanelock_key_new(&parts, &result, &error));
    CHECK(strstr(error.text, "public key of 0"));
    parts.secret.len = 32;
    FAILS(NULL, lanelock_key_new(&parts, &result, &error));
    parts.kind = LANELOCK_KEY_RSA, parts.secret.len = 0;
    FAILS(LENGTH, lanelock_key_new(&parts, &result, &error));
    FAILS(NULL, lanelock_key_new(&parts, NULL, &error));
    FAILS(NULL, lanelock_key_new(NULL, &result, &error));
    FAILS(NULL, lanelock_key_read_secret(NULL, message[0], 1, NULL, 0, &result, &error));
    FAILS(NULL, lanelock_key_read_secret(device, NULL, 1, NULL, 0, &result, &error));
    FAILS(KEY, lanelock_key_read_secret(device, NULL, 0, NULL, 0, &result, &error));
    FAILS(NULL, lanelock_key_read_secret(device, message[0], 1, NULL, 0, NULL, &error));
    FAILS(NULL, lanelock_key_read_public(NULL, message[0], 1, &result, &error));
    FAILS(NULL, lanelock_key_read_public(device, message[0], 1, NULL, &error));
    FAILS(NULL, lanelock_key_read_public(device, NULL, 1, &result, &error));
    FAILS(NULL, lanelock_key_public(device, NULL, &result, &error));
    FAILS(NULL, lanelock_key_public(NULL, secret, &result, &error));
    FAILS(NULL, lanelock_key_public(device, secret, NULL, &error));
    FAILS(SIZE, lanelock_key_describe(secret, &about));
    FAILS(NULL, lanelock_key_describe(secret, NULL));
    FAILS(NULL, lanelock_key_describe(NULL, &about));
    memset(&row, 0, sizeof row);
    FAILS(SIZE, lanelock_device_key_capability(device, last, 0, &row));
    FAILS(NULL, lanelock_device_key_capability(device, last, 0, NULL));
    FAILS(NULL, lanelock_device_key_capability(NULL, 0, 0, &row));
    FAILS(UNKNOWN, lanelock_device_key_capability(device, 99, 0, &row));
    CHECK(lanelock_key_free(NULL) == LANELOCK_OK && lanelock_key_session_free(NULL) == LANELOCK_OK);

    lanelock_key_transform_init(&transform, LANELOCK_VERIFY, secret, LANELOCK_SCHEME_EDDSA, 0);
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    CHECK(strstr(error.text, "takes a public one"));
    transform.operation = LANELOCK_SIGN;
    FAILS(KEY, lanelock_key_session_new(device, &transform, &made, &error));
    transform.scheme = 99;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.scheme = LANELOCK_SCHEME_ECDSA, transform.hash = LANELOCK_AES_CBC;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.operation = 9;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.operation = LANELOCK_DERIVE;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.scheme = 0, transform.flags = 8;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.flags = 0, transform.engine = "none";
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    transform.key = NULL;
    FAILS(NULL, lanelock_key_session_new(device, &transform, &made, &error));
    transform.operation = LANELOCK_GENERATE;
    FAILS(UNKNOWN, lanelock_key_session_new(device, &transform, &made, &error));
    FAILS(NULL, lanelock_key_session_new(device, NULL, &made, &error));
    FAILS(NULL, lanelock_key_session_new(NULL, &transform, &made, &error));
    FAILS(NULL, lanelock_key_session_new(device, &transform, NULL, &error));
    memset(&info, 0, sizeof info);
    FAILS(SIZE, lanelock_key_session_describe(derive, &info));
    FAILS(NULL, lanelock_key_session_describe(NULL, &info));

    FAILS(UNKNOWN, lanelock_key_queue_new(device, &options, &own, &error));
    options.flags = 0, options.depth = UINT64_MAX;
    FAILS(LENGTH, lanelock_key_queue_new(device, &options, &own, &error));
    options.size = 1;
    FAILS(SIZE, lanelock_key_queue_new(device, &options, &own, &error));
    FAILS(NULL, lanelock_key_queue_new(device, NULL, NULL, &error));
    FAILS(NULL, lanelock_key_queue_new(NULL, NULL, &own, &error));
    CHECK(lanelock_key_queue_free(NULL) == LANELOCK_OK);
    FAILS(NULL, lanelock_key_process(NULL, &one, 1));
    FAILS(NULL, lanelock_key_process(queue, NULL, 1));
    FAILS(NULL, lanelock_key_enqueue(queue, &pointer, 1));
    FAILS(NULL, lanelock_key_enqueue(queue, NULL, 1));
    FAILS(NULL, lanelock_key_enqueue(NULL, &pointer, 1));
    FAILS(NULL, lanelock_key_dequeue(NULL, &pointer, 1));
    FAILS(NULL, lanelock_key_dequeue(queue, NULL, 1));
    FAILS(NULL, lanelock_key_poll(NULL, 0));
    FAILS(NULL, lanelock_key_flush(NULL));
    FAILS(NULL, lanelock_key_in_flight(NULL));
    FAILS(NULL, lanelock_key_cancel(NULL, &one));
    FAILS(UNKNOWN, lanelock_key_cancel(queue, NULL));
    FAILS(NULL, lanelock_key_due(NULL, &due));
    FAILS(NULL, lanelock_key_due(queue, NULL));
    FAILS(NULL, lanelock_key_descriptor(NULL, &descriptor));
    FAILS(NULL, lanelock_key_descriptor(queue, NULL));
    FAILS(SIZE, lanelock_key_queue_stats(queue, &stats));
    FAILS(NULL, lanelock_key_queue_stats(NULL, &stats));
    FAILS(NULL, lanelock_key_queue_stats(queue, NULL));
    CHECK(strstr(lanelock_key_reason(200), "does not know"));

    /* What is read and what is written are not the same memory; a session that was freed. */
    lanelock_key_op_init(&one, derive, message[0], 32, message[0] + 31, 32);
    CHECK(lanelock_key_process(queue, &one, 1) == 0 && one.reason == LANELOCK_REASON_OVERLAP);
    lanelock_key_op_init(&one, derive, message[0], 32, signature[0], 32);
    CHECK(lanelock_key_session_free(derive) == LANELOCK_OK);
    CHECK(lanelock_key_process(queue, &one, 1) == 0 && one.reason == LANELOCK_REASON_SESSION_FREED);
    FAILS(HANDLE, lanelock_key_session_free(derive));
    FAILS(HANDLE, lanelock_key_free((lanelock_key *)queue));
    lanelock_key_free(secret);
}

static void capabilities(void) {
    size_t last = (size_t)lanelock_device_engines(device) - 1, i;
    lanelock_key_capability row;
    int found = 0;

    memset(&row, 0, sizeof row);
    row.size = sizeof row;
    for (i = 0; lanelock_device_key_capability(device, last, i, &row) == LANELOCK_OK; i++) {
        CHECK(row.lanes == 1 && row.name[0]);
        found += row.kind == LANELOCK_KEY_RSA && row.bits == 2048 && row.operation == LANELOCK_SIGN;
    }
    CHECK(i > 20 && found >= 1);
}

int main(void) {
    static const unsigned char scalar[32] = {1, 2, 3};
    lanelock_key *p256, *key_of_rsa;

    device = device_open();
    GOOD(lanelock_key_queue_new(device, NULL, &queue, &error));
    answers();
    p256 = key(LANELOCK_KEY_P256, scalar, 32, NULL, 0);
    signatures(p256, LANELOCK_SCHEME_ECDSA, 0);
    signatures(p256, LANELOCK_SCHEME_ECDSA, LANELOCK_KEY_DIGEST | LANELOCK_KEY_FIXED);
    key_of_rsa = rsa();
    signatures(key_of_rsa, LANELOCK_SCHEME_RSA_PKCS1, 0);
    signatures(key_of_rsa, LANELOCK_SCHEME_RSA_PSS, LANELOCK_KEY_UNBLINDED);
    encryption(key_of_rsa);
    queues();
    misuse();
    capabilities();
    lanelock_key_free(p256);
    lanelock_key_free(key_of_rsa);
    CHECK(lanelock_key_queue_free(queue) == LANELOCK_OK);
    CHECK(lanelock_device_free(device) == LANELOCK_OK);
    puts("keys: all as it should be");
    return 0;
}
