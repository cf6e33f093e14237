/*
 * lanelock-peer-crypto-mb: libcrypto_mb, public-key operations in eight lanes.
 *
 * The library has no sessions: keys are numbers that a call takes. Operations
 * run in groups of eight; where fewer are left, the last one fills the lanes.
 * Its RSA neither blinds nor checks, and the secret scalars of its ECDSA
 * signatures are made before the clock starts.
 */
#include <crypto_mb/ec_nistp256.h>
#include <crypto_mb/ec_nistp384.h>
#include <crypto_mb/ed25519.h>
#include <crypto_mb/rsa.h>
#include <crypto_mb/status.h>
#include <crypto_mb/version.h>
#include <crypto_mb/x25519.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 8, MOST_BYTES = 512, MOST_KEYS = 1024, MOST_BATCH = 4096 };

/* What belongs to a key; the first is the input of an operation with it. */
enum field { IN, N, P, Q, DP, DQ, QINV, SCALAR, X, Y, R, S, ONCE, PUBLIC, FIELDS };
static const char *const field_names[FIELDS] = {
    "in", "n", "p", "q", "dp", "dq", "qinv", "scalar", "x", "y", "r", "s", NULL, NULL,
};

/* A number: its bytes as they were sent, and the limbs of a big-endian one, lowest first. */
struct number {
    int8u bytes[MOST_BYTES];
    int64u limbs[MOST_BYTES / 8];
    uint32_t len;
};

struct item {
    struct number field[FIELDS];
    int8u first[MOST_BYTES], second[64];
};

/* Pointers of eight operations, made once: keys and inputs stay where they are. */
struct group {
    const int8u *bytes[FIELDS][LANES];
    const int64u *limbs[FIELDS][LANES];
    int8u *first[LANES], *second[LANES];
};

struct op;

struct bench {
    const struct op *op;
    struct item *items;
    struct group *groups;
    int8u *scratch;
    uint32_t keys, batch, group_count;
};

struct op {
    const char *name;
    mbx_status (*run)(const struct bench *bench, struct group *group);
    uint32_t bits;          /* of an RSA modulus */
    uint32_t first, second; /* lengths of results, in bytes; 0: there is only a status */
};

static mbx_status rsa_private(const struct bench *bench, struct group *g)
{
    int bits = (int)bench->op->bits;
    return mbx_rsa_private_crt_mb8(g->bytes[IN], g->first, g->limbs[P], g->limbs[Q], g->limbs[DP],
                                   g->limbs[DQ], g->limbs[QINV], bits,
                                   mbx_RSA_private_crt_Method(bits), bench->scratch);
}

static mbx_status rsa_public(const struct bench *bench, struct group *g)
{
    int bits = (int)bench->op->bits;
    return mbx_rsa_public_mb8(g->bytes[IN], g->first, g->limbs[N], bits,
                              mbx_RSA_pub65537_Method(bits), bench->scratch);
}

static mbx_status x25519_derive(const struct bench *bench, struct group *g)
{
    (void)bench;
    return mbx_x25519_mb8(g->first, g->bytes[SCALAR], g->bytes[IN]);
}

#define CURVE(name)                                                                              \
    static mbx_status name##_sign(const struct bench *bench, struct group *g)                    \
    {                                                                                            \
        (void)bench;                                                                             \
        return mbx_nist##name##_ecdsa_sign_mb8(g->first, g->second, g->bytes[IN],                \
                                               g->limbs[ONCE], g->limbs[SCALAR], NULL);          \
    }                                                                                            \
    static mbx_status name##_verify(const struct bench *bench, struct group *g)                  \
    {                                                                                            \
        (void)bench;                                                                             \
        return mbx_nist##name##_ecdsa_verify_mb8(g->bytes[R], g->bytes[S], g->bytes[IN],         \
                                                 g->limbs[X], g->limbs[Y], NULL, NULL);          \
    }                                                                                            \
    static mbx_status name##_derive(const struct bench *bench, struct group *g)                  \
    {                                                                                            \
        (void)bench;                                                                             \
        return mbx_nist##name##_ecdh_mb8(g->first, g->limbs[SCALAR], g->limbs[X], g->limbs[Y],   \
                                         NULL, NULL);                                            \
    }

CURVE(p256)
CURVE(p384)

/* Every message has the length of the first. */
static void lengths(const struct bench *bench, int32u to[LANES])
{
    for (int lane = 0; lane < LANES; lane++)
        to[lane] = bench->items[0].field[IN].len;
}

static mbx_status eddsa_sign(const struct bench *bench, struct group *g)
{
    int32u len[LANES];
    lengths(bench, len);
    return mbx_ed25519_sign_mb8((ed25519_sign_component **)g->first,
                                (ed25519_sign_component **)g->second, g->bytes[IN], len,
                                (const ed25519_private_key *const *)g->bytes[SCALAR],
                                (const ed25519_public_key *const *)g->bytes[PUBLIC]);
}

