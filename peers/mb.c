/*
 * lanelock-peer-ipsec-mb: libipsec-mb (1.3 or 2.0) at its best.
 *
 * Every row lists the interfaces that can run its algorithm. Which of them is
 * fastest depends on CPU, version, sizes and burst, so the bench measures
 * them on the prepared pool and keeps the winner.
 */
#include "mb.h"

#include <stdio.h>
#include <stdlib.h>

/* Lanes of the multi-buffer kernels count bytes in 16 bits. */
enum { LANE_MOST = 65534, CCM_AAD_MOST = 46 };

/* clang-format off */
#define AES_ROW(name, mode, routes, most) \
    { name, mode, IMB_AUTH_NULL, &mb_aes, NULL, routes, routes, most }
#define HMAC_ROW(name, hash, routes) \
    { name, IMB_CIPHER_NULL, hash, NULL, &mb_hmac, routes, routes, LANE_MOST }
#define CMAC_ROW(name, hash) \
    { name, IMB_CIPHER_NULL, hash, NULL, &mb_cmac, mb_cmac_routes, mb_cmac_routes, LANE_MOST }
#define HASH_ROW(name, hash) \
    { name, IMB_CIPHER_NULL, hash, NULL, NULL, mb_hash_routes, NULL, LANE_MOST }
#define GCM_ROW(name) \
    { name, IMB_CIPHER_GCM, IMB_AUTH_AES_GMAC, &mb_gcm, NULL, mb_gcm_routes, mb_gcm_routes, 0 }
#define CCM_ROW(name) \
    { name, IMB_CIPHER_CCM, IMB_AUTH_AES_CCM, &mb_aes, NULL, mb_ccm_routes, mb_ccm_routes, LANE_MOST }
#define CHAIN_ROW(name, mode, hash) \
    { name, mode, hash, &mb_aes, &mb_hmac, mb_chain_encrypt, mb_chain_decrypt, LANE_MOST }

static const struct row rows[] = {
    AES_ROW("aes-128-cbc", IMB_CIPHER_CBC, mb_block_routes, LANE_MOST),
    AES_ROW("aes-192-cbc", IMB_CIPHER_CBC, mb_block_routes, LANE_MOST),
    AES_ROW("aes-256-cbc", IMB_CIPHER_CBC, mb_block_routes, LANE_MOST),
    AES_ROW("aes-128-ctr", IMB_CIPHER_CNTR, mb_block_routes, 0),
    AES_ROW("aes-192-ctr", IMB_CIPHER_CNTR, mb_block_routes, 0),
    AES_ROW("aes-256-ctr", IMB_CIPHER_CNTR, mb_block_routes, 0),
    AES_ROW("aes-128-ecb", IMB_CIPHER_ECB, mb_ecb_routes, 0),
    AES_ROW("aes-192-ecb", IMB_CIPHER_ECB, mb_ecb_routes, 0),
    AES_ROW("aes-256-ecb", IMB_CIPHER_ECB, mb_ecb_routes, 0),
    { "3des-cbc", IMB_CIPHER_DES3, IMB_AUTH_NULL, &mb_3des, NULL, mb_cipher_routes, mb_cipher_routes, LANE_MOST },
    { "chacha20", IMB_CIPHER_CHACHA20, IMB_AUTH_NULL, &mb_raw, NULL, mb_chacha_routes, mb_chacha_routes, 0 },
    HMAC_ROW("hmac-md5", IMB_AUTH_MD5, mb_md5_routes),
    HMAC_ROW("hmac-sha1", IMB_AUTH_HMAC_SHA_1, mb_hmac_routes),
    HMAC_ROW("hmac-sha224", IMB_AUTH_HMAC_SHA_224, mb_hmac_routes),
    HMAC_ROW("hmac-sha256", IMB_AUTH_HMAC_SHA_256, mb_hmac_routes),
    HMAC_ROW("hmac-sha384", IMB_AUTH_HMAC_SHA_384, mb_hmac_routes),
    HMAC_ROW("hmac-sha512", IMB_AUTH_HMAC_SHA_512, mb_hmac_routes),
    CMAC_ROW("aes-128-cmac", IMB_AUTH_AES_CMAC),
    CMAC_ROW("aes-256-cmac", IMB_AUTH_AES_CMAC_256),
    { "aes-128-gmac", IMB_CIPHER_NULL, IMB_AUTH_AES_GMAC_128, NULL, &mb_gcm, mb_gmac_routes, mb_gmac_routes, 0 },
    HASH_ROW("sha1", IMB_AUTH_SHA_1),
    HASH_ROW("sha256", IMB_AUTH_SHA_256),
    HASH_ROW("sha512", IMB_AUTH_SHA_512),
    GCM_ROW("aes-128-gcm"),
    GCM_ROW("aes-192-gcm"),
    GCM_ROW("aes-256-gcm"),
    CCM_ROW("aes-128-ccm"),
    CCM_ROW("aes-256-ccm"),
    { "chacha20-poly1305", IMB_CIPHER_CHACHA20_POLY1305, IMB_AUTH_CHACHA20_POLY1305, &mb_raw, NULL,
      mb_chacha_poly_routes, mb_chacha_poly_routes, 0 },
    CHAIN_ROW("aes-128-cbc+hmac-sha1", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_1),
    CHAIN_ROW("aes-128-cbc+hmac-sha256", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_256),
    CHAIN_ROW("aes-128-cbc+hmac-sha512", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_512),
    CHAIN_ROW("aes-256-cbc+hmac-sha1", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_1),
    CHAIN_ROW("aes-256-cbc+hmac-sha256", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_256),
    CHAIN_ROW("aes-256-cbc+hmac-sha512", IMB_CIPHER_CBC, IMB_AUTH_HMAC_SHA_512),
    CHAIN_ROW("aes-128-ctr+hmac-sha1", IMB_CIPHER_CNTR, IMB_AUTH_HMAC_SHA_1),
    CHAIN_ROW("aes-128-ctr+hmac-sha256", IMB_CIPHER_CNTR, IMB_AUTH_HMAC_SHA_256),
    CHAIN_ROW("aes-256-ctr+hmac-sha256", IMB_CIPHER_CNTR, IMB_AUTH_HMAC_SHA_256),
};
/* clang-format on */

