/* What a thread has of its own. */
#ifndef THREAD_H
#define THREAD_H

#include "keys.h"

struct document;

/* Room for the sessions that a thread holds: two of each data key that is in use. */
enum { HELD = 16 };

struct thread {
    lanelock_queue_pair *queue;
    /* Sessions, and when each was used last. */
    struct keyed *held[HELD];
    uint64_t used[HELD];
    uint64_t now;
    /* The document that is being decrypted, or memory for the next; NULL before the first. */
    struct document *document;
};

/* This thread's, made at its first call; NULL, and an error, if it cannot be made. */
struct thread *thread_current(lanelock_error *error);

/* The same if it was made, or else NULL. */
struct thread *thread_existing(void);

/* The session of this purpose and key, which stays until the next call; NULL, and an error, if it
 * cannot be made. */
const lanelock_session *thread_session(struct thread *thread, struct purpose purpose,
                                       const uint8_t key[KEY_LEN], lanelock_error *error);

#endif
