/* Known answers, and every form of an operation against the plain one. */
#include "check.h"

enum { COUNT = 300, LENGTH = 80 };

static lanelock_device *device;
static lanelock_queue_pair *queue;
static const unsigned char zeros[64];

static void answers(void) {
    static const unsigned char gcm[32] = {
        0x03, 0x88, 0xda, 0xce, 0x60, 0xb6, 0xa3, 0x92, 0xf3, 0x28, 0xc2, 0xb9, 0x71, 0xb2, 0xfe, 0x78,
        0xab, 0x6e, 0x47, 0xd4, 0x2c, 0xec, 0x13, 0xbd, 0xf5, 0x3a, 0x67, 0xb2, 0x12, 0x57, 0xbd, 0xdf,
    };
    static const unsigned char sha256[32] = {
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
        0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
    };
    static const unsigned char hmac[32] = {
        0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
        0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43,
    };
    static const unsigned char kmac[32] = {
        0x3b, 0x1f, 0xba, 0x96, 0x3c, 0xd8, 0xb0, 0xb5, 0x9e, 0x8c, 0x1a, 0x6d, 0x71, 0x88, 0x8b, 0x71,
        0x43, 0x65, 0x1a, 0xf8, 0xba, 0x0a, 0x70, 0x70, 0xc0, 0x97, 0x9e, 0x28, 0x11, 0x32, 0x4a, 0xa5,
    };
    unsigned char data[16] = {0}, tag[32], key[32];
    lanelock_op op;
    lanelock_transform transform;
    int i;
    lanelock_session *aead = session(device, LANELOCK_AES_GCM, LANELOCK_FORWARD, zeros, 16);
    lanelock_session *hash = session(device, LANELOCK_SHA256, LANELOCK_FORWARD, NULL, 0);
    lanelock_session *mac = session(device, LANELOCK_HMAC_SHA256, LANELOCK_FORWARD, "Jefe", 4);

    /* The second test case of the GCM specification. */
    lanelock_op_in_place(&op, aead, data, sizeof data);
    lanelock_op_iv(&op, zeros, 12);
    lanelock_op_tag(&op, tag, 16);
    CHECK(lanelock_process(queue, &op, 1) == 1 && op.status == LANELOCK_SUCCESS);
    CHECK(memcmp(data, gcm, 16) == 0 && memcmp(tag, gcm + 16, 16) == 0);
    /* FIPS 180-4 and RFC 4231, 4.3. */
    lanelock_op_read_only(&op, hash, "abc", 3);
    lanelock_op_tag(&op, tag, 32);
    CHECK(lanelock_process(queue, &op, 1) == 1 && memcmp(tag, sha256, 32) == 0);
    lanelock_op_read_only(&op, mac, "what do ya want for nothing?", 28);
    lanelock_op_tag(&op, tag, 32);
    CHECK(lanelock_process(queue, &op, 1) == 1 && memcmp(tag, hmac, 32) == 0);

    lanelock_session_free(mac);
    /* NIST's sample 2 of KMAC. */
    for (i = 0; i < 32; i++)
        key[i] = (unsigned char)(0x40 + i);
    lanelock_transform_init(&transform, LANELOCK_KMAC128, LANELOCK_FORWARD, key, sizeof key);
    transform.customization = (const uint8_t *)"My Tagged Application";
    transform.customization_len = 21;
    CHECK(lanelock_session_new(device, &transform, &mac, &error) == LANELOCK_OK);
    lanelock_op_read_only(&op, mac, "\0\1\2\3", 4);
    lanelock_op_tag(&op, tag, 32);
    CHECK(lanelock_process(queue, &op, 1) == 1 && memcmp(tag, kmac, 32) == 0);

    lanelock_session_free(aead);
    lanelock_session_free(hash);
    lanelock_session_free(mac);
}

static unsigned char plain[COUNT][LENGTH], wanted[COUNT][LENGTH], wanted_tag[COUNT][16];
static unsigned char data[COUNT][LENGTH], tag[COUNT][16], iv[COUNT][12];
static lanelock_op op[COUNT];

