/* Every function with arguments that are wrong: each says so, and none crashes. */
#include "check.h"

#define FAILS(code_, call) CHECK((call) == LANELOCK_ERROR_##code_)

static lanelock_device *device;
static lanelock_queue_pair *queue;
static const unsigned char key[32] = "a key that is long enough or not";

/* A call that fails and says why, and leaves the place of its result alone. */
#define REFUSES(code_, text_, call) \
    do { \
        memset(&error, 0, sizeof error); \
        result = untouched; \
        CHECK((call) == LANELOCK_ERROR_##code_); \
        CHECK(error.code == LANELOCK_ERROR_##code_ && result == untouched); \
        if (!strstr(error.text, text_)) { \
            fprintf(stderr, "misuse.c:%d: said '%s'\n", __LINE__, error.text); \
            exit(1); \
        } \
    } while (0)

static void devices(void) {
    lanelock_engine engine = {sizeof engine, 0, {0}, {0}};
    lanelock_capability row;

    FAILS(NULL, lanelock_device_open(NULL, &error));
    CHECK(strstr(error.text, "device: NULL") && error.code == LANELOCK_ERROR_NULL);
    FAILS(NULL, lanelock_device_open(NULL, NULL));
    CHECK(lanelock_device_free(NULL) == LANELOCK_OK);
    FAILS(NULL, lanelock_device_engines(NULL));
    FAILS(NULL, lanelock_device_engine(NULL, 0, &engine));
    FAILS(NULL, lanelock_device_engine(device, 0, NULL));
    FAILS(UNKNOWN, lanelock_device_engine(device, 99, &engine));
    FAILS(UNKNOWN, lanelock_device_engine(device, SIZE_MAX, &engine));
    engine.size = 127;
    FAILS(SIZE, lanelock_device_engine(device, 0, &engine));
    CHECK(engine.name[0] == 0);
    memset(&row, 0, sizeof row);
    FAILS(SIZE, lanelock_device_capability(device, 0, 0, &row));
    row.size = sizeof row;
    FAILS(UNKNOWN, lanelock_device_capability(device, 0, 9999, &row));
    FAILS(UNKNOWN, lanelock_device_capability(device, 99, 0, &row));
    FAILS(NULL, lanelock_device_capability(NULL, 0, 0, &row));
    FAILS(NULL, lanelock_device_capability(device, 0, 0, NULL));
    CHECK(strstr(lanelock_strerror(LANELOCK_ERROR_SIZE), "size"));
    CHECK(strstr(lanelock_strerror(4711), "does not know"));
}

static void sessions(void) {
    lanelock_session *const untouched = (lanelock_session *)(uintptr_t)64;
    lanelock_session *result;
    lanelock_session_info info;
    lanelock_transform t;

    lanelock_transform_init(&t, LANELOCK_AES_GCM, LANELOCK_FORWARD, key, 16);
    REFUSES(NULL, "device: NULL", lanelock_session_new(NULL, &t, &result, &error));
    REFUSES(NULL, "lanelock_transform: NULL", lanelock_session_new(device, NULL, &result, &error));
    REFUSES(NULL, "session: NULL", lanelock_session_new(device, &t, NULL, &error));
    FAILS(NULL, lanelock_session_new(device, NULL, &result, NULL));
    t.size = 8;
    REFUSES(SIZE, "size 8", lanelock_session_new(device, &t, &result, &error));
    t.size = sizeof t;
    t.key_len = 15;
    REFUSES(LENGTH, "key of 15 bytes; allowed: 16, 24 or 32",
            lanelock_session_new(device, &t, &result, &error));
    t.key_len = SIZE_MAX;
    REFUSES(NULL, "key", lanelock_session_new(device, &t, &result, &error));
    t.key_len = 16, t.key = NULL;
    REFUSES(NULL, "key: NULL", lanelock_session_new(device, &t, &result, &error));
    t.key = key, t.direction = 0;
    REFUSES(UNKNOWN, "direction 0", lanelock_session_new(device, &t, &result, &error));
    t.direction = LANELOCK_REVERSE, t.algorithm = 0x7777;
    REFUSES(UNKNOWN, "algorithm 0x7777", lanelock_session_new(device, &t, &result, &error));
    t.algorithm = LANELOCK_AES_CBC, t.mac = LANELOCK_HMAC_SHA1;
    REFUSES(UNKNOWN, "order 0", lanelock_session_new(device, &t, &result, &error));
    t.mac = 0, t.tag_len = 17, t.algorithm = LANELOCK_AES_GCM;
    REFUSES(LENGTH, "tag of 17 bytes", lanelock_session_new(device, &t, &result, &error));
    t.tag_len = 0, t.iv_len = 1000;
    REFUSES(LENGTH, "IV of 1000 bytes", lanelock_session_new(device, &t, &result, &error));
    t.iv_len = 0, t.engine = "none";
    REFUSES(UNKNOWN, "none", lanelock_session_new(device, &t, &result, &error));
    t.engine = "\xff";
    REFUSES(UNKNOWN, "UTF-8", lanelock_session_new(device, &t, &result, &error));
    t.engine = NULL, t.customization = key, t.customization_len = 1;
    REFUSES(LENGTH, "customization string of 1 bytes; allowed: 0",
            lanelock_session_new(device, &t, &result, &error));
    t.customization = NULL;
    REFUSES(NULL, "customization string: NULL", lanelock_session_new(device, &t, &result, &error));
    /* A program that was built before these fields were there. */
    t.size = 72, t.reserved = 1;
    REFUSES(UNKNOWN, "reserved", lanelock_session_new(device, &t, &result, &error));
    t.size = sizeof t, t.customization_len = 0;
    REFUSES(UNKNOWN, "reserved", lanelock_session_new(device, &t, &result, &error));
    lanelock_transform_init(&t, LANELOCK_SHA256, LANELOCK_REVERSE, NULL, 0);
    REFUSES(UNSUPPORTED, "digest", lanelock_session_new(device, &t, &result, &error));
    lanelock_transform_init(&t, LANELOCK_AES_XTS, LANELOCK_FORWARD, "0123456789abcdef0123456789abcdef", 32);
    REFUSES(KEY, "halves", lanelock_session_new(device, &t, &result, &error));

    FAILS(NULL, lanelock_transform_name(NULL, "aes-128-gcm"));
    FAILS(NULL, lanelock_transform_name(&t, NULL));
    FAILS(UNKNOWN, lanelock_transform_name(&t, "aes-129-gcm"));
    CHECK(t.algorithm == LANELOCK_AES_XTS);
    memset(&info, 0, sizeof info);
    info.size = sizeof info;
    FAILS(NULL, lanelock_session_describe(NULL, &info));
    CHECK(lanelock_session_free(NULL) == LANELOCK_OK);
}

static void handles(void) {
    lanelock_session *made = session(device, LANELOCK_AES_CTR, LANELOCK_FORWARD, key, 16);
    lanelock_device *second = device_open();
    lanelock_session_info info = {sizeof info, 0, 0, 0, 0, 0, {0}, {0}};

    FAILS(HANDLE, lanelock_device_free((lanelock_device *)made));
    FAILS(HANDLE, lanelock_session_free((lanelock_session *)queue));
    FAILS(HANDLE, lanelock_session_free((lanelock_session *)&info));
    FAILS(HANDLE, lanelock_device_engines((lanelock_device *)made));
    CHECK(lanelock_session_free(made) == LANELOCK_OK);
    FAILS(HANDLE, lanelock_session_free(made));
    FAILS(HANDLE, lanelock_session_describe(made, &info));
    CHECK(lanelock_device_free(second) == LANELOCK_OK);
    FAILS(HANDLE, lanelock_device_free(second));
    FAILS(HANDLE, lanelock_device_engines(second));
}

/* Refuses one operation for this reason, before and after one that is not refused. */
static void refused(lanelock_op *op, uint8_t reason, const char *said, int line) {
    static unsigned char data[16], tag[16];
    static lanelock_session *good;
    lanelock_op ops[3];
    char text[300] = "";
    ptrdiff_t length;

    if (!good) {
        good = session(device, LANELOCK_AES_GCM, LANELOCK_FORWARD, key, 16);
    }
    lanelock_op_in_place(&ops[0], good, data, sizeof data);
    lanelock_op_iv(&ops[0], key, 12);
    lanelock_op_tag(&ops[0], tag, sizeof tag);
    ops[2] = ops[0];
    ops[1] = *op;
    CHECK(lanelock_process(queue, ops, 3) == 2);
    CHECK(ops[0].status == LANELOCK_SUCCESS && ops[2].status == LANELOCK_SUCCESS);
    length = lanelock_op_explain(&ops[1], text, sizeof text);
    if (ops[1].status != LANELOCK_INVALID_ARGS || ops[1].reason != reason || !strstr(text, said) ||
        length != (ptrdiff_t)strlen(text)) {
        fprintf(stderr, "misuse.c:%d: status %d, reason %d: '%s'\n", line, ops[1].status,
                ops[1].reason, text);
        exit(1);
    }
}
#define REFUSED(reason, said) refused(&op, LANELOCK_REASON_##reason, said, __LINE__)

static void operations(void) {
    lanelock_session *seal = session(device, LANELOCK_AES_GCM, LANELOCK_FORWARD, key, 16);
    lanelock_session *cbc = session(device, LANELOCK_AES_CBC, LANELOCK_FORWARD, key, 16);
    lanelock_device *other = device_open();
    lanelock_session *foreign = session(other, LANELOCK_AES_GCM, LANELOCK_FORWARD, key, 16);
    unsigned char data[64] = {0}, tag[16];
    struct iovec segments[2] = {{NULL, 8}, {data, 8}};
    lanelock_op op, plain, *pointer = &op;
    char text[8] = "1234567";

    lanelock_op_in_place(&plain, seal, data, sizeof data);
    lanelock_op_iv(&plain, key, 12);
    lanelock_op_tag(&plain, tag, sizeof tag);

    op = plain, op.session = NULL;
    REFUSED(SESSION_NULL, "session: NULL");
    op = plain, op.session = foreign;
    REFUSED(FOREIGN_SESSION, "different device");
    op = plain, op.input = NULL;
    REFUSED(POINTER_NULL, "NULL");
    op = plain, op.iv = NULL;
    REFUSED(POINTER_NULL, "NULL");
    op = plain, op.tag = NULL;
    REFUSED(POINTER_NULL, "NULL");
    op = plain, op.aad_len = 1;
    REFUSED(POINTER_NULL, "NULL");
    op = plain, op.input_len = UINT32_MAX, op.input = data;
    REFUSED(TOO_LARGE, "4 GiB");
    op = plain, op.flags = 0x8000;
    REFUSED(FLAGS, "0x8000");
    op = plain, op.flags = LANELOCK_OP_SEPARATE | LANELOCK_OP_READ_ONLY;
    REFUSED(FLAGS, "exclude");
    op = plain, op.iv_len = 13;
    REFUSED(IV_LENGTH, "13 bytes given; the session was made for 12");
    op = plain, op.iv_len = 0;
    REFUSED(IV_MISSING, "12 bytes");
    op = plain, op.tag_len = 15;
    REFUSED(TAG_LENGTH, "15 bytes given");
    op = plain, op.tag_len = 0;
    REFUSED(TAG_MISSING, "16");
    op = plain;
    lanelock_op_expected_tag(&op, tag, 16);
    REFUSED(TAG_READ_ONLY, "read-only");
    op = plain;
    lanelock_op_cipher_range(&op, 32, 33);
    REFUSED(CIPHER_RANGE, "32..65");
    op = plain;
    lanelock_op_cipher_range(&op, UINT32_MAX, SIZE_MAX);
    REFUSED(CIPHER_RANGE, "input has 64");
    op = plain;
    lanelock_op_output_at(&op, 4);
    REFUSED(OUTPUT_OFFSET, "offset 4");
    op = plain;
    lanelock_op_iv_at(&op, 60);
    REFUSED(IV_RANGE, "offset 60");
    op = plain;
    lanelock_op_aad_at(&op, 60, SIZE_MAX);
    REFUSED(AAD_RANGE, "additional data");
    op = plain;
    lanelock_op_tag_at(&op, 60);
    REFUSED(TAG_RANGE, "offset 60");
    op = plain, op.input = segments, op.input_segments = 2;
    REFUSED(POINTER_NULL, "NULL");
    op = plain, op.input = NULL, op.input_segments = 2;
    REFUSED(POINTER_NULL, "segments");
    op = plain, op.input = (char *)segments + 1, op.input_segments = 1;
    REFUSED(ALIGNMENT, "8 bytes");
    lanelock_op_separate(&op, seal, data, 16, NULL, 16);
    REFUSED(POINTER_NULL, "NULL");
    lanelock_op_separate(&op, seal, data, 16, tag, 15);
    lanelock_op_iv(&op, key, 12);
    REFUSED(OUTPUT_TOO_SHORT, "15 bytes");
    lanelock_op_read_only(&op, seal, data, 16);
    REFUSED(OUTPUT_MISSING, "read-only");
    lanelock_op_in_place(&op, cbc, data, 17);
    lanelock_op_iv(&op, key, 16);
    REFUSED(BLOCK_MULTIPLE, "17 bytes");

    /* The whole call. */
    op = plain;
    FAILS(NULL, lanelock_process(NULL, &op, 1));
    FAILS(NULL, lanelock_process(queue, NULL, 1));
    CHECK(lanelock_process(queue, NULL, 0) == 0 && lanelock_process(queue, &op, 0) == 0);
    FAILS(ALIGNMENT, lanelock_process(queue, (lanelock_op *)(void *)((char *)&op + 1), 1));
    FAILS(NULL, lanelock_process_v(NULL, &pointer, 1));
    FAILS(NULL, lanelock_process_v(queue, NULL, 1));
    pointer = (lanelock_op *)(void *)((char *)&op + 4);
    CHECK(lanelock_process_v(queue, &pointer, 1) == 0);
    FAILS(ALIGNMENT, lanelock_enqueue(queue, &pointer, 1));
    pointer = NULL;
    CHECK(lanelock_process_v(queue, &pointer, 1) == 0);
    FAILS(NULL, lanelock_enqueue(queue, &pointer, 1));
    FAILS(NULL, lanelock_enqueue(NULL, &pointer, 1));
    FAILS(NULL, lanelock_enqueue(queue, NULL, 1));
    FAILS(NULL, lanelock_dequeue(NULL, &pointer, 1));
    FAILS(NULL, lanelock_dequeue(queue, NULL, 1));
    FAILS(NULL, lanelock_in_flight(NULL));
    CHECK(op.status == LANELOCK_NOT_PROCESSED && lanelock_in_flight(queue) == 0);

    /* Sentences. */
    FAILS(NULL, lanelock_op_explain(NULL, text, sizeof text));
    CHECK(lanelock_op_explain(&op, text, sizeof text) == 0 && text[0] == 0);
    op.status = LANELOCK_INVALID_ARGS, op.reason = LANELOCK_REASON_SESSION_NULL;
    CHECK(lanelock_op_explain(&op, text, sizeof text) == 13 && strcmp(text, "session") == 0);
    CHECK(lanelock_op_explain(&op, NULL, 0) == 13 && lanelock_op_explain(&op, NULL, 9) == 13);
    op.reason = 99;
    CHECK(lanelock_op_explain(&op, text, sizeof text) == 18);

    lanelock_session_free(seal);
    lanelock_session_free(cbc);
    lanelock_session_free(foreign);
    lanelock_device_free(other);
}

static void queues(void) {
    lanelock_queue_pair *const untouched = (lanelock_queue_pair *)(uintptr_t)64;
    lanelock_queue_pair *result;
    lanelock_stats stats = {sizeof stats, 0, 0, 0};
    lanelock_engine_stats row;

    REFUSES(NULL, "device", lanelock_queue_pair_new(NULL, 0, &result, &error));
    REFUSES(NULL, "queue pair", lanelock_queue_pair_new(device, 0, NULL, &error));
    REFUSES(LENGTH, "depth", lanelock_queue_pair_new(device, SIZE_MAX, &result, &error));
    CHECK(lanelock_queue_pair_free(NULL) == LANELOCK_OK);
    FAILS(NULL, lanelock_queue_pair_stats(NULL, &stats));
    FAILS(NULL, lanelock_queue_pair_stats(queue, NULL));
    stats.size = 23;
    FAILS(SIZE, lanelock_queue_pair_stats(queue, &stats));
    memset(&row, 0, sizeof row);
    FAILS(SIZE, lanelock_queue_pair_engine_stats(queue, 0, &row));
    row.size = sizeof row;
    FAILS(UNKNOWN, lanelock_queue_pair_engine_stats(queue, 99, &row));
    FAILS(NULL, lanelock_queue_pair_engine_stats(NULL, 0, &row));
    FAILS(NULL, lanelock_queue_pair_engine_stats(queue, 0, NULL));
    result = queue_pair(device, 0);
    CHECK(lanelock_queue_pair_free(result) == LANELOCK_OK);
    FAILS(HANDLE, lanelock_queue_pair_free(result));
    FAILS(HANDLE, lanelock_queue_pair_stats(result, &stats));
}

int main(void) {
    device = device_open();
    queue = queue_pair(device, 4);
    devices();
    sessions();
    handles();
    queues();
    operations();
    CHECK(lanelock_queue_pair_free(queue) == LANELOCK_OK);
    CHECK(lanelock_device_free(device) == LANELOCK_OK);
    puts("misuse: all as it should be");
    return 0;
}
