/*
 * lanelock-peer-capi: lanelock through its C library, to be measured against
 * the same engines called from Rust.
 *
 * Operations are filled in anew for each burst, as a program does whose
 * messages come from elsewhere.
 */
#include "bench.h"

#include <lanelock.h>

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BURST = 4096 };

struct engine {
    lanelock_session **sessions;
    uint32_t session_count;
    lanelock_queue_pair *queue;
    void (*fill)(const struct engine *engine, const struct message *m, size_t count);
    uint32_t iv, tag, aad;
    lanelock_op *ops;
    lanelock_op *pointers[MAX_BURST];
};

/*
 * A program knows when it is compiled whether its messages have an IV or a
 * tag and whether they are rewritten in place; so does the loop in Rust.
 */
enum { IN_PLACE, SEPARATE, READ_ONLY };
enum { NO_TAG, COMPUTED, EXPECTED };

static inline __attribute__((always_inline)) void describe(const struct engine *engine,
                                                           const struct message *m, size_t count,
                                                           int place, bool iv, bool aad, int tag)
{
    lanelock_session *const *sessions = engine->sessions;
    const uint32_t iv_len = engine->iv, aad_len = engine->aad, tag_len = engine->tag;
    lanelock_op *op = engine->ops;
    for (const struct message *end = m + count; m != end; m++, op++) {
        const lanelock_session *session = sessions[m->session];
        if (place == READ_ONLY)
            lanelock_op_read_only(op, session, m->in, m->len);
        else if (place == SEPARATE)
            lanelock_op_separate(op, session, m->in, m->len, m->out, m->len);
        else
            lanelock_op_in_place(op, session, m->out, m->len);
        if (iv)
            lanelock_op_iv(op, m->iv, iv_len);
        if (aad)
            lanelock_op_aad(op, m->aad, aad_len);
        if (tag == COMPUTED)
            lanelock_op_tag(op, m->tag, tag_len);
        else if (tag == EXPECTED)
            lanelock_op_expected_tag(op, m->tag, tag_len);
    }
}

#define FORM(place, iv, aad, tag)                                                              \
    static void fill_##place##iv##aad##tag(const struct engine *engine,                         \
                                           const struct message *m, size_t count)               \
    {                                                                                          \
        describe(engine, m, count, place, iv, aad, tag);                                       \
    }
#define FORMS_OF_TAG(place, iv, aad) \
    FORM(place, iv, aad, 0) FORM(place, iv, aad, 1) FORM(place, iv, aad, 2)
#define FORMS_OF(place)                                    \
    FORMS_OF_TAG(place, 0, 0) FORMS_OF_TAG(place, 0, 1)    \
    FORMS_OF_TAG(place, 1, 0) FORMS_OF_TAG(place, 1, 1)
FORMS_OF(0)
FORMS_OF(1)
FORMS_OF(2)