static mbx_status eddsa_verify(const struct bench *bench, struct group *g)
{
    int32u len[LANES];
    lengths(bench, len);
    return mbx_ed25519_verify_mb8((const ed25519_sign_component *const *)g->bytes[R],
                                  (const ed25519_sign_component *const *)g->bytes[S], g->bytes[IN],
                                  len, (const ed25519_public_key *const *)g->bytes[X]);
}

static mbx_status public_key(int8u *to, const int8u *scalar)
{
    ed25519_public_key *public[LANES];
    const ed25519_private_key *secret[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        public[lane] = (ed25519_public_key *)to;
        secret[lane] = (const ed25519_private_key *)scalar;
    }
    return mbx_ed25519_public_key_mb8(public, secret);
}

/*
 * Debian 13's release computes other Ed25519 keys than RFC 8032 (section 7.1, test 2). A contestant
 * that computes something else is no measure.
 */
static bool ed25519_agrees(void)
{
    static const int8u secret[32] = {
        0x4c, 0xcd, 0x08, 0x9b, 0x28, 0xff, 0x96, 0xda, 0x9d, 0xb6, 0xc3, 0x46, 0xec, 0x11, 0x4e, 0x0f,
        0x5b, 0x8a, 0x31, 0x9f, 0x35, 0xab, 0xa6, 0x24, 0xda, 0x8c, 0xf6, 0xed, 0x4f, 0xb8, 0xa6, 0xfb,
    };
    static const int8u expected[32] = {
        0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
        0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c,
    };
    int8u public[32];
    return public_key(public, secret) == MBX_STATUS_OK &&
           memcmp(public, expected, sizeof public) == 0;
}

static const struct op ops[] = {
    { "rsa-2048-raw-decrypt", rsa_private, 2048, 256, 0 },
    { "rsa-3072-raw-decrypt", rsa_private, 3072, 384, 0 },
    { "rsa-4096-raw-decrypt", rsa_private, 4096, 512, 0 },
    { "rsa-2048-raw-encrypt", rsa_public, 2048, 256, 0 },
    { "x25519-derive", x25519_derive, 0, 32, 0 },
    { "p256-sign", p256_sign, 0, 32, 32 },
    { "p256-verify", p256_verify, 0, 0, 0 },
    { "p256-derive", p256_derive, 0, 32, 0 },
    { "p384-sign", p384_sign, 0, 48, 48 },
    { "p384-verify", p384_verify, 0, 0, 0 },
    { "p384-derive", p384_derive, 0, 48, 0 },
    { "ed25519-sign", eddsa_sign, 0, 32, 32 },
    { "ed25519-verify", eddsa_verify, 0, 0, 0 },
};

static bool refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("error reason=\"");
    vprintf(format, arguments);
    printf("\"\n");
    va_end(arguments);
    return false;
}

static void drop(struct bench *bench)
{
    free(bench->items);
    free(bench->groups);
    free(bench->scratch);
    *bench = (struct bench){ 0 };
}

static void point(struct bench *bench)
{
    for (uint32_t at = 0; at < bench->group_count * LANES; at++) {
        struct group *group = &bench->groups[at / LANES];
        uint32_t lane = at % LANES, op = at < bench->batch ? at : bench->batch - 1;
        struct item *item = &bench->items[op % bench->keys];
        for (int field = 0; field < FIELDS; field++) {
            group->bytes[field][lane] = item->field[field].bytes;
            group->limbs[field][lane] = item->field[field].limbs;
        }
        group->first[lane] = item->first;
        group->second[lane] = item->second;
    }
}

