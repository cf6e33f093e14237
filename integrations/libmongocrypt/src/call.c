#include "call.h"
#include <stdarg.h>
#include <stdio.h>

/* MONGOCRYPT_STATUS_ERROR_CLIENT, and libmongocrypt's own code for errors of a client. */
enum { ERROR_CLIENT = 1, GENERIC_ERROR = 1 };

static lanelock_mongocrypt_status_set *errors;

void lanelock_mongocrypt_errors(lanelock_mongocrypt_status_set *status_set) {
    errors = status_set;
}

bool call_fail(const struct call *call, const char *format, ...) {
    lanelock_mongocrypt_status_set *set = errors;
    char text[640];
    va_list values;
    int start;

    if (call->ctx != NULL) {
        set = (lanelock_mongocrypt_status_set *)(uintptr_t)call->ctx;
    }
    if (set == NULL || call->status == NULL) {
        return false;
    }
    start = snprintf(text, sizeof text, "lanelock: %s: ", call->what);
    va_start(values, format);
    vsnprintf(text + start, sizeof text - (size_t)start, format, values);
    va_end(values);
    set(call->status, ERROR_CLIENT, GENERIC_ERROR, text, -1);
    return false;
}

bool call_begin(struct call *call, const char *what, void *ctx,
                struct _mongocrypt_status_t *status) {
    lanelock_error error;

    call->what = what;
    call->ctx = ctx;
    call->status = status;
    call->thread = thread_existing();
    if (call->thread == NULL) {
        call->thread = thread_current(&error);
    }
    return call->thread != NULL || call_fail(call, "%s", error.text);
}

bool call_run(const struct call *call, lanelock_op *op) {
    char why[512];
    ptrdiff_t done = lanelock_process(call->thread->queue, op, 1);

    if (done == 1) {
        return true;
    }
    if (done < 0) {
        return call_fail(call, "%s", lanelock_strerror((int32_t)done));
    }
    if (lanelock_op_explain(op, why, sizeof why) > 0) {
        return call_fail(call, "%s", why);
    }
    return call_fail(call, "the engine failed");
}
