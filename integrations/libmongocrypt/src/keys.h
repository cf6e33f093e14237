/* Sessions by key, shared by all threads. */
#ifndef KEYS_H
#define KEYS_H

#include "secret.h"
#include <lanelock.h>

/* What a session is for. */
struct purpose {
    uint32_t algorithm;
    uint32_t direction;
};

/* A session with its key. What holders look at does not change; it is freed, and its key wiped, when
 * nobody holds it. */
struct keyed {
    lanelock_session *session;
    struct purpose purpose;
    uint8_t key[KEY_LEN];
    /* Under the lock of keys.c: the table's hold and the threads'. */
    unsigned holds;
};

/* Whether it is for this purpose and this key, in a time that does not depend on the key's bytes. */
static inline bool keyed_is(const struct keyed *keyed, struct purpose purpose,
                            const uint8_t key[KEY_LEN]) {
    return keyed->purpose.algorithm == purpose.algorithm &&
           keyed->purpose.direction == purpose.direction && secret_equal(keyed->key, key);
}

/* Holds the session of this purpose and key, made if there is none; NULL, and an error, if it cannot
 * be made. */
struct keyed *keyed_hold(struct purpose purpose, const uint8_t key[KEY_LEN], lanelock_error *error);

/* Ends a hold; NULL is allowed. */
void keyed_release(struct keyed *keyed);

/* The device, opened if it is not; NULL, and an error, if it cannot be. */
const lanelock_device *device(lanelock_error *error);

#endif