static bool prepare(struct bench *bench, const char *fields)
{
    char name[64];
    unsigned batch, keys;
    int end = 0;
    drop(bench);
    if (sscanf(fields, "algorithm=%63s batch=%u keys=%u%n", name, &batch, &keys, &end) != 3 ||
        fields[end] || batch < 1 || batch > MOST_BATCH || keys < 1 || keys > MOST_KEYS)
        return refuse("prepare %.60s: write algorithm=NAME batch=N keys=N, with up to %d and %d",
                      fields, MOST_BATCH, MOST_KEYS);
    const struct op *op = ops, *last = ops + sizeof ops / sizeof *ops;
    while (op < last && strcmp(op->name, name) != 0)
        op++;
    if (op == last) {
        printf("unsupported reason=\"libcrypto_mb has no %s here\"\n", name);
        return true;
    }
    if ((op->run == eddsa_sign || op->run == eddsa_verify) && !ed25519_agrees()) {
        printf("unsupported reason=\"this libcrypto_mb computes other Ed25519 keys than RFC 8032\"\n");
        return true;
    }
    size_t room = 64;
    if (op->bits)
        room += (size_t)mbx_RSA_Method_BufSize(op->run == rsa_public
                                                   ? mbx_RSA_pub65537_Method((int)op->bits)
                                                   : mbx_RSA_private_crt_Method((int)op->bits));
    *bench = (struct bench){
        .op = op,
        .items = calloc(keys, sizeof *bench->items),
        .groups = calloc((batch + LANES - 1) / LANES, sizeof *bench->groups),
        .scratch = aligned_alloc(64, (room + 63) / 64 * 64),
        .keys = keys,
        .batch = batch,
        .group_count = (batch + LANES - 1) / LANES,
    };
    if (!bench->items || !bench->groups || !bench->scratch) {
        drop(bench);
        return refuse("keys=%u: out of memory; lower keys", keys);
    }
    point(bench);
    printf("ready\n");
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool number(struct number *to, const char *hex)
{
    size_t len = strlen(hex) / 2;
    if (strlen(hex) % 2 || len < 1 || len > MOST_BYTES)
        return false;
    memset(to, 0, sizeof *to);
    to->len = (uint32_t)len;
    for (size_t i = 0; i < len; i++) {
        int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to->bytes[i] = (int8u)(high << 4 | low);
        size_t place = len - 1 - i;
        to->limbs[place / 8] |= (int64u)to->bytes[i] << (8 * (place % 8));
    }
    return true;
}

/* A scalar below the order of every curve here: its highest bit is 0. */
static void draw(struct number *scalar, uint32_t index)
{
    uint64_t x = 0x60000000 + (uint64_t)index * 8;
    for (int limb = 0; limb < 4; limb++) {
        x += 0x9E3779B97F4A7C15;
        uint64_t z = x;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        scalar->limbs[limb] = z ^ (z >> 31);
    }
    scalar->limbs[3] >>= 1;
}

static bool key(struct bench *bench, char *fields)
{
    char *rest = NULL, *word = strtok_r(fields, " ", &rest);
    unsigned index;
    if (!bench->op || !word || sscanf(word, "index=%u", &index) != 1 || index >= bench->keys)
        return refuse("key: write index=I below the keys of prepare, then fields in hexadecimal");
    struct item *item = &bench->items[index];
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *value = strchr(word, '=');
        int field = 0;
        if (value)
            *value++ = '\0';
        while (field < FIELDS && (!field_names[field] || strcmp(field_names[field], word) != 0))
            field++;
        if (!value || field == FIELDS || !number(&item->field[field], value))
            return refuse("key: %.20s: use a field of README.md, up to %d bytes in hexadecimal",
                          word, MOST_BYTES);
    }
    draw(&item->field[ONCE], index);
    if (bench->op->run == eddsa_sign &&
        public_key(item->field[PUBLIC].bytes, item->field[SCALAR].bytes) != MBX_STATUS_OK)
        return refuse("key: libcrypto_mb makes no public key of this one");
    printf("ready\n");
    return true;
}

static bool once(const struct bench *bench)
{
    for (uint32_t i = 0; i < bench->group_count; i++)
        if (bench->op->run(bench, &bench->groups[i]) != MBX_STATUS_OK)
            return refuse("%s: libcrypto_mb refuses an operation", bench->op->name);
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool run(const struct bench *bench, const char *fields)
{
    double seconds = 0;
    if (!bench->op || sscanf(fields, "seconds=%lf", &seconds) != 1 || !(seconds > 0 && seconds <= 3600))
        return refuse("run: prepare first, then write run seconds=S with 0 < S <= 3600");
    uint64_t start = now_ns(), batches = 0, spent;
    do {
        if (!once(bench))
            return false;
        batches++;
        spent = now_ns() - start;
    } while ((double)spent < seconds * 1e9);
    printf("ran ops=%llu ns=%llu\n", (unsigned long long)(batches * bench->batch),
           (unsigned long long)spent);
    return true;
}

/* Both results one after the other; a byte 1 if there is only a status, which was good. */
static bool answer(const struct bench *bench, const char *fields)
{
    unsigned index;
    if (!bench->op || sscanf(fields, "index=%u", &index) != 1 || index >= bench->keys ||
        index >= bench->batch)
        return refuse("answer: prepare first, then write index=I below keys and batch");
    if (!once(bench))
        return false;
    const struct item *item = &bench->items[index];
    printf("answer hex=");
    for (uint32_t i = 0; i < bench->op->first; i++)
        printf("%02x", item->first[i]);
    for (uint32_t i = 0; i < bench->op->second; i++)
        printf("%02x", item->second[i]);
    printf(bench->op->first ? "\n" : "01\n");
    return true;
}

int main(void)
{
    static struct bench bench;
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        char *fields = line + strcspn(line, " ");
        if (*fields)
            *fields++ = '\0';
        if (strcmp(line, "quit") == 0)
            break;
        if (strcmp(line, "hello") == 0)
            printf("peer name=crypto-mb library=\"%s\"\n", mbx_getversion()->strVersion);
        else if (strcmp(line, "prepare") == 0)
            prepare(&bench, fields);
        else if (strcmp(line, "key") == 0)
            key(&bench, fields);
        else if (strcmp(line, "run") == 0)
            run(&bench, fields);
        else if (strcmp(line, "answer") == 0)
            answer(&bench, fields);
        else
            refuse("%.60s: unknown request; use hello, prepare, key, run, answer or quit", line);
        if (fflush(stdout) != 0)
            break;
    }
    drop(&bench);
    free(line);
    return 0;
}
