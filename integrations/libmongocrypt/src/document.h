/* The document that a thread is decrypting: hooks that are answered from one burst. */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "call.h"

/* Whether the document had the MAC of `in` under this key; it is in `out` then, which has room for
 * the algorithm's. */
bool document_mac(struct thread *thread, uint32_t algorithm, const uint8_t key[KEY_LEN],
                  const struct _mongocrypt_binary_t *in, const struct _mongocrypt_binary_t *out);

/* Whether the document had `in` decrypted with this key and IV; it is in `out` then, which has room. */
bool document_cipher(struct thread *thread, struct purpose purpose, const uint8_t key[KEY_LEN],
                     const struct _mongocrypt_binary_t *iv, const struct _mongocrypt_binary_t *in,
                     const struct _mongocrypt_binary_t *out);

/* A MAC that was computed for a hook: the server's token is made anew for each field, and is the same
 * for all of a key. */
void document_computed(struct thread *thread, uint32_t algorithm, const uint8_t key[KEY_LEN],
                       const struct _mongocrypt_binary_t *in,
                       const struct _mongocrypt_binary_t *out);

/* Wipes and frees; NULL is allowed. */
void document_free(struct document *document);

#endif
