#include "thread.h"
#include "document.h"
#include <pthread.h>
#include <stdlib.h>

static _Thread_local struct thread *current;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;
static bool prepared;

static void thread_free(void *made) {
    struct thread *thread = made;
    int i;

    current = NULL;
    document_free(thread->document);
    lanelock_queue_pair_free(thread->queue);
    for (i = 0; i < HELD; i++) {
        keyed_release(thread->held[i]);
    }
    free(thread);
}

static void forget_in_child(void) {
    current = NULL;
    pthread_setspecific(at_exit, NULL);
}

static void prepare(void) {
    prepared = pthread_key_create(&at_exit, thread_free) == 0 &&
               pthread_atfork(NULL, NULL, forget_in_child) == 0;
}

static struct thread *thread_new(lanelock_error *error) {
    const lanelock_device *from = device(error);
    struct thread *thread;

    if (from == NULL) {
        return NULL;
    }
    pthread_once(&once, prepare);
    thread = calloc(1, sizeof *thread);
    if (!prepared || thread == NULL || pthread_setspecific(at_exit, thread) != 0) {
        strcpy(error->text, "out of memory");
        free(thread);
        return NULL;
    }
    current = thread;
    if (lanelock_queue_pair_new(from, 0, &thread->queue, error) != LANELOCK_OK) {
        pthread_setspecific(at_exit, NULL);
        thread_free(thread);
        return NULL;
    }
    return thread;
}

struct thread *thread_current(lanelock_error *error) {
    return current != NULL ? current : thread_new(error);
}

struct thread *thread_existing(void) {
    return current;
}

const lanelock_session *thread_session(struct thread *thread, struct purpose purpose,
                                       const uint8_t key[KEY_LEN], lanelock_error *error) {
    size_t i, oldest = 0;
    struct keyed *keyed;

    thread->now++;
    for (i = 0; i < HELD; i++) {
        keyed = thread->held[i];
        if (keyed == NULL) {
            oldest = i;
            break;
        }
        if (keyed_is(keyed, purpose, key)) {
            thread->used[i] = thread->now;
            return keyed->session;
        }
        if (thread->used[i] < thread->used[oldest]) {
            oldest = i;
        }
    }
    keyed = keyed_hold(purpose, key, error);
    if (keyed == NULL) {
        return NULL;
    }
    keyed_release(thread->held[oldest]);
    thread->held[oldest] = keyed;
    thread->used[oldest] = thread->now;
    return keyed->session;
}