static void same_as_wanted(int line) {
    int i;
    for (i = 0; i < COUNT; i++) {
        if (op[i].status != LANELOCK_SUCCESS || memcmp(data[i], wanted[i], LENGTH) != 0 ||
            memcmp(tag[i], wanted_tag[i], 16) != 0) {
            char text[200];
            lanelock_op_explain(&op[i], text, sizeof text);
            fprintf(stderr, "symmetric.c:%d: operation %d: status %d %s\n", line, i, op[i].status,
                    text);
            exit(1);
        }
    }
}

static void parts(int i) {
    lanelock_op_iv(&op[i], iv[i], 12);
    lanelock_op_aad(&op[i], "header", 6);
    lanelock_op_tag(&op[i], tag[i], 16);
}

/* Every form gives what operations give alone. */
static void forms(void) {
    lanelock_session *seal = session(device, LANELOCK_AES_GCM, LANELOCK_FORWARD, "0123456789abcdef", 16);
    lanelock_session *open = session(device, LANELOCK_AES_GCM, LANELOCK_REVERSE, "0123456789abcdef", 16);
    lanelock_op *pointer[COUNT];
    struct iovec in[COUNT][3], out[COUNT][2];
    int i;

    for (i = 0; i < COUNT; i++) {
        memset(plain[i], i, LENGTH);
        iv[i][0] = (unsigned char)i, iv[i][1] = (unsigned char)(i >> 8);
        memcpy(wanted[i], plain[i], LENGTH);
        lanelock_op_in_place(&op[i], seal, wanted[i], LENGTH);
        parts(i);
        lanelock_op_tag(&op[i], wanted_tag[i], 16);
        CHECK(lanelock_process(queue, &op[i], 1) == 1);
    }

    /* In place. A second time, operations that have a status are left alone. */
    for (i = 0; i < COUNT; i++) {
        memcpy(data[i], plain[i], LENGTH);
        lanelock_op_in_place(&op[i], seal, data[i], LENGTH);
        parts(i);
    }
    CHECK(lanelock_process(queue, op, COUNT) == COUNT);
    same_as_wanted(__LINE__);
    CHECK(lanelock_process(queue, op, COUNT) == 0);
    same_as_wanted(__LINE__);

    /* A separate output, and an array of pointers with some that are not there. */
    memset(data, 0, sizeof data), memset(tag, 0, sizeof tag);
    for (i = 0; i < COUNT; i++) {
        lanelock_op_separate(&op[i], seal, plain[i], LENGTH, data[i], LENGTH);
        parts(i);
        pointer[COUNT - 1 - i] = i % 100 == 50 ? NULL : &op[i];
    }
    CHECK(lanelock_process_v(queue, pointer, COUNT) == COUNT - 3);
    CHECK(op[50].status == LANELOCK_NOT_PROCESSED && op[250].status == LANELOCK_NOT_PROCESSED);
    CHECK(lanelock_process(queue, op, COUNT) == 3);
    same_as_wanted(__LINE__);

    /* Segments that are split differently, one of them empty. */
    memset(data, 0, sizeof data), memset(tag, 0, sizeof tag);
    for (i = 0; i < COUNT; i++) {
        in[i][0].iov_base = plain[i], in[i][0].iov_len = (size_t)(i % 81);
        in[i][1].iov_base = NULL, in[i][1].iov_len = 0;
        in[i][2].iov_base = plain[i] + i % 81, in[i][2].iov_len = (size_t)(80 - i % 81);
        out[i][0].iov_base = data[i], out[i][0].iov_len = 37;
        out[i][1].iov_base = data[i] + 37, out[i][1].iov_len = LENGTH - 37;
        lanelock_op_separate_v(&op[i], seal, in[i], 3, out[i], 2);
        parts(i);
    }
    CHECK(lanelock_process(queue, op, COUNT) == COUNT);
    same_as_wanted(__LINE__);
    memcpy(data, plain, sizeof data), memset(tag, 0, sizeof tag);
    for (i = 0; i < COUNT; i++) {
        lanelock_op_in_place_v(&op[i], seal, out[i], 2);
        parts(i);
    }
    CHECK(lanelock_process(queue, op, COUNT) == COUNT);
    same_as_wanted(__LINE__);

    /* Of segments into one run, and back. */
    memset(data, 0, sizeof data), memset(tag, 0, sizeof tag);
    for (i = 0; i < COUNT; i++) {
        lanelock_op_separate(&op[i], seal, in[i], 0, data[i], LENGTH);
        op[i].input_segments = 3;
        parts(i);
    }
    CHECK(lanelock_process(queue, op, COUNT) == COUNT);
    same_as_wanted(__LINE__);

    /* Enqueued: as many as there is room for, and in order. */
    memcpy(data, plain, sizeof data), memset(tag, 0, sizeof tag);
    for (i = 0; i < COUNT; i++) {
        lanelock_op_in_place(&op[i], seal, data[i], LENGTH);
        parts(i);
        op[i].user_data = (uint64_t)i;
        pointer[i] = &op[i];
    }
    CHECK(lanelock_enqueue(queue, pointer, COUNT) == 200 && lanelock_in_flight(queue) == 200);
    CHECK(lanelock_enqueue(queue, pointer + 200, 1) == 0);
    memset(pointer, 0, sizeof pointer);
    CHECK(lanelock_dequeue(queue, pointer, 150) == 150);
    for (i = 0; i < 150; i++) {
        CHECK(pointer[i] == &op[i] && pointer[i]->user_data == (uint64_t)i);
    }
    CHECK(op[199].status == LANELOCK_SUCCESS && op[200].status == LANELOCK_NOT_PROCESSED);
    for (i = 200; i < COUNT; i++) {
        pointer[i] = &op[i];
    }
    CHECK(lanelock_enqueue(queue, pointer + 200, 100) == 100);
    CHECK(lanelock_dequeue(queue, pointer + 150, COUNT) == 150 && pointer[299] == &op[299]);
    CHECK(lanelock_in_flight(queue) == 0 && lanelock_dequeue(queue, pointer, 9) == 0);
    same_as_wanted(__LINE__);

    /* Back again, with one that is forged and one that has no session. */
    tag[5][0] ^= 1;
    for (i = 0; i < COUNT; i++) {
        lanelock_op_in_place(&op[i], i == 260 ? NULL : open, data[i], LENGTH);
        parts(i);
        lanelock_op_expected_tag(&op[i], tag[i], 16);
    }
    CHECK(lanelock_process(queue, op, COUNT) == COUNT - 2);
    CHECK(op[5].status == LANELOCK_AUTH_FAILED && op[260].status == LANELOCK_INVALID_ARGS);
    for (i = 0; i < COUNT; i++) {
        CHECK(i == 260 || (memcmp(data[i], plain[i], LENGTH) == 0) == (i != 5));
    }
    CHECK(op[260].reason == LANELOCK_REASON_SESSION_NULL);
    CHECK(memcmp(data[260], wanted[260], LENGTH) == 0);
    lanelock_session_free(seal);
    lanelock_session_free(open);
}

