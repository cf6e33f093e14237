/*
 * The job interfaces of libipsec-mb.
 *
 * "cipher-burst", "hash-burst" and "aead-burst" are its synchronous calls for
 * jobs of one algorithm; "burst" is the general one, which runs everything
 * and chains in one job. Fields that never change were filled in when the
 * engine opened, as the library suggests for connections; only what belongs
 * to a message is written here. All use the unchecked variants.
 */
#include "mb.h"

/* What of a job depends on the message. Constant in every caller, so the compiler prunes. */
enum part {
    CIPHERED = 1,
    HASHED = 2,
    WITH_AAD = 4,
    WITH_GMAC_IV = 8,
    WITH_NONCE_OF_CHACHA = 16, /* skips the block counter before it */
};

static inline __attribute__((always_inline)) void
fill(const struct engine *engine, IMB_JOB *job, const struct message *m, uint8_t *tag, int parts)
{
    const struct session *session = mb_session(engine, m);
    job->src = m->in;
    if (parts & CIPHERED) {
        job->enc_keys = session->enc;
        job->dec_keys = session->dec;
        job->dst = m->out;
        job->iv = parts & WITH_NONCE_OF_CHACHA ? m->iv + 4 : m->iv;
        job->msg_len_to_cipher_in_bytes = m->len;
    }
    if (parts & HASHED) {
        job->auth_tag_output = tag;
        job->msg_len_to_hash_in_bytes = m->len;
    }
    if ((parts & HASHED) && !(parts & (WITH_AAD | WITH_GMAC_IV))) {
        /* HMAC takes the first two, CMAC all three, plain hashes none. */
        job->u.CMAC._key_expanded = session->auth[0];
        job->u.CMAC._skey1 = session->auth[1];
        job->u.CMAC._skey2 = session->auth[2];
    }
    if (parts & WITH_AAD)
        job->u.GCM.aad = m->aad; /* CCM and ChaCha20-Poly1305 keep theirs in the same place */
    if (parts & WITH_GMAC_IV) {
        job->u.GMAC._key = session->auth[0];
        job->u.GMAC._iv = m->iv;
    }
}

/* A chain authenticates ciphertext, which a separate output keeps elsewhere than `src`. */
static inline void hash_output(const struct engine *engine, IMB_JOB *job, const struct message *m)
{
    job->hash_start_src_offset_in_bytes =
        engine->reverse ? 0 : (uint64_t)((uintptr_t)m->out - (uintptr_t)m->in);
}

static bool failed(const struct engine *engine, struct reason *why, const char *what)
{
    return refuse(why, "%s: libipsec-mb: %s", what, imb_get_strerror(imb_get_errno(engine->manager)));
}

bool mb_verify(const struct engine *engine, const struct message *m, size_t count,
               struct reason *why)
{
    for (size_t i = 0; i < count; i++)
        if (!tags_match(engine->computed + i * TAG_SLOT, m[i].tag, engine->tag))
            return refuse(why, "verify: the tag does not match");
    return true;
}

/* --- general burst ------------------------------------------------------------------ */

static inline __attribute__((always_inline)) bool
general(struct engine *engine, const struct message *m, size_t count, struct reason *why, int parts)
{
    IMB_MGR *manager = engine->manager;
    IMB_JOB **slots = engine->slots;
    for (size_t from = 0; from < count; from += IMB_MAX_BURST_SIZE) {
        uint32_t take = count - from < IMB_MAX_BURST_SIZE ? (uint32_t)(count - from)
                                                          : IMB_MAX_BURST_SIZE;
        if (IMB_GET_NEXT_BURST(manager, take, slots) != take)
            return failed(engine, why, "get_next_burst");
        for (uint32_t i = 0; i < take; i++) {
            fill(engine, slots[i], &m[from + i], mb_tag(engine, &m[from + i], from + i), parts);
            if ((parts & (CIPHERED | HASHED | WITH_AAD)) == (CIPHERED | HASHED))
                hash_output(engine, slots[i], &m[from + i]);
        }
        uint32_t done = IMB_SUBMIT_BURST_NOCHECK(manager, take, slots);
        while (done < take) {
            uint32_t more = IMB_FLUSH_BURST(manager, take - done, slots + done);
            if (more == 0)
                return failed(engine, why, "flush_burst");
            done += more;
        }
        for (uint32_t i = 0; i < take; i++)
            if (slots[i]->status != IMB_STATUS_COMPLETED)
                return failed(engine, why, "burst");
    }
    return !(engine->reverse && (parts & HASHED)) || mb_verify(engine, m, count, why);
}

/* --- synchronous bursts of one algorithm -------------------------------------------- */

enum call { CIPHER_CALL, HASH_CALL, AEAD_CALL };

