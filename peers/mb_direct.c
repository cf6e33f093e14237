/*
 * The direct interfaces of libipsec-mb: one call, or a fixed trio, for one
 * message. They win where the algorithm fills the machine from a single
 * message, since no job has to be written or scheduled.
 */
#include "mb.h"

bool mb_direct_gcm(struct engine *engine, const struct message *m, size_t count, struct reason *why)
{
    for (size_t i = 0; i < count; i++)
        engine->gcm(mb_session(engine, &m[i])->enc, &engine->gcm_context, m[i].out, m[i].in,
                    m[i].len, m[i].iv, m[i].aad, engine->aad, mb_tag(engine, &m[i], i), engine->tag);
    return !engine->reverse || mb_verify(engine, m, count, why);
}

bool mb_direct_gmac(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    struct gcm_context_data *context = &engine->gcm_context;
    for (size_t i = 0; i < count; i++) {
        const struct gcm_key_data *key = mb_session(engine, &m[i])->auth[0];
        engine->gmac_init(key, context, m[i].iv, engine->iv);
        engine->gmac_update(key, context, m[i].in, m[i].len);
        engine->gmac_finalize(key, context, mb_tag(engine, &m[i], i), engine->tag);
    }
    return !engine->reverse || mb_verify(engine, m, count, why);
}

bool mb_direct_chacha_poly(struct engine *engine, const struct message *m, size_t count,
                           struct reason *why)
{
    IMB_MGR *manager = engine->manager;
    struct chacha20_poly1305_context_data *context = &engine->chacha_context;
    for (size_t i = 0; i < count; i++) {
        const void *key = mb_session(engine, &m[i])->enc;
        IMB_CHACHA20_POLY1305_INIT(manager, key, context, m[i].iv, m[i].aad, engine->aad);
        if (engine->reverse)
            IMB_CHACHA20_POLY1305_DEC_UPDATE(manager, key, context, m[i].out, m[i].in, m[i].len);
        else
            IMB_CHACHA20_POLY1305_ENC_UPDATE(manager, key, context, m[i].out, m[i].in, m[i].len);
        IMB_CHACHA20_POLY1305_ENC_FINALIZE(manager, context, mb_tag(engine, &m[i], i), engine->tag);
    }
    return !engine->reverse || mb_verify(engine, m, count, why);
}

bool mb_direct_hash(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    (void)why;
    for (size_t i = 0; i < count; i++)
        engine->digest(m[i].in, m[i].len, m[i].tag);
    return true;
}