/* A packet of ESP: header, IV, payload, tag, in all the ways to say so. */
static void chains(void) {
    enum { HEADER = 8, IV = 16, PAYLOAD = 64, TAG = 12, ALL = HEADER + IV + PAYLOAD + TAG };
    unsigned char packet[5][ALL], original[ALL], key[16] = "a cipher's key!", mac_key[20] = "a MAC's key";
    lanelock_transform transform;
    lanelock_session *protect, *undo;
    lanelock_op chain[5];
    struct iovec segments[2];
    int i;

    lanelock_transform_init_chain(&transform, LANELOCK_ENCRYPT_THEN_MAC, LANELOCK_FORWARD,
                                  LANELOCK_AES_CBC, key, sizeof key, LANELOCK_HMAC_SHA1, mac_key,
                                  sizeof mac_key);
    transform.tag_len = TAG;
    GOOD(lanelock_session_new(device, &transform, &protect, &error));
    transform.direction = LANELOCK_REVERSE;
    GOOD(lanelock_session_new(device, &transform, &undo, &error));

    for (i = 0; i < ALL; i++) {
        original[i] = (unsigned char)i;
    }
    for (i = 0; i < 5; i++) {
        memcpy(packet[i], original, ALL);
        if (i == 4) {
            segments[0].iov_base = packet[i], segments[0].iov_len = 30;
            segments[1].iov_base = packet[i] + 30, segments[1].iov_len = ALL - 30;
            lanelock_op_in_place_v(&chain[i], protect, segments, 2);
        } else {
            lanelock_op_in_place(&chain[i], protect, packet[i], ALL - (i == 0 ? TAG : 0));
        }
        lanelock_op_cipher_range(&chain[i], HEADER + IV, PAYLOAD);
        lanelock_op_auth_range(&chain[i], 0, HEADER + IV + PAYLOAD);
        /* Pointers into the packet, and offsets. */
        if (i == 1 || i == 3) {
            lanelock_op_iv_at(&chain[i], HEADER);
        } else {
            lanelock_op_iv(&chain[i], packet[i] + HEADER, IV);
        }
        if (i == 2 || i == 3) {
            lanelock_op_tag_at(&chain[i], ALL - TAG);
        } else {
            lanelock_op_tag(&chain[i], packet[i] + ALL - TAG, TAG);
        }
    }
    CHECK(lanelock_process(queue, chain, 5) == 5);
    for (i = 1; i < 5; i++) {
        CHECK(memcmp(packet[i], packet[0], ALL) == 0);
    }
    CHECK(memcmp(packet[0], original, HEADER + IV) == 0);
    CHECK(memcmp(packet[0] + HEADER + IV, original + HEADER + IV, PAYLOAD) != 0);
    for (i = 0; i < 5; i++) {
        chain[i].session = undo;
        lanelock_op_rearm(&chain[i]);
    }
    packet[3][0] ^= 1;
    CHECK(lanelock_process(queue, chain, 5) == 4 && chain[3].status == LANELOCK_AUTH_FAILED);
    CHECK(memcmp(packet[0], original, ALL - TAG) == 0 && memcmp(packet[4], original, ALL - TAG) == 0);
    lanelock_session_free(protect);
    lanelock_session_free(undo);
}