#define NAMES_OF_TAG(place, iv, aad) \
    { fill_##place##iv##aad##0, fill_##place##iv##aad##1, fill_##place##iv##aad##2 }
#define NAMES_OF(place)                                            \
    { { NAMES_OF_TAG(place, 0, 0), NAMES_OF_TAG(place, 0, 1) },    \
      { NAMES_OF_TAG(place, 1, 0), NAMES_OF_TAG(place, 1, 1) } }
static void (*const fills[3][2][2][3])(const struct engine *, const struct message *, size_t) = {
    NAMES_OF(0), NAMES_OF(1), NAMES_OF(2)
};

static bool failed(const struct engine *engine, size_t count, struct reason *why)
{
    for (size_t i = 0; i < count; i++) {
        const lanelock_op *op = &engine->ops[i];
        char text[200] = "";
        if (op->status == LANELOCK_SUCCESS)
            continue;
        lanelock_op_explain(op, text, sizeof text);
        return refuse(why, "operation %zu: status %d %s", i, op->status, text);
    }
    return refuse(why, "the burst was refused");
}

static bool array(struct engine *engine, const struct message *m, size_t count, struct reason *why)
{
    engine->fill(engine, m, count);
    return lanelock_process(engine->queue, engine->ops, count) == (ptrdiff_t)count ||
           failed(engine, count, why);
}

static bool pointers(struct engine *engine, const struct message *m, size_t count,
                     struct reason *why)
{
    engine->fill(engine, m, count);
    return lanelock_process_v(engine->queue, engine->pointers, count) == (ptrdiff_t)count ||
           failed(engine, count, why);
}

static lanelock_device *device(struct reason *why)
{
    static lanelock_device *opened;
    lanelock_error error;
    if (!opened && lanelock_device_open(&opened, &error) != LANELOCK_OK)
        refuse(why, "%s", error.text);
    return opened;
}

static void capi_close(struct engine *engine)
{
    for (uint32_t s = 0; s < engine->session_count; s++)
        lanelock_session_free(engine->sessions[s]);
    lanelock_queue_pair_free(engine->queue);
    free(engine->sessions);
    free(engine->ops);
    free(engine);
}

static enum verdict give_up(struct engine *engine, enum verdict verdict)
{
    capi_close(engine);
    return verdict;
}

static enum verdict capi_open(const struct shape *shape, bool reverse, const struct keys *keys,
                              struct engine **opened, struct reason *why)
{
    lanelock_device *on = device(why);
    lanelock_error error;
    lanelock_transform transform;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!on || !engine)
        return free(engine), FAILED;
    engine->sessions = calloc(shape->sessions, sizeof *engine->sessions);
    engine->ops = aligned_alloc(64, MAX_BURST * sizeof *engine->ops);
    if (!engine->sessions || !engine->ops) {
        refuse(why, "out of memory");
        return give_up(engine, FAILED);
    }
    engine->session_count = shape->sessions;
    int place = shape->spec->kind == MAC || shape->spec->kind == HASH ? READ_ONLY
                : shape->separate                                     ? SEPARATE
                                                                      : IN_PLACE;
    engine->tag = shape->tag;
    engine->aad = shape->aad;
    /* The pool has the counter in front of a bare ChaCha20 nonce. */
    engine->iv = strcmp(shape->spec->name, "chacha20") == 0 ? 16 : shape->iv;
    int tag = !shape->tag ? NO_TAG : reverse ? EXPECTED : COMPUTED;
    engine->fill = fills[place][engine->iv != 0][shape->aad != 0][tag];
    for (size_t i = 0; i < MAX_BURST; i++)
        engine->pointers[i] = &engine->ops[i];
    if (lanelock_queue_pair_new(on, 0, &engine->queue, &error) != LANELOCK_OK) {
        refuse(why, "%s", error.text);
        return give_up(engine, FAILED);
    }

    lanelock_transform_init(&transform, 0, reverse ? LANELOCK_REVERSE : LANELOCK_FORWARD, NULL, 0);
    if (lanelock_transform_name(&transform, shape->spec->name) != LANELOCK_OK) {
        refuse(why, "lanelock has no %s", shape->spec->name);
        return give_up(engine, UNSUPPORTED);
    }
    transform.key_len = shape->key;
    transform.mac_key_len = shape->mac_key;
    transform.iv_len = engine->iv;
    transform.tag_len = shape->tag;
    for (uint32_t s = 0; s < shape->sessions; s++) {
        transform.key = keys->key + (size_t)s * shape->key;
        transform.mac_key = keys->mac_key + (size_t)s * shape->mac_key;
        int made = lanelock_session_new(on, &transform, &engine->sessions[s], &error);
        if (made != LANELOCK_OK) {
            refuse(why, "%s", error.text);
            return give_up(engine, made == LANELOCK_ERROR_UNSUPPORTED ? UNSUPPORTED : FAILED);
        }
    }
    *opened = engine;
    return READY;
}

static const struct route *capi_routes(const struct engine *engine)
{
    static const struct route routes[] = { { "array", array }, { "pointers", pointers }, { 0 } };
    (void)engine;
    return routes;
}

static const char *capi_library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "lanelock %s", lanelock_version());
    return text;
}

int main(void)
{
    static const struct peer peer = { "capi", false, capi_library, capi_open, capi_routes, capi_close };
    return bench_main(&peer);
}
