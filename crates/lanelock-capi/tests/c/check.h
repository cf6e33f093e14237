/* What the test programs have in common. */
#ifndef CHECK_H
#define CHECK_H

#include "condition.h"

#include <lanelock.h>

/* A call that succeeds; its last argument is `&error`. */
#define GOOD(call) \
    do { \
        if ((call) != LANELOCK_OK) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, error.text); \
            exit(1); \
        } \
    } while (0)

static lanelock_error error;

static inline lanelock_device *device_open(void) {
    lanelock_device *device;
    GOOD(lanelock_device_open(&device, &error));
    return device;
}

static inline lanelock_queue_pair *queue_pair(const lanelock_device *device, size_t depth) {
    lanelock_queue_pair *queue;
    GOOD(lanelock_queue_pair_new(device, depth, &queue, &error));
    return queue;
}

static inline lanelock_session *session(const lanelock_device *device, uint32_t algorithm,
                                        uint32_t direction, const void *key, size_t key_len) {
    lanelock_transform transform;
    lanelock_session *session;
    lanelock_transform_init(&transform, algorithm, direction, key, key_len);
    GOOD(lanelock_session_new(device, &transform, &session, &error));
    return session;
}

#endif
