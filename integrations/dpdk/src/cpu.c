/* The synchronous call: one session, and no queue pair. Each thread has a burst of its own. */
#include "burst.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t of_thread;

static void forget(void *burst)
{
    burst_free(burst);
    free(burst);
}

static void make_key(void)
{
    pthread_key_create(&of_thread, forget);
}

static struct burst *thread_burst(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static __thread struct burst *burst;
    if (likely(burst))
        return burst;
    pthread_once(&once, make_key);
    struct burst *made = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof *made);
    if (!made || burst_init(made) != 0 || pthread_setspecific(of_thread, made) != 0) {
        free(made);
        return NULL;
    }
    return burst = made;
}

static uint64_t length(const struct rte_crypto_sgl *pieces)
{
    uint64_t len = 0;
    for (uint32_t i = 0; i < pieces->num; i++)
        len += pieces->vec[i].len;
    return len;
}

/* A range of a message in pieces; nothing if the message is shorter, or the list has no room. */
static struct run place(struct burst *burst, const struct rte_crypto_sgl *pieces, struct extent range)
{
    uint32_t i = 0, at = range.at, left = range.len, first = burst->pieces;
    while (i < pieces->num && at >= pieces->vec[i].len && left)
        at -= pieces->vec[i++].len;
    if (i < pieces->num && (uint64_t)at + left <= pieces->vec[i].len)
        return (struct run){ .base = (uint8_t *)pieces->vec[i].base + at, .len = left };
    for (; i < pieces->num && left; i++, at = 0) {
        uint32_t len = RTE_MIN(left, pieces->vec[i].len - at);
        if (burst->pieces == burst->room)
            return (struct run){ 0 };
        if (!len)
            continue;
        burst->list[burst->pieces++] = (struct iovec){
            .iov_base = (uint8_t *)pieces->vec[i].base + at,
            .iov_len = len,
        };
        left -= len;
    }
    return left ? (struct run){ 0 } : burst_listed(burst, first);
}

/* What the message has between `head` and `tail`; false if they meet. */
static bool between(uint64_t len, uint16_t head, uint16_t tail, struct extent *extent)
{
    if ((uint32_t)head + tail > len || len > UINT32_MAX)
        return false;
    *extent = (struct extent){ head, (uint32_t)len - head - tail };
    return true;
}

static bool add(struct burst *burst, const struct session *session, union rte_crypto_sym_ofs ranges,
                const struct rte_crypto_sym_vec *vec, uint32_t i)
{
    const struct rte_crypto_sgl *from = &vec->src_sgl[i], *to = vec->dest_sgl ? &vec->dest_sgl[i] : NULL;
    uint64_t len = length(from);
    struct message message = { 0 };
    if (session->shape != SHAPE_AUTH &&
        !between(len, ranges.ofs.cipher.head, ranges.ofs.cipher.tail, &message.cipher))
        return false;
    if ((session->shape == SHAPE_AUTH || session->shape == SHAPE_CHAIN) &&
        !between(len, ranges.ofs.auth.head, ranges.ofs.auth.tail, &message.auth))
        return false;
    if (session->iv_len && vec->iv[i].va)
        message.iv = (const uint8_t *)vec->iv[i].va + session->iv_skip;
    if (session->digest_len)
        message.digest = vec->digest[i].va;
    if (session->aad_len && vec->aad[i].va)
        message.aad = (const uint8_t *)vec->aad[i].va + session->aad_skip;
    struct extent whole = session_range(session, &message);
    bool separate = to && session->shape != SHAPE_AUTH;
    struct run input = place(burst, from, whole), output = { 0 };
    if (separate)
        output = place(burst, to, message.cipher);
    if (!input.base || (separate && !output.base))
        return false;
    burst_add(burst, session, &message, whole, input, output);
    return true;
}

static int32_t errno_of(const lanelock_op *op)
{
    switch (op->status) {
    case LANELOCK_SUCCESS:
        return 0;
    case LANELOCK_AUTH_FAILED:
        return EBADMSG;
    case LANELOCK_INVALID_ARGS:
        return EINVAL;
    default:
        return EIO;
    }
}

static uint32_t run(struct burst *burst, const uint32_t *index, int32_t *status)
{
    uint32_t succeeded = 0;
    if (burst->count)
        burst_run(burst);
    for (uint32_t i = 0; i < burst->count; i++) {
        status[index[i]] = errno_of(&burst->ops[i]);
        succeeded += status[index[i]] == 0;
    }
    burst_reset(burst);
    return succeeded;
}

/* Room in the list for one more message; the burst runs if it has none. */
static bool reserve(struct burst *burst, const struct rte_crypto_sym_vec *vec, uint32_t i)
{
    uint32_t wanted = vec->src_sgl[i].num + (vec->dest_sgl ? vec->dest_sgl[i].num : 0);
    return burst->count < BURST && wanted <= burst->room - burst->pieces;
}

uint32_t cpu_process(struct rte_cryptodev *dev, struct rte_cryptodev_sym_session *generic,
                     union rte_crypto_sym_ofs ranges, struct rte_crypto_sym_vec *vec)
{
    const struct session *session = CRYPTODEV_GET_SYM_SESS_PRIV(generic);
    struct burst *burst = thread_burst();
    uint32_t index[BURST], succeeded = 0;
    int32_t refused = !burst ? ENOMEM
                      : session->shape == SHAPE_NULL || session->flags & SESSION_COPIES ? ENOTSUP
                                                                                         : 0;
    if (generic->driver_id != dev->driver_id)
        refused = EINVAL;
    for (uint32_t i = 0; i < vec->num; i++) {
        if (refused) {
            vec->status[i] = refused;
            continue;
        }
        if (!reserve(burst, vec, i)) {
            succeeded += run(burst, index, vec->status);
            uint32_t most = vec->src_sgl[i].num + (vec->dest_sgl ? vec->dest_sgl[i].num : 0);
            if (!burst_grow(burst, most)) {
                vec->status[i] = ENOMEM;
                continue;
            }
        }
        uint32_t pieces = burst->pieces;
        index[burst->count] = i;
        if (!add(burst, session, ranges, vec, i)) {
            burst->pieces = pieces;
            vec->status[i] = EINVAL;
        }
    }
    return burst ? succeeded + run(burst, index, vec->status) : 0;
}
