/* Queue pairs. What is enqueued waits in a ring; what is dequeued runs first, with all that waits. */
#include "asym.h"
#include "mbuf.h"
#include "ring.h"

#include <rte_security.h>
#include <rte_security_driver.h>

#include <errno.h>

/* Operations to the one whose memory is fetched. */
enum { AHEAD = 6 };

/* One thread enqueues and one dequeues: what each writes has cache lines of its own. */
struct queue {
    struct ring waiting;
    uint8_t driver;

    uint64_t enqueued __rte_cache_aligned;
    uint64_t refused;

    uint64_t dequeued __rte_cache_aligned;
    uint64_t failed;
    /* Finished, and more than the dequeuing thread wanted. */
    struct rte_crypto_op *done[BURST];
    uint32_t done_at, done_end;
    /* By operation of the burst. */
    struct rte_crypto_op *asked[BURST];
    struct burst burst;
    /* Of operations that brought none. Each operation makes one at most between two runs. */
    struct session loose[BURST];
    uint32_t loose_count;
    bool checks_crc; /* of some operation of the burst */
    struct asym_burst *keys;
    bool keys_wait;
};

static __rte_noinline void check_crc(struct queue *queue)
{
    for (uint32_t i = 0; i < queue->burst.count; i++) {
        struct rte_crypto_op *op = queue->asked[i];
        if (op->sess_type != RTE_CRYPTO_OP_SECURITY_SESSION ||
            op->status != RTE_CRYPTO_OP_STATUS_SUCCESS)
            continue;
        const struct session *session = SECURITY_GET_SESS_PRIV((void *)op->sym->session);
        if (session->flags & SESSION_CHECKS_CRC && !docsis_matches(op)) {
            op->status = RTE_CRYPTO_OP_STATUS_AUTH_FAILED;
            queue->failed++;
        }
    }
    queue->checks_crc = false;
}

static inline void run_burst(struct queue *queue)
{
    struct burst *burst = &queue->burst;
    if (likely(!burst_run(burst))) {
        for (uint32_t i = 0; i < burst->count; i++)
            queue->asked[i]->status = RTE_CRYPTO_OP_STATUS_SUCCESS;
    } else {
        for (uint32_t i = 0; i < burst->count; i++) {
            queue->asked[i]->status = status_of(burst->ops[i].status);
            queue->failed += burst->ops[i].status != LANELOCK_SUCCESS;
        }
    }
    if (unlikely(queue->checks_crc))
        check_crc(queue);
    burst_reset(burst);
}

/* Runs what is in the burst, and drops sessions of operations that brought none, also of those that did
 * not get into it. */
static void run(struct queue *queue)
{
    if (likely(queue->burst.count))
        run_burst(queue);
    for (; unlikely(queue->loose_count); queue->loose_count--)
        session_drop(&queue->loose[queue->loose_count - 1]);
}

/* The session of an operation that brings one of rte_security's, or what one is made of. */
static __rte_noinline const struct session *other_session(struct queue *queue,
                                                          const struct rte_crypto_op *op)
{
    void *generic = (void *)op->sym->session;
    if (op->sess_type == RTE_CRYPTO_OP_SECURITY_SESSION)
        return generic ? SECURITY_GET_SESS_PRIV(generic) : NULL;
    if (op->sess_type != RTE_CRYPTO_OP_SESSIONLESS)
        return NULL;
    struct session *loose = &queue->loose[queue->loose_count];
    if (!op->sym->xform || session_prepare(loose, op->sym->xform) != 0)
        return NULL;
    queue->loose_count++;
    return loose;
}

/* The session of an operation, prepared now if it brings none; NULL if there is none. */
static inline const struct session *session_of(struct queue *queue, const struct rte_crypto_op *op)
{
    const struct rte_cryptodev_sym_session *generic = (const void *)op->sym->session;
    if (unlikely(op->sess_type != RTE_CRYPTO_OP_WITH_SESSION))
        return other_session(queue, op);
    return likely(generic && generic->driver_id == queue->driver)
               ? (const struct session *)generic->driver_priv_data
               : NULL;
}