/* What overlaps is refused unless it is the same bytes, and nothing is touched then. */
static void overlaps(void) {
    unsigned char memory[200], before[200];
    lanelock_session *seal = session(device, LANELOCK_AES_GCM, LANELOCK_FORWARD, zeros, 16);
    lanelock_session *mac = session(device, LANELOCK_HMAC_SHA1, LANELOCK_FORWARD, zeros, 16);
    lanelock_op bad[7];
    int i;

    for (i = 0; i < 200; i++) {
        before[i] = memory[i] = (unsigned char)i;
    }
    for (i = 0; i < 5; i++) {
        lanelock_op_in_place(&bad[i], seal, memory, 64);
        lanelock_op_iv(&bad[i], zeros, 12);
        lanelock_op_tag(&bad[i], memory + 100, 16);
    }
    lanelock_op_separate(&bad[0], seal, memory, 64, memory + 8, 64);
    lanelock_op_iv(&bad[0], zeros, 12);
    lanelock_op_tag(&bad[0], memory + 100, 16);
    lanelock_op_iv(&bad[1], memory + 60, 12);
    lanelock_op_aad(&bad[2], memory + 63, 4);
    lanelock_op_tag(&bad[3], memory + 50, 16);
    lanelock_op_iv(&bad[4], memory + 110, 12);
    lanelock_op_read_only(&bad[5], mac, memory, 64);
    lanelock_op_tag(&bad[5], memory + 60, 20);
    lanelock_op_separate(&bad[6], seal, memory, 64, memory + 120, 64);
    lanelock_op_iv(&bad[6], zeros, 12);
    lanelock_op_tag(&bad[6], memory + 180, 16);
    CHECK(lanelock_process(queue, bad, 7) == 0);
    for (i = 0; i < 7; i++) {
        char text[100];
        CHECK(bad[i].status == LANELOCK_INVALID_ARGS);
        CHECK(bad[i].reason == LANELOCK_REASON_BUFFER_OVERLAP);
        CHECK(lanelock_op_explain(&bad[i], text, sizeof text) > 20 && strstr(text, "overlap"));
    }
    CHECK(memcmp(memory, before, sizeof memory) == 0);

    /* A separate output that is the input. */
    lanelock_op_separate(&bad[0], seal, memory, 64, memory, 64);
    lanelock_op_iv(&bad[0], zeros, 12);
    lanelock_op_tag(&bad[0], memory + 100, 16);
    lanelock_op_in_place(&bad[1], seal, before, 64);
    lanelock_op_iv(&bad[1], zeros, 12);
    lanelock_op_tag(&bad[1], before + 100, 16);
    CHECK(lanelock_process(queue, bad, 2) == 2 && memcmp(memory, before, sizeof memory) == 0);
    lanelock_session_free(seal);
    lanelock_session_free(mac);
}

