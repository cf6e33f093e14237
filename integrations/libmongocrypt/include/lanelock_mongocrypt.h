/* libmongocrypt's cryptography on lanelock: link with -llanelock_mongocrypt -lmongocrypt. */
#ifndef LANELOCK_MONGOCRYPT_H
#define LANELOCK_MONGOCRYPT_H

#include <lanelock_mongocrypt_hooks.h>
#include <mongocrypt.h>

/* Sets every crypto hook but the RSA signature of Google's KMS. Before mongocrypt_init; returns false,
 * with the reason in mongocrypt_status, where libmongocrypt refuses them. */
static inline bool lanelock_mongocrypt_install(mongocrypt_t *crypt) {
    void *errors = (void *)(uintptr_t)mongocrypt_status_set;

    return mongocrypt_setopt_crypto_hooks(
               crypt, lanelock_mongocrypt_aes_256_cbc_encrypt,
               lanelock_mongocrypt_aes_256_cbc_decrypt, lanelock_mongocrypt_random,
               lanelock_mongocrypt_hmac_sha_512, lanelock_mongocrypt_hmac_sha_256,
               lanelock_mongocrypt_sha_256, errors) &&
           mongocrypt_setopt_aes_256_ctr(crypt, lanelock_mongocrypt_aes_256_ctr_encrypt,
                                         lanelock_mongocrypt_aes_256_ctr_decrypt, errors) &&
           mongocrypt_setopt_aes_256_ecb(crypt, lanelock_mongocrypt_aes_256_ecb_encrypt, errors);
}

#endif