static inline void read_message(struct rte_crypto_op *op, const struct session *session,
                                struct message *message)
{
    const struct rte_crypto_sym_op *sym = op->sym;
    const uint8_t *iv = rte_crypto_op_ctod_offset(op, const uint8_t *, session->iv_offset);
    *message = (struct message){ .iv = iv + session->iv_skip };
    if (session->shape == SHAPE_AEAD) {
        message->cipher = (struct extent){ sym->aead.data.offset, sym->aead.data.length };
        if (session->aad_len && sym->aead.aad.data)
            message->aad = sym->aead.aad.data + session->aad_skip;
        message->digest = sym->aead.digest.data;
        return;
    }
    message->cipher = (struct extent){ sym->cipher.data.offset, sym->cipher.data.length };
    message->auth = (struct extent){ sym->auth.data.offset, sym->auth.data.length };
    message->digest = sym->auth.digest.data;
}

/* What an operation that did not get into the burst has become, or that it is to try again once the
 * burst has run. */
enum added { ADDED, FINISHED, FULL };

static __rte_noinline enum added finish(struct queue *queue, struct rte_crypto_op *op,
                                       enum rte_crypto_op_status status)
{
    op->status = (uint8_t)status;
    queue->failed += status != RTE_CRYPTO_OP_STATUS_SUCCESS;
    return FINISHED;
}

static __rte_always_inline enum added add(struct queue *queue, struct rte_crypto_op *op)
{
    struct burst *burst = &queue->burst;
    struct rte_mbuf *from = op->sym->m_src, *to = op->sym->m_dst;
    const struct session *session = session_of(queue, op);
    if (unlikely(!session))
        return finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_SESSION);
    if (unlikely(!from))
        return finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
    bool separate = to && to != from;

    struct message message;
    read_message(op, session, &message);
    if (unlikely(session->flags & SESSION_COPIES) && separate &&
        !mbuf_copy(from, to, message.cipher))
        return finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
    if (unlikely(session->shape == SHAPE_NULL))
        return finish(queue, op, RTE_CRYPTO_OP_STATUS_SUCCESS);
    if (unlikely(session->flags & SESSION_CRC)) {
        if (!docsis_begin(op, session))
            return finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
        if (!message.cipher.len)
            return finish(queue, op, docsis_matches(op) ? RTE_CRYPTO_OP_STATUS_SUCCESS
                                                        : RTE_CRYPTO_OP_STATUS_AUTH_FAILED);
        queue->checks_crc |= session->flags & SESSION_CHECKS_CRC;
    }

    struct extent whole = session_range(session, &message);
    separate = separate && session->shape != SHAPE_AUTH;
    uint32_t pieces = burst->pieces;
    struct run input = mbuf_place(burst, from, whole), output = { 0 };
    if (separate)
        output = mbuf_place(burst, to, message.cipher);
    if (likely(input.base && (!separate || output.base))) {
        queue->asked[burst->count] = op;
        burst_add(burst, session, &message, whole, input, output);
        return ADDED;
    }
    burst->pieces = pieces;
    uint32_t wanted = from->nb_segs + (separate ? to->nb_segs : 0u);
    if (wanted <= burst->room - pieces)
        return finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
    return FULL;
}

/* More pieces than the list has room for: that comes back when the burst has run, and grows for one
 * operation of very many. */
static __rte_noinline void add_later(struct queue *queue, struct rte_crypto_op *op)
{
    run(queue);
    uint32_t wanted = op->sym->m_src->nb_segs + (op->sym->m_dst ? op->sym->m_dst->nb_segs : 0u);
    if (!burst_grow(&queue->burst, wanted) || add(queue, op) == FULL)
        finish(queue, op, RTE_CRYPTO_OP_STATUS_ERROR);
}

static __rte_noinline void take_other(struct queue *queue, struct rte_crypto_op *op)
{
    if (op->type != RTE_CRYPTO_OP_TYPE_ASYMMETRIC) {
        finish(queue, op, RTE_CRYPTO_OP_STATUS_INVALID_ARGS);
        return;
    }
    if (asym_add(&queue->keys, op, queue->driver))
        queue->keys_wait = true;
    else
        queue->failed += op->status != RTE_CRYPTO_OP_STATUS_SUCCESS;
}

/* Adds an operation to the burst, or finishes it. */
static __rte_always_inline void take(struct queue *queue, struct rte_crypto_op *op)
{
    if (unlikely(op->type != RTE_CRYPTO_OP_TYPE_SYMMETRIC))
        take_other(queue, op);
    else if (unlikely(add(queue, op) == FULL))
        add_later(queue, op);
}