static const struct row *find(const struct shape *shape, struct reason *why)
{
    const struct row *row = rows, *end = rows + sizeof rows / sizeof *rows;
    while (row < end && strcmp(row->name, shape->spec->name) != 0)
        row++;
    if (row == end) {
        refuse(why, "libipsec-mb has no %s", shape->spec->name);
        return NULL;
    }
    if (row->most && shape->largest > row->most) {
        refuse(why, "libipsec-mb runs %s up to %u bytes; the pattern has %u", row->name, row->most,
               shape->largest);
        return NULL;
    }
    if (row->cipher == IMB_CIPHER_CHACHA20 && shape->iv != 12) {
        refuse(why, "ChaCha20 of libipsec-mb starts at block counter 1; ask for iv=12");
        return NULL;
    }
    if (row->cipher == IMB_CIPHER_CCM && shape->aad > CCM_AAD_MOST) {
        refuse(why, "CCM of libipsec-mb takes up to %d bytes of AAD", CCM_AAD_MOST);
        return NULL;
    }
    return row;
}

/* HMACs and hashes come whole and are cut by the reader; other tags at the length asked for. */
static uint32_t written_tag(const struct shape *shape, const struct row *row)
{
    bool whole = row->mac_key == &mb_hmac || shape->spec->kind == HASH;
    return whole ? shape->spec->tag.most : shape->tag;
}

/* CCM authenticates plaintext, everything else ciphertext: the order follows. */
static IMB_CHAIN_ORDER order(const struct row *row, bool reverse)
{
    bool cipher_first = (row->cipher == IMB_CIPHER_CCM) == reverse;
    if (row->cipher == IMB_CIPHER_NULL)
        cipher_first = false;
    return cipher_first ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
}

