#include "document.h"
#include "fields.h"
#include <stdlib.h>

typedef struct _mongocrypt_binary_t binary;

/* Operations of one burst; they take 128 bytes each, and stay in the cache. */
enum { BURST = 128 };

/* The last MAC that was not a field's, with its key and input. */
struct token {
    uint32_t algorithm;
    uint32_t in_len;
    uint8_t key[KEY_LEN], in[64], mac[MAC_ROOM];
};

struct document {
    lanelock_op ops[BURST];
    struct field *of[BURST];
    bool is_open;
    /* The field that hooks are about, or the one before. */
    size_t at;
    size_t answered;
    struct fields fields;
    struct token token;
};

static uint32_t mac_len(uint32_t algorithm) {
    return algorithm == LANELOCK_HMAC_SHA512 ? 64 : 32;
}

/* The document of a thread that has begun one. */
static struct document *begun(struct thread *thread) {
    struct document *document = thread->document;
    return document != NULL && document->is_open ? document : NULL;
}

static uint8_t *tag_of(struct document *document, const struct field *field) {
    return document->fields.tags + (size_t)(field - document->fields.field) * MAC_ROOM;
}

/* Runs the burst. Operations that fail leave their field as it is, and its hook runs by itself, with
 * its error. */
static void run(struct thread *thread, struct document *document, size_t count, uint8_t done) {
    const uint8_t *bytes = document->fields.bytes;
    size_t i;

    lanelock_process(thread->queue, document->ops, count);
    for (i = 0; i < count; i++) {
        struct field *field = document->of[i];
        if (document->ops[i].status != LANELOCK_SUCCESS) {
            continue;
        }
        field->done |= done;
        if (done == FIELD_MAC && secret_equal(tag_of(document, field), bytes + field->tag_at)) {
            field->done |= FIELD_GENUINE;
        }
        if (done == FIELD_OPENED) {
            fields_open(&document->fields, field);
        }
    }
}

/* Fills in the operation that `done` stands for; false if the field is not of the group or not ready
 * for it. */
static bool prepare(struct document *document, struct field *field, uint16_t group, uint8_t done,
                    const lanelock_session *session, lanelock_op *op) {
    struct fields *fields = &document->fields;
    uint8_t *bytes = fields->bytes;

    if (done == FIELD_OPENED) {
        if (field->server_len == 0 || field->server_group != group || field->done & done) {
            return false;
        }
        lanelock_op_separate(op, session, bytes + field->server_at + FIELD_IV_LEN,
                             field->server_len - FIELD_IV_LEN, bytes + field->mac_at,
                             field->server_len - FIELD_IV_LEN);
        lanelock_op_iv(op, bytes + field->server_at, FIELD_IV_LEN);
        return true;
    }
    if (field->group != group || field->done & done) {
        return false;
    }
    if (done == FIELD_MAC) {
        lanelock_op_read_only(op, session, bytes + field->mac_at, field->mac_len);
        lanelock_op_tag(op, tag_of(document, field), mac_len(fields->group[group].scheme->mac));
        return true;
    }
    if (!(field->done & FIELD_GENUINE) || field->text_len % fields->group[group].scheme->block) {
        return false;
    }
    lanelock_op_separate(op, session, bytes + field->iv_at + FIELD_IV_LEN, field->text_len,
                         fields->plain + field->plain_at, field->text_len);
    lanelock_op_iv(op, bytes + field->iv_at, FIELD_IV_LEN);
    return true;
}

/* Computes what `done` stands for, for every field of a group. */
static void compute(struct thread *thread, struct document *document, uint16_t group, uint8_t done,
                    struct purpose purpose, const uint8_t key[KEY_LEN]) {
    struct fields *fields = &document->fields;
    lanelock_error error;
    const lanelock_session *session = thread_session(thread, purpose, key, &error);
    size_t i, count = 0;

    if (session == NULL) {
        return;
    }
    for (i = document->at; i < fields->count; i++) {
        struct field *field = &fields->field[i];
        if (prepare(document, field, group, done, session, &document->ops[count])) {
            document->of[count++] = field;
        }
        if (count == BURST || (count > 0 && i + 1 == fields->count)) {
            run(thread, document, count, done);
            count = 0;
        }
    }
}

/* Whether the group's key is this one: that of the first hook for it, which is when everything that
 * needs it is computed. */
static bool has_key(struct thread *thread, struct document *document, uint16_t group, uint8_t done,
                    struct purpose purpose, const uint8_t key[KEY_LEN]) {
    struct group *of = &document->fields.group[group];
    bool *known = done == FIELD_MAC ? &of->has_mac_key : &of->has_key;
    uint8_t *known_key = done == FIELD_MAC ? of->mac_key : of->key;

    if (!*known) {
        *known = true;
        memcpy(known_key, key, KEY_LEN);
        compute(thread, document, group, done, purpose, key);
    }
    return secret_equal(known_key, key);
}

/* Fields are decrypted in their order. A hook is about the field at hand or, once that has got its
 * answer, about the next: `turn` is 0, then 1. */
static struct field *candidate(const struct document *document, uint8_t answered, size_t turn) {
    const struct fields *fields = &document->fields;
    size_t is_answered = (fields->field[document->at].done & answered) != 0;
    size_t at = document->at + (is_answered ^ turn);

    return at < fields->count ? &fields->field[at] : NULL;
}

static bool answer(struct document *document, struct field *field, uint8_t answered,
                   const binary *out, const uint8_t *bytes, size_t len) {
    memcpy(out->data, bytes, len);
    document->at = (size_t)(field - document->fields.field);
    document->answered++;
    field->done |= answered;
    return true;
}

