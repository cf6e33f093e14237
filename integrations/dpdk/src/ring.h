/* Operations that wait: one thread puts them in, one takes them out. As many as the queue pair was
 * set up with, exactly. */
#ifndef LANELOCK_DPDK_RING_H
#define LANELOCK_DPDK_RING_H

#include "driver.h"

#include <stdatomic.h>

struct ring {
    struct rte_crypto_op **places;
    uint32_t mask, capacity;

    /* The thread that puts in, and what it knows of the other. */
    _Atomic uint32_t tail __rte_cache_aligned;
    uint32_t head_seen;

    /* The thread that takes out. */
    _Atomic uint32_t head __rte_cache_aligned;
    uint32_t tail_seen;
};

/* Puts in as many as there is room for, and returns how many. */
static inline uint32_t ring_put(struct ring *ring, struct rte_crypto_op **ops, uint32_t count)
{
    uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint32_t room = ring->capacity - (tail - ring->head_seen);
    if (unlikely(room < count)) {
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        room = ring->capacity - (tail - ring->head_seen);
        count = RTE_MIN(room, count);
    }
    uint32_t first = RTE_MIN(count, ring->mask + 1 - (tail & ring->mask));
    if (!count)
        return 0;
    memcpy(ring->places + (tail & ring->mask), ops, first * sizeof *ops);
    memcpy(ring->places, ops + first, (count - first) * sizeof *ops);
    atomic_store_explicit(&ring->tail, tail + count, memory_order_release);
    return count;
}

/* Takes up to `limit` out, and returns how many. */
static inline uint32_t ring_take(struct ring *ring, struct rte_crypto_op **ops, uint32_t limit)
{
    uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (ring->tail_seen - head < limit)
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint32_t count = RTE_MIN(limit, ring->tail_seen - head);
    uint32_t first = RTE_MIN(count, ring->mask + 1 - (head & ring->mask));
    if (!count)
        return 0;
    memcpy(ops, ring->places + (head & ring->mask), first * sizeof *ops);
    memcpy(ops + first, ring->places, (count - first) * sizeof *ops);
    atomic_store_explicit(&ring->head, head + count, memory_order_release);
    return count;
}

#endif