/* Every field that stays the same from message to message. */
static IMB_JOB template(const struct engine *engine, const struct shape *shape)
{
    const struct row *row = engine->row;
    IMB_JOB job;
    memset(&job, 0, sizeof job);
    job.cipher_mode = row->cipher;
    job.hash_alg = row->hash;
    job.cipher_direction = engine->direction;
    job.chain_order = order(row, engine->reverse);
    job.key_len_in_bytes = shape->key;
    job.iv_len_in_bytes = shape->iv;
    job.auth_tag_output_len_in_bytes = written_tag(shape, row);
    if (shape->spec->kind == AEAD)
        job.u.GCM.aad_len_in_bytes = shape->aad;
    if (row->mac_key == &mb_gcm)
        job.u.GMAC.iv_len_in_bytes = shape->iv;
#if MB_AT_LEAST_2
    imb_set_session(engine->manager, &job);
#endif
    return job;
}

static void choose_direct(struct engine *engine)
{
    IMB_MGR *manager = engine->manager;
    bool back = engine->reverse;
    engine->gmac_init = manager->gmac128_init;
    engine->gmac_update = manager->gmac128_update;
    engine->gmac_finalize = manager->gmac128_finalize;
    engine->gcm = engine->key == 16   ? back ? manager->gcm128_dec : manager->gcm128_enc
                  : engine->key == 24 ? back ? manager->gcm192_dec : manager->gcm192_enc
                                      : back ? manager->gcm256_dec : manager->gcm256_enc;
    engine->digest = engine->row->hash == IMB_AUTH_SHA_1     ? manager->sha1
                     : engine->row->hash == IMB_AUTH_SHA_256 ? manager->sha256
                                                             : manager->sha512;
}

static void mb_close(struct engine *engine)
{
    if (engine->manager)
        free_mb_mgr(engine->manager);
    free(engine->sessions);
    free(engine->jobs);
    free(engine->computed);
    free(engine);
}

static void widest(IMB_MGR *manager)
{
    init_mb_mgr_auto(manager, NULL);
}

/* lanelock's names of instruction sets, and the manager that has the same. */
static const struct tier {
    const char *name;
    uint64_t flags;
    void (*init)(IMB_MGR *);
} tiers[] = {
    { "", 0, widest },
    { "avx512", 0, init_mb_mgr_avx512 },
    /* The manager with VAES, IFMA and the like wants GFNI, too; what is left is made for Skylake. */
    { "avx512bw", IMB_FLAG_GFNI_OFF, init_mb_mgr_avx512 },
    { "avx2", 0, init_mb_mgr_avx2 },
    { "aesni", 0, init_mb_mgr_sse },
};

/* A manager for the tier, or NULL. */
static IMB_MGR *open_manager(const char *name, struct reason *why)
{
    const struct tier *tier = tiers, *end = tiers + sizeof tiers / sizeof *tiers;
    while (tier < end && strcmp(tier->name, name) != 0)
        tier++;
    if (tier == end) {
        refuse(why, "tier=%s: libipsec-mb has avx512, avx512bw, avx2 and aesni", name);
        return NULL;
    }
    IMB_MGR *manager = alloc_mb_mgr(tier->flags);
    if (!manager) {
        refuse(why, "out of memory");
        return NULL;
    }
    tier->init(manager);
    if (imb_get_errno(manager) != 0) {
        refuse(why, "libipsec-mb: %s", imb_get_strerror(imb_get_errno(manager)));
        free_mb_mgr(manager);
        return NULL;
    }
    return manager;
}

static bool schedule_keys(struct engine *engine, const struct shape *shape, const struct keys *keys)
{
    const struct row *row = engine->row;
    const uint8_t *mac_keys = shape->spec->kind == CHAIN ? keys->mac_key : keys->key;
    size_t mac_len = shape->spec->kind == CHAIN ? shape->mac_key : shape->key;
    size_t first = row->key ? (row->key->bytes + 63) / 64 * 64 : 0;
    for (uint32_t s = 0; s < shape->sessions; s++) {
        struct session *session = (void *)(engine->sessions + s * engine->session_bytes);
        *session = (struct session){ 0 };
        if (row->key && !row->key->expand(engine->manager, row->hash,
                                          keys->key + (size_t)s * shape->key, shape->key,
                                          session->schedules, session))
            return false;
        if (row->mac_key && !row->mac_key->expand(engine->manager, row->hash, mac_keys + s * mac_len,
                                                  mac_len, session->schedules + first, session))
            return false;
    }
    return true;
}

