/* The encrypted fields of a document: which bytes of each are authenticated, encrypted, and its tag. */
#ifndef FIELDS_H
#define FIELDS_H

#include "secret.h"
#include <lanelock.h>
#include <stddef.h>

enum {
    KEY_ID_LEN = 16,
    FIELD_IV_LEN = 16,
    /* HMAC-SHA-512 is truncated to as much as HMAC-SHA-256 has. */
    FIELD_TAG_LEN = 32,
    MAC_ROOM = 64,
    /* Data keys of one document; fields of others run one at a time. */
    GROUPS = 64
};

/* What became of a field. */
enum {
    /* Its MAC is in `tags`. */
    FIELD_MAC = 1,
    /* And is the field's own: it may be decrypted. */
    FIELD_GENUINE = 2,
    /* Its plaintext is in `plain`. */
    FIELD_TEXT = 4,
    /* What the server has encrypted is decrypted. */
    FIELD_OPENED = 8,
    /* The hook was answered. */
    FIELD_MAC_ANSWERED = 16,
    FIELD_OPENED_ANSWERED = 32
};

/* How fields are encrypted. */
struct scheme {
    uint32_t mac;
    uint32_t cipher;
    /* Length of the cipher's block. */
    uint32_t block;
};

/* A field. Offsets count from `bytes`. */
struct field {
    /* What is authenticated: the header, the IV and the ciphertext, and for some its header's length. */
    uint32_t mac_at, mac_len;
    /* The IV; the ciphertext follows it. */
    uint32_t iv_at, text_len;
    /* The tag that it came with. */
    uint32_t tag_at;
    /* Where its plaintext goes, from `plain`. */
    uint32_t plain_at;
    /* What the server has encrypted, from its IV on; 0 bytes if nothing. */
    uint32_t server_at, server_len;
    uint16_t group, server_group;
    uint8_t done;
};

/* Fields of one data key. */
struct group {
    uint8_t id[KEY_ID_LEN];
    const struct scheme *scheme;
    /* The keys, once a hook has shown them. */
    bool has_mac_key, has_key;
    uint8_t mac_key[KEY_LEN], key[KEY_LEN];
};

/* The fields of a document, with room for what is computed. */
struct fields {
    struct field *field;
    size_t count;
    struct group group[GROUPS];
    uint16_t groups;
    /* Copies of what hooks are given. */
    uint8_t *bytes;
    uint32_t bytes_len;
    /* Plaintexts. */
    uint8_t *plain;
    uint32_t plain_len;
    /* MAC_ROOM bytes for each field. */
    uint8_t *tags;
    /* Allocated for all of it, in bytes. */
    size_t room;
};

/* Finds the fields of a document; none where there is no memory for them. */
void fields_find(struct fields *fields, const uint8_t *document, size_t length);

/* A field whose outer encryption, the server's, is decrypted shows the inner one. */
void fields_open(struct fields *fields, struct field *field);

/* Wipes what was computed, and keys; keeps memory for the next document unless it is much. */
void fields_clear(struct fields *fields);

/* Wipes and frees. */
void fields_free(struct fields *fields);

#endif
