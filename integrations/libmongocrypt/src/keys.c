#include "keys.h"
#include <pthread.h>
#include <stdlib.h>

/* The table holds this many; what threads hold beyond that is theirs alone. */
enum { SHARED = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. The one that was held longest ago is at the end. */
static struct keyed *shared[SHARED];
static lanelock_device *opened;

/* What the parent has made is not the child's to use, and stays as it is. */
static void forget_in_child(void) {
    pthread_mutex_init(&lock, NULL);
    memset(shared, 0, sizeof shared);
    opened = NULL;
}

const lanelock_device *device(lanelock_error *error) {
    pthread_mutex_lock(&lock);
    if (opened == NULL && lanelock_device_open(&opened, error) == LANELOCK_OK) {
        static bool prepared;
        if (!prepared) {
            prepared = pthread_atfork(NULL, NULL, forget_in_child) == 0;
        }
    }
    pthread_mutex_unlock(&lock);
    return opened;
}

static void keyed_free(struct keyed *keyed) {
    lanelock_session_free(keyed->session);
    explicit_bzero(keyed, sizeof *keyed);
    free(keyed);
}

static struct keyed *keyed_new(struct purpose purpose, const uint8_t key[KEY_LEN],
                               lanelock_error *error) {
    const lanelock_device *from = device(error);
    struct keyed *keyed;
    lanelock_transform transform;

    if (from == NULL) {
        return NULL;
    }
    keyed = calloc(1, sizeof *keyed);
    if (keyed == NULL) {
        strcpy(error->text, "out of memory");
        return NULL;
    }
    lanelock_transform_init(&transform, purpose.algorithm, purpose.direction, key,
                            purpose.algorithm == LANELOCK_SHA256 ? 0 : KEY_LEN);
    if (lanelock_session_new(from, &transform, &keyed->session, error) != LANELOCK_OK) {
        free(keyed);
        return NULL;
    }
    keyed->purpose = purpose;
    memcpy(keyed->key, key, KEY_LEN);
    keyed->holds = 1;
    return keyed;
}

/* Under the lock: puts it first in the table, in the place of the one at `from`. */
static void put_first(struct keyed *keyed, size_t from) {
    memmove(shared + 1, shared, from * sizeof *shared);
    shared[0] = keyed;
}

static struct keyed *find(struct purpose purpose, const uint8_t key[KEY_LEN]) {
    struct keyed *found = NULL;
    size_t i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < SHARED && shared[i] != NULL; i++) {
        if (keyed_is(shared[i], purpose, key)) {
            found = shared[i];
            found->holds++;
            put_first(found, i);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Sessions are made outside of the lock: two threads that see a key for the first time may each make
 * one. */
struct keyed *keyed_hold(struct purpose purpose, const uint8_t key[KEY_LEN], lanelock_error *error) {
    struct keyed *keyed = find(purpose, key), *last;

    if (keyed != NULL) {
        return keyed;
    }
    keyed = keyed_new(purpose, key, error);
    if (keyed == NULL) {
        return NULL;
    }
    pthread_mutex_lock(&lock);
    keyed->holds++;
    last = shared[SHARED - 1];
    put_first(keyed, SHARED - 1);
    pthread_mutex_unlock(&lock);
    keyed_release(last);
    return keyed;
}

void keyed_release(struct keyed *keyed) {
    unsigned holds;

    if (keyed == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    holds = --keyed->holds;
    pthread_mutex_unlock(&lock);
    if (holds == 0) {
        keyed_free(keyed);
    }
}