static bool token_mac(struct document *document, uint32_t algorithm, const uint8_t key[KEY_LEN],
                      const binary *in, const binary *out) {
    const struct token *token = &document->token;

    if (in->len == 0 || token->algorithm != algorithm || token->in_len != in->len ||
        memcmp(token->in, in->data, in->len) != 0 || !secret_equal(token->key, key)) {
        return false;
    }
    memcpy(out->data, token->mac, mac_len(algorithm));
    document->answered++;
    return true;
}

bool document_mac(struct thread *thread, uint32_t algorithm, const uint8_t key[KEY_LEN],
                  const binary *in, const binary *out) {
    const struct purpose purpose = {algorithm, LANELOCK_FORWARD};
    struct document *document = begun(thread);
    size_t turn;

    if (document == NULL) {
        return false;
    }
    for (turn = 0; turn < 2; turn++) {
        struct field *field = candidate(document, FIELD_MAC_ANSWERED, turn);
        if (field == NULL || field->group == GROUPS || field->mac_len != in->len ||
            document->fields.group[field->group].scheme->mac != algorithm ||
            memcmp(document->fields.bytes + field->mac_at, in->data, in->len) != 0 ||
            !has_key(thread, document, field->group, FIELD_MAC, purpose, key) ||
            !(field->done & FIELD_MAC)) {
            continue;
        }
        return answer(document, field, FIELD_MAC_ANSWERED, out, tag_of(document, field),
                      mac_len(algorithm));
    }
    return token_mac(document, algorithm, key, in, out);
}

void document_computed(struct thread *thread, uint32_t algorithm, const uint8_t key[KEY_LEN],
                       const binary *in, const binary *out) {
    struct document *document = begun(thread);
    struct token *token;

    if (document == NULL || in->len == 0 || in->len > sizeof document->token.in) {
        return;
    }
    token = &document->token;
    token->algorithm = algorithm;
    token->in_len = in->len;
    memcpy(token->key, key, KEY_LEN);
    memcpy(token->in, in->data, in->len);
    memcpy(token->mac, out->data, mac_len(algorithm));
}

/* Whether a hook is given this IV and ciphertext. */
static bool is_input(const uint8_t *at, uint32_t len, const binary *iv, const binary *in) {
    return in->len == len && memcmp(at, iv->data, FIELD_IV_LEN) == 0 &&
           memcmp(at + FIELD_IV_LEN, in->data, len) == 0;
}

/* What the server has encrypted, once for each field. */
static bool opened(struct thread *thread, struct document *document, struct purpose purpose,
                   const uint8_t key[KEY_LEN], const binary *iv, const binary *in,
                   const binary *out) {
    const uint8_t *bytes = document->fields.bytes;
    size_t turn;

    for (turn = 0; turn < 2; turn++) {
        struct field *field = candidate(document, FIELD_OPENED_ANSWERED, turn);
        if (field == NULL || field->server_len == 0 ||
            !is_input(bytes + field->server_at, field->server_len - FIELD_IV_LEN, iv, in) ||
            !has_key(thread, document, field->server_group, FIELD_OPENED, purpose, key) ||
            !(field->done & FIELD_OPENED)) {
            continue;
        }
        return answer(document, field, FIELD_OPENED_ANSWERED, out, bytes + field->mac_at, in->len);
    }
    return false;
}

bool document_cipher(struct thread *thread, struct purpose purpose, const uint8_t key[KEY_LEN],
                     const binary *iv, const binary *in, const binary *out) {
    struct document *document = begun(thread);
    struct field *field;

    if (document == NULL || purpose.direction != LANELOCK_REVERSE) {
        return false;
    }
    /* The field whose MAC was the last answer. */
    field = &document->fields.field[document->at];
    if (field->done & FIELD_GENUINE &&
        document->fields.group[field->group].scheme->cipher == purpose.algorithm &&
        is_input(document->fields.bytes + field->iv_at, field->text_len, iv, in) &&
        has_key(thread, document, field->group, FIELD_TEXT, purpose, key) &&
        field->done & FIELD_TEXT) {
        return answer(document, field, 0, out, document->fields.plain + field->plain_at, in->len);
    }
    return purpose.algorithm == LANELOCK_AES_CTR &&
           opened(thread, document, purpose, key, iv, in, out);
}

size_t lanelock_mongocrypt_document_begin(const void *bytes, size_t length) {
    lanelock_error error;
    struct thread *thread = thread_current(&error);
    struct document *document;

    if (thread == NULL) {
        return 0;
    }
    lanelock_mongocrypt_document_end();
    document = thread->document;
    if (document == NULL) {
        document = aligned_alloc(64, (sizeof *document + 63) / 64 * 64);
        if (document == NULL) {
            return 0;
        }
        memset(document, 0, sizeof *document);
        thread->document = document;
    }
    fields_find(&document->fields, bytes, length);
    document->at = 0;
    document->answered = 0;
    document->is_open = document->fields.count > 1;
    return document->is_open ? document->fields.count : 0;
}

size_t lanelock_mongocrypt_document_end(void) {
    struct thread *thread = thread_existing();
    struct document *document = thread == NULL ? NULL : thread->document;

    if (document == NULL) {
        return 0;
    }
    fields_clear(&document->fields);
    explicit_bzero(&document->token, sizeof document->token);
    if (!document->is_open) {
        return 0;
    }
    document->is_open = false;
    return document->answered;
}

void document_free(struct document *document) {
    if (document == NULL) {
        return;
    }
    fields_free(&document->fields);
    explicit_bzero(document, sizeof *document);
    free(document);
}
