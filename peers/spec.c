/*
 * The algorithms by name, with the lengths they accept. Both peers and the
 * parser read this one table, so a name means the same to everybody.
 */
#include "bench.h"

#define FIXED(n) { n, n, n }
#define NONE FIXED(0)

/* clang-format off */
#define BLOCK_CIPHER(name, key, iv, unit, least) \
    { name, CIPHER, FIXED(key), NONE, FIXED(iv), NONE, unit, least }
#define HMAC(name, block, digest) \
    { name, MAC, { 1, block, digest }, NONE, NONE, { 1, digest, digest }, 1, 1 }
#define PLAIN_HASH(name, digest) \
    { name, HASH, NONE, NONE, NONE, { 1, digest, digest }, 1, 1 }
#define CMAC(name, key) \
    { name, MAC, FIXED(key), NONE, NONE, { 4, 16, 16 }, 1, 1 }
#define GCM(name, key) \
    { name, AEAD, FIXED(key), NONE, FIXED(12), { 4, 16, 16 }, 1, 1 }
#define CCM(name, key) \
    { name, AEAD, FIXED(key), NONE, { 7, 13, 12 }, { 4, 16, 16 }, 1, 1 }
#define ETM(name, key, block, digest, unit) \
    { name, CHAIN, FIXED(key), { 1, block, digest }, FIXED(16), { 1, digest, digest }, unit, unit }

static const struct spec specs[] = {
    BLOCK_CIPHER("aes-128-cbc", 16, 16, 16, 16),
    BLOCK_CIPHER("aes-192-cbc", 24, 16, 16, 16),
    BLOCK_CIPHER("aes-256-cbc", 32, 16, 16, 16),
    BLOCK_CIPHER("aes-128-ctr", 16, 16, 1, 1),
    BLOCK_CIPHER("aes-192-ctr", 24, 16, 1, 1),
    BLOCK_CIPHER("aes-256-ctr", 32, 16, 1, 1),
    BLOCK_CIPHER("aes-128-ecb", 16, 0, 16, 16),
    BLOCK_CIPHER("aes-192-ecb", 24, 0, 16, 16),
    BLOCK_CIPHER("aes-256-ecb", 32, 0, 16, 16),
    BLOCK_CIPHER("aes-128-xts", 32, 16, 1, 16),
    BLOCK_CIPHER("aes-256-xts", 64, 16, 1, 16),
    BLOCK_CIPHER("3des-cbc", 24, 8, 8, 8),
    BLOCK_CIPHER("3des-ctr", 24, 8, 1, 1),
    /* 16: little-endian block counter, then nonce. 12: nonce alone, the counter starts at 1. */
    { "chacha20", CIPHER, FIXED(32), NONE, { 12, 16, 16 }, NONE, 1, 1 },

    HMAC("hmac-md5", 64, 16),
    HMAC("hmac-sha1", 64, 20),
    HMAC("hmac-sha224", 64, 28),
    HMAC("hmac-sha256", 64, 32),
    HMAC("hmac-sha384", 128, 48),
    HMAC("hmac-sha512", 128, 64),
    CMAC("aes-128-cmac", 16),
    CMAC("aes-256-cmac", 32),
    { "aes-128-gmac", MAC, FIXED(16), NONE, FIXED(12), { 4, 16, 16 }, 1, 1 },
    PLAIN_HASH("sha1", 20),
    PLAIN_HASH("sha256", 32),
    PLAIN_HASH("sha512", 64),

    GCM("aes-128-gcm", 16),
    GCM("aes-192-gcm", 24),
    GCM("aes-256-gcm", 32),
    CCM("aes-128-ccm", 16),
    CCM("aes-256-ccm", 32),
    { "chacha20-poly1305", AEAD, FIXED(32), NONE, FIXED(12), FIXED(16), 1, 1 },

    ETM("aes-128-cbc+hmac-sha1", 16, 64, 20, 16),
    ETM("aes-128-cbc+hmac-sha256", 16, 64, 32, 16),
    ETM("aes-128-cbc+hmac-sha512", 16, 128, 64, 16),
    ETM("aes-256-cbc+hmac-sha1", 32, 64, 20, 16),
    ETM("aes-256-cbc+hmac-sha256", 32, 64, 32, 16),
    ETM("aes-256-cbc+hmac-sha512", 32, 128, 64, 16),
    ETM("aes-128-ctr+hmac-sha1", 16, 64, 20, 1),
    ETM("aes-128-ctr+hmac-sha256", 16, 64, 32, 1),
    ETM("aes-256-ctr+hmac-sha256", 32, 64, 32, 1),
};
/* clang-format on */

const struct spec *spec_find(const char *name)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    return NULL;
}
