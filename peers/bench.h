/*
 * What the two contestants share: the shape of a measurement, the messages of
 * its pool, and the few functions a peer has to supply.
 *
 * A peer is one library driven in the fastest way its authors document. The
 * bench owns memory, content, clock and protocol; a peer only turns bursts of
 * messages into library calls.
 */
#ifndef LANELOCK_PEERS_BENCH_H
#define LANELOCK_PEERS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Room for the longest tag, and for the longest usual IV in whole blocks. */
enum { TAG_SLOT = 64, IV_SLOT = 32, MAX_SIZES = 4096 };

/* Why something was refused, in words meant for the person who asked. */
struct reason {
    char text[240];
};

/* Writes the reason and returns false, so that callers can `return refuse(...)`. */
bool refuse(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

enum kind { CIPHER, MAC, HASH, AEAD, CHAIN };

/* Lengths an algorithm accepts, in bytes; `usual` is taken when none is asked for. */
struct range {
    uint16_t least, most, usual;
};

/* One algorithm, independent of who runs it. */
struct spec {
    const char *name;
    enum kind kind;
    struct range key;     /* cipher, AEAD or plain MAC key */
    struct range mac_key; /* second key of a chain */
    struct range iv;
    struct range tag;
    uint16_t unit;  /* a payload is a multiple of this */
    uint16_t least; /* shortest payload */
};

/* Until the next call; NULL: no such algorithm. */
const struct spec *spec_find(const char *name);

/* A parsed and validated `prepare` line. All lengths are in bytes. */
struct shape {
    const struct spec *spec; /* NULL: no such algorithm here */
    bool reverse;  /* decrypt or verify */
    bool separate; /* output goes to an area of its own */
    uint32_t sizes[MAX_SIZES];
    uint32_t size_count;
    uint32_t largest;
    uint32_t burst, sessions, pool;
    uint32_t stride, iv, tag, aad, key, mac_key;
    char route[32]; /* empty: the bench measures and takes the fastest */
    char tier[16];  /* instruction set that the library is held to; empty: what it chooses */
    uint32_t trial; /* microseconds of one trial of a route */
};

bool shape_parse(struct shape *shape, char *fields, struct reason *why);

/* One message of the pool. A tag is written when computing, read when verifying. */
struct message {
    const uint8_t *in;
    uint8_t *out;
    uint8_t *tag;
    const uint8_t *iv;
    const uint8_t *aad; /* NULL without AAD */
    uint32_t len;
    uint32_t session;
};

/* Session s has its keys at `key + s * shape->key` and `mac_key + s * shape->mac_key`. */
struct keys {
    const uint8_t *key;
    const uint8_t *mac_key;
};

/* A peer's state for one shape and direction. Each peer defines its own. */
struct engine;

/* Runs a whole burst and checks every result, as an application must. */
typedef bool burst_fn(struct engine *engine, const struct message *messages, size_t count,
                      struct reason *why);

/* One way through a library to the same result. Lists end with a NULL name. */
struct route {
    const char *name;
    burst_fn *burst;
};

enum verdict { READY, UNSUPPORTED, FAILED };

struct peer {
    const char *name;
    bool has_tiers; /* `tier` can hold the library to an instruction set */
    const char *(*library)(void);
    enum verdict (*open)(const struct shape *shape, bool reverse, const struct keys *keys,
                         struct engine **engine, struct reason *why);
    const struct route *(*routes)(const struct engine *engine);
    void (*close)(struct engine *engine);
};

/* Answers requests on stdin until `quit` or its end; returns the exit status. */
int bench_main(const struct peer *peer);

/* Compares in a time that depends on the length only. */
static inline bool tags_match(const uint8_t *a, const uint8_t *b, size_t len)
{
    uint64_t differ = 0;
    for (; len >= 8; len -= 8, a += 8, b += 8) {
        uint64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        differ |= x ^ y;
    }
    for (; len > 0; len--, a++, b++)
        differ |= (uint64_t)(*a ^ *b);
    return differ == 0;
}

#endif