/* Runs as many operations as wait and fit into a burst; they are `ops`. */
static inline uint32_t run_waiting(struct queue *queue, struct rte_crypto_op **ops)
{
    uint32_t count = ring_take(&queue->waiting, ops, BURST);
    for (uint32_t i = 0; i < RTE_MIN(count, (uint32_t)AHEAD); i++)
        rte_prefetch0(ops[i]);
    for (uint32_t i = 0; i < count; i++) {
        if (i + AHEAD < count) {
            rte_prefetch0(ops[i + AHEAD]);
            rte_prefetch0(ops[i + AHEAD / 2]->sym->m_src);
        }
        take(queue, ops[i]);
    }
    if (likely(count))
        run(queue);
    if (unlikely(queue->keys_wait)) {
        queue->failed += asym_run(queue->keys);
        queue->keys_wait = false;
    }
    return count;
}

uint16_t queue_enqueue(void *opaque, struct rte_crypto_op **ops, uint16_t count)
{
    struct queue *queue = opaque;
    uint32_t taken = ring_put(&queue->waiting, ops, count);
    queue->enqueued += taken;
    queue->refused += count - taken;
    return (uint16_t)taken;
}

uint16_t queue_dequeue(void *opaque, struct rte_crypto_op **ops, uint16_t count)
{
    struct queue *queue = opaque;
    uint32_t taken = 0;
    while (taken < count) {
        if (queue->done_at < queue->done_end) {
            uint32_t more = RTE_MIN(queue->done_end - queue->done_at, (uint32_t)count - taken);
            memcpy(ops + taken, queue->done + queue->done_at, more * sizeof *ops);
            queue->done_at += more;
            taken += more;
            continue;
        }
        /* A caller with room for a burst has it there; others leave what they do not want. */
        if (count - taken >= BURST) {
            uint32_t more = run_waiting(queue, ops + taken);
            taken += more;
            if (!more)
                break;
            continue;
        }
        queue->done_at = 0;
        queue->done_end = run_waiting(queue, queue->done);
        if (!queue->done_end)
            break;
    }
    queue->dequeued += taken;
    return (uint16_t)taken;
}

int queue_setup(struct rte_cryptodev *dev, uint16_t id, const struct rte_cryptodev_qp_conf *conf,
                int socket)
{
    queue_release(dev, id);
    struct queue *queue = rte_zmalloc_socket("lanelock", sizeof *queue, RTE_CACHE_LINE_SIZE, socket);
    if (!queue)
        return -ENOMEM;
    dev->data->queue_pairs[id] = queue;
    queue->driver = dev->driver_id;
    uint32_t places = rte_align32pow2(conf->nb_descriptors);
    queue->waiting.capacity = conf->nb_descriptors;
    queue->waiting.mask = places - 1;
    queue->waiting.places = rte_zmalloc_socket("lanelock", places * sizeof *queue->waiting.places,
                                               RTE_CACHE_LINE_SIZE, socket);
    if (queue->waiting.places && burst_init(&queue->burst) == 0)
        return 0;
    DRIVER_LOG(ERR, "queue pair %u: cannot be set up", id);
    queue_release(dev, id);
    return -ENOMEM;
}

int queue_release(struct rte_cryptodev *dev, uint16_t id)
{
    struct queue *queue = dev->data->queue_pairs[id];
    if (!queue)
        return 0;
    dev->data->queue_pairs[id] = NULL;
    rte_free(queue->waiting.places);
    burst_free(&queue->burst);
    asym_burst_free(queue->keys);
    rte_free(queue);
    return 0;
}

void queue_stats(struct rte_cryptodev *dev, struct rte_cryptodev_stats *stats)
{
    for (uint16_t id = 0; id < dev->data->nb_queue_pairs; id++) {
        const struct queue *queue = dev->data->queue_pairs[id];
        if (!queue)
            continue;
        stats->enqueued_count += queue->enqueued;
        stats->enqueue_err_count += queue->refused;
        stats->dequeued_count += queue->dequeued;
        stats->dequeue_err_count += queue->failed;
    }
}

void queue_stats_reset(struct rte_cryptodev *dev)
{
    for (uint16_t id = 0; id < dev->data->nb_queue_pairs; id++) {
        struct queue *queue = dev->data->queue_pairs[id];
        if (queue)
            queue->enqueued = queue->refused = queue->dequeued = queue->failed = 0;
    }
}
