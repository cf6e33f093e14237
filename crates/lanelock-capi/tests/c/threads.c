/* One session on many threads; a queue that two threads use; what debug builds of the library find. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, OPS = 64, ROUNDS = 50 };

static lanelock_device *device;
static lanelock_session *shared;
static unsigned char wanted[OPS][48];

static void burst(unsigned char (*data)[48]) {
    static const unsigned char iv[16];
    lanelock_op ops[OPS];
    lanelock_queue_pair *queue = queue_pair(device, 0);
    int i, round;

    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < OPS; i++) {
            memset(data[i], i, 48);
            lanelock_op_in_place(&ops[i], shared, data[i], 48);
            lanelock_op_iv(&ops[i], iv, 16);
        }
        CHECK(lanelock_process(queue, ops, OPS) == OPS);
    }
    CHECK(lanelock_queue_pair_free(queue) == LANELOCK_OK);
}

static void *own_queue(void *unused) {
    unsigned char data[OPS][48];
    (void)unused;
    burst(data);
    CHECK(memcmp(data, wanted, sizeof data) == 0);
    return NULL;
}

static lanelock_queue_pair *contended;
static int found;

static void *second(void *unused) {
    (void)unused;
    while (!__atomic_load_n(&found, __ATOMIC_ACQUIRE)) {
        if (lanelock_in_flight(contended) == LANELOCK_ERROR_BUSY) {
            __atomic_store_n(&found, 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

/* The first thread may find the second one, too. */
static void two_threads(void) {
    static unsigned char data[1 << 20];
    pthread_t thread;
    unsigned char digest[64];
    lanelock_session *hash = session(device, LANELOCK_SHA512, LANELOCK_FORWARD, NULL, 0);
    lanelock_op op;

    contended = queue_pair(device, 0);
    lanelock_op_read_only(&op, hash, data, sizeof data);
    lanelock_op_tag(&op, digest, sizeof digest);
    CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
    while (!__atomic_load_n(&found, __ATOMIC_ACQUIRE)) {
        ptrdiff_t done;
        lanelock_op_rearm(&op);
        done = lanelock_process(contended, &op, 1);
        CHECK(done == 1 || (done == LANELOCK_ERROR_BUSY && op.status == LANELOCK_NOT_PROCESSED));
    }
    CHECK(pthread_join(thread, NULL) == 0);
    lanelock_op_rearm(&op);
    CHECK(lanelock_process(contended, &op, 1) == 1);
    CHECK(lanelock_queue_pair_free(contended) == LANELOCK_OK);
    CHECK(lanelock_process(contended, &op, 1) == LANELOCK_ERROR_HANDLE);
    contended = queue_pair(device, 0);
    CHECK(lanelock_session_free(hash) == LANELOCK_OK);
    lanelock_op_rearm(&op);
    CHECK(lanelock_process(contended, &op, 1) == 0 && op.reason == LANELOCK_REASON_SESSION_FREED);
    CHECK(lanelock_queue_pair_free(contended) == LANELOCK_OK);
}

int main(void) {
    pthread_t threads[THREADS];
    int i;

    device = device_open();
    shared = session(device, LANELOCK_AES_CTR, LANELOCK_FORWARD, "0123456789abcdef", 16);
    burst(wanted);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, own_queue, NULL) == 0);
    }
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    two_threads();
    CHECK(lanelock_session_free(shared) == LANELOCK_OK);
    CHECK(lanelock_device_free(device) == LANELOCK_OK);
    puts("threads: all as it should be");
    return 0;
}
