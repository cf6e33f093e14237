/*
 * The algorithms by name, with the lengths that the peers accept of them. The
 * rows are those of lanelock's own table, so a name means the same everywhere.
 */
#include "bench.h"

static const struct spec specs[] = {
#include "specs.h"
};

/* The row of an algorithm whose name is `len` characters long. */
static const struct spec *single(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (strlen(specs[i].name) == len && memcmp(specs[i].name, name, len) == 0)
            return &specs[i];
    return NULL;
}

/* Keys up to a block are used as they are; neither peer hashes longer ones. */
static uint16_t hmac_block(const struct spec *hmac)
{
    return hmac->tag.usual > 32 ? 128 : 64;
}

/* What the peers leave out of what an algorithm accepts. */
static void narrow(struct spec *spec)
{
    if (strncmp(spec->name, "hmac-", 5) == 0)
        spec->key.most = hmac_block(spec);
    /* Other lengths take the libraries another way, for which neither peer was written. */
    if (strstr(spec->name, "-gcm") || strstr(spec->name, "-gmac"))
        spec->iv.least = spec->iv.most = spec->iv.usual;
    /* 16: little-endian block counter, then nonce. 12: nonce alone, the counter starts at 1. */
    if (strcmp(spec->name, "chacha20") == 0)
        spec->iv.least = 12;
    if (spec->iv.most > IV_SLOT)
        spec->iv.most = IV_SLOT;
    if (spec->tag.most > TAG_SLOT)
        spec->tag.most = TAG_SLOT;
}

/* A chain that encrypts, then authenticates: `cipher+mac`. */
static bool chain(const char *name, const char *plus, struct spec *chain)
{
    const struct spec *cipher = single(name, (size_t)(plus - name));
    const struct spec *mac = single(plus + 1, strlen(plus + 1));
    if (!cipher || !mac || cipher->kind != CIPHER || mac->kind != MAC)
        return false;
    struct spec half = *mac;
    narrow(&half);
    *chain = *cipher;
    chain->kind = CHAIN;
    chain->mac_key = half.key;
    chain->tag = half.tag;
    return true;
}

const struct spec *spec_find(const char *name)
{
    static struct spec found;
    static char kept[80];
    const char *plus = strchr(name, '+');
    const struct spec *row = plus ? NULL : single(name, strlen(name));
    if (strlen(name) >= sizeof kept || (plus ? !chain(name, plus, &found) : !row))
        return NULL;
    if (row) {
        found = *row;
        narrow(&found);
    }
    found.name = strcpy(kept, name);
    return &found;
}
