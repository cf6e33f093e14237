/* Operations of lanelock, made from those of cryptodev, that run together. */
#ifndef LANELOCK_DPDK_BURST_H
#define LANELOCK_DPDK_BURST_H

#include "driver.h"

enum {
    BURST = 64,
    LONGEST_IV = 16,
    LONGEST_DIGEST = 64,
};

/* Bytes of a message, or a list of pieces of it. */
struct run {
    void *base;        /* the bytes, or an array of struct iovec; NULL for none */
    uint32_t len;      /* not looked at if there are segments */
    uint32_t segments; /* 0 for bytes */
};

struct extent {
    uint32_t at, len;
};

/* What one operation works on, in offsets of the message. */
struct message {
    struct extent cipher, auth;
    const uint8_t *iv, *aad;
    uint8_t *digest;
};

struct burst {
    lanelock_op ops[BURST] __rte_cache_aligned;
    /* By operation: an IV that the driver had to write, a digest that it has to compare, and with
     * which. */
    uint8_t iv[BURST][LONGEST_IV];
    uint8_t digest[BURST][LONGEST_DIGEST];
    const uint8_t *expected[BURST];
    uint32_t count;
    bool compares; /* whether any has a digest that is expected */
    uint32_t pieces, room;
    struct iovec *list; /* of all of them */
    lanelock_queue_pair *queue;
};

/* 0, or a negative errno. */
int burst_init(struct burst *burst);
void burst_free(struct burst *burst);

/* Makes room in the list for an operation of so many pieces. The burst is empty. */
bool burst_grow(struct burst *burst, uint32_t pieces);

/* Runs the operations; each has its status. False if every one succeeded. */
bool burst_run(struct burst *burst);

static inline void burst_reset(struct burst *burst)
{
    burst->count = 0;
    burst->pieces = 0;
    burst->compares = false;
}

/* What the list has from `first`. */
static inline struct run burst_listed(const struct burst *burst, uint32_t first)
{
    return (struct run){ .base = burst->list + first, .segments = burst->pieces - first };
}

/* Whether a place lies in a list or a run of bytes, and at which offset. */
static inline bool run_has(struct run run, const uint8_t *place, uint32_t *at)
{
    uint32_t before = 0;
    const struct iovec *pieces = run.base;
    if (!run.segments) {
        uintptr_t distance = (uintptr_t)place - (uintptr_t)run.base;
        *at = (uint32_t)distance;
        return distance < run.len;
    }
    for (uint32_t i = 0; i < run.segments; i++) {
        uintptr_t distance = (uintptr_t)place - (uintptr_t)pieces[i].iov_base;
        if (distance < pieces[i].iov_len) {
            *at = before + (uint32_t)distance;
            return true;
        }
        before += (uint32_t)pieces[i].iov_len;
    }
    return false;
}

/* The range of a message that a session works on. */
static inline struct extent session_range(const struct session *session, const struct message *message)
{
    struct extent whole = message->cipher;
    if (session->shape == SHAPE_AUTH)
        return message->auth;
    if (session->shape == SHAPE_CHAIN) {
        uint64_t end = RTE_MAX((uint64_t)message->cipher.at + message->cipher.len,
                               (uint64_t)message->auth.at + message->auth.len);
        whole.at = RTE_MIN(message->cipher.at, message->auth.at);
        whole.len = (uint32_t)RTE_MIN(end - whole.at, (uint64_t)UINT32_MAX);
    }
    return whole;
}

/* Whether the digest lies in what is encrypted, and where: in the output to write, in the input to
 * compare. One to compare may be given where its plaintext would be in the output. */
static inline bool digest_within(const struct session *session, const uint8_t *digest,
                                 const lanelock_op *op, struct run input, struct run output,
                                 uint32_t *at)
{
    if (!output.base)
        return run_has(input, digest, at);
    if (!(session->flags & SESSION_VERIFIES))
        return run_has(output, digest, at);
    if (run_has(input, digest, at))
        return true;
    if (!run_has(output, digest, at))
        return false;
    *at += op->cipher_at;
    return true;
}

/* What few sessions ask for. */
static inline void add_rarity(struct burst *burst, uint32_t index, const struct session *session,
                              const struct message *message)
{
    static const uint8_t one[] = { 0, 0, 0, 1 };
    lanelock_op *op = &burst->ops[index];
    if (session->flags & SESSION_COUNTER) {
        memcpy(burst->iv[index], message->iv, LONGEST_IV - sizeof one);
        memcpy(burst->iv[index] + LONGEST_IV - sizeof one, one, sizeof one);
        op->iv = burst->iv[index];
    }
    /* Without a digest to compare lanelock refuses the operation, as it has no place to write one. */
    if (session->flags & SESSION_COMPARES && message->digest) {
        if (!burst->compares)
            memset(burst->expected, 0, sizeof burst->expected);
        burst->compares = true;
        burst->expected[index] = message->digest;
        op->tag = burst->digest[index];
        op->flags &= (uint16_t)~LANELOCK_OP_TAG_CONST;
    }
}

/* Adds an operation. `input` is the session's range of the message, `output` the cipher's range of
 * another, or nothing in place.
 *
 * Operations are zeroed once: what is written here is what one of them may have that the one before
 * in its place had not. */
static inline void burst_add(struct burst *burst, const struct session *session,
                             const struct message *message, struct extent whole, struct run input,
                             struct run output)
{
    uint32_t index = burst->count++;
    lanelock_op *op = &burst->ops[index];
    uint16_t flags = session->op_flags;
    op->session = session->lane;
    op->input = input.base;
    op->input_len = input.len;
    op->input_segments = input.segments;
    op->output_segments = output.segments;
    op->iv = message->iv;
    op->iv_len = session->iv_len;
    op->tag = message->digest;
    op->tag_len = session->digest_len;
    op->aad = message->aad;
    op->aad_len = session->aad_len;
    op->status = LANELOCK_NOT_PROCESSED;
    if (output.base) {
        op->output = output.base;
        op->output_len = output.len;
        flags |= LANELOCK_OP_SEPARATE;
    }
    if (session->shape == SHAPE_CHAIN) {
        uint32_t at;
        op->cipher_at = message->cipher.at - whole.at;
        op->cipher_len = message->cipher.len;
        op->auth_at = message->auth.at - whole.at;
        op->auth_len = message->auth.len;
        /* Where both ranges are the whole, saying so costs lanelock a closer look. */
        if (op->cipher_len != whole.len || op->auth_len != whole.len)
            flags |= LANELOCK_OP_CIPHER_RANGE | LANELOCK_OP_AUTH_RANGE;
        if (session->flags & SESSION_MAC_FIRST &&
            digest_within(session, message->digest, op, input, output, &at)) {
            op->tag_at = at;
            flags = (uint16_t)((flags & ~LANELOCK_OP_TAG_CONST) | LANELOCK_OP_TAG_AT);
        }
    }
    op->flags = flags;
    if (unlikely(session->flags & (SESSION_COUNTER | SESSION_COMPARES)))
        add_rarity(burst, index, session, message);
}

#endif
