/* What liblanelock_mongocrypt.so has: crypto hooks for libmongocrypt, and documents whose fields are
 * decrypted together. It does not depend on libmongocrypt, so that it fits every build of it; programs
 * in C include lanelock_mongocrypt.h. C99 and C++11.
 *
 * Threads: any number may be inside of a hook. Each has contexts of its own, and keys are shared; both
 * are wiped when they go. A child of fork() starts with none.
 */
#ifndef LANELOCK_MONGOCRYPT_HOOKS_H
#define LANELOCK_MONGOCRYPT_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of libmongocrypt: a pointer, then a length of 32 bits; and what holds the text of an error. */
struct _mongocrypt_binary_t;
struct _mongocrypt_status_t;

/* mongocrypt_status_set. */
typedef void lanelock_mongocrypt_status_set(struct _mongocrypt_status_t *status, unsigned type,
                                            uint32_t code, const char *message,
                                            int32_t message_len);

/* mongocrypt_crypto_fn. `ctx` of every hook is the address of the program's mongocrypt_status_set, or
 * NULL for the one that lanelock_mongocrypt_errors was given. */
typedef bool lanelock_mongocrypt_cipher(void *ctx, struct _mongocrypt_binary_t *key,
                                        struct _mongocrypt_binary_t *iv,
                                        struct _mongocrypt_binary_t *in,
                                        struct _mongocrypt_binary_t *out, uint32_t *bytes_written,
                                        struct _mongocrypt_status_t *status);

lanelock_mongocrypt_cipher lanelock_mongocrypt_aes_256_cbc_encrypt;
lanelock_mongocrypt_cipher lanelock_mongocrypt_aes_256_cbc_decrypt;
lanelock_mongocrypt_cipher lanelock_mongocrypt_aes_256_ctr_encrypt;
lanelock_mongocrypt_cipher lanelock_mongocrypt_aes_256_ctr_decrypt;
lanelock_mongocrypt_cipher lanelock_mongocrypt_aes_256_ecb_encrypt; /* `iv` is not looked at */

/* mongocrypt_hmac_fn. */
typedef bool lanelock_mongocrypt_hmac(void *ctx, struct _mongocrypt_binary_t *key,
                                      struct _mongocrypt_binary_t *in,
                                      struct _mongocrypt_binary_t *out,
                                      struct _mongocrypt_status_t *status);

lanelock_mongocrypt_hmac lanelock_mongocrypt_hmac_sha_256;
lanelock_mongocrypt_hmac lanelock_mongocrypt_hmac_sha_512;

/* mongocrypt_hash_fn. */
bool lanelock_mongocrypt_sha_256(void *ctx, struct _mongocrypt_binary_t *in,
                                 struct _mongocrypt_binary_t *out,
                                 struct _mongocrypt_status_t *status);

/* mongocrypt_random_fn: from the operating system. */
bool lanelock_mongocrypt_random(void *ctx, struct _mongocrypt_binary_t *out, uint32_t count,
                                struct _mongocrypt_status_t *status);

/* How hooks that get NULL as their `ctx` report errors. Before they run. */
void lanelock_mongocrypt_errors(lanelock_mongocrypt_status_set *status_set);

/* This thread is about to decrypt a BSON document, such as a reply of the server, with
 * mongocrypt_ctx_finalize: at the first hook that shows a key, everything in the document that needs
 * this key is computed in one burst, and later hooks are answered from it where their inputs are the
 * same. Hooks work without it, and with a document that is not what is decrypted, one at a time.
 * What is needed of the document is copied. Returns how many fields can be computed together; where
 * that is less than two, hooks go on one at a time. */
size_t lanelock_mongocrypt_document_begin(const void *bytes, size_t length);

/* The document is decrypted, or given up: what was computed is wiped. Returns how many hooks were
 * answered from it. */
size_t lanelock_mongocrypt_document_end(void);

#ifdef __cplusplus
}
#endif

#endif
