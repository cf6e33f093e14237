/*
 * AEADs over EVP. Tags travel through a parameter array built once: the
 * EVP_CTRL_AEAD_* controls would build one per call. Passing the tag to verify
 * along with the IV would save a call but costs more than it: initialisation
 * searches its parameters for lengths first.
 */
#include "evp.h"

static bool encrypt(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    for (; count > 0; count--, m++) {
        EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
        int len;
        engine->param[0].data = m->tag;
        if (!EVP_EncryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) ||
            (m->aad && !EVP_EncryptUpdate(ctx, NULL, &len, m->aad, (int)engine->aad)) ||
            !EVP_EncryptUpdate(ctx, m->out, &len, m->in, (int)m->len) || (uint32_t)len != m->len ||
            !EVP_EncryptFinal_ex(ctx, m->out + m->len, &len) ||
            !EVP_CIPHER_CTX_get_params(ctx, engine->param))
            return evp_refuse(why, "encrypt");
    }
    return true;
}

static bool decrypt(struct engine *engine, const struct message *m, size_t count,
                    struct reason *why)
{
    for (; count > 0; count--, m++) {
        EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
        int len;
        engine->param[0].data = m->tag;
        if (!EVP_DecryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) ||
            !EVP_CIPHER_CTX_set_params(ctx, engine->param) ||
            (m->aad && !EVP_DecryptUpdate(ctx, NULL, &len, m->aad, (int)engine->aad)) ||
            !EVP_DecryptUpdate(ctx, m->out, &len, m->in, (int)m->len) || (uint32_t)len != m->len)
            return evp_refuse(why, "decrypt");
        if (!EVP_DecryptFinal_ex(ctx, m->out + m->len, &len))
            return evp_refuse(why, "verify: the tag does not match");
    }
    return true;
}

/*
 * CCM authenticates the message length first, so AAD needs it announced.
 * Final does nothing: the tag is ready, or verified, after the update.
 */
static bool ccm_encrypt(struct engine *engine, const struct message *m, size_t count,
                        struct reason *why)
{
    for (; count > 0; count--, m++) {
        EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
        int len;
        engine->param[0].data = m->tag;
        if (!EVP_EncryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) ||
            (m->aad && (!EVP_EncryptUpdate(ctx, NULL, &len, NULL, (int)m->len) ||
                        !EVP_EncryptUpdate(ctx, NULL, &len, m->aad, (int)engine->aad))) ||
            !EVP_EncryptUpdate(ctx, m->out, &len, m->in, (int)m->len) || (uint32_t)len != m->len ||
            !EVP_CIPHER_CTX_get_params(ctx, engine->param))
            return evp_refuse(why, "encrypt");
    }
    return true;
}

static bool ccm_decrypt(struct engine *engine, const struct message *m, size_t count,
                        struct reason *why)
{
    for (; count > 0; count--, m++) {
        EVP_CIPHER_CTX *ctx = engine->sessions[m->session].cipher;
        int len;
        engine->param[0].data = m->tag;
        if (!EVP_DecryptInit_ex2(ctx, NULL, NULL, m->iv, NULL) ||
            !EVP_CIPHER_CTX_set_params(ctx, engine->param) ||
            (m->aad && (!EVP_DecryptUpdate(ctx, NULL, &len, NULL, (int)m->len) ||
                        !EVP_DecryptUpdate(ctx, NULL, &len, m->aad, (int)engine->aad))))
            return evp_refuse(why, "decrypt");
        if (!EVP_DecryptUpdate(ctx, m->out, &len, m->in, (int)m->len) || (uint32_t)len != m->len)
            return evp_refuse(why, "verify: the tag does not match");
    }
    return true;
}

const struct route evp_aead_encrypt[] = { { "evp-cipher", encrypt }, { 0 } };
const struct route evp_aead_decrypt[] = { { "evp-cipher", decrypt }, { 0 } };
const struct route evp_ccm_encrypt[] = { { "evp-cipher", ccm_encrypt }, { 0 } };
const struct route evp_ccm_decrypt[] = { { "evp-cipher", ccm_decrypt }, { 0 } };