static size_t session_bytes(const struct row *row)
{
    size_t bytes = sizeof(struct session);
    if (row->key)
        bytes += (row->key->bytes + 63) / 64 * 64;
    if (row->mac_key)
        bytes += (row->mac_key->bytes + 63) / 64 * 64;
    return bytes;
}

static bool build(struct engine *engine, const struct shape *shape, const struct keys *keys,
                  struct reason *why)
{
    engine->session_bytes = session_bytes(engine->row);
    engine->sessions = aligned_alloc(64, shape->sessions * engine->session_bytes);
    engine->jobs = aligned_alloc(64, (shape->burst * sizeof(IMB_JOB) + 63) / 64 * 64);
    engine->computed = aligned_alloc(64, (size_t)shape->burst * TAG_SLOT);
    if (!engine->sessions || !engine->jobs || !engine->computed)
        return refuse(why, "sessions=%u: out of memory; lower sessions", shape->sessions);
    engine->manager = open_manager(shape->tier, why);
    if (!engine->manager)
        return false;
    if (!schedule_keys(engine, shape, keys))
        return refuse(why, "key: libipsec-mb does not schedule this key for %s", engine->row->name);
    choose_direct(engine);

    IMB_JOB job = template(engine, shape);
    for (uint32_t i = 0; i < shape->burst; i++)
        engine->jobs[i] = job;
    for (uint32_t i = 0; i < IMB_MAX_JOBS; i++)
        engine->manager->jobs[i] = job;
    return true;
}

/*
 * Releases 2.0 to 2.0.2 can swap the 3DES results of neighbouring lanes (issue
 * 169 of libipsec-mb). A contestant that computes something else is no measure.
 */
static bool lanes_agree(struct engine *engine, struct reason *why)
{
    const uint8_t in[2][IMB_DES_BLOCK_SIZE] = { { 1 }, { 2 } }, iv[IMB_DES_BLOCK_SIZE] = { 0 };
    uint8_t together[2][IMB_DES_BLOCK_SIZE], alone[2][IMB_DES_BLOCK_SIZE];
    struct message pair[2], single[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = (struct message){ .in = in[i], .out = together[i], .iv = iv, .len = sizeof in[i] };
        single[i] = pair[i];
        single[i].out = alone[i];
    }
    burst_fn *run = engine->routes->burst;
    if (!run(engine, pair, 2, why) || !run(engine, &single[0], 1, why) ||
        !run(engine, &single[1], 1, why))
        return false;
    return memcmp(together, alone, sizeof alone) == 0 ||
           refuse(why, "3DES of this libipsec-mb swaps results between lanes; "
                       "use a release without its issue 169");
}

static enum verdict mb_open(const struct shape *shape, bool reverse, const struct keys *keys,
                            struct engine **opened, struct reason *why)
{
    const struct row *row = find(shape, why);
    if (!row)
        return UNSUPPORTED;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine) {
        refuse(why, "out of memory");
        return FAILED;
    }
    engine->row = row;
    engine->reverse = reverse;
    engine->direction = reverse ? IMB_DIR_DECRYPT : IMB_DIR_ENCRYPT;
    engine->routes = reverse ? row->reverse : row->forward;
    engine->key = shape->key;
    engine->iv = shape->iv;
    engine->aad = shape->aad;
    engine->tag = shape->tag;
    if (!build(engine, shape, keys, why)) {
        mb_close(engine);
        return FAILED;
    }
    if (row->key == &mb_3des && !lanes_agree(engine, why)) {
        mb_close(engine);
        return UNSUPPORTED;
    }
    *opened = engine;
    return READY;
}

static const struct route *mb_routes(const struct engine *engine)
{
    return engine->routes;
}

static const char *mb_library(void)
{
    static char text[64];
    snprintf(text, sizeof text, "intel-ipsec-mb %s", imb_get_version_str());
    return text;
}

int main(void)
{
    static const struct peer peer = { "ipsec-mb", true, mb_library, mb_open, mb_routes, mb_close };
    return bench_main(&peer);
}