static inline bool submit(struct engine *engine, size_t count, struct reason *why, enum call call)
{
    IMB_MGR *manager = engine->manager;
    IMB_JOB *jobs = engine->jobs;
    uint32_t wanted = (uint32_t)count, done = 0;
    switch (call) {
    case CIPHER_CALL:
        done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(manager, jobs, wanted, engine->row->cipher,
                                               engine->direction, engine->key);
        break;
    case HASH_CALL:
        done = IMB_SUBMIT_HASH_BURST_NOCHECK(manager, jobs, wanted, engine->row->hash);
        break;
    case AEAD_CALL:
#if MB_AT_LEAST_2
        done = IMB_SUBMIT_AEAD_BURST_NOCHECK(manager, jobs, wanted, engine->row->cipher,
                                             engine->direction, engine->key);
#endif
        break;
    }
    if (done != wanted)
        return failed(engine, why, "submit");
    for (size_t i = 0; i < count; i++)
        if (jobs[i].status != IMB_STATUS_COMPLETED)
            return failed(engine, why, "job");
    return true;
}

static inline __attribute__((always_inline)) bool
synchronous(struct engine *engine, const struct message *m, size_t count, struct reason *why,
            int parts, enum call call)
{
    for (size_t i = 0; i < count; i++)
        fill(engine, &engine->jobs[i], &m[i], mb_tag(engine, &m[i], i), parts);
    return submit(engine, count, why, call) &&
           (!(engine->reverse && (parts & HASHED)) || mb_verify(engine, m, count, why));
}

/* A chain as two synchronous bursts over the same descriptors. */
static inline void fill_chain(struct engine *engine, const struct message *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fill(engine, &engine->jobs[i], &m[i], mb_tag(engine, &m[i], i), CIPHERED | HASHED);
        hash_output(engine, &engine->jobs[i], &m[i]);
    }
}

static bool two_phase_encrypt(struct engine *engine, const struct message *m, size_t count,
                              struct reason *why)
{
    fill_chain(engine, m, count);
    return submit(engine, count, why, CIPHER_CALL) && submit(engine, count, why, HASH_CALL);
}

static bool two_phase_decrypt(struct engine *engine, const struct message *m, size_t count,
                              struct reason *why)
{
    fill_chain(engine, m, count);
    return submit(engine, count, why, HASH_CALL) && mb_verify(engine, m, count, why) &&
           submit(engine, count, why, CIPHER_CALL);
}

/* --- one function per combination --------------------------------------------------- */

#define GENERAL(name, parts)                                                                     \
    static bool name(struct engine *engine, const struct message *m, size_t count,               \
                     struct reason *why)                                                         \
    {                                                                                            \
        return general(engine, m, count, why, parts);                                            \
    }
#define SYNCHRONOUS(name, parts, call)                                                           \
    static bool name(struct engine *engine, const struct message *m, size_t count,               \
                     struct reason *why)                                                         \
    {                                                                                            \
        return synchronous(engine, m, count, why, parts, call);                                  \
    }

GENERAL(cipher, CIPHERED)
GENERAL(chacha, CIPHERED | WITH_NONCE_OF_CHACHA)
GENERAL(hash, HASHED)
GENERAL(gmac, HASHED | WITH_GMAC_IV)
GENERAL(chain, CIPHERED | HASHED)
GENERAL(aead, CIPHERED | HASHED | WITH_AAD)
SYNCHRONOUS(cipher_burst, CIPHERED, CIPHER_CALL)
SYNCHRONOUS(hash_burst, HASHED, HASH_CALL)

const struct route mb_block_routes[] = { { "cipher-burst", cipher_burst }, { "burst", cipher }, { 0 } };
const struct route mb_cipher_routes[] = { { "burst", cipher }, { 0 } };
const struct route mb_chacha_routes[] = { { "burst", chacha }, { 0 } };
const struct route mb_hmac_routes[] = { { "hash-burst", hash_burst }, { "burst", hash }, { 0 } };
const struct route mb_md5_routes[] = { { "burst", hash }, { 0 } };
const struct route mb_gmac_routes[] = { { "direct", mb_direct_gmac }, { "burst", gmac }, { 0 } };
const struct route mb_gcm_routes[] = { { "direct", mb_direct_gcm }, { "burst", aead }, { 0 } };
const struct route mb_chacha_poly_routes[] = {
    { "direct", mb_direct_chacha_poly }, { "burst", aead }, { 0 }
};
const struct route mb_chain_encrypt[] = {
    { "burst", chain }, { "cipher-burst+hash-burst", two_phase_encrypt }, { 0 }
};
const struct route mb_chain_decrypt[] = {
    { "burst", chain }, { "hash-burst+cipher-burst", two_phase_decrypt }, { 0 }
};

/* ECB, plain hashes, CMAC and CCM joined the synchronous calls in 2.0. */
#if MB_AT_LEAST_2
SYNCHRONOUS(aead_burst, CIPHERED | HASHED | WITH_AAD, AEAD_CALL)
#define SINCE_2(name, burst) { name, burst },
#else
#define SINCE_2(name, burst)
#endif
const struct route mb_ecb_routes[] = { SINCE_2("cipher-burst", cipher_burst) { "burst", cipher }, { 0 } };
const struct route mb_cmac_routes[] = { SINCE_2("hash-burst", hash_burst) { "burst", hash }, { 0 } };
const struct route mb_hash_routes[] = {
    SINCE_2("hash-burst", hash_burst) { "burst", hash }, { "direct", mb_direct_hash }, { 0 }
};
const struct route mb_ccm_routes[] = { SINCE_2("aead-burst", aead_burst) { "burst", aead }, { 0 } };