static void statistics(void) {
    lanelock_stats stats = {sizeof stats, 0, 0, 0};
    lanelock_engine_stats row;
    uint64_t succeeded = 0, refused;
    lanelock_engine engine;
    size_t i;

    CHECK(lanelock_queue_pair_stats(queue, &stats) == LANELOCK_OK && stats.bursts > 10);
    refused = stats.refused;
    CHECK(refused == 7 && (ptrdiff_t)stats.engines == lanelock_device_engines(device));
    for (i = 0; i < stats.engines; i++) {
        memset(&row, 0, sizeof row), memset(&engine, 0, sizeof engine);
        row.size = sizeof row, engine.size = sizeof engine;
        CHECK(lanelock_queue_pair_engine_stats(queue, i, &row) == LANELOCK_OK);
        CHECK(lanelock_device_engine(device, i, &engine) == LANELOCK_OK);
        CHECK(strcmp(row.name, engine.name) == 0 && engine.capabilities > 0 && engine.version[0]);
        succeeded += row.by_status[LANELOCK_SUCCESS];
    }
    CHECK(succeeded > 7 * COUNT);
}

static void capabilities(void) {
    lanelock_engine engine = {sizeof engine, 0, {0}, {0}};
    lanelock_capability row = {sizeof row, 0, 0, 0, {{0, 0, 0}}, {{0, 0, 0}}, {{0, 0, 0}}, 0, 0};
    ptrdiff_t engines = lanelock_device_engines(device);
    size_t last = (size_t)engines - 1, i;
    int found = 0;

    CHECK(lanelock_device_engine(device, last, &engine) == LANELOCK_OK);
    CHECK(strcmp(engine.name, "openssl") == 0 && strstr(engine.version, "OpenSSL"));
    for (i = 0; i < engine.capabilities; i++) {
        CHECK(lanelock_device_capability(device, last, i, &row) == LANELOCK_OK);
        if (row.algorithm == LANELOCK_AES_CBC) {
            CHECK(row.block == 16 && row.key[0].min == 16 && row.iv[0].max == 16);
            CHECK(row.features & LANELOCK_CAPABILITY_CHAINS && row.max_aad == 0);
            found++;
        }
        if (row.algorithm == LANELOCK_AES_GCM) {
            CHECK(row.tag[0].min == 4 && row.tag[0].max == 16 && row.max_aad == 1 << 20);
            found++;
        }
    }
    CHECK(found == 2);
}

static void names(void) {
    lanelock_transform transform;
    lanelock_session_info info;
    lanelock_session *made;

    lanelock_transform_init(&transform, 0, LANELOCK_FORWARD, zeros, 0);
    transform.mac_key = zeros + 20;
    transform.engine = "openssl";
    CHECK(lanelock_transform_name(&transform, "aes-128-cbc+hmac-sha1") == LANELOCK_OK);
    CHECK(transform.algorithm == LANELOCK_AES_CBC && transform.mac == LANELOCK_HMAC_SHA1);
    CHECK(transform.order == LANELOCK_ENCRYPT_THEN_MAC);
    CHECK(transform.key_len == 16 && transform.mac_key_len == 20 && transform.key == zeros);
    GOOD(lanelock_session_new(device, &transform, &made, &error));
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    CHECK(lanelock_session_describe(made, &info) == LANELOCK_OK);
    CHECK(info.iv_len == 16 && info.tag_len == 20 && info.block == 16 && info.memory > 36);
    CHECK(strcmp(info.engine, "openssl") == 0 && strcmp(info.name, "aes-128-cbc+hmac-sha1") == 0);
    lanelock_session_free(made);
}

int main(void) {
    CHECK(lanelock_abi_version() == LANELOCK_ABI_VERSION && strchr(lanelock_version(), '.'));
    device = device_open();
    queue = queue_pair(device, 200);
    answers();
    forms();
    chains();
    overlaps();
    statistics();
    capabilities();
    names();
    CHECK(lanelock_queue_pair_free(queue) == LANELOCK_OK);
    CHECK(lanelock_device_free(device) == LANELOCK_OK);
    puts("symmetric: all as it should be");
    return 0;
}
