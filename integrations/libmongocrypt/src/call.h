/* One call of a hook: its thread, and the text of its error. */
#ifndef CALL_H
#define CALL_H

#include "lanelock_mongocrypt_hooks.h"
#include "thread.h"

/* libmongocrypt's view of some bytes. */
struct _mongocrypt_binary_t {
    void *data;
    uint32_t len;
};

struct call {
    /* What the error text begins with. */
    const char *what;
    void *ctx;
    struct _mongocrypt_status_t *status;
    /* Not NULL once the call has begun. */
    struct thread *thread;
};

/* Finds the thread; false, with an error in the status, if it cannot be made. */
bool call_begin(struct call *call, const char *what, void *ctx,
                struct _mongocrypt_status_t *status);

/* Sets the status, and returns false. */
bool call_fail(const struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs an operation; false, with an error in the status, if it does not succeed. */
bool call_run(const struct call *call, lanelock_op *op);

#endif
