/*
 * The messages a measurement works on: memory laid out once, content derived
 * from seeds so that every contestant can rebuild it and compare results.
 */
#ifndef LANELOCK_PEERS_POOL_H
#define LANELOCK_PEERS_POOL_H

#include "bench.h"

struct pool {
    const struct shape *shape;
    struct keys keys;
    uint8_t *data;   /* input, and output when in place */
    uint8_t *output; /* second area, or NULL */
    uint8_t *tags, *ivs, *aads, *key_bytes, *mac_key_bytes;
    uint32_t aad_slot;
    struct message *messages;
};

bool pool_build(struct pool *pool, const struct shape *shape, struct reason *why);
void pool_fill(struct pool *pool);
uint64_t pool_digest(const struct pool *pool);
void pool_free(struct pool *pool);

#endif
