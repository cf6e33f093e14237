/* Pool memory, its deterministic content, and the checksum over its results. */
#include "pool.h"

#include <stdlib.h>

enum seed {
    SEED_KEY = 0x10000000,
    SEED_MAC_KEY = 0x20000000,
    SEED_IV = 0x30000000,
    SEED_AAD = 0x40000000,
    SEED_DATA = 0x50000000,
};

static void fill(uint8_t *to, size_t len, uint64_t seed)
{
    uint64_t x = seed;
    for (size_t at = 0; at < len; at += 8) {
        x += 0x9E3779B97F4A7C15;
        uint64_t z = x;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        z ^= z >> 31;
        for (size_t i = 0; i < 8 && at + i < len; i++)
            to[at + i] = (uint8_t)(z >> (8 * i));
    }
}

static uint64_t fnv1a(uint64_t hash, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3;
    return hash;
}

/* Zeroed, so that every page is present before the clock starts. */
static uint8_t *area(size_t len)
{
    size_t rounded = (len + 63) / 64 * 64 + 64;
    uint8_t *bytes = aligned_alloc(64, rounded);
    if (bytes)
        memset(bytes, 0, rounded);
    return bytes;
}

static bool has_output(const struct shape *shape)
{
    return shape->spec->kind != MAC && shape->spec->kind != HASH;
}

bool pool_build(struct pool *pool, const struct shape *shape, struct reason *why)
{
    size_t count = shape->pool, payload = count * shape->stride;
    bool second = shape->separate && has_output(shape);
    *pool = (struct pool){
        .shape = shape,
        .aad_slot = (shape->aad + 15) / 16 * 16,
        .data = area(payload),
        .output = second ? area(payload) : NULL,
        .tags = area(count * TAG_SLOT),
        .ivs = area(count * IV_SLOT),
        .key_bytes = area((size_t)shape->sessions * shape->key),
        .mac_key_bytes = area((size_t)shape->sessions * shape->mac_key),
        .messages = calloc(count, sizeof *pool->messages),
    };
    pool->aads = area(count * pool->aad_slot);
    pool->keys = (struct keys){ pool->key_bytes, pool->mac_key_bytes };
    if (!pool->data || (second && !pool->output) || !pool->tags || !pool->ivs || !pool->aads ||
        !pool->key_bytes || !pool->mac_key_bytes || !pool->messages) {
        pool_free(pool);
        return refuse(why, "pool=%u: out of memory; lower pool or stride", shape->pool);
    }

    for (uint32_t s = 0; s < shape->sessions; s++) {
        fill(pool->key_bytes + (size_t)s * shape->key, shape->key, SEED_KEY + (uint64_t)s);
        fill(pool->mac_key_bytes + (size_t)s * shape->mac_key, shape->mac_key,
             SEED_MAC_KEY + (uint64_t)s);
    }
    for (size_t b = 0; b < count; b++) {
        uint8_t *in = pool->data + b * shape->stride;
        pool->messages[b] = (struct message){
            .in = in,
            .out = second ? pool->output + b * shape->stride : in,
            .tag = pool->tags + b * TAG_SLOT,
            .iv = pool->ivs + b * IV_SLOT,
            .aad = shape->aad ? pool->aads + b * pool->aad_slot : NULL,
            .len = shape->sizes[b % shape->size_count],
            .session = (uint32_t)(b % shape->sessions),
        };
    }
    pool_fill(pool);
    return true;
}

/* Brings every buffer back to its first content. */
void pool_fill(struct pool *pool)
{
    const struct shape *shape = pool->shape;
    /* A bare ChaCha20 nonce follows the counter 1, so that every IV slot holds 16 bytes. */
    bool counter = shape->iv == 12 && strcmp(shape->spec->name, "chacha20") == 0;
    for (size_t b = 0; b < shape->pool; b++) {
        uint8_t *iv = pool->ivs + b * IV_SLOT;
        if (counter)
            iv[0] = 1;
        fill(iv + (counter ? 4 : 0), shape->iv, SEED_IV + b);
        fill(pool->aads + b * pool->aad_slot, shape->aad, SEED_AAD + b);
        fill(pool->data + b * shape->stride, pool->messages[b].len, SEED_DATA + b);
    }
    memset(pool->tags, 0, (size_t)shape->pool * TAG_SLOT);
    if (pool->output)
        memset(pool->output, 0, (size_t)shape->pool * shape->stride);
}

uint64_t pool_digest(const struct pool *pool)
{
    const struct shape *shape = pool->shape;
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t b = 0; b < shape->pool; b++) {
        const struct message *m = &pool->messages[b];
        if (has_output(shape))
            hash = fnv1a(hash, m->out, m->len);
        if (shape->spec->kind == MAC && shape->reverse)
            hash = fnv1a(hash, (const uint8_t[]){ 1 }, 1);
        else if (!shape->reverse)
            hash = fnv1a(hash, m->tag, shape->tag);
    }
    return hash;
}

void pool_free(struct pool *pool)
{
    free(pool->data);
    free(pool->output);
    free(pool->tags);
    free(pool->ivs);
    free(pool->aads);
    free(pool->key_bytes);
    free(pool->mac_key_bytes);
    free(pool->messages);
    *pool = (struct pool){ 0 };
}
